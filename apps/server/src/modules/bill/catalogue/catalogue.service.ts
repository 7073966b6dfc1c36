import { billingPeriods } from '@zhisuan/contract/bill/catalogue'
import type * as contract from '@zhisuan/contract/bill/catalogue'
import { meters, type Meter } from '@zhisuan/contract/bill/meter'
import { toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { createCategories } from './category.service.ts'
import { createDiscounts } from './discount.service.ts'
import { wholeSecond } from './effective.ts'
import { importInto, importPrices } from './price.import.ts'
import { previewPrice } from './price.preview.ts'
import { createProducts } from './product.service.ts'
import { quoteAt, type Quote } from './quote.ts'
import { createSkus } from './sku.service.ts'
import { listUnpriced } from './unpriced.ts'

export type CatalogueService = ReturnType<typeof createCatalogue>

/** What things cost, as its calls see it: categories, products, SKUs with their prices, discounts, quotes. */
export function createCatalogue(platform: Pick<Platform, 'db' | 'now'>) {
  // What begins within a second begins with the next: said as of that one, what was set just now holds.
  const now = () => wholeSecond(platform.now().getTime())
  const soon = { db: platform.db, now }
  const skus = createSkus(soon)

  return {
    categories: createCategories(platform),
    products: createProducts(soon, { skus }),
    skus,
    discounts: createDiscounts(soon),
    previewPrice: (skuId: string, body: BodyOf<typeof contract.skus.previewPrice>) => previewPrice(platform, skuId, body),
    importPrices: (actor: Actor, body: BodyOf<typeof contract.priceLists.import>) => importPrices(platform, actor, body),
    importInto: (tx: Tx, actor: Actor, rows: Parameters<typeof importInto>[3]) => importInto(tx, platform.now(), actor, rows),
    unpriced: (days: number) => listUnpriced(platform, days),

    /** Whether a unit of a meter costs an organisation, or whoever has none, anything now, however they pay. */
    async isPriced(on: Sql, bpId: string | null, meter: Meter): Promise<boolean> {
      const items = [{ meter, variant: '', quantity: meters[meter].perUnit }]
      for (const period of billingPeriods) {
        const { amount } = await quoteAt(on, { bp_id: bpId ?? '', period, count: 1, partial: true, items }, now())
        if (toMinor(amount) > 0n) return true
      }
      return false
    },

    /** @throws Refusal 24007 naming the first item without a price */
    async quote(actor: Actor, body: BodyOf<typeof contract.quotes.ask>): Promise<Quote> {
      // Nobody learns what others pay; who has no organisation pays what everybody does.
      if (body.bp_id !== null && body.bp_id !== actor.bp_id && !isPlatformKind(actor.kind)) throw new Refusal('notFound', { field: 'bp_id' })
      return quoteAt(platform.db, { ...body, bp_id: body.bp_id ?? actor.bp_id ?? '' }, now())
    },
  }
}
