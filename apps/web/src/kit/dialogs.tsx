import { createContext, Suspense, use, useCallback, useMemo, useRef, useState, type ReactNode } from 'react'
import { useReturnFocus } from './focus.ts'

/** Draws a dialog, which calls `close` when it is done. It may be lazy. */
export type DrawDialog = (close: () => void) => ReactNode

type Open = (draw: DrawDialog) => void

const DialogContext = createContext<{ readonly dialog: Open; readonly question: Open }>({ dialog: () => undefined, question: () => undefined })

/** One place in which at most one thing is drawn. */
function usePlace(): readonly [shown: ReactNode, open: Open] {
  const [shown, setShown] = useState<{ readonly draw: DrawDialog; readonly key: number } | null>(null)
  // Never the same again: what one that is gone does at last must not close the next, nor may the next begin with what was typed there.
  const opened = useRef(0)
  const open = useCallback((draw: DrawDialog) => setShown({ draw, key: ++opened.current }), [])
  return [shown !== null && <Drawn key={shown.key}>{shown.draw(() => setShown((now) => (now?.key === shown.key ? null : now)))}</Drawn>, open]
}

/** What it is opened from has the focus again afterwards, whatever it is and however late its chunk comes. */
function Drawn({ children }: { readonly children: ReactNode }) {
  useReturnFocus()
  return <Suspense>{children}</Suspense>
}

/**
 * Draws what a page's actions and buttons open, beside the page: so a dialog stays, with what was typed, when the
 * row that it was opened from goes. There is one at a time; one that opens another is replaced by it. What is asked
 * before something happens is asked over it.
 */
export function PageDialogs({ children }: { readonly children: ReactNode }) {
  const [dialogs, dialog] = usePlace()
  const [questions, question] = usePlace()
  const opens = useMemo(() => ({ dialog, question }), [dialog, question])
  return (
    <DialogContext value={opens}>
      {children}
      {dialogs}
      {questions}
    </DialogContext>
  )
}

/** Opens a dialog over the page: `open((close) => <RenameDialog vm={vm} onClose={close} />)`. */
export const useDialog = (): Open => use(DialogContext).dialog

/** Opens a question over the page and its dialog: `ask((close) => <ConfirmDialog … onCancel={close} />)`. */
export const useQuestion = (): Open => use(DialogContext).question
