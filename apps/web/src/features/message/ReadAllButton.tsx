import Button, { type ButtonProps } from 'antd/es/button'
import type { MessageCategory } from '@zhisuan/contract/sys/message'
import { useReadAll } from './useMessages.ts'
import '../../kit/actions.css'

/**
 * Marks all as read, or all of a category. Where there are none it is off as actions are: what is disabled loses the focus,
 * and whoever has just pressed it by the keyboard would be nowhere.
 */
export function ReadAllButton({
  none,
  category,
  ...look
}: Pick<ButtonProps, 'type' | 'size' | 'children'> & { readonly none: boolean; readonly category?: MessageCategory }) {
  const all = useReadAll()
  return <Button {...look} aria-disabled={none} className={none ? 'zs-off' : ''} loading={all.busy} onClick={() => !none && all.mark(category)} />
}
