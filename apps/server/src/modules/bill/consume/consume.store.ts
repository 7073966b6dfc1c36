import { billingZone } from '@zhisuan/contract/bill/meter'
import { toDecimal } from '@zhisuan/contract/bill/money'
import type { consumes } from '@zhisuan/contract/bill/consume'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql } from '../../../platform/db/database.ts'
import { paged, pageWithTotal } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import type { PriceRow } from '../catalogue/catalogue.store.ts'

type Dimension = 'day' | 'product' | 'project' | 'resource'

const exact = (minor: string): string => toDecimal(BigInt(minor))
const firstDay = (month: string): string => `${month}-01`

/** Sums of a month, or of all of them, by one of their dimensions; what costs nothing is left out. */
const sums = (on: Sql, scope: Scope, dimension: 'month' | Dimension) => on.selectFrom('usage_sums').where(within(scope, 'usage_sums.bp_id')).where('dimension', '=', dimension)

export async function totalOf(on: Sql, scope: Scope, month: string): Promise<string> {
  const row = await sums(on, scope, 'month')
    .where('month', '=', firstDay(month))
    .select(sql<string>`coalesce(sum(amount), 0)`.as('amount'))
    .executeTakeFirstOrThrow()
  return exact(row.amount)
}

/** By key, in order of keys for days and of amounts else. */
export async function sharesOf(on: Sql, scope: Scope, month: string, dimension: Dimension, limit: number): Promise<{ key: string; amount: string }[]> {
  const rows = await sums(on, scope, dimension)
    .where('month', '=', firstDay(month))
    .select(['key', sql<string>`sum(amount)`.as('amount')])
    .groupBy('key')
    .having(sql<boolean>`sum(amount) <> 0`)
    .$if(dimension === 'day', (q) => q.orderBy('key'))
    .$if(dimension !== 'day', (q) => q.orderBy('amount', 'desc').orderBy('key'))
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

export const countResources = async (on: Sql, scope: Scope, month: string): Promise<number> =>
  (await sums(on, scope, 'resource').where('month', '=', firstDay(month)).where('amount', '>', '0').select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count

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

const byIds = <T extends { id: string }>(rows: readonly T[]): ReadonlyMap<string, T> => new Map(rows.map((row) => [row.id, row]))
export const productNames = async (on: Sql, ids: readonly string[]) => byIds(await on.selectFrom('bill_products').select(['id', 'name']).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute())
export const projectNames = async (on: Sql, ids: readonly string[]) => byIds(await on.selectFrom('projects').select(['id', 'name']).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute())
export const resourceNames = async (on: Sql, ids: readonly string[]) => byIds(await on.selectFrom('metered_resources').select(['id', 'name', 'type']).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute())

const order = { by: { from: 'line.from' }, fallback: '-from', id: 'line.id' }

/** A day or a month of Beijing. */
const since = (text: string) => sql<boolean>`line."from" >= ${text}::timestamp at time zone ${billingZone}`
const before = (text: string, step: string) => sql<boolean>`line."from" < (${text}::timestamp + ${step}::interval) at time zone ${billingZone}`

export async function listLines(on: Sql, scope: Scope, query: QueryOf<typeof consumes.list>) {
  const { month, day } = query
  const filtered = on
    .selectFrom('usage_lines as line')
    .where(within(scope, 'line.bp_id'))
    .where('line.voided_at', 'is', null)
    .$if(month !== undefined, (q) => q.where(since(firstDay(month ?? ''))).where(before(firstDay(month ?? ''), '1 month')))
    .$if(day !== undefined, (q) => q.where(since(day ?? '')).where(before(day ?? '', '1 day')))
    .$if(query.resource_id !== undefined, (q) => q.where('line.resource_id', '=', query.resource_id ?? ''))
    .$if(query.product_id !== undefined, (q) => q.where('line.product_id', '=', query.product_id ?? ''))
    .$if(query.project_id !== undefined, (q) => q.where('line.project_id', '=', query.project_id ?? ''))
  const cut = paged(filtered.select('line.id'), query, order)
  const page = on
    .selectFrom('usage_lines as line')
    .where('line.id', 'in', cut)
    .innerJoin('bill_skus as sku', 'sku.id', 'line.sku_id')
    .innerJoin('bill_products as product', 'product.id', 'line.product_id')
    .innerJoin('bill_prices as price', 'price.id', 'line.price_id')
    .innerJoin('metered_resources as resource', 'resource.id', 'line.resource_id')
    .leftJoin('projects as project', 'project.id', 'line.project_id')
    .selectAll('line')
    .select(['sku.name as sku_name', 'product.name as product_name', 'price.tiers as tiers', 'resource.name as resource_name', 'resource.type as resource_type', 'project.name as project_name'])
  return pageWithTotal(paged(page, { ...query, page_num: 1 }, order), filtered, query)
}
export type ShownLine = Awaited<ReturnType<typeof listLines>>['rows'][number] & Pick<PriceRow, 'tiers'>
