import { useEffect, useRef, useState, type RefObject } from 'react'

/**
 * For a dialog that is drawn only while it is open: gives the focus back to what had it before.
 * antd does so only for what it hides itself.
 */
export function useReturnFocus(): void {
  const [former] = useState(() => document.activeElement)
  const pending = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    clearTimeout(pending.current)
    return () => {
      // A moment later: what takes the focus meanwhile, such as the heading of a new page, keeps it.
      pending.current = setTimeout(() => {
        if (document.activeElement !== document.body) return
        // A row that was deleted has no button any more.
        const target = former?.isConnected === true ? former : document.querySelector('#main')
        if (target instanceof HTMLElement) target.focus()
      })
    }
  }, [former])
}

/**
 * For a form over a page, once it is open: what is typed goes into it. antd's trap takes the focus to the button that closes
 * the dialog where no field has it yet, or where the menu that it was opened from took it back.
 */
export function focusFirstField(form: RefObject<HTMLElement | null>): void {
  // After the trap, which is set in an effect.
  setTimeout(() => {
    if (form.current?.contains(document.activeElement) !== false) return
    form.current.querySelector<HTMLElement>('input:not([type=hidden]):not(:disabled), textarea:not(:disabled)')?.focus()
  })
}

/**
 * In the onClick of a menu: the Enter that chose an entry must not go on to what has the focus
 * next, where it would be pressed once more, such as on a dialog's button.
 */
export function endKey(event: { readonly type: string; readonly preventDefault: () => void }): void {
  if (event.type === 'keydown') event.preventDefault()
}

/**
 * For antd's Dropdown and Popover: a menu opened by keyboard takes the focus, and what is closed
 * while it has the focus gives it back to its button. antd's own way back is cut off by the closing.
 */
export function usePopupFocus(): { readonly autoFocus: boolean; readonly onOpenChange: (open: boolean) => void } {
  const opener = useRef<HTMLElement>(null)
  const [autoFocus, setAutoFocus] = useState(false)
  return {
    autoFocus,
    onOpenChange: (open) => {
      const focused = document.activeElement
      if (!(focused instanceof HTMLElement)) return
      if (open) {
        opener.current = focused
        setAutoFocus(focused.matches(':focus-visible'))
      } else if (focused.closest('.ant-dropdown, .ant-popover') !== null) opener.current?.focus()
    },
  }
}
