import { licenceNotice } from '../session/licence.ts'

/** What a licence is worth now. */
export interface LicenceState {
  readonly kind: 'valid' | 'ending' | 'expired'
  /** Whole days until the end, a begun one counting; once expired, whole days since. */
  readonly days: number
  /** Share of its time that has gone by, 0 to 1. */
  readonly elapsed: number
}

/** How a state is shown. */
export const licenceTone = { valid: 'good', ending: 'warning', expired: 'bad' } as const

const dayMs = 86_400_000

/** @param now Unix milliseconds, like the licence's own timestamps */
export function licenceState(licence: { readonly start_timestamp: number; readonly end_timestamp: number }, now: number): LicenceState {
  const { start_timestamp: start, end_timestamp: end } = licence
  const notice = licenceNotice(end, now)
  const whole = end - start
  const elapsed = whole <= 0 ? 1 : Math.min(1, Math.max(0, (now - start) / whole))
  if (notice?.kind === 'expired') return { kind: 'expired', days: Math.floor((now - end) / dayMs), elapsed: 1 }
  return { kind: notice === null ? 'valid' : 'ending', days: Math.ceil((end - now) / dayMs), elapsed }
}

/** How much of what is allowed is used. */
export interface Allowance {
  readonly used: number
  /** Null is without limit. */
  readonly allowed: number | null
  /** 0 to 1, at most 1; null without limit. */
  readonly share: number | null
  readonly level: 'fine' | 'near' | 'full' | 'over'
}

export function allowanceOf(used: number, allowed: number | null): Allowance {
  if (allowed === null) return { used, allowed, share: null, level: 'fine' }
  const share = allowed <= 0 ? 1 : Math.min(1, used / allowed)
  const level = used > allowed ? 'over' : used === allowed ? 'full' : share >= 0.8 ? 'near' : 'fine'
  return { used, allowed, share, level }
}
