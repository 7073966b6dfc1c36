import type { QuotaLine, QuotaResource } from '@zhisuan/contract/nextstack/quota'
import * as format from './format.ts'

/** From 80 % on something has to be done soon; at 100 % nothing more can be made; a limit may be set below what is used. */
export type QuotaLevel = 'fine' | 'near' | 'full' | 'over'

export function levelOf({ used, limit }: Pick<QuotaLine, 'used' | 'limit'>): QuotaLevel {
  if (limit === null || (limit === 0 && used === 0)) return 'fine'
  if (used > limit) return 'over'
  if (used === limit) return 'full'
  return used >= limit * 0.8 ? 'near' : 'fine'
}

/** 0 to 1, never more; null where there is no limit. */
export function shareOf({ used, limit }: Pick<QuotaLine, 'used' | 'limit'>): number | null {
  if (limit === null) return null
  return limit === 0 ? (used > 0 ? 1 : 0) : Math.min(1, used / limit)
}

export const isBytes = (resource: QuotaResource): boolean => resource.endsWith('_bytes')

/** `12`, or `64 GB`. */
export const amountText = (resource: QuotaResource, amount: number): string => (isBytes(resource) ? format.bytes(amount) : format.number(amount))

const urgency: Readonly<Record<QuotaLevel, number>> = { over: 0, full: 1, near: 2, fine: 3 }

/** What is worth a look: limited or used, what runs out first. */
export const worthLook = (lines: readonly QuotaLine[]): readonly QuotaLine[] =>
  lines
    .filter(({ used, limit }) => limit !== null || used > 0)
    .toSorted((one, other) => urgency[levelOf(one)] - urgency[levelOf(other)] || (shareOf(other) ?? -1) - (shareOf(one) ?? -1))

/** How a resource is limited, as a form has it. */
export interface LimitValue {
  readonly mode: 'default' | 'unlimited' | 'own'
  /** Of meaning where it is its own; null while nothing is typed. */
  readonly most: number | null
}
export type LimitValues = Partial<Record<QuotaResource, LimitValue>>

export const valueOf = ({ limit, own }: Pick<QuotaLine, 'limit' | 'own'>): LimitValue =>
  !own ? { mode: 'default', most: limit } : limit === null ? { mode: 'unlimited', most: null } : { mode: 'own', most: limit }

/** The call's limits: what falls back to the default is left out. */
export function limitsOf(values: LimitValues): Partial<Record<QuotaResource, number | null>> {
  // Object.entries loses the key type.
  const entries = Object.entries(values) as [QuotaResource, LimitValue][]
  return Object.fromEntries(entries.flatMap(([resource, { mode, most }]) => (mode === 'default' ? [] : [[resource, mode === 'unlimited' ? null : most]])))
}
