import type { PrepaidPeriod, PrepaidKind } from '@zhisuan/contract/bill/order'
import { sql, type ColumnType, type Insertable, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { lockResources } from '../metering/metering.store.ts'
import type { PrepaidSpan } from './prepaid.ts'

interface PrepaidResourceTable {
  resource_id: string
  resource_type: PrepaidKind
  resource_name: string
  bp_id: string
  auto_renew: boolean
  period: PrepaidPeriod
  count: number
  /** When it is renewed by itself, or tried again; null where it is not. */
  renew_at: Date | null
  error_text: string | null
}
interface PrepaidSpanTable {
  /** The order that paid it. */
  order_id: string
  resource_id: string
  from: Date
  to: Date
  usage: Record<string, number>
  /** Where the time began that it continues without a gap, which its end is counted from; null: with itself. */
  chain_from: ColumnType<Date | null, Date | undefined, Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    prepaid_resources: PrepaidResourceTable
    prepaid_spans: PrepaidSpanTable
  }
}
export type PrepaidRow = Selectable<PrepaidResourceTable>
export type SpanRow = Selectable<PrepaidSpanTable>

export const prepaidMigrations: Migrations = {
  '20261123_00_52_prepaid': migration(`
    create table prepaid_resources (
      resource_id uuid primary key,
      resource_type text not null check (resource_type in ('nextstack.vm', 'nextstack.volume', 'nextstack.eip')),
      resource_name text not null,
      bp_id uuid not null,
      auto_renew boolean not null,
      period text not null check (period in ('month', 'year')),
      count integer not null check (count > 0),
      renew_at timestamptz,
      error_text text,
      constraint prepaid_resources_renewal check (auto_renew = (renew_at is not null))
    );
    create index prepaid_resources_due on prepaid_resources (renew_at) where renew_at is not null;

    -- Of one resource none overlap: they are written under its row of prepaid_resources.
    create table prepaid_spans (
      order_id uuid primary key,
      resource_id uuid not null,
      "from" timestamptz not null check ("from" = date_trunc('second', "from")),
      "to" timestamptz not null check ("to" > "from" and "to" = date_trunc('second', "to")),
      usage jsonb not null
    );
    create index prepaid_spans_resource on prepaid_spans (resource_id, "to");
  `),
  // What was cut begins a time of its own; all else continues what ended in the moment in which it begins.
  '20261128_20_prepaid_chains': migration(`
    alter table prepaid_spans add column chain_from timestamptz;
    with recursive cut as (
      select span.* from prepaid_spans as span join bill_orders as orders on orders.id = span.order_id and orders.status = 'refunded'
    ),
    chained as (
      select order_id, resource_id, "from" as chain_from, "to" from prepaid_spans as span
      where not exists (
        select from prepaid_spans as before where before.resource_id = span.resource_id and before."to" = span."from"
          and before.order_id not in (select order_id from cut)
      )
      union all
      select span.order_id, span.resource_id, chained.chain_from, span."to"
      from chained join prepaid_spans as span on span.resource_id = chained.resource_id and span."from" = chained."to"
      where chained.order_id not in (select order_id from cut)
    )
    update prepaid_spans as span set chain_from = chained.chain_from from chained where chained.order_id = span.order_id;
    update prepaid_spans as span set chain_from = "to" where order_id in (select id from bill_orders where status = 'refunded');
  `),
  '20261130_22_prepaid_rentals': migration(`
    alter table prepaid_resources drop constraint prepaid_resources_resource_type_check;
    alter table prepaid_resources add constraint prepaid_resources_resource_type_check
      check (resource_type in ('nextstack.vm', 'nextstack.volume', 'nextstack.eip', 'market.rental'));
    alter table prepaid_resources drop constraint prepaid_resources_period_check;
    alter table prepaid_resources add constraint prepaid_resources_period_check check (period in ('day', 'week', 'month', 'year'));
  `),
}

/** Spans that reach into what is to be rated, by resource. */
export async function spansWithin(tx: Tx, windows: readonly { id: string; from: number; to: number }[]): Promise<ReadonlyMap<string, PrepaidSpan[]>> {
  const { rows } = await sql<PrepaidSpan & { resource_id: string }>`
    select span.resource_id, extract(epoch from span."from")::bigint as "from", extract(epoch from span."to")::bigint as "to", usage
    from unnest(${windows.map(({ id }) => id)}::uuid[], ${windows.map(({ from }) => from)}::bigint[], ${windows.map(({ to }) => to)}::bigint[]) as wanted (id, "from", "to")
    join prepaid_spans as span on span.resource_id = wanted.id
    where span."from" < to_timestamp(wanted."to") and span."to" > to_timestamp(wanted."from")
  `.execute(tx)
  return Map.groupBy(rows, ({ resource_id }) => resource_id)
}

/** Lines of a resource are made anew from the hour of a moment on: what is paid in advance of it changed there. */
async function rateAgain(tx: Tx, resourceId: string, from: Date): Promise<void> {
  // Whoever rates it holds the same row, so it is rated with the change or again after it.
  await lockResources(tx, [resourceId])
  await sql`update metered_resources set rated_until = least(rated_until, date_trunc('hour', ${from}::timestamptz, 'UTC')) where id = ${resourceId} and rated_until <> 'infinity'`.execute(
    tx,
  )
}

/** Adds a span; the same order's again changes nothing. */
export async function insertSpan(tx: Tx, span: Insertable<PrepaidSpanTable>): Promise<void> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('prepaid_spans')
    .values(span)
    .onConflict((conflict) => conflict.column('order_id').doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows !== 0n) await rateAgain(tx, span.resource_id, span.from)
}

/** Ends a span earlier than it was paid for; one that has not begun goes altogether. */
export async function cutSpan(tx: Tx, span: Omit<SpanRow, 'chain_from'>, to: Date): Promise<void> {
  if (to <= span.from) await tx.deleteFrom('prepaid_spans').where('order_id', '=', span.order_id).execute()
  // What follows has nothing to do with the day on which this began.
  else await tx.updateTable('prepaid_spans').set({ to, chain_from: to }).where('order_id', '=', span.order_id).execute()
  await rateAgain(tx, span.resource_id, to < span.from ? span.from : to)
}

export const spanOfOrder = (on: Sql, orderId: string): Promise<SpanRow | undefined> =>
  on.selectFrom('prepaid_spans').selectAll().where('order_id', '=', orderId).executeTakeFirst()

/** What is not over at a moment, in order. */
export const spansAfter = (on: Sql, resourceId: string, moment: Date): Promise<SpanRow[]> =>
  on.selectFrom('prepaid_spans').selectAll().where('resource_id', '=', resourceId).where('to', '>', moment).orderBy('from').execute()

/** What ended last of a resource, where that was no longer ago. */
export const spanEndedSince = (on: Sql, resourceId: string, moment: Date): Promise<SpanRow | undefined> =>
  on.selectFrom('prepaid_spans').selectAll().where('resource_id', '=', resourceId).where('to', '>', moment).orderBy('to', 'desc').limit(1).executeTakeFirst()

/** Which of these are paid in advance at a moment. What an order has made and not yet delivered is: its span is written last. */
export async function paidAhead(on: Sql, resourceIds: readonly string[], now: Date): Promise<ReadonlySet<string>> {
  if (resourceIds.length === 0) return new Set()
  const { rows } = await sql<{ resource_id: string }>`
    select resource_id from prepaid_spans where resource_id = any(${resourceIds}::uuid[]) and "from" <= ${now} and "to" > ${now}
    union
    select resource_id from bill_orders where resource_id = any(${resourceIds}::uuid[]) and status = 'paid'
  `.execute(on)
  return new Set(rows.map(({ resource_id }) => resource_id))
}

export const getPrepaid = (on: Sql, resourceId: string): Promise<PrepaidRow | undefined> =>
  on.selectFrom('prepaid_resources').selectAll().where('resource_id', '=', resourceId).executeTakeFirst()

/** Held until the transaction ends: who changes what is paid in advance of a resource has to. */
export const lockPrepaid = (tx: Tx, resourceId: string): Promise<PrepaidRow | undefined> =>
  tx.selectFrom('prepaid_resources').selectAll().where('resource_id', '=', resourceId).forUpdate().executeTakeFirst()

/** Makes the row of a resource where there is none, and holds it. */
export async function openPrepaid(tx: Tx, row: Omit<PrepaidRow, 'auto_renew' | 'renew_at' | 'error_text'>): Promise<PrepaidRow> {
  await tx
    .insertInto('prepaid_resources')
    .values({ ...row, auto_renew: false, renew_at: null, error_text: null })
    .onConflict((conflict) => conflict.column('resource_id').doNothing())
    .execute()
  return tx.selectFrom('prepaid_resources').selectAll().where('resource_id', '=', row.resource_id).forUpdate().executeTakeFirstOrThrow()
}

export const updatePrepaid = async (tx: Tx, resourceId: string, changes: Partial<Omit<PrepaidRow, 'resource_id'>>): Promise<void> => {
  await tx.updateTable('prepaid_resources').set(changes).where('resource_id', '=', resourceId).execute()
}

export const duePrepaid = (on: Sql, now: Date, limit: number): Promise<PrepaidRow[]> =>
  on.selectFrom('prepaid_resources').selectAll().where('renew_at', '<=', now).orderBy('renew_at').limit(limit).execute()
