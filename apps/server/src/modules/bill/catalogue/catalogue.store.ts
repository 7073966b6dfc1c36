import type { BillingPeriod, categories, discounts, products, skus } from '@zhisuan/contract/bill/catalogue'
import { isMeter, type Meter } from '@zhisuan/contract/bill/meter'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Generated, type Insertable, type Selectable } from 'kysely'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { containing, paged, pageWithTotal } from '../../../platform/db/page.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import type { Discount, Price, Sku } from './tariff.ts'

interface CategoryTable {
  id: string
  name: string
  description: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
interface ProductTable extends CategoryTable {
  category_id: string
}
interface SkuTable {
  id: string
  product_id: string
  name: string
  meter: Meter
  variant: string
  created_at: Generated<Date>
}
interface Authored {
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
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

/** Held until the transaction ends, so that nothing is put into what is being deleted. */
export const lockCategory = (tx: Tx, id: string) => tx.selectFrom('bill_categories').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
export const lockProduct = (tx: Tx, id: string) => tx.selectFrom('bill_products').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
export const lockSku = (tx: Tx, id: string) => tx.selectFrom('bill_skus').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
export const lockDiscount = (tx: Tx, id: string) => tx.selectFrom('bill_discounts').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

const named = { by: { name: 'name', created_at: 'created_at' }, fallback: '-created_at', id: 'id' }
const sought = (keyword: string | undefined): keyword is string => keyword !== undefined && keyword !== ''

const shownCategories = (on: Sql) =>
  on.selectFrom('bill_categories').selectAll().select(sql<number>`(select count(*) from bill_products where category_id = bill_categories.id)`.as('product_count'))
export const getCategory = (on: Sql, id: string) => shownCategories(on).where('id', '=', id).executeTakeFirst()
export const listCategories = (on: Sql, query: QueryOf<typeof categories.list>) => {
  const filtered = shownCategories(on).$if(sought(query.keyword), (q) => q.where('name', 'ilike', containing(query.keyword ?? '')))
  return pageWithTotal(paged(filtered, query, named), filtered, query)
}
export const insertCategory = async (on: Sql, row: Insertable<CategoryTable>): Promise<void> => {
  await on.insertInto('bill_categories').values(row).execute()
}
export const updateCategory = async (on: Sql, id: string, changes: { name: string; description: string }): Promise<void> => {
  await on.updateTable('bill_categories').set({ ...changes, updated_at: sql`now()` }).where('id', '=', id).execute()
}
export const deleteCategory = async (on: Sql, id: string): Promise<void> => {
  await on.deleteFrom('bill_categories').where('id', '=', id).execute()
}

const shownProducts = (on: Sql) =>
  on
    .selectFrom('bill_products as product')
    .innerJoin('bill_categories as category', 'category.id', 'product.category_id')
    .selectAll('product')
    .select(['category.name as category_name', sql<number>`(select count(*) from bill_skus where product_id = product.id)`.as('sku_count')])
export type ShownProduct = NonNullable<Awaited<ReturnType<typeof getProduct>>>
export const getProduct = (on: Sql, id: string) => shownProducts(on).where('product.id', '=', id).executeTakeFirst()
export const listProducts = (on: Sql, query: QueryOf<typeof products.list>) => {
  const filtered = shownProducts(on)
    .$if(sought(query.keyword), (q) => q.where('product.name', 'ilike', containing(query.keyword ?? '')))
    .$if(query.category_id !== undefined, (q) => q.where('product.category_id', '=', query.category_id ?? ''))
  return pageWithTotal(paged(filtered, query, { by: { name: 'product.name', created_at: 'product.created_at' }, fallback: '-created_at', id: 'product.id' }), filtered, query)
}
export const insertProduct = async (on: Sql, row: Insertable<ProductTable>): Promise<void> => {
  await on.insertInto('bill_products').values(row).execute()
}
export const updateProduct = async (on: Sql, id: string, changes: { name: string; description: string; category_id: string }): Promise<void> => {
  await on.updateTable('bill_products').set({ ...changes, updated_at: sql`now()` }).where('id', '=', id).execute()
}
export const deleteProduct = async (on: Sql, id: string): Promise<void> => {
  await on.deleteFrom('bill_products').where('id', '=', id).execute()
}
/** Whether a product has SKUs or discounts. */
export const isProductUsed = async (on: Sql, id: string): Promise<boolean> =>
  (await sql`select from bill_skus where product_id = ${id} union all select from bill_discounts where product_id = ${id} limit 1`.execute(on)).rows.length > 0

export const skusOfProduct = (on: Sql, productId: string): Promise<SkuRow[]> => on.selectFrom('bill_skus').selectAll().where('product_id', '=', productId).orderBy('meter').orderBy('variant').execute()
export const getSku = (on: Sql, id: string): Promise<SkuRow | undefined> => on.selectFrom('bill_skus').selectAll().where('id', '=', id).executeTakeFirst()
/** The product that a meter is priced in already. */
export const productOfMeter = (on: Sql, meter: Meter, variant: string) =>
  on.selectFrom('bill_skus').innerJoin('bill_products', 'bill_products.id', 'bill_skus.product_id').select('bill_products.name').where('meter', '=', meter).where('variant', '=', variant).executeTakeFirst()
export const insertSku = async (on: Sql, row: Insertable<SkuTable>): Promise<void> => {
  await on.insertInto('bill_skus').values(row).execute()
}
export const deleteSku = async (on: Sql, id: string): Promise<void> => {
  await on.deleteFrom('bill_skus').where('id', '=', id).execute()
}
/** All prices of some SKUs, in the order that they begin and were made. */
export const pricesOfSkus = (on: Sql, skuIds: readonly string[]): Promise<PriceRow[]> =>
  skuIds.length === 0 ? Promise.resolve([]) : on.selectFrom('bill_prices').selectAll().where('sku_id', 'in', skuIds).orderBy('effective_from').orderBy('number').execute()
export const listPrices = (on: Sql, skuId: string, query: QueryOf<typeof skus.prices>) => {
  const filtered = on
    .selectFrom('bill_prices')
    .selectAll()
    .where('sku_id', '=', skuId)
    .$if(query.period !== undefined, (q) => q.where('period', '=', query.period ?? 'hour'))
  return pageWithTotal(paged(filtered, query, { by: { effective_from: 'effective_from' }, fallback: '-effective_from', id: 'number' }), filtered, query)
}
export const insertPrice = async (tx: Tx, row: Insertable<PriceTable>): Promise<void> => {
  await tx.insertInto('bill_prices').values({ ...row, tiers: jsonb(row.tiers) }).execute()
}

const shownDiscounts = (on: Sql) =>
  on
    .selectFrom('bill_discounts as discount')
    .leftJoin('organisations', 'organisations.id', 'discount.bp_id')
    .leftJoin('bill_products as product', 'product.id', 'discount.product_id')
    .selectAll('discount')
    .select(['organisations.name as bp_name', 'product.name as product_name'])
export type ShownDiscount = NonNullable<Awaited<ReturnType<typeof getDiscount>>>
export const getDiscount = (on: Sql, id: string) => shownDiscounts(on).where('discount.id', '=', id).executeTakeFirst()
export const listDiscounts = (on: Sql, query: QueryOf<typeof discounts.list>) => {
  const filtered = shownDiscounts(on)
    .$if(sought(query.keyword), (q) => q.where('discount.name', 'ilike', containing(query.keyword ?? '')))
    .$if(query.bp_id !== undefined, (q) => q.where('discount.bp_id', '=', query.bp_id ?? ''))
    .$if(query.product_id !== undefined, (q) => q.where('discount.product_id', '=', query.product_id ?? ''))
  return pageWithTotal(paged(filtered, query, { by: { name: 'discount.name', effective_from: 'discount.effective_from', created_at: 'discount.created_at' }, fallback: '-created_at', id: 'discount.id' }), filtered, query)
}
export const insertDiscount = async (on: Sql, row: Insertable<DiscountTable>): Promise<void> => {
  await on.insertInto('bill_discounts').values(row).execute()
}
export const endDiscount = async (on: Sql, id: string, at: Date): Promise<void> => {
  await on.updateTable('bill_discounts').set({ effective_to: at }).where('id', '=', id).execute()
}
export const organisationExists = async (on: Sql, id: string): Promise<boolean> => (await on.selectFrom('organisations').select('id').where('id', '=', id).executeTakeFirst()) !== undefined

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
    discounts: discounts.map((row) => ({ id: row.id, fraction: row.fraction, bp_id: row.bp_id, product_id: row.product_id, period: row.period, from: seconds(row.effective_from), to: secondsOrNull(row.effective_to) })),
  }
}
