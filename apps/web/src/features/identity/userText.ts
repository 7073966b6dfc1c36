import type { userStatuses } from '@zhisuan/contract/ums/user'
import type { StatusTone } from '../../kit/StatusTag.tsx'

/** What somebody signs in with, and what they want to be called. */
export const personText = ({ name, nickname }: { readonly name: string; readonly nickname: string }): string =>
  nickname === '' || nickname === name ? name : `${name}（${nickname}）`

export const userTone = (status: (typeof userStatuses)[number]): StatusTone => ({ active: 'good', pending: 'warning', disabled: 'rest' } as const)[status]
