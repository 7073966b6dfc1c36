import { toDecimal } from '@zhisuan/contract/bill/money'
import { orderCan, type orders } from '@zhisuan/contract/bill/order'
import type { ResponseOf } from '@zhisuan/contract/define'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { Sql } from '../../../platform/db/database.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { ledger } from '../ledger/ledger.service.ts'
import { lockOwner } from '../ledger/ledger.store.ts'
import * as prepaidStore from '../rating/prepaid.store.ts'
import type { SpanRow } from '../rating/prepaid.store.ts'
import * as store from './order.store.ts'
import type { OrderRow } from './order.store.ts'
import { byOf, renewalOf, type Ordering } from './ordering.ts'
import { refundOf, unusedOf } from './terms.ts'

/** Gives back what of an order was not used yet. */
export function createRefunds({ db, now, tell }: Ordering) {
  /** What would come back now, with all that it depends on held. @throws Refusal 90010, 96023, 96024 */
  const refundable = async (on: Sql, order: OrderRow): Promise<{ span: SpanRow; amount: bigint; unused: number; total: number }> => {
    refuseUnless(orderCan.refund, order)
    const span = await prepaidStore.spanOfOrder(on, order.id)
    const at = now()
    if (span === undefined || order.resource_id === null) throw new Refusal('orderUsedUp')
    const { unused, total } = unusedOf(span, at)
    if (unused === 0) throw new Refusal('orderUsedUp')
    const spans = await prepaidStore.spansAfter(on, order.resource_id, at)
    if (spans.at(-1)?.order_id !== order.id) throw new Refusal('orderNotLast')
    return { span, amount: refundOf(BigInt(order.amount), { unused, total }), unused, total }
  }

  return {
    /** @throws Refusal 90010, 96023, 96024 */
    async preview(actor: Actor, id: string): Promise<ResponseOf<(typeof orders)['refundPreview']>> {
      found(await store.getOrder(db, scopeOf(actor), id, now()))
      const order = found(await store.readOrder(db, id))
      const { amount, unused, total } = await refundable(db, order)
      return { amount: toDecimal(amount), paid: toDecimal(BigInt(order.amount)), unused_seconds: unused, total_seconds: total }
    },

    /** @throws Refusal 90010, 96023, 96024 */
    async refund(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const order = found(await store.lockOrder(tx, scopeOf(actor), id))
        await lockOwner(tx, order.bp_id)
        if (order.resource_id !== null) await prepaidStore.lockPrepaid(tx, order.resource_id)
        const { span, amount, unused } = await refundable(tx, order)
        // What is given back begins to be paid by the hour.
        const end = new Date(span.to.getTime() - unused * 1000)
        await prepaidStore.cutSpan(tx, span, end)
        if (amount > 0n)
          await ledger.refund(tx, {
            owner_id: order.bp_id,
            amount,
            key: `order ${id} refund`,
            note: String(order.number),
            by: { id: actor.user_id, name: actor.name },
          })
        await store.updateOrder(tx, id, { status: 'refunded', refunded: String(amount), error_text: null, covered_to: end })
        const [left, row] = [(await prepaidStore.spansAfter(tx, span.resource_id, end)).at(-1)?.to, await prepaidStore.getPrepaid(tx, span.resource_id)]
        const auto_renew = left !== undefined && row?.auto_renew === true
        await prepaidStore.updatePrepaid(tx, span.resource_id, { auto_renew, renew_at: auto_renew ? renewalOf(left, row.period) : null })
        await tell(tx, id, 'refunded', byOf(actor), toDecimal(amount))
      })
    },
  }
}
