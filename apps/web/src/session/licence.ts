import { constants } from '@zhisuan/contract/constants'

/** What the licence says to those who can do something about it; null where all is well. */
export type LicenceNotice = { readonly kind: 'expired' } | { readonly kind: 'ending'; readonly days: number } | null

export function licenceNotice(endTimestamp: number, now: number): LicenceNotice {
  if (endTimestamp < now) return { kind: 'expired' }
  const left = endTimestamp - now
  return left < constants.licenceWarningMs ? { kind: 'ending', days: Math.ceil(left / 86_400_000) } : null
}
