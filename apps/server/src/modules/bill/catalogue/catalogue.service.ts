import type * as contract from '@zhisuan/contract/bill/catalogue'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, isUniqueViolation } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './catalogue.store.ts'
import { amountOf, createTariff, formulaOf, wholeFraction } from './tariff.ts'

type Named = { name: string; description: string }
type Period = { effective_from?: string | undefined; effective_to: string | null }

const authoredBy = (actor: Actor) => ({ created_by: actor.user_id, created_by_name: actor.name })
/** Usage is counted in whole seconds: what begins within one begins with the next. */
const wholeSecond = (moment: number): Date => new Date(Math.ceil(moment / 1000) * 1000)
export const fractionText = (fraction: number): string => toDecimal(BigInt(fraction) * (10n ** 8n / BigInt(wholeFraction)))

/** @throws Refusal 24008 outside (0, 1], and for what four decimals cannot say */
function readFraction(text: string): number {
  const [, whole = '', decimals = ''] = /^(\d+)(?:\.(\d{1,4})0*)?$/.exec(text) ?? []
  const fraction = whole === '' ? 0 : Number(whole) * wholeFraction + Number(decimals.padEnd(4, '0'))
  if (fraction <= 0 || fraction > wholeFraction) throw new Refusal('discountOutOfRange', { field: 'fraction' })
  return fraction
}

/** `work`, with a broken unique rule told as a refusal of the field `name`. */
async function unique<T>(rule: string, refusal: 'categoryNameTaken' | 'productNameTaken', work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isUniqueViolation(error, rule) ? new Refusal(refusal, { field: 'name', cause: error }) : error
  }
}

export type CatalogueService = ReturnType<typeof createCatalogue>

/** What things cost: categories, products, SKUs with their prices, discounts, quotes. */
export function createCatalogue({ db, now }: Pick<Platform, 'db' | 'now'>) {
  /** @throws Refusal 96007 */
  const effective = ({ effective_from, effective_to }: Period): { effective_from: Date; effective_to: Date | null } => {
    const at = now().getTime()
    const begin = effective_from === undefined ? at : Date.parse(effective_from)
    // The clocks of people differ a little.
    if (begin < at - 60_000) throw new Refusal('effectiveInPast', { field: 'effective_from' })
    // Never before now, so that nothing that was ever rated can change.
    const period = { effective_from: wholeSecond(Math.max(begin, at)), effective_to: effective_to === null ? null : wholeSecond(Date.parse(effective_to)) }
    if (period.effective_to !== null && period.effective_to <= period.effective_from) throw new Refusal('effectiveInPast', { field: 'effective_to' })
    return period
  }

  const shapeCategory = (row: NonNullable<Awaited<ReturnType<typeof store.getCategory>>>): contract.Category => ({ ...row, created_at: iso(row.created_at), updated_at: iso(row.updated_at) })
  const shapeProduct = ({ category_id, category_name, ...row }: store.ShownProduct): contract.Product => ({
    ...row,
    category: { id: category_id, name: category_name },
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  })
  /** @param all prices of the same SKU, for which of them holds */
  const shapePrice = (row: store.PriceRow, all: readonly store.PriceRow[]): contract.Price => {
    const at = now()
    const rivals = all.filter((one) => one.period === row.period && one.number !== row.number)
    const isLater = (one: store.PriceRow): boolean => one.effective_from > row.effective_from || (one.effective_from.getTime() === row.effective_from.getTime() && one.number > row.number)
    const superseded = rivals.some((one) => isLater(one) && one.effective_from <= (at > row.effective_from ? at : row.effective_from))
    const status = superseded ? 'superseded' : row.effective_to !== null && row.effective_to <= at ? 'ended' : row.effective_from > at ? 'planned' : 'current'
    return {
      id: row.id,
      sku_id: row.sku_id,
      period: row.period,
      tiers: row.tiers.map(({ above, price }) => ({ above, price: toDecimal(BigInt(price)) })),
      effective_from: iso(row.effective_from),
      effective_to: isoOrNull(row.effective_to),
      status,
      created_by: row.created_by_name,
      created_at: iso(row.created_at),
    }
  }
  const shapeSkus = async (rows: readonly store.SkuRow[]): Promise<contract.Sku[]> => {
    const prices = Map.groupBy(await store.pricesOfSkus(db, rows.map(({ id }) => id)), ({ sku_id }) => sku_id)
    return rows.map((row) => {
      const own = prices.get(row.id) ?? []
      return { ...row, prices: own.map((price) => shapePrice(price, own)).filter(({ status }) => status === 'current'), created_at: iso(row.created_at) }
    })
  }
  const shapeDiscount = (row: store.ShownDiscount): contract.Discount => ({
    id: row.id,
    name: row.name,
    fraction: fractionText(row.fraction),
    organisation: row.bp_id === null ? null : { id: row.bp_id, name: row.bp_name ?? '' },
    product: row.product_id === null ? null : { id: row.product_id, name: row.product_name ?? '' },
    period: row.period,
    effective_from: iso(row.effective_from),
    effective_to: isoOrNull(row.effective_to),
    status: row.effective_to !== null && row.effective_to <= now() ? 'ended' : row.effective_from > now() ? 'planned' : 'current',
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
  })
  const getCategory = async (id: string) => shapeCategory(found(await store.getCategory(db, id)))
  const getProduct = async (id: string) => shapeProduct(found(await store.getProduct(db, id)))
  const getDiscount = async (id: string) => shapeDiscount(found(await store.getDiscount(db, id)))

  return {
    categories: {
      async list(query: QueryOf<typeof contract.categories.list>): Promise<ResponseOf<typeof contract.categories.list>> {
        const { total, rows } = await store.listCategories(db, query)
        return { total, items: rows.map(shapeCategory) }
      },
      async create(body: Named): Promise<contract.Category> {
        const id = uuidv7()
        await unique(store.categoryNameRule, 'categoryNameTaken', store.insertCategory(db, { id, ...body }))
        return getCategory(id)
      },
      async update(id: string, body: Named): Promise<contract.Category> {
        await getCategory(id)
        await unique(store.categoryNameRule, 'categoryNameTaken', store.updateCategory(db, id, body))
        return getCategory(id)
      },
      /** @throws Refusal 96004 */
      delete: (id: string): Promise<void> =>
        db.transaction().execute(async (tx) => {
          found(await store.lockCategory(tx, id))
          if (found(await store.getCategory(tx, id)).product_count > 0) throw new Refusal('categoryInUse')
          await store.deleteCategory(tx, id)
        }),
    },

    products: {
      async list(query: QueryOf<typeof contract.products.list>): Promise<ResponseOf<typeof contract.products.list>> {
        const { total, rows } = await store.listProducts(db, query)
        return { total, items: rows.map(shapeProduct) }
      },
      get: getProduct,
      async create(body: BodyOf<typeof contract.products.create>): Promise<contract.Product> {
        const id = uuidv7()
        await db.transaction().execute(async (tx) => {
          if ((await store.lockCategory(tx, body.category_id)) === undefined) throw new Refusal('notFound', { field: 'category_id' })
          await unique(store.productNameRule, 'productNameTaken', store.insertProduct(tx, { id, ...body }))
        })
        return getProduct(id)
      },
      async update(id: string, body: BodyOf<typeof contract.products.update>): Promise<contract.Product> {
        await db.transaction().execute(async (tx) => {
          found(await store.lockProduct(tx, id))
          if ((await store.lockCategory(tx, body.category_id)) === undefined) throw new Refusal('notFound', { field: 'category_id' })
          await unique(store.productNameRule, 'productNameTaken', store.updateProduct(tx, id, body))
        })
        return getProduct(id)
      },
      /** @throws Refusal 96005 */
      delete: (id: string): Promise<void> =>
        db.transaction().execute(async (tx) => {
          found(await store.lockProduct(tx, id))
          if (await store.isProductUsed(tx, id)) throw new Refusal('productInUse')
          await store.deleteProduct(tx, id)
        }),
      async skus(id: string): Promise<{ items: contract.Sku[] }> {
        await getProduct(id)
        return { items: await shapeSkus(await store.skusOfProduct(db, id)) }
      },
    },

    skus: {
      /** @throws Refusal 96003 */
      async create(body: BodyOf<typeof contract.skus.create>): Promise<contract.Sku> {
        const id = uuidv7()
        try {
          await db.transaction().execute(async (tx) => {
            if ((await store.lockProduct(tx, body.product_id)) === undefined) throw new Refusal('notFound', { field: 'product_id' })
            await store.insertSku(tx, { id, ...body })
          })
        } catch (error) {
          if (!isUniqueViolation(error, store.skuMeterRule)) throw error
          throw new Refusal('skuMeterTaken', { field: 'meter', values: { product: (await store.productOfMeter(db, body.meter, body.variant))?.name ?? '' }, cause: error })
        }
        const [made] = await shapeSkus([found(await store.getSku(db, id))])
        return found(made)
      },
      /** @throws Refusal 96006 */
      delete: (id: string): Promise<void> =>
        db.transaction().execute(async (tx) => {
          found(await store.lockSku(tx, id))
          if ((await store.pricesOfSkus(tx, [id])).length > 0) throw new Refusal('skuPriced')
          await store.deleteSku(tx, id)
        }),
      async prices(id: string, query: QueryOf<typeof contract.skus.prices>): Promise<ResponseOf<typeof contract.skus.prices>> {
        found(await store.getSku(db, id))
        const { total, rows } = await store.listPrices(db, id, query)
        const all = await store.pricesOfSkus(db, [id])
        return { total, items: rows.map((row) => shapePrice(row, all)) }
      },
      /** @throws Refusal 96007 */
      async setPrice(actor: Actor, id: string, body: BodyOf<typeof contract.skus.setPrice>): Promise<contract.Price> {
        const price = uuidv7()
        await db.transaction().execute(async (tx) => {
          found(await store.lockSku(tx, id))
          await store.insertPrice(tx, {
            id: price,
            sku_id: id,
            period: body.period,
            tiers: body.tiers.map((tier) => ({ above: tier.above, price: String(toMinor(tier.price)) })),
            ...effective(body),
            ...authoredBy(actor),
          })
        })
        const all = await store.pricesOfSkus(db, [id])
        return shapePrice(found(all.find((one) => one.id === price)), all)
      },
    },

    discounts: {
      async list(query: QueryOf<typeof contract.discounts.list>): Promise<ResponseOf<typeof contract.discounts.list>> {
        const { total, rows } = await store.listDiscounts(db, query)
        return { total, items: rows.map(shapeDiscount) }
      },
      /** @throws Refusal 24008, 96007 */
      async create(actor: Actor, body: BodyOf<typeof contract.discounts.create>): Promise<contract.Discount> {
        const id = uuidv7()
        const row = { id, name: body.name, fraction: readFraction(body.fraction), bp_id: body.bp_id, product_id: body.product_id, period: body.period, ...effective(body), ...authoredBy(actor) }
        await db.transaction().execute(async (tx) => {
          if (body.bp_id !== null && !(await store.organisationExists(tx, body.bp_id))) throw new Refusal('notFound', { field: 'bp_id' })
          if (body.product_id !== null && (await store.lockProduct(tx, body.product_id)) === undefined) throw new Refusal('notFound', { field: 'product_id' })
          await store.insertDiscount(tx, row)
        })
        return getDiscount(id)
      },
      /** @throws Refusal 96008 */
      async end(id: string): Promise<contract.Discount> {
        await db.transaction().execute(async (tx) => {
          const { effective_from, effective_to } = found(await store.lockDiscount(tx, id))
          const at = wholeSecond(now().getTime())
          if (effective_to !== null && effective_to <= at) throw new Refusal('discountEnded')
          // One that has not begun never will.
          await store.endDiscount(tx, id, at > effective_from ? at : effective_from)
        })
        return getDiscount(id)
      },
    },

    /** @throws Refusal 24007 naming the first item without a price */
    async quote(actor: Actor, body: BodyOf<typeof contract.quotes.ask>): Promise<ResponseOf<typeof contract.quotes.ask>> {
      // Nobody learns what others pay; who has no organisation pays what everybody does.
      if (body.bp_id !== null && body.bp_id !== actor.bp_id && !isPlatformKind(actor.kind)) throw new Refusal('notFound', { field: 'bp_id' })
      const bp_id = body.bp_id ?? actor.bp_id ?? ''
      const tariff = createTariff(await store.readTariff(db, body.period))
      const at = now().getTime() / 1000
      const priced = body.items.map(({ meter, variant, quantity }, index) => {
        const terms = tariff.at({ meter, variant, bp_id, period: body.period }, at)
        if (terms === null) throw new Refusal('productNotPriced', { field: `items.${index}` })
        const fraction = terms.discount?.fraction ?? wholeFraction
        const cost = (paid: number): bigint => amountOf(meter, terms.price.tiers, quantity, { of: body.count, whole: 1 }, paid)
        return { meter, variant, sku: { id: terms.sku.id, name: terms.sku.name }, quantity, parts: formulaOf(meter, terms.price.tiers, quantity), fraction, list: cost(wholeFraction), cost: cost(fraction) }
      })
      const sum = (amounts: readonly bigint[]): string => toDecimal(amounts.reduce((total, amount) => total + amount, 0n))
      return {
        period: body.period,
        count: body.count,
        list_amount: sum(priced.map(({ list }) => list)),
        amount: sum(priced.map(({ cost }) => cost)),
        lines: priced.map(({ list, cost, fraction, ...line }) => ({ ...line, fraction: fractionText(fraction), list_amount: toDecimal(list), amount: toDecimal(cost) })),
      }
    },
  }
}
