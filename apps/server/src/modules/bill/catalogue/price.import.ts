import { billingPeriods } from '@zhisuan/contract/bill/catalogue'
import type * as contract from '@zhisuan/contract/bill/catalogue'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { authoredBy, type Actor } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './catalogue.store.ts'
import { effective } from './effective.ts'
import { storedTiers } from './sku.service.ts'

/** What an imported list may break, by whoever else is at it. */
const listTaken = {
  [store.categoryNameRule]: ['categoryNameTaken', 'rows'],
  [store.productNameRule]: ['productNameTaken', 'rows'],
  [store.skuMeterRule]: ['priceListOverlaps', 'rows'],
} as const

type Made = ResponseOf<typeof contract.priceLists.import>

/** One of that name, held; made where there is none. */
async function categoryNamed(tx: Tx, actor: Actor, name: string, made: Made): Promise<string> {
  const there = await store.categoryByName(tx, name)
  if (there !== undefined) return there.id
  const id = uuidv7()
  await store.insertCategory(tx, { id, name, description: '', ...authoredBy(actor) })
  made.categories++
  return id
}

/** @throws Refusal 96002 where it is in another category */
async function productNamed(tx: Tx, actor: Actor, { name, category_id }: { name: string; category_id: string }, made: Made, field: string): Promise<string> {
  const there = await store.productByName(tx, name)
  if (there !== undefined && there.category_id !== category_id) throw new Refusal('productNameTaken', { field })
  if (there !== undefined) return there.id
  const id = uuidv7()
  await store.insertProduct(tx, { id, name, description: '', category_id, ...authoredBy(actor) })
  made.products++
  return id
}

type Rows = BodyOf<typeof contract.priceLists.import>['rows']

/** The same within a transaction: where something else is made with the prices. @throws Refusal 96002, 96003 */
export async function importInto(tx: Tx, at: Date, actor: Actor, rows: Rows): Promise<Made> {
  const made = { categories: 0, products: 0, skus: 0, prices: 0 }
  const from = effective({ effective_to: null }, at)
  for (const [index, row] of rows.entries()) {
    const category_id = await categoryNamed(tx, actor, row.category, made)
    const product_id = await productNamed(tx, actor, { name: row.product, category_id }, made, `rows.${index}.product`)
    const taken = await store.productOfMeter(tx, row.meter, row.variant)
    if (taken !== undefined) throw new Refusal('skuMeterTaken', { field: `rows.${index}.meter`, values: { product: taken.name } })
    const sku_id = uuidv7()
    await store.insertSku(tx, { id: sku_id, product_id, name: row.sku, meter: row.meter, variant: row.variant, ...authoredBy(actor) })
    made.skus++
    for (const period of billingPeriods) {
      const price = row[period]
      if (price === null) continue
      await store.insertPrice(tx, { id: uuidv7(), sku_id, period, tiers: storedTiers([{ above: 0, price }]), ...from, ...authoredBy(actor) })
      made.prices++
    }
  }
  return made
}

/**
 * A whole list: what is not there yet of it is made, with its prices.
 * @throws Refusal 96002, 96003; 96001, 96002, 96060 where somebody else makes the same at the same time
 */
export const importPrices = ({ db, now }: Pick<Platform, 'db' | 'now'>, actor: Actor, { rows }: BodyOf<typeof contract.priceLists.import>): Promise<Made> =>
  refusing(listTaken, () => db.transaction().execute((tx) => importInto(tx, now(), actor, rows)))
