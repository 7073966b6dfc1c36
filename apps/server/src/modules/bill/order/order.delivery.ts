import { setTimeout as sleep } from 'node:timers/promises'
import { orderCan } from '@zhisuan/contract/bill/order'
import { z } from 'zod'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import { inAdvance } from '../arrears/in-advance.ts'
import { ledger } from '../ledger/ledger.service.ts'
import { lockOwner } from '../ledger/ledger.store.ts'
import * as prepaidStore from '../rating/prepaid.store.ts'
import { contextOfPerson } from '../../../platform/auth/later.ts'
import { mayMakeBy } from './order.placing.ts'
import * as store from './order.store.ts'
import type { OrderRow, PrepaidOrderRow } from './order.store.ts'
import { assertPrepaid, hourMs, renewalOf, sealedPlace, type By, type Ordering, type PersonOf } from './ordering.ts'
import { endOf, isOfDays, wholeSecond } from './terms.ts'

const lookEveryMs = 250

class AlreadyMade extends Error {}

export type Delivery = ReturnType<typeof createDelivery>

/** Takes the money for an order and brings what was ordered. */
export function createDelivery({ db, now, secrets, operations, soldAs, tell }: Ordering, others: { personOf: PersonOf }) {
  /** It is there: what was held is spent, and the time that it pays for begins. */
  const grant = async (tx: Tx, order: PrepaidOrderRow, resource: { id: string; name: string }, by: By): Promise<void> => {
    const { period, count, bp_id } = order
    // Whoever moves money and changes what is paid in advance holds the account first, so that no two wait for each other.
    await lockOwner(tx, bp_id)
    const before = await prepaidStore.openPrepaid(tx, {
      resource_id: resource.id,
      resource_type: order.resource_type,
      resource_name: resource.name,
      bp_id,
      period,
      count,
    })
    const at = wholeSecond(now())
    const spans = await prepaidStore.spansAfter(tx, resource.id, at)
    // What is new is paid from its first use on, which was a moment ago. What the clock renewed at the very end goes on where that was.
    const last = spans.at(-1) ?? (order.automatic ? await prepaidStore.spanEndedSince(tx, resource.id, new Date(at.getTime() - hourMs)) : undefined)
    const begin = last?.to ?? wholeSecond(order.kind === 'purchase' ? ((await store.firstUse(tx, resource.id)) ?? at) : at)
    const chain = last === undefined ? begin : (last.chain_from ?? last.from)
    const end = endOf(begin, period, count, chain)
    await prepaidStore.insertSpan(tx, {
      order_id: order.id,
      resource_id: resource.id,
      from: begin,
      to: end,
      usage: order.usage,
      chain_from: isOfDays(period) ? end : chain,
    })
    if (order.hold_id !== null) await ledger.capture(tx, { owner_id: bp_id, hold_id: order.hold_id, note: String(order.number) })
    await store.updateOrder(tx, order.id, {
      status: 'delivered',
      resource_id: resource.id,
      resource_name: resource.name,
      covered_from: begin,
      covered_to: end,
      sealed: null,
      error_text: null,
    })
    // How it goes on is said when it begins, and by `setAutoRenew` from then on.
    const auto_renew = order.kind === 'renewal' ? before.auto_renew : order.auto_renew
    const auto_renewed = order.kind === 'renewal' ? before.period : period
    await prepaidStore.updatePrepaid(tx, resource.id, {
      ...(order.kind !== 'renewal' && { period, count }),
      auto_renew,
      renew_at: auto_renew ? renewalOf(end, auto_renewed) : null,
      resource_name: resource.name,
      error_text: null,
    })
    await tell(tx, order.id, 'delivered', by)
  }

  const deliver: OperationDefinition<object> = {
    kind: 'bill.order.deliver',
    input: z.object({}),
    steps: [
      {
        name: 'make',
        reached: 'ours',
        run: async ({ resource_id: id }) => {
          const order = found(await store.readOrder(db, id))
          assertPrepaid(order)
          if (order.resource_id !== null) return
          const actor = order.created_by === null ? null : await others.personOf(order.created_by)
          const sold = soldAs(order.resource_type)
          const body = sold.call.body.parse(JSON.parse(secrets.open(order.sealed ?? '', sealedPlace(id))))
          if (actor === null || !(await mayMakeBy(actor, sold.call, body, contextOfPerson(actor, now())))) throw new Refusal('deliveryNoPerson')
          try {
            await inAdvance(() =>
              sold.make(actor, body, async (tx, made) => {
                const held = found(await store.lockOrder(tx, platformScope, id))
                // Its id is written with it: whoever comes back after a kill finds both or neither.
                if (held.resource_id !== null) throw new AlreadyMade()
                const [resource] = made
                await store.updateOrder(tx, id, { resource_id: found(resource).id, resource_name: found(resource).name })
              }),
            )
          } catch (error) {
            if (!(error instanceof AlreadyMade)) throw error
          }
        },
      },
      {
        name: 'wait',
        reached: 'ours',
        run: async ({ resource_id: id, signal }) => {
          for (;;) {
            const order = found(await store.readOrder(db, id))
            assertPrepaid(order)
            const resource = await soldAs(order.resource_type).find(db, platformScope, order.resource_id ?? '')
            if (resource === undefined) throw new Refusal('orderResourceUnfit')
            if (resource.state === 'broken') throw new Refusal('deliveryFailed', { values: { reason: resource.error ?? '' } })
            if (resource.state === 'there') return
            await sleep(lookEveryMs, undefined, { signal })
          }
        },
      },
    ],
    ended: async (tx, { resource_id: id }, refusal) => {
      const order = await store.lockOrder(tx, platformScope, id)
      if (order?.status !== 'paid') return
      assertPrepaid(order)
      if (refusal === null) return grant(tx, order, { id: order.resource_id ?? '', name: order.resource_name }, null)
      if (order.hold_id !== null) await ledger.release(tx, { owner_id: order.bp_id, hold_id: order.hold_id, note: String(order.number) })
      await store.updateOrder(tx, id, { status: 'refunded', refunded: order.amount, sealed: null, error_text: refusal.message })
      await tell(tx, id, 'failed', null, refusal.message)
    },
  }

  return {
    deliver,

    /** Sets the money aside and has what was ordered delivered. The order is held. @throws Refusal 24011, 24044, 90010, 96022 */
    async settle(tx: Tx, order: OrderRow, by: By): Promise<void> {
      const at = now()
      assertPrepaid(order)
      if (order.status === 'expired' || (order.status === 'unpaid' && order.expires_at <= at)) throw new Refusal('orderExpired')
      refuseUnless(orderCan.pay, order)
      const amount = BigInt(order.amount)
      const hold_id =
        amount === 0n
          ? null
          : await ledger.hold(tx, { owner_id: order.bp_id, amount, key: `order ${order.id}`, note: String(order.number), ...(by !== null && { by }) })
      await store.updateOrder(tx, order.id, { status: 'paid', hold_id, paid_at: at, error_text: null })
      await tell(tx, order.id, 'paid', by)
      if (order.kind === 'purchase') {
        await operations.begin(tx, deliver, {
          resource_id: order.id,
          bp_id: order.bp_id,
          actor: by === null ? null : { user_id: by.id, name: by.name },
          input: {},
        })
        return
      }
      const resource = await soldAs(order.resource_type).find(tx, platformScope, order.resource_id ?? '')
      if (resource?.state !== 'there' || resource.bp_id !== order.bp_id) throw new Refusal('orderResourceUnfit')
      await grant(tx, { ...order, status: 'paid', hold_id }, resource, null)
    },
  }
}
