import type { consumes, UsageLineShape } from '@zhisuan/contract/bill/consume'
import { toDecimal } from '@zhisuan/contract/bill/money'
import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import type { Platform } from '../../../platform/platform.ts'
import { fractionText } from '../catalogue/quote.ts'
import { formulaOf } from '../catalogue/tariff.ts'
import { narrowed } from './consume.scope.ts'
import * as store from './consume.store.ts'

/** Lines of usage, the newest first. */
export function createUsageLines({ db }: Pick<Platform, 'db'>) {
  return {
    async list(actor: Actor, { bp_id, limit, after, ...asked }: QueryOf<typeof consumes.list>): Promise<ResponseOf<typeof consumes.list>> {
      const scope = narrowed(actor, bp_id)
      const [from = 0, id = 0] = after?.split('.').map(Number) ?? []
      const [rows, amount] = await Promise.all([
        store.newestLines(db, scope, asked, after === undefined ? null : { from, id }, limit + 1),
        store.keptSum(db, scope, asked),
      ])
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return { items: rows.slice(0, limit).map(shapeLine), next: last === undefined ? null : `${placeOf(last).from}.${last.id}`, amount }
    },
  }
}

/** Where a line stands in their order. */
export const placeOf = ({ from, id }: store.ShownLine): store.Place => ({ from: from.getTime() / 1000, id })

/** With all that its amount is made of. */
export const shapeLine = (row: store.ShownLine): UsageLineShape => ({
  id: row.id,
  organisation: { id: row.bp_id, name: row.organisation_name },
  resource: { id: row.resource_id, type: row.resource_type, name: row.resource_name },
  project: row.project_id === null ? null : { id: row.project_id, name: row.project_name ?? '' },
  product: { id: row.product_id, name: row.product_name },
  sku: { id: row.sku_id, name: row.sku_name },
  meter: row.meter,
  variant: row.variant,
  from: iso(row.from),
  seconds: row.seconds,
  quantity: row.quantity,
  price: { id: row.price_id, effective_from: iso(row.price_from), effective_to: isoOrNull(row.price_to) },
  discount:
    row.discount_id === null || row.discount_from === null
      ? null
      : { id: row.discount_id, name: row.discount_name ?? '', effective_from: iso(row.discount_from), effective_to: isoOrNull(row.discount_to) },
  formula: {
    parts: formulaOf(
      row.meter,
      row.tiers.map(({ above, price }) => ({ above, price: BigInt(price) })),
      row.quantity,
    ),
    seconds: row.seconds,
    fraction: fractionText(row.fraction),
  },
  amount: toDecimal(BigInt(row.amount)),
})
