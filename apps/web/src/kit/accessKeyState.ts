import type { AccessKey } from '@zhisuan/contract/ums/access-key'
import type { StatusTone } from './StatusTag.tsx'

type Shown = AccessKey['status'] | 'expired'

export const keyTones: Readonly<Record<Shown, StatusTone>> = { active: 'good', disabled: 'rest', blocked: 'bad', expired: 'warning' }

/** One that has run out is not in use, whatever was set. */
export const shownStatus = ({ status, expires_at }: Pick<AccessKey, 'status' | 'expires_at'>): Shown =>
  status === 'active' && expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : status
