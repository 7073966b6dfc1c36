import { billingZone, type Meter } from '@zhisuan/contract/bill/meter'
import { sql, type ColumnType, type Generated } from 'kysely'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import type { Interval } from '../metering/timeline.ts'
import type { Line } from './lines.ts'

interface UsageLineTable {
  id: Generated<number>
  resource_id: string
  bp_id: string
  project_id: string | null
  product_id: string
  sku_id: string
  price_id: string
  discount_id: string | null
  from: Date
  quantity: number
  seconds: number
  fraction: number
  meter: Meter
  variant: string
  /** Minor units. */
  amount: string
  voided_at: Date | null
  /** What has to be known of it later and is no price, as it was: whose machine it was. */
  attributes: ColumnType<Record<string, unknown> | null, never, never>
}
interface UsageSumTable {
  bp_id: string
  /** First day. */
  month: ColumnType<string, never, never>
  dimension: 'month' | 'day' | 'product' | 'project' | 'resource' | 'dayProduct'
  key: string
  amount: string
}
interface UsagePostingTable {
  bp_id: string
  day: ColumnType<string, string, string>
  amount: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    usage_lines: UsageLineTable
    usage_sums: UsageSumTable
    usage_postings: UsagePostingTable
  }
}

export interface Claimed {
  id: string
  rated_until: number
  /** Lines were made before that have to be compared. */
  again: boolean
}

/** Resources with hours before `closed` that have no lines yet, held; those that others hold are theirs. Seconds since 1970. */
export async function claimResources(tx: Tx, closed: number, limit: number): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    select id, extract(epoch from rated_until)::bigint as rated_until, lines_until > rated_until as again
    from metered_resources
    where rated_until < to_timestamp(${closed}) and (rate_to is null or rated_until < rate_to)
    order by rated_until
    limit ${limit}
    for update skip locked
  `.execute(tx)
  return rows
}

const locks = 7140907
/**
 * Voiding and adding each hold sums in one order, but not both together: who does both is alone.
 * @param alone nobody else adds or voids lines until the transaction ends
 */
export const lockLines = async (tx: Tx, alone: boolean): Promise<void> => {
  await (alone ? sql`select pg_advisory_xact_lock(${locks})` : sql`select pg_advisory_xact_lock_shared(${locks})`).execute(tx)
}

/** A PostgreSQL array of what needs no quoting: numbers and UUIDs. */
const arrayOf = (values: readonly (string | number)[]): string => `{${values.join(',')}}`

/** Intervals that reach into what is to be rated, by resource. */
export async function intervalsWithin(tx: Tx, windows: readonly { id: string; from: number; to: number }[]): Promise<ReadonlyMap<string, Interval[]>> {
  const { rows } = await sql<Interval & { resource_id: string }>`
    select interval.resource_id, meter, variant, bp_id, project_id, quantity, extract(epoch from interval."from")::bigint as "from", extract(epoch from interval."to")::bigint as "to", attributes::text
    from unnest(${arrayOf(windows.map(({ id }) => id))}::uuid[], ${arrayOf(windows.map(({ from }) => from))}::bigint[], ${arrayOf(windows.map(({ to }) => to))}::bigint[]) as wanted (id, "from", "to")
    join usage_intervals as interval on interval.resource_id = wanted.id
    where interval."from" < to_timestamp(wanted."to") and (interval."to" is null or interval."to" > to_timestamp(wanted."from"))
  `.execute(tx)
  return Map.groupBy(rows, ({ resource_id }) => resource_id)
}

/** Valid lines of resources from a moment of each. */
export async function validLines(tx: Tx, windows: readonly { id: string; from: number; to: number }[]) {
  const { rows } = await sql<{
    id: number
    resource_id: string
    from: number
    seconds: number
    meter: Meter
    variant: string
    quantity: number
    bp_id: string
    project_id: string | null
    price_id: string
    discount_id: string | null
    amount: string
    attributes: string | null
  }>`
    select line.id, line.resource_id, extract(epoch from line."from")::bigint as "from", seconds, meter, variant, quantity, bp_id, project_id, price_id, discount_id, amount, attributes::text
    from unnest(${arrayOf(windows.map(({ id }) => id))}::uuid[], ${arrayOf(windows.map(({ from }) => from))}::bigint[], ${arrayOf(windows.map(({ to }) => to))}::bigint[]) as wanted (id, "from", "to")
    join usage_lines as line on line.resource_id = wanted.id and line.voided_at is null and line."from" >= to_timestamp(wanted."from") and line."from" < to_timestamp(wanted."to")
  `.execute(tx)
  return rows
}

export const voidLines = async (tx: Tx, ids: readonly number[]): Promise<void> => {
  if (ids.length > 0) await sql`update usage_lines set voided_at = now() where id = any(${arrayOf(ids)}::bigint[])`.execute(tx)
}

export async function insertLines(tx: Tx, lines: readonly Line[], fractionOf: (line: Line) => number): Promise<void> {
  if (lines.length === 0) return
  // What lines of one interval at one price have in common is told once: it is most of a line.
  const kinds = new Map<Interval, Map<unknown, number>>()
  const common: object[] = []
  const kindOf = (line: Line): number => {
    const of = kinds.get(line.interval) ?? new Map<unknown, number>()
    kinds.set(line.interval, of)
    const before = of.get(line.terms)
    if (before !== undefined) return before
    const { interval, terms } = line
    const { bp_id, project_id, meter, variant, quantity, attributes } = interval
    common.push({
      resource_id: line.resource_id,
      bp_id,
      project_id,
      meter,
      variant,
      quantity,
      product_id: terms.sku.product_id,
      sku_id: terms.sku.id,
      price_id: terms.price.id,
      discount_id: terms.discount?.id ?? null,
      fraction: fractionOf(line),
      attributes,
    })
    of.set(terms, common.length)
    return common.length
  }
  const kind = arrayOf(lines.map(kindOf))
  await sql`
    insert into usage_lines (resource_id, bp_id, project_id, product_id, sku_id, price_id, discount_id, "from", quantity, seconds, fraction, meter, variant, amount, attributes)
    select resource_id, bp_id, project_id, product_id, sku_id, price_id, discount_id, to_timestamp(line."from"), quantity, line.seconds, fraction, meter, variant, line.amount, attributes::jsonb
    from unnest(${kind}::integer[], ${arrayOf(lines.map(({ from }) => from))}::bigint[], ${arrayOf(lines.map(({ seconds }) => seconds))}::smallint[], ${arrayOf(lines.map(({ amount }) => amount))}::numeric[]) as line (kind, "from", seconds, amount)
    join rows from (jsonb_to_recordset(${JSON.stringify(common)}::jsonb) as (
      resource_id uuid, bp_id uuid, project_id uuid, product_id uuid, sku_id uuid, price_id uuid, discount_id uuid,
      quantity bigint, fraction smallint, meter text, variant text, attributes text
    ))
      with ordinality as common (resource_id, bp_id, project_id, product_id, sku_id, price_id, discount_id, quantity, fraction, meter, variant, attributes, kind) using (kind)
  `.execute(tx)
}

export const setRated = async (tx: Tx, windows: readonly { id: string; to: number }[]): Promise<void> => {
  await sql`
    update metered_resources set rated_until = to_timestamp(rated."to"), lines_until = greatest(lines_until, to_timestamp(rated."to"))
    from unnest(${arrayOf(windows.map(({ id }) => id))}::uuid[], ${arrayOf(windows.map(({ to }) => to))}::bigint[]) as rated (id, "to")
    where metered_resources.id = rated.id
  `.execute(tx)
}

/** Days whose usage the ledger does not know yet, or knows otherwise. */
export async function unpostedDays(on: Sql): Promise<{ bp_id: string; day: string }[]> {
  const { rows } = await sql<{ bp_id: string; day: string }>`
    select sums.bp_id, sums.key as day from usage_sums as sums
    left join usage_postings as posted on posted.bp_id = sums.bp_id and posted.day = sums.key::date
    where sums.dimension = 'day' and sums.amount <> coalesce(posted.amount, 0)
    order by 1, 2
  `.execute(on)
  return rows
}

/** What the usage of days costs and what of it is posted, in minor units. */
export async function postingsOf(on: Sql, bpId: string, days: readonly string[]): Promise<{ day: string; rated: bigint; posted: bigint }[]> {
  const { rows } = await sql<{ day: string; rated: string; posted: string }>`
    select wanted.day, coalesce(sums.amount, 0) as rated, coalesce(posted.amount, 0) as posted
    from unnest(${days}::text[]) as wanted (day)
    left join usage_sums as sums
      on sums.bp_id = ${bpId} and sums.month = date_trunc('month', wanted.day::timestamp)::date and sums.dimension = 'day' and sums.key = wanted.day
    left join usage_postings as posted on posted.bp_id = ${bpId} and posted.day = wanted.day::date
    order by 1
  `.execute(on)
  return rows.map(({ day, rated, posted }) => ({ day, rated: BigInt(rated), posted: BigInt(posted) }))
}

export const setPosted = async (tx: Tx, bp_id: string, day: string, amount: bigint): Promise<void> => {
  await tx
    .insertInto('usage_postings')
    .values({ bp_id, day, amount: String(amount) })
    .onConflict((conflict) => conflict.columns(['bp_id', 'day']).doUpdateSet({ amount: String(amount) }))
    .execute()
}

/** What use of one provider's machines cost its users, by day of bills, meter and variant. */
export async function sumsOfProvider(
  on: Sql,
  providerId: string,
  from: Date,
): Promise<{ day: string; meter: Meter; variant: string; unit_seconds: number; amount: string }[]> {
  const { rows } = await sql<{ day: string; meter: Meter; variant: string; unit_seconds: number; amount: string }>`
    select ("from" at time zone ${billingZone})::date::text as day, meter, variant, sum(quantity * seconds)::double precision as unit_seconds, sum(amount)::text as amount
    from usage_lines
    where attributes is not null and attributes ->> 'provider_id' = ${providerId} and voided_at is null and "from" >= ${from}
    group by 1, 2, 3 order by 1 desc, 3, 2
  `.execute(on)
  return rows
}
