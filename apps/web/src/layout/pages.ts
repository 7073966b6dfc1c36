import type { Standing } from '@zhisuan/contract/bill/arrears'
import { createContext, lazy, use, type ComponentType } from 'react'
import { loadMessages } from '../i18n.ts'
import type { LazyNamespace } from '../locales/namespaces.ts'
import type { Route } from '../routes.ts'
import { late, type Late } from './late.tsx'

/** Something that is drawn once its script and its messages have come. */
export interface Page<Props = object> {
  readonly load: () => Promise<{ readonly default: ComponentType<Props> }>
  /** Messages that have to be there before it is drawn. */
  readonly messages: readonly LazyNamespace[]
}

type PagesByPath = Readonly<Partial<Record<string, Page>>>

/** What the layout shows and does not know: App hands it in, so that nothing here leads to a feature. */
export interface Pages {
  /** By the path of its route. */
  readonly visitorPages: PagesByPath
  /** All others, which come when one of them is asked for. */
  readonly consolePages: () => Promise<PagesByPath>
  readonly developmentInbox: Page
  /** How an account stands that is not in order. */
  readonly standingBanner: Page<{ readonly standing: Standing; readonly state: Exclude<Standing['state'], 'normal'> }>
  /** What the bell opens. */
  readonly newestMessages: Page<{ readonly unread: number; readonly onClose: () => void }>
  /** What runs, and what failed lately: what the button beside the bell opens. */
  readonly newestTasks: Page<{ readonly onClose: () => void }>
}

const pending: Page = { load: () => import('./PendingPage.tsx'), messages: [] }

/** A page with its messages, as `lazy` takes it. */
const whole = <Props>({ load, messages }: Page<Props>) => Promise.all([load(), loadMessages(messages)]).then(([module]) => module)

/** The pages as the layout draws them, each loaded once. */
export function createPages({ visitorPages, consolePages, developmentInbox, standingBanner, newestMessages, newestTasks }: Pages) {
  const pages = new Map<string, Late<object>>()
  const pageOf = async (path: string): Promise<Page> => visitorPages[path] ?? (await consolePages())[path] ?? pending
  const of = ({ path }: Route): Late<object> => {
    const page = pages.get(path) ?? late(() => pageOf(path).then(whole))
    pages.set(path, page)
    return page
  }
  return {
    of,
    /** For who is about to enter the console. */
    prepare: (): void => void consolePages().catch(() => undefined),
    /** For what is likely to be opened next; a failure shows when it is really opened. */
    prefetch: (route: Route): void =>
      void of(route)
        .load()
        .catch(() => undefined),
    DevelopmentInbox: lazy(() => whole(developmentInbox)),
    StandingBanner: lazy(() => whole(standingBanner)),
    NewestMessages: lazy(() => whole(newestMessages)),
    NewestTasks: lazy(() => whole(newestTasks)),
  }
}

export const PagesContext = createContext<ReturnType<typeof createPages> | null>(null)

export function usePages(): ReturnType<typeof createPages> {
  const pages = use(PagesContext)
  if (pages === null) throw new Error('App hands in no pages')
  return pages
}
