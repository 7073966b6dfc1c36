import { orderCan, type createOrderBody, type OrderDetail, type orders } from '@zhisuan/contract/bill/order'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import type { Context } from '@zhisuan/contract/policy/pattern'
import type { z } from 'zod'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { quoteAt } from '../catalogue/quote.ts'
import { createDelivery } from './order.delivery.ts'
import { createPlacing } from './order.placing.ts'
import { createRefunds } from './order.refund.ts'
import { shapeOrder } from './order.shape.ts'
import * as store from './order.store.ts'
import { assertPrepaid, byOf, createOrdering, type OrderingPlatform, type PersonOf } from './ordering.ts'
import { createPrepaids } from './prepaid.service.ts'
import { createRenewals } from './renewal.ts'
import { itemsOf } from './terms.ts'

type Calls = typeof orders

export type OrderService = ReturnType<typeof createOrders>

/** Orders as their calls see them: placed, paid, delivered, refunded; and what follows from them. */
export function createOrders(platform: OrderingPlatform, others: { personOf: PersonOf }) {
  const { db, now } = platform
  const ordering = createOrdering(platform)
  const placing = createPlacing(ordering)
  const delivery = createDelivery(ordering, others)
  const refunds = createRefunds(ordering)

  const get = async (actor: Actor, id: string): Promise<OrderDetail> => {
    const row = found(await store.getOrder(db, scopeOf(actor), id, now()))
    const events = await store.eventsOf(db, id)
    // Prices keep their past: what an hour cost when it began is asked of them.
    const { lines } =
      row.kind === 'onDemand'
        ? await quoteAt(db, { bp_id: row.bp_id, period: 'hour', count: 1, partial: true, items: itemsOf(row.usage) }, row.created_at)
        : row.quote
    return { ...shapeOrder(row), lines, history: events.map(({ at, ...event }) => ({ ...event, at: iso(at) })) }
  }

  return {
    deliver: delivery.deliver,
    prepaids: createPrepaids(ordering),
    renewals: createRenewals(ordering, { placing, delivery }),
    refundPreview: refunds.preview,
    get,

    list: (scope: Scope, query: QueryOf<Calls['list']>) => shapedPage(store.listOrders(db, scope, query, now()), shapeOrder),

    /** @throws Refusal as the call that makes it, 24007, 96020 to 96022 */
    async create(actor: Actor, body: z.output<typeof createOrderBody>, context: Context): Promise<OrderDetail> {
      const { resource_type, resource_id = '', period, count, auto_renew } = body
      const id =
        body.create === undefined
          ? await placing.more(actor, resource_type, resource_id, { period, count, auto_renew })
          : await placing.new(actor, body, context)
      return get(actor, id)
    },

    /** @throws Refusal 24007, 90010, 96021, 96022 */
    async renew(actor: Actor, id: string, body: BodyOf<Calls['renew']>): Promise<OrderDetail> {
      const order = found(await store.getOrder(db, scopeOf(actor), id, now()))
      refuseUnless(orderCan.renew, { status: order.status_now })
      assertPrepaid(order)
      return get(actor, await placing.more(actor, order.resource_type, order.resource_id ?? '', { ...body, auto_renew: order.auto_renew }))
    },

    /** @throws Refusal 24011, 24044, 90010, 96022 */
    async pay(actor: Actor, id: string): Promise<OrderDetail> {
      await db.transaction().execute(async (tx) => delivery.settle(tx, found(await store.lockOrder(tx, scopeOf(actor), id)), byOf(actor)))
      return get(actor, id)
    },

    async cancel(actor: Actor, id: string): Promise<OrderDetail> {
      await db.transaction().execute(async (tx) => {
        const order = found(await store.lockOrder(tx, scopeOf(actor), id))
        refuseUnless(orderCan.cancel, order)
        if (order.expires_at <= now()) throw new Refusal('orderExpired')
        await store.updateOrder(tx, id, { status: 'cancelled', sealed: null })
        await ordering.tell(tx, id, 'cancelled', byOf(actor))
      })
      return get(actor, id)
    },

    /** @throws Refusal 90010, 96023, 96024 */
    async refund(actor: Actor, id: string): Promise<OrderDetail> {
      await refunds.refund(actor, id)
      return get(actor, id)
    },
  }
}
