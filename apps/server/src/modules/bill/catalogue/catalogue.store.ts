import type { BillingPeriod, categories, discounts, products, skus } from '@zhisuan/contract/bill/catalogue'
import { isMeter, type Meter } from '@zhisuan/contract/bill/meter'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Generated, type Insertable, type Selectable } from 'kysely'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { among, asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import type { Discount, Price, Sku } from './tariff.ts'

interface Authored {
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
}
/** Of those that are there from before somebody wrote down who made them, nobody knows. */
interface PerhapsAuthored extends Omit<Authored, 'created_by_name'> {
  created_by_name: Generated<string>
}
interface CategoryTable extends PerhapsAuthored {
  id: string
  name: string
  description: string
  updated_at: Generated<Date>
}
interface ProductTable extends CategoryTable {
  category_id: string
}
interface SkuTable extends PerhapsAuthored {
  id: string
  product_id: string
  name: string
  meter: Meter
  variant: string
}
interface PriceTable extends Authored {
  id: string
  number: Generated<number>
  sku_id: string
  period: BillingPeriod
  /** Minor units as text, which JSON keeps exact. */
  tiers: { above: number; price: string }[]
  effective_from: Date
  effective_to: Date | null
}
interface DiscountTable extends Authored {
  id: string
  name: string
  fraction: number
  bp_id: string | null
  product_id: string | null
  period: BillingPeriod | null
  effective_from: Date
  effective_to: Date | null
  ended_by: string | null
  ended_by_name: string | null
  ended_at: Date | null
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    bill_categories: CategoryTable
    bill_products: ProductTable
    bill_skus: SkuTable
    bill_prices: PriceTable
    bill_discounts: DiscountTable
  }
}
export type PriceRow = Selectable<PriceTable>
export type SkuRow = Selectable<SkuTable>

export const categoryNameRule = 'bill_categories_name'
export const productNameRule = 'bill_products_name'
export const skuMeterRule = 'bill_skus_meter'

/** What is locked has nothing put into it while it is being deleted. */
export const { insert: insertCategory, update: updateCategory, remove: deleteCategory, lockAny: lockCategory } = rowsOf('bill_categories', 'updated_at')
export const { insert: insertProduct, update: updateProduct, remove: deleteProduct, lockAny: lockProduct } = rowsOf('bill_products', 'updated_at')
export const { insert: insertSku, remove: deleteSku, lockAny: lockSku } = rowsOf('bill_skus')
export const { insert: insertDiscount, lockAny: lockDiscount } = rowsOf('bill_discounts')

const shownCategories = (on: Sql) =>
  on
    .selectFrom('bill_categories')
    .selectAll()
    .select(sql<number>`(select count(*) from bill_products where category_id = bill_categories.id)`.as('product_count'))
export const getCategory = (on: Sql, id: string) => shownCategories(on).where('id', '=', id).executeTakeFirst()
export const listCategories = (on: Sql, query: QueryOf<typeof categories.list>) => {
  const filtered = shownCategories(on).where(matching(query.keyword, 'name'))
  return pageWithTotal(
    paged(filtered, query, { by: { name: 'name', product_count: 'product_count', created_at: 'created_at' }, fallback: '-created_at', id: 'id' }),
    filtered,
    query,
  )
}
/** Held, so that it stays. */
export const categoryByName = (tx: Tx, name: string) => tx.selectFrom('bill_categories').select('id').where('name', '=', name).forUpdate().executeTakeFirst()
/** What stands in the way of deleting it: how many, and one of them. */
export const productsOf = (on: Sql, categoryId: string) =>
  on
    .selectFrom('bill_products')
    .select([sql<number>`count(*)`.as('count'), sql<string | null>`min(name)`.as('first')])
    .where('category_id', '=', categoryId)
    .executeTakeFirstOrThrow()

/** Of each SKU and period one price at most: that which began last, where it has not ended. */
const pricedNow = (at: Date) => sql`
  exists (select from (
    select distinct on (period) effective_to from bill_prices where sku_id = sku.id and effective_from <= ${at}
    order by period, effective_from desc, number desc
  ) as last where effective_to is null or effective_to > ${at})
`

/** @param at when prices have to hold to count */
const shownProducts = (on: Sql, at: Date) =>
  on
    .selectFrom('bill_products as product')
    .innerJoin('bill_categories as category', 'category.id', 'product.category_id')
    .selectAll('product')
    .select(['category.name as category_name', sql<number>`(select count(*) from bill_skus where product_id = product.id)`.as('sku_count')])
    .select([
      sql<number>`(select count(*) from bill_skus as sku where product_id = product.id and ${pricedNow(at)})`.as('priced_sku_count'),
      sql<number>`(select count(*) from bill_discounts where product_id = product.id)`.as('discount_count'),
    ])
export type ShownProduct = NonNullable<Awaited<ReturnType<typeof getProduct>>>
export const getProduct = (on: Sql, at: Date, id: string) => shownProducts(on, at).where('product.id', '=', id).executeTakeFirst()
/** Held, so that it stays. */
export const productByName = (tx: Tx, name: string) =>
  tx.selectFrom('bill_products').select(['id', 'category_id']).where('name', '=', name).forUpdate().executeTakeFirst()
const skusThat = (rule: 'priced' | 'unpriced', at: Date) =>
  sql<boolean>`exists (select from bill_skus as sku where product_id = product.id and ${rule === 'priced' ? pricedNow(at) : sql`not ${pricedNow(at)}`})`
export const listProducts = (on: Sql, at: Date, query: QueryOf<typeof products.list>) => {
  const filtered = shownProducts(on, at)
    .where(matching(query.keyword, 'product.name'))
    .where(asked(query, 'product', 'category_id'))
    .$if(query.priced === 'all', (q) => q.where(skusThat('priced', at)).where((of) => of.not(skusThat('unpriced', at))))
    .$if(query.priced === 'some', (q) => q.where(skusThat('priced', at)).where(skusThat('unpriced', at)))
    .$if(query.priced === 'none', (q) => q.where((of) => of.not(skusThat('priced', at))))
  return pageWithTotal(
    paged(filtered, query, {
      by: { name: 'product.name', sku_count: 'sku_count', created_at: 'product.created_at' },
      fallback: '-created_at',
      id: 'product.id',
    }),
    filtered,
    query,
  )
}
export const skusOfProduct = (on: Sql, productId: string): Promise<SkuRow[]> =>
  on.selectFrom('bill_skus').selectAll().where('product_id', '=', productId).orderBy('meter').orderBy('variant').execute()
export const getSku = (on: Sql, id: string): Promise<SkuRow | undefined> => on.selectFrom('bill_skus').selectAll().where('id', '=', id).executeTakeFirst()
export const skuPlaces = (on: Sql, query: QueryOf<typeof skus.list>) =>
  on
    .selectFrom('bill_skus as sku')
    .innerJoin('bill_products as product', 'product.id', 'sku.product_id')
    .select(['sku.id', 'sku.name', 'sku.meter', 'sku.variant', 'product.id as product_id', 'product.name as product_name'])
    .where(asked(query, 'sku', 'meter'))
    .orderBy('sku.meter')
    .orderBy('sku.variant')
    .execute()
/** The product that a meter is priced in already. */
export const productOfMeter = (on: Sql, meter: Meter, variant: string) =>
  on
    .selectFrom('bill_skus')
    .innerJoin('bill_products', 'bill_products.id', 'bill_skus.product_id')
    .select('bill_products.name')
    .where('meter', '=', meter)
    .where('variant', '=', variant)
    .executeTakeFirst()
export const renameSku = async (on: Sql, id: string, name: string): Promise<void> => {
  await on.updateTable('bill_skus').set({ name }).where('id', '=', id).execute()
}
/** All prices of some SKUs, in the order that they begin and were made. */
export const pricesOfSkus = (on: Sql, skuIds: readonly string[]): Promise<PriceRow[]> =>
  skuIds.length === 0
    ? Promise.resolve([])
    : on.selectFrom('bill_prices').selectAll().where('sku_id', 'in', skuIds).orderBy('effective_from').orderBy('number').execute()
export const listPrices = (on: Sql, skuId: string, query: QueryOf<typeof skus.prices>) => {
  const filtered = on
    .selectFrom('bill_prices')
    .selectAll()
    .where('sku_id', '=', skuId)
    .where(asked(query, 'bill_prices', 'period'))
  return pageWithTotal(paged(filtered, query, { by: { effective_from: 'effective_from' }, fallback: '-effective_from', id: 'number' }), filtered, query)
}
export const insertPrice = async (tx: Tx, row: Insertable<PriceTable>): Promise<void> => {
  await tx
    .insertInto('bill_prices')
    .values({ ...row, tiers: jsonb(row.tiers) })
    .execute()
}

const shownDiscounts = (on: Sql) =>
  on
    .selectFrom('bill_discounts as discount')
    .leftJoin('organisations', 'organisations.id', 'discount.bp_id')
    .leftJoin('bill_products as product', 'product.id', 'discount.product_id')
    .selectAll('discount')
    .select(['organisations.name as bp_name', 'product.name as product_name'])
/** As rules read it (tariff.ts): until, but not at its end. */
const discountStatus = (at: Date) => sql<string>`case when effective_to <= ${at} then 'ended' when effective_from > ${at} then 'planned' else 'current' end`
export type ShownDiscount = NonNullable<Awaited<ReturnType<typeof getDiscount>>>
export const getDiscount = (on: Sql, id: string) => shownDiscounts(on).where('discount.id', '=', id).executeTakeFirst()
export const listDiscounts = (on: Sql, at: Date, query: QueryOf<typeof discounts.list>) => {
  const filtered = shownDiscounts(on)
    .where(matching(query.keyword, 'discount.name'))
    .$if(query.status !== undefined, (q) => q.where(discountStatus(at), '=', query.status ?? ''))
    .where(asked(query, 'discount', 'period', 'bp_id', 'product_id'))
  return pageWithTotal(paged(filtered, query, orderOf('discount', '-created_at', 'name', 'fraction', 'effective_from', 'created_at')), filtered, query)
}
export const endDiscount = async (
  on: Sql,
  id: string,
  ending: Pick<DiscountTable, 'effective_to' | 'ended_by' | 'ended_by_name' | 'ended_at'>,
): Promise<void> => {
  await on.updateTable('bill_discounts').set(ending).where('id', '=', id).execute()
}
export const organisationExists = async (on: Sql, id: string): Promise<boolean> =>
  (await on.selectFrom('organisations').select('id').where('id', '=', id).executeTakeFirst()) !== undefined

const seconds = (moment: Date): number => moment.getTime() / 1000
const secondsOrNull = (moment: Date | null): number | null => (moment === null ? null : seconds(moment))

/** A price as rules read it. */
export const readPrice = ({ id, sku_id, number, period, tiers, effective_from, effective_to }: PriceRow): Price => ({
  id,
  sku_id,
  number,
  period,
  tiers: tiers.map(({ above, price }) => ({ above, price: BigInt(price) })),
  from: seconds(effective_from),
  to: secondsOrNull(effective_to),
})

/** All that prices and discounts of a kind of payment say. */
export async function readTariff(on: Sql, period: BillingPeriod): Promise<{ skus: Sku[]; prices: Price[]; discounts: Discount[] }> {
  const skus = await on.selectFrom('bill_skus').selectAll().execute()
  const prices = await on.selectFrom('bill_prices').selectAll().where('period', '=', period).execute()
  const discounts = await on
    .selectFrom('bill_discounts')
    .selectAll()
    .where((of) => of.or([of('period', 'is', null), of('period', '=', period)]))
    .execute()
  return {
    skus: skus.filter(({ meter }) => isMeter(meter)),
    prices: prices.map(readPrice),
    discounts: discounts.map((row) => ({
      id: row.id,
      fraction: row.fraction,
      bp_id: row.bp_id,
      product_id: row.product_id,
      period: row.period,
      from: seconds(row.effective_from),
      to: secondsOrNull(row.effective_to),
    })),
  }
}

/** How much of it each organisation uses now: so many resources of one size. */
export interface OpenUse {
  bp_id: string
  variant: string
  /** Base units of each. */
  quantity: number
  resources: number
}
/** @param meter of whichever variant */
export async function openUse(on: Sql, meter: Meter): Promise<OpenUse[]> {
  const { rows } = await sql<OpenUse>`
    select bp_id, variant, quantity, count(*) as resources from usage_intervals where meter = ${meter} and "to" is null group by bp_id, variant, quantity
  `.execute(on)
  return rows
}
export const organisationNames = async (on: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  new Map((await on.selectFrom('organisations').select(['id', 'name']).where(among('id', ids)).execute()).map(({ id, name }) => [id, name]))

/** What is measured, and within when and when. Seconds since 1970. */
export interface Gap {
  meter: Meter
  variant: string
  from: number
  to: number
}
/** What of each meter was used at all since a moment. */
export async function metersUsed(on: Sql, since: number): Promise<Pick<Gap, 'meter' | 'variant'>[]> {
  const { rows } = await sql<
    Pick<Gap, 'meter' | 'variant'>
  >`select distinct meter, variant from usage_intervals where "to" is null or "to" > to_timestamp(${since}) order by meter, variant`.execute(on)
  return rows.filter(({ meter }) => isMeter(meter))
}
export interface UseWithin extends Pick<Gap, 'meter' | 'variant'> {
  organisations: number
  resources: number
  /** Base units × seconds. */
  quantity_seconds: number
  first_at: Date
  /** Null: it goes on. */
  last_at: Date | null
}
/** What was used within some stretches of time, none of them beyond `now`, together for each meter and variant. */
export async function useWithin(on: Sql, gaps: readonly Gap[], now: number): Promise<UseWithin[]> {
  if (gaps.length === 0) return []
  const { rows } = await sql<UseWithin>`
    with used as (
      select interval.meter, interval.variant, bp_id, resource_id, quantity,
        greatest(interval."from", to_timestamp(gap."from")) as "from",
        least(coalesce(interval."to", 'infinity'), to_timestamp(gap."to")) as "to",
        gap."to" = ${now}::double precision and coalesce(interval."to", 'infinity') > to_timestamp(gap."to") as goes_on
      from jsonb_to_recordset(${JSON.stringify(gaps)}::jsonb) as gap (meter text, variant text, "from" double precision, "to" double precision)
      join usage_intervals as interval on interval.meter = gap.meter and interval.variant = gap.variant
        and interval."from" < to_timestamp(gap."to") and (interval."to" is null or interval."to" > to_timestamp(gap."from"))
    )
    select meter, variant, count(distinct bp_id) as organisations, count(distinct resource_id) as resources,
      sum(quantity * extract(epoch from "to" - "from"))::double precision as quantity_seconds,
      min("from") as first_at, case when bool_or(goes_on) then null else max("to") end as last_at
    from used group by meter, variant order by organisations desc, resources desc, meter, variant
  `.execute(on)
  return rows
}
