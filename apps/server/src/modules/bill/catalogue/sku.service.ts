import type * as contract from '@zhisuan/contract/bill/catalogue'
import type { Meter } from '@zhisuan/contract/bill/meter'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { authoredBy, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { idsOf, uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './catalogue.store.ts'
import { effective } from './effective.ts'
import { createTariff } from './tariff.ts'

/** As they are stored: money in minor units. */
export const storedTiers = (tiers: readonly { above: number; price: string }[]) => tiers.map(({ above, price }) => ({ above, price: String(toMinor(price)) }))

/** A SKU with the product that it is in. */
export const shapePlace = ({ product_id, product_name, ...sku }: Awaited<ReturnType<typeof store.skuPlaces>>[number]): contract.SkuPlace => ({
  ...sku,
  product: { id: product_id, name: product_name },
})

export type SkuService = ReturnType<typeof createSkus>

/** What a meter counts, with its prices: which of them hold, and who pays them. */
export function createSkus({ db, now }: Pick<Platform, 'db' | 'now'>) {
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
  const shapeAll = async (rows: readonly store.SkuRow[]): Promise<contract.Sku[]> => {
    const prices = Map.groupBy(await store.pricesOfSkus(db, idsOf(rows)), ({ sku_id }) => sku_id)
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
  const meterTaken = async ({ meter, variant }: { meter: Meter; variant: string }, cause: unknown): Promise<Refusal> =>
    new Refusal('skuMeterTaken', { field: 'meter', values: { product: (await store.productOfMeter(db, meter, variant))?.name ?? '' }, cause })
  const get = async (id: string): Promise<contract.Sku> => found((await shapeAll([found(await store.getSku(db, id))]))[0])

  return {
    ofProduct: async (productId: string): Promise<contract.Sku[]> => shapeAll(await store.skusOfProduct(db, productId)),
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
      return get(id)
    },
    /** @throws Refusal 96006 */
    async update(id: string, { name }: BodyOf<typeof contract.skus.update>): Promise<contract.Sku> {
      await get(id)
      await store.renameSku(db, id, name)
      return get(id)
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
          ...effective(body, now()),
          ...authoredBy(actor),
        })
      })
      const all = await store.pricesOfSkus(db, [id])
      return shapePrice(found(all.find((one) => one.id === price)), all)
    },
  }
}
