import { setTimeout as sleep } from 'node:timers/promises'
import type { createOrderBody, Order, OrderDetail, OrderKind, orders, Prepaid, prepaids, PrepaidPeriod, PrepaidType } from '@zhisuan/contract/bill/order'
import { orderCan, payWithinMinutes, prepaidTypes, renewBeforeHours } from '@zhisuan/contract/bill/order'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { Context } from '@zhisuan/contract/policy/pattern'
import { z } from 'zod'
import { platformScope, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { decideCall } from '../../../platform/auth/rules.ts'
import { iso, isoOrNull, isUniqueViolation, type Sql, type Tx } from '../../../platform/db/database.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import type { Sold, SoldResource } from '../../../platform/module.ts'
import type { Platform } from '../../../platform/platform.ts'
import { quoteAt } from '../catalogue/catalogue.service.ts'
import { ledger } from '../ledger/ledger.service.ts'
import { lockOwner } from '../ledger/ledger.store.ts'
import * as prepaidStore from '../rating/prepaid.store.ts'
import type { PrepaidRow, SpanRow } from '../rating/prepaid.store.ts'
import * as store from './order.store.ts'
import type { OrderRow, PrepaidOrderRow, ShownOrder } from './order.store.ts'
import { endOf, itemsOf, refundOf, unusedOf, wholeSecond } from './terms.ts'

type Calls = typeof orders
/** Who does something; null for the platform. */
type By = { id: string; name: string } | null

const minute = 60_000
const hour = 60 * minute
const lookEveryMs = 250
const renewAgainMs = hour

/** Thrown out of a transaction so that nothing of it stays. */
class Rehearsed extends Error {}
class AlreadyMade extends Error {}

/** @throws Refusal 90010 for an order by the hour, which nothing is done with */
function assertPrepaid(order: OrderRow | PrepaidOrderRow): asserts order is PrepaidOrderRow {
  if (order.kind === 'onDemand') throw new Refusal('stateForbids')
}

const place = (id: string): string => `bill_orders.sealed:${id}`
const byOf = (actor: Pick<Actor, 'user_id' | 'name'>): By => ({ id: actor.user_id, name: actor.name })

export const shapeOrder = (row: ShownOrder): Order => ({
  id: row.id,
  number: String(row.number),
  bp_id: row.bp_id,
  bp_name: row.bp_name,
  kind: row.kind,
  status: row.status_now,
  resource: { type: row.resource_type, id: row.resource_id, name: row.resource_name },
  period: row.period,
  count: row.count,
  auto_renew: row.auto_renew,
  automatic: row.automatic,
  list_amount: row.quote.list_amount,
  amount: toDecimal(BigInt(row.amount)),
  refunded_amount: row.refunded === null ? null : toDecimal(BigInt(row.refunded)),
  covers: row.covered_from === null || row.covered_to === null ? null : { from: iso(row.covered_from), to: iso(row.covered_to) },
  error: row.error_text,
  expires_at: iso(row.expires_at),
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  paid_at: isoOrNull(row.paid_at),
})

export type OrderService = ReturnType<typeof createOrders>

export function createOrders(
  platform: Pick<Platform, 'db' | 'now' | 'operations' | 'secrets' | 'log' | 'modules'>,
  others: {
    /** Somebody as what they are by now; null where they may not sign in any more. */
    personOf: (userId: string) => Promise<Actor | null>
  },
) {
  const { db, now, secrets } = platform
  const soldAs = (type: PrepaidType): Sold => {
    for (const { sold } of platform.modules()) if (sold?.[type] !== undefined) return sold[type]
    throw new Error(`no module sells ${type}`)
  }
  const tell = (tx: Tx, order_id: string, what: Parameters<typeof store.tell>[1]['what'], by: By, note = ''): Promise<void> =>
    store.tell(tx, { order_id, what, by: by?.name ?? '', note, at: now() })

  /** Whoever orders something new has to be allowed to make it, when they order it and when it is made. */
  const isAllowed = async (actor: Actor, call: Sold['call'], body: unknown, context: Context): Promise<boolean> =>
    (await decideCall(actor, call, { params: {}, body }, context, async () => ({}))).outcome === 'allowed'

  /** What would be made, with all rules that hold for it; nothing of it stays. */
  const rehearse = async (sold: Sold, actor: Actor, body: unknown): Promise<SoldResource> => {
    let made: readonly SoldResource[] = []
    try {
      await sold.make(actor, body, async (_, all) => {
        made = all
        throw new Rehearsed()
      })
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

  interface Wish {
    id: string
    kind: OrderKind
    resource_type: PrepaidType
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
      refunded: null,
      hold_id: null,
      covered_from: null,
      covered_to: null,
      error_text: null,
      created_by: by?.id ?? null,
      created_by_name: by?.name ?? '',
      created_at: at,
      paid_at: null,
    })
    await tell(tx, wish.id, 'created', by)
  }
  const recordAlone = async (wish: Wish): Promise<void> => {
    try {
      await db.transaction().execute((tx) => record(tx, wish))
    } catch (error) {
      // Of two that come at once.
      throw isUniqueViolation(error, store.pendingRule) ? new Refusal('orderPending', { cause: error }) : error
    }
  }
  const paidUntil = async (on: Sql, resourceId: string): Promise<Date | null> => (await prepaidStore.spansAfter(on, resourceId, now())).at(-1)?.to ?? null

  /** More time for something that is there. */
  const recordMore = async (
    actor: Actor,
    type: PrepaidType,
    resource_id: string,
    term: { period: PrepaidPeriod; count: number; auto_renew: boolean },
  ): Promise<string> => {
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
      expires_at: new Date(now().getTime() + payWithinMinutes * minute),
      by: byOf(actor),
    })
    return id
  }

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

  /** Whoever moves money and changes what is paid in advance holds the account first, so that no two wait for each other. */
  const lockAccount = async (tx: Tx, { bp_id }: Pick<OrderRow, 'bp_id'>): Promise<void> => void (await lockOwner(tx, bp_id))

  /** It is there: what was held is spent, and the time that it pays for begins. */
  const grant = async (tx: Tx, order: PrepaidOrderRow, resource: { id: string; name: string }, by: By): Promise<void> => {
    const { period, count, bp_id } = order
    await lockAccount(tx, order)
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
    // What is new is paid from its first use on, which was a moment ago.
    const begin = spans.at(-1)?.to ?? wholeSecond(order.kind === 'purchase' ? ((await store.firstUse(tx, resource.id)) ?? at) : at)
    const end = endOf(begin, period, count)
    await prepaidStore.insertSpan(tx, { order_id: order.id, resource_id: resource.id, from: begin, to: end, usage: order.usage })
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
    await prepaidStore.updatePrepaid(tx, resource.id, {
      ...(order.kind !== 'renewal' && { period, count }),
      auto_renew,
      renew_at: auto_renew ? renewalOf(end) : null,
      resource_name: resource.name,
      error_text: null,
    })
    await tell(tx, order.id, 'delivered', by)
  }
  const renewalOf = (end: Date): Date => new Date(end.getTime() - renewBeforeHours * hour)

  const deliver: OperationDefinition<object> = {
    kind: 'bill.order.deliver',
    resource_type: 'order',
    input: z.object({}),
    steps: [
      {
        name: 'make',
        run: async ({ resource_id: id }) => {
          const order = found(await store.readOrder(db, id))
          assertPrepaid(order)
          if (order.resource_id !== null) return
          const actor = order.created_by === null ? null : await others.personOf(order.created_by)
          const sold = soldAs(order.resource_type)
          const body = sold.call.body.parse(JSON.parse(secrets.open(order.sealed ?? '', place(id))))
          if (actor === null || !(await isAllowed(actor, sold.call, body, contextOfPerson(actor, now())))) throw new Refusal('deliveryNoPerson')
          try {
            await sold.make(actor, body, async (tx, made) => {
              const held = found(await store.lockOrder(tx, platformScope, id))
              // Its id is written with it: whoever comes back after a kill finds both or neither.
              if (held.resource_id !== null) throw new AlreadyMade()
              const [resource] = made
              await store.updateOrder(tx, id, { resource_id: found(resource).id, resource_name: found(resource).name })
            })
          } catch (error) {
            if (!(error instanceof AlreadyMade)) throw error
          }
        },
      },
      {
        name: 'wait',
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

  /** Sets the money aside and has what was ordered delivered. The order is held. @throws Refusal 24011, 24044, 90010, 96022 */
  const settle = async (tx: Tx, order: OrderRow, by: By): Promise<void> => {
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
      await platform.operations.begin(tx, deliver, {
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
  }

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

  const shapePrepaid = async (resource: Prepaid['resource'], row: PrepaidRow | undefined): Promise<Prepaid> => {
    const spans = await prepaidStore.spansAfter(db, resource.id, now())
    return {
      resource,
      ends_at: isoOrNull(spans.at(-1)?.to ?? null),
      auto_renew: row?.auto_renew ?? false,
      period: row?.period ?? null,
      count: row?.count ?? null,
      renews_at: isoOrNull(row?.renew_at ?? null),
      error: row?.error_text ?? null,
      spans: spans.map(({ order_id, from, to, usage }) => ({ order_id, from: iso(from), to: iso(to), usage })),
    }
  }
  const resourceOf = async (actor: Actor, id: string): Promise<Prepaid['resource']> => {
    for (const type of prepaidTypes) {
      const resource = await soldAs(type).find(db, scopeOf(actor), id)
      if (resource !== undefined) return { type, id, name: resource.name }
    }
    throw new Refusal('notFound')
  }

  return {
    deliver,

    async list(scope: Scope, query: QueryOf<Calls['list']>): Promise<ResponseOf<Calls['list']>> {
      const { total, rows } = await store.listOrders(db, scope, query, now())
      return { total, items: rows.map(shapeOrder) }
    },

    get,

    /** @throws Refusal as the call that makes it, 24007, 96020 to 96022 */
    async create(actor: Actor, body: z.output<typeof createOrderBody>, context: Context): Promise<OrderDetail> {
      const { resource_type, period, count, auto_renew } = body
      if (body.create === undefined) return get(actor, await recordMore(actor, resource_type, body.resource_id ?? '', { period, count, auto_renew }))
      const sold = soldAs(resource_type)
      if (!(await isAllowed(actor, sold.call, body.create, context))) throw new Refusal('noPermission')
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
        sealed: secrets.seal(JSON.stringify(body.create), place(id)),
        expires_at: new Date(now().getTime() + payWithinMinutes * minute),
        by: byOf(actor),
      })
      return get(actor, id)
    },

    /** @throws Refusal 24007, 90010, 96021, 96022 */
    async renew(actor: Actor, id: string, body: BodyOf<Calls['renew']>): Promise<OrderDetail> {
      const order = found(await store.getOrder(db, scopeOf(actor), id, now()))
      refuseUnless(orderCan.renew, { status: order.status_now })
      assertPrepaid(order)
      return get(actor, await recordMore(actor, order.resource_type, order.resource_id ?? '', { ...body, auto_renew: order.auto_renew }))
    },

    /** @throws Refusal 24011, 24044, 90010, 96022 */
    async pay(actor: Actor, id: string): Promise<OrderDetail> {
      await db.transaction().execute(async (tx) => settle(tx, found(await store.lockOrder(tx, scopeOf(actor), id)), byOf(actor)))
      return get(actor, id)
    },

    async cancel(actor: Actor, id: string): Promise<OrderDetail> {
      await db.transaction().execute(async (tx) => {
        const order = found(await store.lockOrder(tx, scopeOf(actor), id))
        refuseUnless(orderCan.cancel, order)
        if (order.expires_at <= now()) throw new Refusal('orderExpired')
        await store.updateOrder(tx, id, { status: 'cancelled', sealed: null })
        await tell(tx, id, 'cancelled', byOf(actor))
      })
      return get(actor, id)
    },

    /** @throws Refusal 90010, 96023, 96024 */
    async refundPreview(actor: Actor, id: string): Promise<ResponseOf<Calls['refundPreview']>> {
      found(await store.getOrder(db, scopeOf(actor), id, now()))
      const order = found(await store.readOrder(db, id))
      const { amount, unused, total } = await refundable(db, order)
      return { amount: toDecimal(amount), paid: toDecimal(BigInt(order.amount)), unused_seconds: unused, total_seconds: total }
    },

    /** @throws Refusal 90010, 96023, 96024 */
    async refund(actor: Actor, id: string): Promise<OrderDetail> {
      await db.transaction().execute(async (tx) => {
        const order = found(await store.lockOrder(tx, scopeOf(actor), id))
        await lockAccount(tx, order)
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
        await prepaidStore.updatePrepaid(tx, span.resource_id, { auto_renew, renew_at: auto_renew ? renewalOf(left) : null })
        await tell(tx, id, 'refunded', byOf(actor), toDecimal(amount))
      })
      return get(actor, id)
    },

    async prepaid(actor: Actor, id: string): Promise<Prepaid> {
      return shapePrepaid(await resourceOf(actor, id), await prepaidStore.getPrepaid(db, id))
    },

    /** @throws Refusal 96025 */
    async setAutoRenew(actor: Actor, id: string, body: BodyOf<(typeof prepaids)['setAutoRenew']>): Promise<Prepaid> {
      const resource = await resourceOf(actor, id)
      await db.transaction().execute(async (tx) => {
        const row = await prepaidStore.lockPrepaid(tx, id)
        const until = await paidUntil(tx, id)
        if (row === undefined || until === null) throw new Refusal('prepaidNone')
        await prepaidStore.updatePrepaid(tx, id, { ...body, renew_at: body.auto_renew ? renewalOf(until) : null, error_text: null })
      })
      return shapePrepaid(resource, await prepaidStore.getPrepaid(db, id))
    },

    /** What the clock does to orders and to what is paid in advance. */
    clock: {
      expire: (): Promise<void> => store.expireOrders(db, now()),

      due: (limit: number): Promise<PrepaidRow[]> => prepaidStore.duePrepaid(db, now(), limit),

      /**
       * Orders the renewal of something and moves it on to the next try, in one transaction: so it is
       * ordered once, by however many servers. Answers the order to pay; null where there is none.
       */
      orderRenewal: (resourceId: string): Promise<string | null> =>
        db
          .transaction()
          .execute(async (tx) => {
            const row = await prepaidStore.lockPrepaid(tx, resourceId)
            const at = now()
            if (row === undefined || row.renew_at === null || row.renew_at > at) return null
            const until = await paidUntil(tx, resourceId)
            const resource = await soldAs(row.resource_type).find(tx, platformScope, resourceId)
            if (resource?.state !== 'there' || resource.bp_id !== row.bp_id) {
              // What is gone is not renewed; what is being made anew perhaps later.
              await prepaidStore.updatePrepaid(
                tx,
                resourceId,
                resource === undefined ? { auto_renew: false, renew_at: null } : { renew_at: nextTry(at, until) },
              )
              return null
            }
            await prepaidStore.updatePrepaid(tx, resourceId, { renew_at: nextTry(at, until) })
            await store.expireOrders(tx, at, resourceId)
            const pending = await store.pendingOf(tx, resourceId)
            // Somebody is about to pay for it themselves.
            if (pending !== undefined) return pending.automatic && pending.status === 'unpaid' ? pending.id : null
            const id = uuidv7()
            const soon = at.getTime() + payWithinMinutes * minute
            await record(tx, {
              id,
              kind: until === null ? 'conversion' : 'renewal',
              resource_type: row.resource_type,
              resource_id: resourceId,
              resource,
              period: row.period,
              count: row.count,
              auto_renew: true,
              automatic: true,
              sealed: null,
              expires_at: new Date(Math.max(soon, until?.getTime() ?? 0)),
              by: null,
            })
            return id
          })
          .catch((error: unknown) => {
            // Somebody orders it themselves in this very moment: the next look finds their order.
            if (isUniqueViolation(error, store.pendingRule)) return null
            throw error
          }),

      payRenewal: (id: string): Promise<void> => db.transaction().execute(async (tx) => settle(tx, found(await store.lockOrder(tx, platformScope, id)), null)),

      /** Tells why something was not renewed; when its time is over, it is not tried again. */
      renewalFailed: (resourceId: string, orderId: string | null, reason: string): Promise<void> =>
        db.transaction().execute(async (tx) => {
          const order = orderId === null ? undefined : await store.lockOrder(tx, platformScope, orderId)
          // Somebody paid it in the meantime.
          if (order !== undefined && order.status !== 'unpaid') return
          const row = await prepaidStore.lockPrepaid(tx, resourceId)
          if (row?.auto_renew !== true) return
          const at = now()
          const until = await paidUntil(tx, resourceId)
          await prepaidStore.updatePrepaid(
            tx,
            resourceId,
            until === null ? { auto_renew: false, renew_at: null, error_text: reason } : { renew_at: nextTry(at, until), error_text: reason },
          )
          if (order === undefined) return
          await store.updateOrder(tx, order.id, { error_text: reason })
          await tell(tx, order.id, 'renewalFailed', null, reason)
        }),
    },
  }
}

/** Once more at the very end. */
const nextTry = (at: Date, until: Date | null): Date => {
  const again = new Date(at.getTime() + renewAgainMs)
  return until !== null && until > at && until < again ? until : again
}

/** What somebody says of themselves to policies who is not there any more. */
const contextOfPerson = (actor: Actor, at: Date): Context => ({
  'zs:UserId': actor.user_id,
  'zs:UserName': actor.name,
  'zs:UserKind': String(actor.kind),
  ...(actor.bp_id !== null && { 'zs:OrganisationId': actor.bp_id }),
  'zs:CurrentTime': at.toISOString(),
})
