import { toMinor } from '@zhisuan/contract/bill/money'
import { payWithinMinutes, type createOrderBody, type OrderKind, type PrepaidPeriod, type PrepaidKind } from '@zhisuan/contract/bill/order'
import type { Context } from '@zhisuan/contract/policy/pattern'
import type { z } from 'zod'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { decideCall } from '../../../platform/auth/rules.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Sold, SoldResource } from '../../../platform/module.ts'
import { inAdvance } from '../arrears/in-advance.ts'
import { quoteAt } from '../catalogue/quote.ts'
import * as store from './order.store.ts'
import { byOf, sealedPlace, type By, type Ordering } from './ordering.ts'
import { itemsOf } from './terms.ts'

/** Thrown out of a transaction so that nothing of it stays. */
class Rehearsed extends Error {}

/** What an order says before it is written down. */
export interface Wish {
  id: string
  kind: OrderKind
  resource_type: PrepaidKind
  resource_id: string | null
  resource: SoldResource
  period: PrepaidPeriod
  count: number
  auto_renew: boolean
  automatic: boolean
  sealed: string | null
  expires_at: Date
  by: By
}

/** Whoever orders something new has to be allowed to make it, when they order it and when it is made. */
export const mayMakeBy = async (actor: Actor, call: Sold['call'], body: unknown, context: Context): Promise<boolean> =>
  (await decideCall(actor, call, { params: {}, body }, context, async () => ({}))).outcome === 'allowed'

/** When what is ordered now has to be paid. */
export const payBefore = (now: Date): Date => new Date(now.getTime() + payWithinMinutes * 60_000)

export type Placing = ReturnType<typeof createPlacing>

/** Writes orders down, at the price of the moment. */
export function createPlacing({ db, now, secrets, soldAs, tell, paidUntil }: Ordering) {
  /** What would be made, with all rules that hold for it; nothing of it stays. */
  const rehearse = async (sold: Sold, actor: Actor, body: unknown): Promise<SoldResource> => {
    let made: readonly SoldResource[] = []
    try {
      await inAdvance(() =>
        sold.make(actor, body, async (_, all) => {
          made = all
          throw new Rehearsed()
        }),
      )
    } catch (error) {
      if (error instanceof Refusal && error.fields !== undefined) {
        throw new Refusal(error.refusal, {
          values: error.values,
          message: error.message,
          fields: error.fields.map(({ field, message }) => ({ field: `create.${field}`, message })),
          cause: error,
        })
      }
      if (!(error instanceof Rehearsed)) throw error
    }
    return found(made[0])
  }

  /** @throws Refusal 24007, 96020, 96021 */
  const record = async (tx: Tx, { resource, by, ...wish }: Wish): Promise<void> => {
    const { bp_id, usage, name } = resource
    if (bp_id === null) throw new Refusal('orderOwnerless')
    const at = now()
    const quote = await quoteAt(tx, { bp_id, period: wish.period, count: wish.count, partial: false, items: itemsOf(usage) }, at).catch((error: unknown) => {
      throw error instanceof Refusal && error.refusal === 'productNotPriced' ? new Refusal('productNotPriced', { field: 'period', cause: error }) : error
    })
    if (wish.resource_id !== null) {
      await store.expireOrders(tx, at, wish.resource_id)
      if ((await store.pendingOf(tx, wish.resource_id)) !== undefined) throw new Refusal('orderPending')
    }
    await store.insertOrder(tx, {
      ...wish,
      bp_id,
      status: 'unpaid',
      resource_name: name,
      quote,
      usage: { ...usage },
      amount: String(toMinor(quote.amount)),
      created_by: by?.id ?? null,
      created_by_name: by?.name ?? '',
      created_at: at,
    })
    await tell(tx, wish.id, 'created', by)
  }

  const recordAlone = async (wish: Wish): Promise<void> => {
    await refusing({ [store.pendingRule]: 'orderPending' }, () => db.transaction().execute((tx) => record(tx, wish)))
  }

  return {
    record,

    /** Something new. @returns the order's id. @throws Refusal as the call that makes it, 24007, 96020 to 96022 */
    async new(actor: Actor, body: z.output<typeof createOrderBody>, context: Context): Promise<string> {
      const { resource_type, period, count, auto_renew } = body
      const sold = soldAs(resource_type)
      if (!(await mayMakeBy(actor, sold.call, body.create, context))) throw new Refusal('noPermission')
      const resource = await rehearse(sold, actor, body.create)
      const id = uuidv7()
      await recordAlone({
        id,
        kind: 'purchase',
        resource_type,
        resource_id: null,
        resource,
        period,
        count,
        auto_renew,
        automatic: false,
        sealed: secrets.seal(JSON.stringify(body.create), sealedPlace(id)),
        expires_at: payBefore(now()),
        by: byOf(actor),
      })
      return id
    },

    /** More time for something that is there. @returns the order's id. @throws Refusal 24007, 96021, 96022 */
    async more(actor: Actor, type: PrepaidKind, resource_id: string, term: { period: PrepaidPeriod; count: number; auto_renew: boolean }): Promise<string> {
      const resource = await soldAs(type).find(db, scopeOf(actor), resource_id)
      if (resource === undefined) throw new Refusal('notFound', { field: 'resource_id' })
      if (resource.state !== 'there') throw new Refusal('orderResourceUnfit', { field: 'resource_id' })
      const id = uuidv7()
      const kind = (await paidUntil(db, resource_id)) === null ? 'conversion' : 'renewal'
      await recordAlone({
        id,
        kind,
        resource_type: type,
        resource_id,
        resource,
        ...term,
        automatic: false,
        sealed: null,
        expires_at: payBefore(now()),
        by: byOf(actor),
      })
      return id
    },
  }
}
