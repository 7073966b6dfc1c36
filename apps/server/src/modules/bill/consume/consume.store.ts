import { billingZone } from '@zhisuan/contract/bill/meter'
import { toDecimal } from '@zhisuan/contract/bill/money'
import type { consumes, UsageEndReason } from '@zhisuan/contract/bill/consume'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { sql, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tables } from '../../../platform/db/database.ts'
import { among, asked, containing, counted, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { idsOf } from '../../../platform/ids.ts'
import { spentOnOrders } from '../ledger/ledger.store.ts'
import type { Interval } from '../metering/timeline.ts'
import { uncovered, type PrepaidSpan } from '../rating/prepaid.ts'
import type { InUse } from './forecast.ts'

export type Dimension = 'day' | 'product' | 'project' | 'resource' | 'dayProduct'

const exact = (minor: string): string => toDecimal(BigInt(minor))
const firstDay = (month: string): string => `${month}-01`
const organisationName = sql<string>`coalesce(organisations.name, '')`.as('organisation_name')

/** A day or a month of Beijing. */
const since = (text: string) => sql<boolean>`line."from" >= ${text}::timestamp at time zone ${billingZone}`
const before = (text: string, step: string) => sql<boolean>`line."from" < (${text}::timestamp + ${step}::interval) at time zone ${billingZone}`

/** Sums of a month, or of all of them, by one of their dimensions; what costs nothing is left out. */
const sums = (on: Sql, scope: Scope, dimension: 'month' | Dimension) =>
  on.selectFrom('usage_sums').where(within(scope, 'usage_sums.bp_id')).where('dimension', '=', dimension)

/** What a project or a product cost in a month, or, by the key `''` of `month`, everything. */
export async function sumOf(on: Sql, scope: Scope, month: string, dimension: 'month' | 'project' | 'product', key: string): Promise<bigint> {
  const row = await sums(on, scope, dimension)
    .where('month', '=', firstDay(month))
    .where('key', '=', key)
    .select(sql<string>`coalesce(sum(amount), 0)`.as('amount'))
    .executeTakeFirstOrThrow()
  return BigInt(row.amount)
}

export async function totalOf(on: Sql, scope: Scope, month: string): Promise<string> {
  const row = await sums(on, scope, 'month')
    .where('month', '=', firstDay(month))
    .select(sql<string>`coalesce(sum(amount), 0)`.as('amount'))
    .executeTakeFirstOrThrow()
  return exact(row.amount)
}

/** What was paid in advance in a month, less what was given back in it: no line of usage says it. */
export async function prepaidIn(on: Sql, scope: Scope, month: string): Promise<bigint> {
  const { rows } = await sql<{ amount: string }>`select ${spentOnOrders(within(scope, 'movement.owner_id'), sql`${firstDay(month)}`)} as amount`.execute(on)
  return BigInt(rows[0]?.amount ?? '0')
}

/** By key, in order of keys for days and of amounts else. */
export async function sharesOf(on: Sql, scope: Scope, month: string, dimension: Dimension, limit: number): Promise<{ key: string; amount: string }[]> {
  const byKey = dimension === 'day' || dimension === 'dayProduct'
  const rows = await sums(on, scope, dimension)
    .where('month', '=', firstDay(month))
    .select(['key', sql<string>`sum(amount)`.as('amount')])
    .groupBy('key')
    .having(sql<boolean>`sum(amount) <> 0`)
    .$if(byKey, (q) => q.orderBy('key'))
    .$if(!byKey, (q) => q.orderBy('amount', 'desc').orderBy('key'))
    .limit(limit)
    .execute()
  return rows.map(({ key, amount }) => ({ key, amount: exact(amount) }))
}

/** The most expensive of an organisation, along an index. */
export async function greatest(on: Sql, bpId: string, month: string, limit: number): Promise<{ key: string; amount: string }[]> {
  const rows = await on
    .selectFrom('usage_sums')
    .select(['key', 'amount'])
    .where('bp_id', '=', bpId)
    .where('month', '=', firstDay(month))
    .where('dimension', '=', 'resource')
    .where('amount', '>', '0')
    .orderBy('amount', 'desc')
    .orderBy('key')
    .limit(limit)
    .execute()
  return rows.map(({ key, amount }) => ({ key, amount: exact(amount) }))
}

export const countResources = (on: Sql, scope: Scope, month: string): Promise<number> =>
  counted(sums(on, scope, 'resource').where('month', '=', firstDay(month)).where('amount', '>', '0'))

/** The newest first. */
export async function months(on: Sql, scope: Scope, limit: number): Promise<{ month: string; amount: string }[]> {
  const rows = await sums(on, scope, 'month')
    .select([sql<string>`to_char(month, 'YYYY-MM')`.as('month'), sql<string>`sum(amount)`.as('amount')])
    .groupBy('usage_sums.month')
    .orderBy('usage_sums.month', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ month, amount }) => ({ month, amount: exact(amount) }))
}

/** What is known of a resource, whoever's it is. */
export const getResource = (on: Sql, id: string) =>
  on
    .selectFrom('metered_resources as resource')
    .leftJoin('organisations', 'organisations.id', 'resource.bp_id')
    .select(['resource.id', 'resource.name', 'resource.type', 'resource.bp_id', organisationName])
    .select((q) =>
      q.selectFrom('cloud_usage').select('cloud_id').whereRef('cloud_usage.id', '=', 'resource.id').where('ended_because', 'is', null).limit(1).as('cloud_id'),
    )
    .where('resource.id', '=', id)
    .executeTakeFirst()

/** Since when, and why, a resource is used no more, where its last event says so. */
export async function endOfResource(on: Sql, id: string): Promise<{ at: Date; reason: UsageEndReason } | null> {
  const last = await on
    .selectFrom('usage_events')
    .select(['at', 'reason'])
    .where('resource_id', '=', id)
    .orderBy('at', 'desc')
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last === undefined || last.reason === null ? null : { at: last.at, reason: last.reason }
}

/** What a resource cost in a month, to whom the scope shows; undefined where it cost nobody there anything. */
export const amountOfResource = async (on: Sql, scope: Scope, id: string, month: string): Promise<string | undefined> => {
  const row = await sums(on, scope, 'resource')
    .where('key', '=', id)
    .where('month', '=', firstDay(month))
    .select(sql<string | null>`sum(amount)`.as('amount'))
    .executeTakeFirst()
  return row?.amount === null || row === undefined ? undefined : exact(row.amount)
}
/** Whether a resource ever cost those anything whom the scope shows. */
export const wasUsed = async (on: Sql, scope: Scope, id: string): Promise<boolean> =>
  (await sums(on, scope, 'resource').where('key', '=', id).select('key').limit(1).executeTakeFirst()) !== undefined

/** What each meter of a resource cost in each hour of a month. */
export async function hoursOfResource(on: Sql, scope: Scope, id: string, month: string) {
  return on
    .selectFrom('usage_lines as line')
    .innerJoin('bill_skus as sku', 'sku.id', 'line.sku_id')
    .where('line.resource_id', '=', id)
    .where('line.voided_at', 'is', null)
    .where(within(scope, 'line.bp_id'))
    .where(since(firstDay(month)))
    .where(before(firstDay(month), '1 month'))
    .select([
      'line.meter',
      'line.variant',
      'line.sku_id',
      'sku.name as sku_name',
      sql<Date>`date_trunc('hour', line."from")`.as('hour'),
      sql<number>`sum(line.seconds)`.as('seconds'),
      sql<string>`sum(line.amount)`.as('amount'),
    ])
    .groupBy(['line.meter', 'line.variant', 'line.sku_id', 'sku.name', sql`hour`])
    .orderBy('line.meter')
    .orderBy('line.variant')
    .orderBy('line.sku_id')
    .orderBy(sql`hour`)
    .execute()
}

/** Resources that cost something in a month. */
export async function listResources(on: Sql, scope: Scope, query: QueryOf<typeof consumes.resources>, previous: string) {
  const filtered = sums(on, scope, 'resource')
    .where('month', '=', firstDay(query.month))
    .where('usage_sums.amount', '>', '0')
    .$if(query.keyword !== undefined && query.keyword !== '', (q) =>
      q.where(
        sql<boolean>`exists (
          select from metered_resources as named where named.id = usage_sums.key::uuid
            and (named.name ilike ${containing(query.keyword ?? '')} or named.id::text = ${query.keyword ?? ''})
        )`,
      ),
    )
  const page = filtered
    .innerJoin('metered_resources as resource', (join) => join.on(sql<boolean>`resource.id = usage_sums.key::uuid`))
    .leftJoin('organisations', 'organisations.id', 'usage_sums.bp_id')
    .select(['usage_sums.key', 'usage_sums.bp_id', 'usage_sums.amount', 'resource.name', 'resource.type', organisationName])
    .select(
      sql<string>`coalesce((
        select amount from usage_sums as earlier
        where earlier.bp_id = usage_sums.bp_id and earlier.month = ${firstDay(previous)}::date and earlier.dimension = 'resource' and earlier.key = usage_sums.key), 0)`.as(
        'previous',
      ),
    )
  // A resource may have cost several organisations something.
  return pageWithTotal(
    paged(page, query, { by: { amount: 'usage_sums.amount' }, fallback: '-amount', id: 'usage_sums.key' }).orderBy('usage_sums.bp_id'),
    filtered,
    query,
  )
}

const byIds = <T extends { id: string }>(rows: readonly T[]): ReadonlyMap<string, T> => new Map(rows.map((row) => [row.id, row]))
export const productNames = async (on: Sql, ids: readonly string[]) =>
  byIds(await on.selectFrom('bill_products').select(['id', 'name']).where(among('id', ids)).execute())
export const projectNames = async (on: Sql, ids: readonly string[]) =>
  byIds(await on.selectFrom('projects').select(['id', 'name']).where(among('id', ids)).execute())
export const resourceNames = async (on: Sql, ids: readonly string[]) =>
  byIds(await on.selectFrom('metered_resources').select(['id', 'name', 'type']).where(among('id', ids)).execute())

export type LineFilters = Omit<BodyOf<typeof consumes.export>, 'format' | 'bp_id'>

/** The order of lines: by their time, and of one moment as they were written. */
export interface Place {
  /** Seconds since 1970. */
  from: number
  id: number
}

const lines = (on: Sql, scope: Scope, { month, day, project_id, ...same }: LineFilters) =>
  on
    .selectFrom('usage_lines as line')
    .where(within(scope, 'line.bp_id'))
    .where('line.voided_at', 'is', null)
    .$if(month !== undefined, (q) => q.where(since(firstDay(month ?? ''))).where(before(firstDay(month ?? ''), '1 month')))
    .$if(day !== undefined, (q) => q.where(since(day ?? '')).where(before(day ?? '', '1 day')))
    .where(asked(same, 'line', 'resource_id', 'product_id', 'meter'))
    .$if(project_id === 'none', (q) => q.where('line.project_id', 'is', null))
    .$if(project_id !== undefined && project_id !== 'none', (q) => q.where('line.project_id', '=', project_id ?? ''))

type Named = Tables & { line: Tables['usage_lines'] }

/** Beyond a place, in either direction. */
const beyond = ({ from, id }: Place, direction: 'asc' | 'desc') =>
  sql<boolean>`(line."from", line.id) ${sql.raw(direction === 'asc' ? '>' : '<')} (to_timestamp(${from}), ${id})`
function cut<T extends keyof Named, Row>(query: SelectQueryBuilder<Named, T, Row>, direction: 'asc' | 'desc', limit: number) {
  return query
    .orderBy(sql`line."from"`, direction)
    .orderBy(sql`line.id`, direction)
    .limit(limit)
}

/** With all that an amount is made of, and what everything is called. */
async function shown(on: Sql, ids: readonly number[], direction: 'asc' | 'desc') {
  if (ids.length === 0) return []
  return on
    .selectFrom('usage_lines as line')
    .where('line.id', '=', sql<number>`any(${`{${ids.join(',')}}`}::bigint[])`)
    .innerJoin('bill_skus as sku', 'sku.id', 'line.sku_id')
    .innerJoin('bill_products as product', 'product.id', 'line.product_id')
    .innerJoin('bill_prices as price', 'price.id', 'line.price_id')
    .innerJoin('metered_resources as resource', 'resource.id', 'line.resource_id')
    .leftJoin('bill_discounts as discount', 'discount.id', 'line.discount_id')
    .leftJoin('projects as project', 'project.id', 'line.project_id')
    .leftJoin('organisations', 'organisations.id', 'line.bp_id')
    .selectAll('line')
    .select([
      'sku.name as sku_name',
      'product.name as product_name',
      'price.tiers as tiers',
      'price.effective_from as price_from',
      'price.effective_to as price_to',
      'discount.name as discount_name',
      'discount.effective_from as discount_from',
      'discount.effective_to as discount_to',
      'resource.name as resource_name',
      'resource.type as resource_type',
      'project.name as project_name',
      organisationName,
    ])
    .orderBy('line.from', direction)
    .orderBy('line.id', direction)
    .execute()
}
export type ShownLine = Awaited<ReturnType<typeof shown>>[number]

/** Organisations that have lines which the filters may find. */
export const payers = async (on: Sql, scope: Scope, { month, day }: LineFilters): Promise<string[]> => {
  const of = month ?? day?.slice(0, 7)
  const rows = await sums(on, scope, 'month')
    .$if(of !== undefined, (q) => q.where('month', '=', firstDay(of ?? '')))
    .select('bp_id')
    .distinct()
    .orderBy('bp_id')
    .execute()
  return rows.map(({ bp_id }) => bp_id)
}

/** The newest lines before a place. Those of all organisations are put together from the newest of each, along the index that each has. */
export async function newestLines(on: Sql, scope: Scope, filters: LineFilters, after: Place | null, limit: number): Promise<ShownLine[]> {
  const of = (one: Scope) => lines(on, one, filters).$if(after !== null, (q) => q.where(beyond(after ?? { from: 0, id: 0 }, 'desc')))
  if ('bp_id' in scope || filters.resource_id !== undefined) return shown(on, idsOf(await cut(of(scope).select('line.id'), 'desc', limit).execute()), 'desc')
  const organisations = await payers(on, scope, filters)
  const each = cut(
    of(scope)
      .where('line.bp_id', '=', sql<string>`organisation.id`)
      .select(['line.id', 'line.from']),
    'desc',
    limit,
  )
  const { rows } = await sql<{ id: number }>`
    select line.id from unnest(${organisations}::uuid[]) as organisation (id) cross join lateral (${each}) as line
    order by line."from" desc, line.id desc limit ${limit}
  `.execute(on)
  return shown(on, idsOf(rows), 'desc')
}

/** The oldest lines of an organisation after a place. */
export async function oldestLines(on: Sql, bpId: string, filters: LineFilters, after: Place | null, limit: number): Promise<ShownLine[]> {
  const found = lines(on, { bp_id: bpId }, filters).$if(after !== null, (q) => q.where(beyond(after ?? { from: 0, id: 0 }, 'asc')))
  return shown(on, idsOf(await cut(found.select('line.id'), 'asc', limit).execute()), 'asc')
}

/** What the filters' lines cost in all, where a sum of it is kept; null where it would have to be added up. */
export async function keptSum(on: Sql, scope: Scope, { month, day, resource_id, product_id, project_id, meter }: LineFilters): Promise<string | null> {
  const wishes: readonly (readonly [Dimension, string | undefined])[] = [
    ['resource', resource_id],
    ['product', product_id],
    ['project', project_id === 'none' ? '' : project_id],
  ]
  const given = wishes.filter(([, key]) => key !== undefined)
  const [one] = given
  if (given.length > 1 || meter !== undefined || (day !== undefined && month !== undefined && !day.startsWith(month))) return null
  if (day !== undefined && one !== undefined && one[0] !== 'product') return null
  const [dimension, key]: readonly [Dimension | 'month', string] =
    day === undefined ? [one?.[0] ?? 'month', one?.[1] ?? ''] : one === undefined ? ['day', day] : ['dayProduct', `${day} ${one[1]}`]
  const of = day?.slice(0, 7) ?? month
  const row = await sums(on, scope, dimension)
    .where('key', '=', key)
    .$if(of !== undefined, (q) => q.where('month', '=', firstDay(of ?? '')))
    .select(sql<string>`coalesce(sum(amount), 0)`.as('amount'))
    .executeTakeFirstOrThrow()
  return exact(row.amount)
}

export interface MonthRow {
  dimension: Exclude<Dimension, 'dayProduct'> | 'month'
  key: string
  name: string
  type: string
  organisation_name: string
  amount: string
}

/** Sums of a month by each of its dimensions, some at a time, in an order that stays. */
export async function* monthRows(on: Sql, scope: Scope, month: string): AsyncGenerator<readonly MonthRow[]> {
  for (const dimension of ['month', 'day', 'product', 'project', 'resource'] as const) {
    let after = { bp_id: '00000000-0000-0000-0000-000000000000', key: '' }
    for (;;) {
      const rows = await sums(on, scope, dimension)
        .where('month', '=', firstDay(month))
        .where('amount', '<>', '0')
        .where(sql<boolean>`(usage_sums.bp_id, usage_sums.key) > (${after.bp_id}, ${after.key})`)
        .leftJoin('organisations', 'organisations.id', 'usage_sums.bp_id')
        .select(['usage_sums.bp_id', 'usage_sums.key', 'usage_sums.amount', organisationName])
        .orderBy('usage_sums.bp_id')
        .orderBy('usage_sums.key')
        .limit(1000)
        .execute()
      const last = rows.at(-1)
      if (last === undefined) break
      after = last
      const keys = rows.map(({ key }) => key).filter((key) => key !== '')
      const known: ReadonlyMap<string, { name: string; type?: string }> =
        dimension === 'product'
          ? await productNames(on, keys)
          : dimension === 'project'
            ? await projectNames(on, keys)
            : dimension === 'resource'
              ? await resourceNames(on, keys)
              : new Map()
      yield rows.map(({ key, amount, organisation_name }) => ({
        dimension,
        key,
        name: known.get(key)?.name ?? key,
        type: known.get(key)?.type ?? '',
        organisation_name,
        amount: exact(amount),
      }))
    }
  }
}

/** What is used of what, that is not rated: with how many resources each, and until when all are rated (seconds since 1970; null: nothing waits). */
export async function inUse(on: Sql, scope: Scope): Promise<{ rows: (InUse & { project_id: string | null })[]; ratedUntil: number | null }> {
  const { rows: waiting } = await sql<{ until: number | null }>`
    select extract(epoch from min(rated_until))::bigint as until from metered_resources
    -- What was not settled yet has nothing to be rated.
    where rated_until <> 'infinity' and (rate_to is null or rated_until < rate_to) and ${within(scope, 'bp_id')}
  `.execute(on)
  const ratedUntil = waiting[0]?.until ?? null
  const unrated = sql`usage_intervals as interval join metered_resources as resource on resource.id = interval.resource_id
    where ${within(scope, 'interval.bp_id')} and (interval."to" is null or interval."to" > greatest(resource.rated_until, to_timestamp(${ratedUntil ?? 0})))`
  const prepaid = sql`exists (select from prepaid_spans as span where span.resource_id = interval.resource_id and span."to" > resource.rated_until)`
  const { rows } = await sql<InUse & { project_id: string | null }>`
    select interval.bp_id, interval.project_id, meter, variant, quantity,
      extract(epoch from greatest(interval."from", resource.rated_until))::bigint as "from", extract(epoch from interval."to")::bigint as "to", count(*) as count
    from ${unrated} and not ${prepaid}
    group by 1, 2, 3, 4, 5, 6, 7
  `.execute(on)
  // Of these only what nobody paid in advance is paid by the hour; what renews itself goes on being paid in advance.
  const { rows: covered } = await sql<Interval & { rated: number; spans: PrepaidSpan[]; renews: boolean }>`
    select interval.bp_id, interval.project_id, meter, variant, quantity, extract(epoch from interval."from")::bigint as "from", extract(epoch from interval."to")::bigint as "to",
      extract(epoch from resource.rated_until)::bigint as rated,
      (select jsonb_agg(
        jsonb_build_object('from', extract(epoch from span."from")::bigint, 'to', extract(epoch from span."to")::bigint, 'usage', span.usage) order by span."to")
        from prepaid_spans as span where span.resource_id = interval.resource_id) as spans,
      exists (select from prepaid_resources as renewed where renewed.resource_id = interval.resource_id and renewed.auto_renew) as renews
    from ${unrated} and ${prepaid}
  `.execute(on)
  const beyond = covered.flatMap(({ rated, spans, renews, ...interval }) => {
    const last = spans.at(-1)
    const known = renews && last !== undefined ? [...spans.slice(0, -1), { ...last, to: Number.POSITIVE_INFINITY }] : spans
    return uncovered([interval], known)
      .filter(({ to }) => to === null || to > rated)
      .map(({ bp_id, project_id, meter, variant, quantity, from, to }) => ({
        bp_id,
        project_id,
        meter,
        variant,
        quantity,
        from: Math.max(from, rated),
        to,
        count: 1,
      }))
  })
  return { rows: [...rows, ...beyond], ratedUntil }
}

/** What each day since then cost, without those that cost nothing. */
export async function daysSince(on: Sql, scope: Scope, day: string): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sums(on, scope, 'day')
    .where('month', '>=', firstDay(day.slice(0, 7)))
    .where('key', '>=', day)
    .select(['key', sql<string>`sum(amount)`.as('amount')])
    .groupBy('key')
    .execute()
  return new Map(rows.map(({ key, amount }) => [key, BigInt(amount)]))
}
