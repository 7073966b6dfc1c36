import { createContext, Suspense, use, useCallback, useState, type ReactNode } from 'react'

/** Draws a dialog, which calls `close` when it is done. It may be lazy. */
export type DrawDialog = (close: () => void) => ReactNode

const DialogContext = createContext<(draw: DrawDialog) => void>(() => undefined)

/**
 * Draws what a page's actions and buttons open, beside the page: so a dialog stays, with what was typed, when the
 * row that it was opened from goes. There is one at a time; one that opens another is replaced by it.
 */
export function PageDialogs({ children }: { readonly children: ReactNode }) {
  const [shown, setShown] = useState<{ readonly draw: DrawDialog; readonly key: number } | null>(null)
  const open = useCallback((draw: DrawDialog) => setShown((before) => ({ draw, key: (before?.key ?? 0) + 1 })), [])
  return (
    <DialogContext value={open}>
      {children}
      {shown !== null && <Suspense key={shown.key}>{shown.draw(() => setShown((now) => (now?.key === shown.key ? null : now)))}</Suspense>}
    </DialogContext>
  )
}

/** Opens a dialog over the page: `open((close) => <RenameDialog vm={vm} onClose={close} />)`. */
export const useDialog = (): ((draw: DrawDialog) => void) => use(DialogContext)
