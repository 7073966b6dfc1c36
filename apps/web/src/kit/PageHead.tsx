import { createContext, use, useEffect, type ReactNode } from 'react'
import { createPortal } from 'react-dom'

/** The page's head is the layout's; pages put their own title, status and actions into it. */
export interface PageHeadSlots {
  readonly setTitle: (title: string | null) => void
  readonly status: HTMLElement | null
  readonly actions: HTMLElement | null
}

export const PageHeadContext = createContext<PageHeadSlots>({ setTitle: () => undefined, status: null, actions: null })

/** The page is about this one thing: its name stands in the head and in the window's title. */
export function usePageTitle(title: string | null | undefined): void {
  const { setTitle } = use(PageHeadContext)
  useEffect(() => {
    setTitle(title ?? null)
    return () => setTitle(null)
  }, [setTitle, title])
}

/** Beside the title. */
export function PageStatus({ children }: { readonly children: ReactNode }) {
  const { status } = use(PageHeadContext)
  return status === null ? null : createPortal(children, status)
}

/** At the end of the title's line: what can be done on this page. */
export function PageActions({ children }: { readonly children: ReactNode }) {
  const { actions } = use(PageHeadContext)
  return actions === null ? null : createPortal(children, actions)
}
