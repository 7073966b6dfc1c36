import { billingPeriods, previewHours } from '@zhisuan/contract/bill/catalogue'
import type * as contract from '@zhisuan/contract/bill/catalogue'
import { meters, type Meter } from '@zhisuan/contract/bill/meter'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, type Sql, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './catalogue.store.ts'
import { amountOf, createTariff, formulaOf, wholeFraction, type Tariff } from './tariff.ts'

type Named = { name: string; description: string }
type GivenTiers = readonly { above: number; price: string }[]
type Period = { effective_from?: string | undefined; effective_to: string | null }

const authoredBy = (actor: Actor) => ({ created_by: actor.user_id, created_by_name: actor.name })
/** Usage is counted in whole seconds: what begins within one begins with the next. */
const wholeSecond = (moment: number): Date => new Date(Math.ceil(moment / 1000) * 1000)
export const fractionText = (fraction: number): string => toDecimal(BigInt(fraction) * (10n ** 8n / BigInt(wholeFraction)))

const storedTiers = (tiers: GivenTiers) => tiers.map(({ above, price }) => ({ above, price: String(toMinor(price)) }))
/** Organisations that a preview names. */
const mostNamed = 5

/** @throws Refusal 24008 outside (0, 1], and for what four decimals cannot say */
function readFraction(text: string): number {
  const [, whole = '', decimals = ''] = /^(\d+)(?:\.(\d{1,4})0*)?$/.exec(text) ?? []
  const fraction = whole === '' ? 0 : Number(whole) * wholeFraction + Number(decimals.padEnd(4, '0'))
  if (fraction <= 0 || fraction > wholeFraction) throw new Refusal('discountOutOfRange', { field: 'fraction' })
  return fraction
}

const categoryTaken = { [store.categoryNameRule]: ['categoryNameTaken', 'name'] } as const
const productTaken = { [store.productNameRule]: ['productNameTaken', 'name'] } as const
/** What an imported list may break, by whoever else is at it. */
const listTaken = {
  [store.categoryNameRule]: ['categoryNameTaken', 'rows'],
  [store.productNameRule]: ['productNameTaken', 'rows'],
  [store.skuMeterRule]: ['priceListOverlaps', 'rows'],
} as const

const shapePlace = ({ product_id, product_name, ...sku }: Awaited<ReturnType<typeof store.skuPlaces>>[number]): contract.SkuPlace => ({
  ...sku,
  product: { id: product_id, name: product_name },
})

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

/** When within a stretch of time nothing prices a meter by the hour. */
function gapsOf(tariff: Tariff, meter: Meter, variant: string, since: number, until: number): store.Gap[] {
  const spans = tariff.spans({ meter, variant, bp_id: '', period: 'hour' })
  const [first] = spans
  const none = first === undefined ? [{ from: since, to: until }] : [{ from: since, to: first.from }, ...spans.filter(({ terms }) => terms === null)]
  return none.map(({ from, to }) => ({ meter, variant, from: Math.max(from, since), to: Math.min(to, until) })).filter(({ from, to }) => from < to)
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

  const shapeCategory = ({ created_by_name, ...row }: NonNullable<Awaited<ReturnType<typeof store.getCategory>>>): contract.Category => ({
    ...row,
    created_by: created_by_name,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  })
  const shapeProduct = ({ category_id, category_name, created_by_name, ...row }: store.ShownProduct): contract.Product => ({
    ...row,
    category: { id: category_id, name: category_name },
    created_by: created_by_name,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  })
  /** @param all prices of the same SKU, for which of them holds */
  const shapePrice = (row: store.PriceRow, all: readonly store.PriceRow[]): contract.Price => {
    const at = now()
    const rivals = all.filter((one) => one.period === row.period && one.number !== row.number)
    const isLater = (one: store.PriceRow): boolean =>
      one.effective_from > row.effective_from || (one.effective_from.getTime() === row.effective_from.getTime() && one.number > row.number)
    // What began later takes its place, and keeps it after its own end.
    const replaced =
      rivals
        .filter(isLater)
        .map((one) => (one.effective_from > row.effective_from ? one.effective_from : row.effective_from))
        .sort((one, other) => one.getTime() - other.getTime())[0] ?? null
    const superseded = replaced !== null && replaced <= (at > row.effective_from ? at : row.effective_from)
    const status = superseded ? 'superseded' : row.effective_to !== null && row.effective_to <= at ? 'ended' : row.effective_from > at ? 'planned' : 'current'
    return {
      id: row.id,
      sku_id: row.sku_id,
      period: row.period,
      tiers: row.tiers.map(({ above, price }) => ({ above, price: toDecimal(BigInt(price)) })),
      effective_from: iso(row.effective_from),
      effective_to: isoOrNull(row.effective_to),
      replaced_at: isoOrNull(replaced !== null && (row.effective_to === null || replaced < row.effective_to) ? replaced : null),
      status,
      created_by: row.created_by_name,
      created_at: iso(row.created_at),
    }
  }
  const shapeSkus = async (rows: readonly store.SkuRow[]): Promise<contract.Sku[]> => {
    const prices = Map.groupBy(
      await store.pricesOfSkus(
        db,
        rows.map(({ id }) => id),
      ),
      ({ sku_id }) => sku_id,
    )
    const used = await usedBy(rows)
    return rows.map(({ created_by_name, ...row }) => {
      const own = prices.get(row.id) ?? []
      const shown = own.map((price) => shapePrice(price, own))
      return {
        ...row,
        prices: shown.filter(({ status }) => status === 'current'),
        planned_count: shown.filter(({ status }) => status === 'planned').length,
        ever_priced: own.length > 0,
        used_by: used.get(row.id) ?? { organisations: 0, resources: 0 },
        created_by: created_by_name,
        created_at: iso(row.created_at),
      }
    })
  }
  /** What is in use now and pays by the hour, by the SKU whose price it pays. */
  const usedBy = async (rows: readonly store.SkuRow[]): Promise<ReadonlyMap<string, { organisations: number; resources: number }>> => {
    if (rows.length === 0) return new Map()
    const tariff = createTariff(await store.readTariff(db, 'hour'))
    const at = now().getTime() / 1000
    const uses: { sku: string; bp_id: string; resources: number }[] = []
    for (const meter of new Set(rows.map((row) => row.meter))) {
      for (const { bp_id, variant, resources } of await store.openUse(db, meter)) {
        const sku = tariff.at({ meter, variant, bp_id, period: 'hour' }, at)?.sku.id
        if (sku !== undefined) uses.push({ sku, bp_id, resources })
      }
    }
    return new Map(
      [...Map.groupBy(uses, ({ sku }) => sku)].map(([sku, of]) => [
        sku,
        { organisations: new Set(of.map(({ bp_id }) => bp_id)).size, resources: of.reduce((sum, { resources }) => sum + resources, 0) },
      ]),
    )
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
    ended: row.ended_at === null ? null : { by: row.ended_by_name ?? '', at: iso(row.ended_at) },
  })
  const meterTaken = async ({ meter, variant }: { meter: Meter; variant: string }, cause: unknown): Promise<Refusal> =>
    new Refusal('skuMeterTaken', { field: 'meter', values: { product: (await store.productOfMeter(db, meter, variant))?.name ?? '' }, cause })
  const getCategory = async (id: string) => shapeCategory(found(await store.getCategory(db, id)))
  const getProduct = async (id: string) => shapeProduct(found(await store.getProduct(db, now(), id)))
  const getSku = async (id: string): Promise<contract.Sku> => found((await shapeSkus([found(await store.getSku(db, id))]))[0])
  const getDiscount = async (id: string) => shapeDiscount(found(await store.getDiscount(db, id)))

  return {
    categories: {
      list: (query: QueryOf<typeof contract.categories.list>) => shapedPage(store.listCategories(db, query), shapeCategory),
      async create(actor: Actor, body: Named): Promise<contract.Category> {
        const id = uuidv7()
        await refusing(categoryTaken, () => store.insertCategory(db, { id, ...body, ...authoredBy(actor) }))
        return getCategory(id)
      },
      async update(id: string, body: Named): Promise<contract.Category> {
        await getCategory(id)
        await refusing(categoryTaken, () => store.updateCategory(db, id, body))
        return getCategory(id)
      },
      /** @throws Refusal 96004 */
      delete: (id: string): Promise<void> =>
        db.transaction().execute(async (tx) => {
          found(await store.lockCategory(tx, id))
          const { count, first } = await store.productsOf(tx, id)
          if (count > 0) throw new Refusal('categoryInUse', { values: { count, product: first ?? '' } })
          await store.deleteCategory(tx, id)
        }),
    },

    products: {
      list: (query: QueryOf<typeof contract.products.list>) => shapedPage(store.listProducts(db, now(), query), shapeProduct),
      get: getProduct,
      async create(actor: Actor, body: BodyOf<typeof contract.products.create>): Promise<contract.Product> {
        const id = uuidv7()
        await db.transaction().execute(async (tx) => {
          if ((await store.lockCategory(tx, body.category_id)) === undefined) throw new Refusal('notFound', { field: 'category_id' })
          await refusing(productTaken, () => store.insertProduct(tx, { id, ...body, ...authoredBy(actor) }))
        })
        return getProduct(id)
      },
      async update(id: string, body: BodyOf<typeof contract.products.update>): Promise<contract.Product> {
        await db.transaction().execute(async (tx) => {
          found(await store.lockProduct(tx, id))
          if ((await store.lockCategory(tx, body.category_id)) === undefined) throw new Refusal('notFound', { field: 'category_id' })
          await refusing(productTaken, () => store.updateProduct(tx, id, body))
        })
        return getProduct(id)
      },
      /** @throws Refusal 96005 */
      delete: (id: string): Promise<void> =>
        db.transaction().execute(async (tx) => {
          found(await store.lockProduct(tx, id))
          const { sku_count, discount_count } = found(await store.getProduct(tx, now(), id))
          if (sku_count + discount_count > 0) throw new Refusal('productInUse', { values: { skus: sku_count, discounts: discount_count } })
          await store.deleteProduct(tx, id)
        }),
      async skus(id: string): Promise<{ items: contract.Sku[] }> {
        await getProduct(id)
        return { items: await shapeSkus(await store.skusOfProduct(db, id)) }
      },
    },

    skus: {
      async list(query: QueryOf<typeof contract.skus.list>): Promise<ResponseOf<typeof contract.skus.list>> {
        const items = (await store.skuPlaces(db, query)).map(shapePlace)
        return { total: items.length, items }
      },
      /** @throws Refusal 96003 */
      async create(actor: Actor, body: BodyOf<typeof contract.skus.create>): Promise<contract.Sku> {
        const id = uuidv7()
        await refusing({ [store.skuMeterRule]: (cause) => meterTaken(body, cause) }, () =>
          db.transaction().execute(async (tx) => {
            if ((await store.lockProduct(tx, body.product_id)) === undefined) throw new Refusal('notFound', { field: 'product_id' })
            await store.insertSku(tx, { id, ...body, ...authoredBy(actor) })
          }),
        )
        const [made] = await shapeSkus([found(await store.getSku(db, id))])
        return found(made)
      },
      /** @throws Refusal 96006 */
      async update(id: string, { name }: BodyOf<typeof contract.skus.update>): Promise<contract.Sku> {
        await getSku(id)
        await store.renameSku(db, id, name)
        return getSku(id)
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
            tiers: storedTiers(body.tiers),
            ...effective(body),
            ...authoredBy(actor),
          })
        })
        const all = await store.pricesOfSkus(db, [id])
        return shapePrice(found(all.find((one) => one.id === price)), all)
      },
      /** @throws Refusal 96007 */
      async previewPrice(id: string, body: BodyOf<typeof contract.skus.previewPrice>): Promise<contract.PricePreview> {
        const { meter } = found(await store.getSku(db, id))
        const from = effective({ effective_from: body.effective_from, effective_to: null }).effective_from.getTime() / 1000
        const rows = await store.readTariff(db, 'hour')
        const price = {
          id: '',
          sku_id: id,
          number: Number.POSITIVE_INFINITY,
          period: 'hour' as const,
          tiers: body.tiers.map((tier) => ({ above: tier.above, price: toMinor(tier.price) })),
          from,
          to: null,
        }
        const [before, after] = [createTariff(rows), createTariff({ ...rows, prices: [...rows.prices, price] })]
        const month = (tariff: Tariff, { bp_id, variant, quantity, resources }: store.OpenUse): bigint => {
          const terms = tariff.at({ meter, variant, bp_id, period: 'hour' }, from)
          return terms === null
            ? 0n
            : BigInt(resources) * amountOf(meter, terms.price.tiers, quantity, { of: previewHours, whole: 1 }, terms.discount?.fraction ?? wholeFraction)
        }
        const affected = (await store.openUse(db, meter)).filter(
          ({ bp_id, variant }) => after.at({ meter, variant, bp_id, period: 'hour' }, from)?.price === price,
        )
        const effects = [...Map.groupBy(affected, ({ bp_id }) => bp_id)].map(([bp_id, of]) => ({
          id: bp_id,
          resources: of.reduce((sum, { resources }) => sum + resources, 0),
          before: of.reduce((sum, use) => sum + month(before, use), 0n),
          after: of.reduce((sum, use) => sum + month(after, use), 0n),
        }))
        const change = (one: { before: bigint; after: bigint }): bigint => (one.after > one.before ? one.after - one.before : one.before - one.after)
        const greatest = effects.toSorted((one, other) => Number(change(other) - change(one)) || (one.id < other.id ? -1 : 1)).slice(0, mostNamed)
        const names = await store.organisationNames(
          db,
          greatest.map((one) => one.id),
        )
        const total = effects.reduce(
          (sum, one) => ({ resources: sum.resources + one.resources, before: sum.before + one.before, after: sum.after + one.after }),
          { resources: 0, before: 0n, after: 0n },
        )
        const shown = <T extends { before: bigint; after: bigint }>(one: T) => ({ ...one, before: toDecimal(one.before), after: toDecimal(one.after) })
        return { organisation_count: effects.length, ...shown(total), organisations: greatest.map((one) => ({ ...shown(one), name: names.get(one.id) ?? '' })) }
      },
    },

    /** @throws Refusal 96002, 96003; 96001, 96002, 96060 where somebody else makes the same at the same time */
    importPrices: (actor: Actor, { rows }: BodyOf<typeof contract.priceLists.import>): Promise<Made> => {
      return refusing(listTaken, () =>
        db.transaction().execute(async (tx) => {
          const made = { categories: 0, products: 0, skus: 0, prices: 0 }
          const from = effective({ effective_to: null })
          for (const [at, row] of rows.entries()) {
            const category_id = await categoryNamed(tx, actor, row.category, made)
            const product_id = await productNamed(tx, actor, { name: row.product, category_id }, made, `rows.${at}.product`)
            const taken = await store.productOfMeter(tx, row.meter, row.variant)
            if (taken !== undefined) throw new Refusal('skuMeterTaken', { field: `rows.${at}.meter`, values: { product: taken.name } })
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
        }),
      )
    },

    async unpriced(days: number): Promise<ResponseOf<typeof contract.unpriced.list>> {
      const at = Math.floor(now().getTime() / 1000)
      const since = at - days * 86_400
      const tariff = createTariff(await store.readTariff(db, 'hour'))
      // Whether something has a price does not depend on who uses it.
      const gaps = (await store.metersUsed(db, since)).flatMap(({ meter, variant }) => gapsOf(tariff, meter, variant, since, at))
      const uses = await store.useWithin(db, gaps, at)
      const places = (await store.skuPlaces(db, {})).map(shapePlace)
      const items = uses.map(({ meter, variant, organisations, resources, quantity_seconds, first_at, last_at }) => ({
        id: `${meter}/${variant}`,
        meter,
        variant,
        organisation_count: organisations,
        resource_count: resources,
        unit_hours: quantity_seconds / meters[meter].perUnit / 3600,
        first_at: iso(first_at),
        last_at: isoOrNull(last_at),
        sku: places.find((sku) => sku.meter === meter && sku.variant === variant) ?? places.find((sku) => sku.meter === meter && sku.variant === '') ?? null,
      }))
      return { total: items.length, items }
    },

    discounts: {
      list: (query: QueryOf<typeof contract.discounts.list>) => shapedPage(store.listDiscounts(db, now(), query), shapeDiscount),
      /** @throws Refusal 24008, 96007 */
      async create(actor: Actor, body: BodyOf<typeof contract.discounts.create>): Promise<contract.Discount> {
        const id = uuidv7()
        const row = {
          id,
          name: body.name,
          fraction: readFraction(body.fraction),
          bp_id: body.bp_id,
          product_id: body.product_id,
          period: body.period,
          ...effective(body),
          ...authoredBy(actor),
        }
        await db.transaction().execute(async (tx) => {
          if (body.bp_id !== null && !(await store.organisationExists(tx, body.bp_id))) throw new Refusal('notFound', { field: 'bp_id' })
          if (body.product_id !== null && (await store.lockProduct(tx, body.product_id)) === undefined) throw new Refusal('notFound', { field: 'product_id' })
          await store.insertDiscount(tx, row)
        })
        return getDiscount(id)
      },
      /** @throws Refusal 96008 */
      async end(actor: Actor, id: string): Promise<contract.Discount> {
        await db.transaction().execute(async (tx) => {
          const { effective_from, effective_to } = found(await store.lockDiscount(tx, id))
          const at = wholeSecond(now().getTime())
          if (effective_to !== null && effective_to <= at) throw new Refusal('discountEnded')
          // One that has not begun never will.
          await store.endDiscount(tx, id, {
            effective_to: at > effective_from ? at : effective_from,
            ended_by: actor.user_id,
            ended_by_name: actor.name,
            ended_at: now(),
          })
        })
        return getDiscount(id)
      },
    },

    /** @throws Refusal 24007 naming the first item without a price */
    async quote(actor: Actor, body: BodyOf<typeof contract.quotes.ask>): Promise<ResponseOf<typeof contract.quotes.ask>> {
      // Nobody learns what others pay; who has no organisation pays what everybody does.
      if (body.bp_id !== null && body.bp_id !== actor.bp_id && !isPlatformKind(actor.kind)) throw new Refusal('notFound', { field: 'bp_id' })
      return quoteAt(db, { ...body, bp_id: body.bp_id ?? actor.bp_id ?? '' }, now())
    },
  }
}

export type Quote = ResponseOf<typeof contract.quotes.ask>

/** What something costs somebody at a moment. @throws Refusal 24007 naming the first item without a price */
export async function quoteAt(on: Sql, wish: Omit<BodyOf<typeof contract.quotes.ask>, 'bp_id'> & { bp_id: string }, moment: Date): Promise<Quote> {
  const tariff = createTariff(await store.readTariff(on, wish.period))
  const unpriced: number[] = []
  const priced = wish.items.flatMap(({ meter, variant, quantity }, index) => {
    const terms = tariff.at({ meter, variant, bp_id: wish.bp_id, period: wish.period }, moment.getTime() / 1000)
    if (terms === null) {
      if (!wish.partial) throw new Refusal('productNotPriced', { field: `items.${index}` })
      unpriced.push(index)
      return []
    }
    const fraction = terms.discount?.fraction ?? wholeFraction
    const cost = (paid: number): bigint => amountOf(meter, terms.price.tiers, quantity, { of: wish.count, whole: 1 }, paid)
    return [
      {
        meter,
        variant,
        sku: { id: terms.sku.id, name: terms.sku.name },
        quantity,
        parts: formulaOf(meter, terms.price.tiers, quantity),
        fraction,
        list: cost(wholeFraction),
        cost: cost(fraction),
      },
    ]
  })
  const sum = (amounts: readonly bigint[]): string => toDecimal(amounts.reduce((total, amount) => total + amount, 0n))
  return {
    period: wish.period,
    count: wish.count,
    list_amount: sum(priced.map(({ list }) => list)),
    amount: sum(priced.map(({ cost }) => cost)),
    lines: priced.map(({ list, cost, fraction, ...line }) => ({
      ...line,
      fraction: fractionText(fraction),
      list_amount: toDecimal(list),
      amount: toDecimal(cost),
    })),
    unpriced,
  }
}
