import type { Order, OrderEvent, OrderKind, OrderStatus, PrepaidPeriod, PrepaidKind, orders } from '@zhisuan/contract/bill/order'
import type { QueryOf } from '@zhisuan/contract/define'
import type { Kind } from '@zhisuan/contract/kind'
import { sql, type ColumnType, type Generated, type Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { containing, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { insertsInto, rowsOf } from '../../../platform/db/rows.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Quote } from '../catalogue/quote.ts'

interface OrderTable {
  id: string
  number: Generated<number>
  bp_id: string
  kind: OrderKind
  status: OrderStatus
  resource_type: Kind
  resource_id: string | null
  resource_name: string
  period: Order['period']
  count: number
  auto_renew: boolean
  automatic: boolean
  quote: ColumnType<Quote, Quote, never>
  /** What is paid for, by `meter` or `meter/variant`. */
  usage: Record<string, number>
  /** Minor units. */
  amount: ColumnType<string, string, never>
  refunded: string | null
  /** The body of the call that makes what is ordered, sealed; null for what is there, and once it is not needed any more. */
  sealed: string | null
  /** The movement that set the money aside; null before it is paid, and for what costs nothing. */
  hold_id: string | null
  covered_from: Date | null
  covered_to: Date | null
  error_text: string | null
  expires_at: Date
  created_by: string | null
  created_by_name: string
  created_at: Date
  paid_at: Date | null
}
interface OrderEventTable {
  id: Generated<number>
  order_id: string
  what: OrderEvent
  by: string
  note: string
  at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    bill_orders: OrderTable
    bill_order_events: OrderEventTable
  }
}
export type OrderRow = Selectable<OrderTable>
/** All orders but those by the hour, which nothing is done with. */
export type PrepaidOrderRow = OrderRow & { period: PrepaidPeriod; resource_type: PrepaidKind }

export const orderMigrations: Migrations = {
  '20261123_00_53_orders': migration(`
    create table bill_orders (
      id uuid primary key,
      number bigint generated always as identity (start with 100001),
      bp_id uuid not null,
      kind text not null check (kind in ('onDemand', 'purchase', 'conversion', 'renewal')),
      status text not null check (status in ('unpaid', 'paid', 'delivered', 'refunded', 'cancelled', 'expired', 'charging', 'ended')),
      resource_type text not null,
      resource_id uuid,
      resource_name text not null,
      period text not null,
      count integer not null check (count > 0),
      auto_renew boolean not null,
      automatic boolean not null,
      quote jsonb not null,
      usage jsonb not null,
      amount numeric(38, 0) not null check (amount >= 0),
      refunded numeric(38, 0) check (refunded between 0 and amount),
      sealed text,
      hold_id uuid references ledger_transactions,
      covered_from timestamptz,
      covered_to timestamptz,
      error_text text,
      expires_at timestamptz not null,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null,
      paid_at timestamptz,
      constraint bill_orders_covered check ((covered_from is null) = (covered_to is null)),
      constraint bill_orders_by_the_hour check ((kind = 'onDemand') = (status in ('charging', 'ended')) and (kind = 'onDemand') = (period = 'hour')),
      constraint bill_orders_subject check (kind = 'purchase' or resource_id is not null)
    );
    create index bill_orders_bp on bill_orders (bp_id, created_at desc);
    create index bill_orders_newest on bill_orders (created_at desc, id);
    create index bill_orders_resource on bill_orders (resource_id) where resource_id is not null;
    create index bill_orders_unpaid on bill_orders (expires_at) where status = 'unpaid';
    -- Of one resource at most one order waits.
    create unique index bill_orders_pending on bill_orders (resource_id) where status in ('unpaid', 'paid');
    -- One for each who pays for it.
    create unique index bill_orders_on_demand on bill_orders (resource_id, bp_id) where kind = 'onDemand';

    create table bill_order_events (
      id bigint generated always as identity primary key,
      order_id uuid not null references bill_orders,
      what text not null,
      by text not null,
      note text not null,
      at timestamptz not null
    );
    create index bill_order_events_order on bill_order_events (order_id, id);
  `),
}

export const pendingRule = 'bill_orders_pending'

/** As it stands at a moment: one that nobody paid in time has expired, whether somebody wrote that down yet or not. */
const statusAt = (now: Date) => sql<OrderStatus>`case when orders.status = 'unpaid' and orders.expires_at <= ${now} then 'expired' else orders.status end`

const shown = (on: Sql, now: Date) =>
  on
    .selectFrom('bill_orders as orders')
    .leftJoin('organisations', 'organisations.id', 'orders.bp_id')
    .selectAll('orders')
    .select([sql<string>`coalesce(organisations.name, '')`.as('bp_name'), statusAt(now).as('status_now')])
export type ShownOrder = NonNullable<Awaited<ReturnType<typeof getOrder>>>

export const getOrder = (on: Sql, scope: Scope, id: string, now: Date) =>
  shown(on, now).where(within(scope, 'orders.bp_id')).where('orders.id', '=', id).executeTakeFirst()

export type OrderFilters = Omit<QueryOf<typeof orders.list>, 'page_num' | 'page_size' | 'sort'>

const filtered = (on: Sql, scope: Scope, { keyword = '', status, kind, resource_type, resource_id, bp_id, failed }: OrderFilters, now: Date) =>
  shown(on, now)
    .where(within(scope, 'orders.bp_id'))
    .$if(keyword !== '', (q) =>
      q.where((of) => of.or([of('orders.resource_name', 'ilike', containing(keyword)), of(sql<string>`orders.number::text`, 'like', containing(keyword))])),
    )
    .$if(status !== undefined, (q) => q.where(statusAt(now), '=', status ?? 'unpaid'))
    .$if(kind !== undefined, (q) => q.where('orders.kind', '=', kind ?? 'purchase'))
    .$if(resource_type !== undefined, (q) => q.where('orders.resource_type', '=', resource_type ?? 'nextstack.vm'))
    .$if(resource_id !== undefined, (q) => q.where('orders.resource_id', '=', resource_id ?? ''))
    .$if(bp_id !== undefined, (q) => q.where('orders.bp_id', '=', bp_id ?? ''))
    .$if(failed !== undefined, (q) => q.where('orders.error_text', failed === true ? 'is not' : 'is', null))

export function listOrders(on: Sql, scope: Scope, query: QueryOf<typeof orders.list>, now: Date) {
  const found = filtered(on, scope, query, now)
  const order = orderOf('orders', '-created_at', 'number', 'amount', 'status', 'created_at')
  return pageWithTotal(paged(found, query, order), found, query)
}

/** The oldest after one. */
export const oldestOrders = (on: Sql, scope: Scope, filters: OrderFilters, after: { id: string; place: string } | null, limit: number, now: Date) =>
  filtered(on, scope, filters, now)
    // To the microsecond, which a Date is not.
    .select(sql<string>`orders.created_at::text`.as('place'))
    .$if(after !== null, (q) => q.where(sql<boolean>`(orders.created_at, orders.id) > (${after?.place ?? ''}::timestamptz, ${after?.id ?? ''}::uuid)`))
    .orderBy('orders.created_at')
    .orderBy('orders.id')
    .limit(limit)
    .execute()
export type PlacedOrder = Awaited<ReturnType<typeof oldestOrders>>[number]

export const { insert: insertOrder, lock: lockOrder } = rowsOf('bill_orders')

export const readOrder = (on: Sql, id: string): Promise<OrderRow | undefined> =>
  on.selectFrom('bill_orders').selectAll().where('id', '=', id).executeTakeFirst()

export const updateOrder = async (
  tx: Tx,
  id: string,
  changes: Partial<
    Pick<OrderRow, 'status' | 'resource_id' | 'resource_name' | 'refunded' | 'sealed' | 'hold_id' | 'covered_from' | 'covered_to' | 'error_text' | 'paid_at'>
  >,
): Promise<void> => {
  await tx.updateTable('bill_orders').set(changes).where('id', '=', id).execute()
}

/** The order of a resource that is neither delivered nor over. */
export const pendingOf = (on: Sql, resourceId: string): Promise<OrderRow | undefined> =>
  on.selectFrom('bill_orders').selectAll().where('resource_id', '=', resourceId).where('status', 'in', ['unpaid', 'paid']).executeTakeFirst()

export const tell = insertsInto('bill_order_events')

export const eventsOf = (on: Sql, orderId: string) =>
  on.selectFrom('bill_order_events').select(['what', 'by', 'note', 'at']).where('order_id', '=', orderId).orderBy('id').execute()

/** Writes down which orders nobody paid in time, and forgets what they hold. */
export const expireOrders = async (on: Sql, now: Date, resourceId: string | null = null): Promise<void> => {
  await sql`
    with expired as (
      update bill_orders set status = 'expired', sealed = null
      where id in (
        select id from bill_orders where status = 'unpaid' and expires_at <= ${now} and (${resourceId}::uuid is null or resource_id = ${resourceId}) order by id for update skip locked
      )
      returning id, expires_at
    )
    insert into bill_order_events (order_id, what, by, note, at) select id, 'expired', '', '', expires_at from expired
  `.execute(on)
}

/** When a resource first used something; null where nothing was told of it yet. */
export async function firstUse(on: Sql, resourceId: string): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`select min(at) as at from usage_events where resource_id = ${resourceId} and usage <> '{}'`.execute(on)
  return rows[0]?.at ?? null
}

/** What is used by the hour, as metering settled it. Seconds since 1970. */
export interface UsedByTheHour {
  id: string
  type: Kind
  name: string
  bp_id: string
  /** When its use began, and what it used then, by `meter` or `meter/variant`. */
  began: { at: number; usage: Readonly<Record<string, number>> }
  /** When its last use ends; null: it goes on. */
  to: number | null
}

/** Writes orders for what is paid by the hour and was not ordered in advance, and whether each goes on. */
export async function followUse(tx: Tx, used: readonly UsedByTheHour[]): Promise<void> {
  if (used.length === 0) return
  const nothing: Quote = { period: 'hour', count: 1, list_amount: '0.00', amount: '0.00', lines: [], unpriced: [] }
  const rows = used.map(({ began, to, ...resource }) => ({
    ...resource,
    order_id: uuidv7(),
    at: new Date(began.at * 1000).toISOString(),
    usage: began.usage,
    status: to === null ? 'charging' : 'ended',
  }))
  await sql`
    with used as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as rows (order_id uuid, id uuid, type text, name text, bp_id uuid, at timestamptz, usage jsonb, status text)
    ),
    maker as (
      select distinct on (resource_id) resource_id, actor_id, actor_name from operations
      where resource_id in (select id from used) and kind like '%.create' order by resource_id, created_at
    ),
    followed as (
      update bill_orders as orders
      set status = case when orders.bp_id = used.bp_id then used.status else 'ended' end, resource_name = case when orders.bp_id = used.bp_id then used.name else orders.resource_name end
      from used where orders.resource_id = used.id and orders.kind = 'onDemand'
    ),
    made as (
      insert into bill_orders (id, bp_id, kind, status, resource_type, resource_id, resource_name, period, count, auto_renew, automatic, quote, usage, amount, expires_at, created_by, created_by_name, created_at)
      select used.order_id, used.bp_id, 'onDemand', used.status, used.type, used.id, used.name, 'hour', 1, false, false,
        ${JSON.stringify(nothing)}::jsonb, used.usage, 0, used.at, maker.actor_id, coalesce(maker.actor_name, ''), used.at
      from used left join maker on maker.resource_id = used.id
      where not exists (select from bill_orders as known where known.resource_id = used.id and known.bp_id = used.bp_id and known.kind in ('onDemand', 'purchase'))
      returning id, created_by_name, created_at
    )
    insert into bill_order_events (order_id, what, by, note, at) select id, 'created', created_by_name, '', created_at from made
  `.execute(tx)
}
