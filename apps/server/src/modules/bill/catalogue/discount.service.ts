import type * as contract from '@zhisuan/contract/bill/catalogue'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { authoredBy, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './catalogue.store.ts'
import { effective, wholeSecond } from './effective.ts'
import { fractionText } from './quote.ts'
import { wholeFraction } from './tariff.ts'

/** @throws Refusal 24008 outside (0, 1], and for what four decimals cannot say */
function readFraction(text: string): number {
  const [, whole = '', decimals = ''] = /^(\d+)(?:\.(\d{1,4})0*)?$/.exec(text) ?? []
  const fraction = whole === '' ? 0 : Number(whole) * wholeFraction + Number(decimals.padEnd(4, '0'))
  if (fraction <= 0 || fraction > wholeFraction) throw new Refusal('discountOutOfRange', { field: 'fraction' })
  return fraction
}

/** What of the price somebody pays, for a while. */
export function createDiscounts({ db, now }: Pick<Platform, 'db' | 'now'>) {
  const shape = (row: store.ShownDiscount): contract.Discount => ({
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
  const get = async (id: string) => shape(found(await store.getDiscount(db, id)))

  return {
    list: (query: QueryOf<typeof contract.discounts.list>) => shapedPage(store.listDiscounts(db, now(), query), shape),
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
        ...effective(body, now()),
        ...authoredBy(actor),
      }
      await db.transaction().execute(async (tx) => {
        if (body.bp_id !== null && !(await store.organisationExists(tx, body.bp_id))) throw new Refusal('notFound', { field: 'bp_id' })
        if (body.product_id !== null && (await store.lockProduct(tx, body.product_id)) === undefined) throw new Refusal('notFound', { field: 'product_id' })
        await store.insertDiscount(tx, row)
      })
      return get(id)
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
      return get(id)
    },
  }
}
