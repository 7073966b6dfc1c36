import type { Call } from '@zhisuan/contract/define'
import { preheats, thirdRegistries, type Preheat, type ThirdRegistry } from '@zhisuan/contract/ims/preheat'
import type { ResponseOf } from '@zhisuan/contract/define'
import type { StatusTone } from '../../kit/StatusTag.tsx'

export type PreheatTarget = ResponseOf<typeof preheats.get>['targets'][number]

export const preheatTones: Readonly<Record<Preheat['status'], StatusTone>> = {
  waiting: 'rest',
  running: 'busy',
  succeeded: 'good',
  partial: 'warning',
  failed: 'bad',
  cancelled: 'rest',
}
export const targetTones: Readonly<Record<PreheatTarget['state'], StatusTone>> = {
  waiting: 'rest',
  pulling: 'busy',
  away: 'warning',
  done: 'good',
  there: 'good',
  failed: 'bad',
  cancelled: 'rest',
}
export const thirdTones: Readonly<Record<ThirdRegistry['health'], StatusTone>> = {
  unknown: 'rest',
  reachable: 'good',
  unreachable: 'bad',
  unauthorised: 'bad',
  slow: 'warning',
}

export const invalidatedByPreheat: readonly Call[] = [preheats.list, preheats.get]
export const invalidatedByThird: readonly Call[] = [thirdRegistries.list, thirdRegistries.get]

/** Of a target in whole percent; null while nobody knows. */
export const percentOf = ({ done_bytes: done, total_bytes: total }: Pick<PreheatTarget, 'done_bytes' | 'total_bytes'>): number | null =>
  total === null || total === 0 ? null : Math.min(100, Math.floor((done / total) * 100))
