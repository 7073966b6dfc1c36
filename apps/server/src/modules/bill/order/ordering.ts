import { renewBeforeHours, type OrderEvent, type PrepaidKind, type PrepaidPeriod } from '@zhisuan/contract/bill/order'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Sold } from '../../../platform/module.ts'
import type { Platform } from '../../../platform/platform.ts'
import { spansAfter } from '../rating/prepaid.store.ts'
import type { OrderRow, PrepaidOrderRow } from './order.store.ts'
import { tell } from './order.store.ts'

/** Who does something; null for the platform. */
export type By = { id: string; name: string } | null
export const byOf = (actor: Pick<Actor, 'user_id' | 'name'>): By => ({ id: actor.user_id, name: actor.name })

/** Somebody as what they are by now; null where they may not sign in any more. */
export type PersonOf = (userId: string) => Promise<Actor | null>

export type OrderingPlatform = Pick<Platform, 'db' | 'now' | 'operations' | 'secrets' | 'log' | 'kinds'>

/** What all that is done with orders stands on. */
export interface Ordering extends OrderingPlatform {
  readonly soldAs: (type: PrepaidKind) => Sold
  /** Writes into the history of an order. */
  readonly tell: (tx: Tx, orderId: string, what: OrderEvent, by: By, note?: string) => Promise<void>
  /** Until when something is paid in advance; null where it is not. */
  readonly paidUntil: (on: Sql, resourceId: string) => Promise<Date | null>
}

export const createOrdering = (platform: OrderingPlatform): Ordering => ({
  ...platform,
  soldAs: (type) => {
    const sold = platform.kinds().get(type)?.sold
    if (sold === undefined) throw new Error(`no module sells ${type}`)
    return sold
  },
  tell: (tx, order_id, what, by, note = '') => tell(tx, { order_id, what, by: by?.name ?? '', note, at: platform.now() }),
  paidUntil: async (on, resourceId) => (await spansAfter(on, resourceId, platform.now())).at(-1)?.to ?? null,
})

export const hourMs = 3_600_000

/** When what is paid until then is ordered once more: of a single day an hour before, or two would be paid at once. */
export const renewalOf = (end: Date, period: PrepaidPeriod): Date => new Date(end.getTime() - (period === 'day' ? 1 : renewBeforeHours) * hourMs)

/** @throws Refusal 90010 for an order by the hour, which nothing is done with */
export function assertPrepaid(order: OrderRow | PrepaidOrderRow): asserts order is PrepaidOrderRow {
  if (order.kind === 'onDemand') throw new Refusal('stateForbids')
}

/** Where the body of a creation is sealed. */
export const sealedPlace = (id: string): string => `bill_orders.sealed:${id}`
