import { previewHours } from '@zhisuan/contract/bill/catalogue'
import type * as contract from '@zhisuan/contract/bill/catalogue'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf } from '@zhisuan/contract/define'
import { found } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './catalogue.store.ts'
import { effective } from './effective.ts'
import { amountOf, createTariff, wholeFraction, type Tariff } from './tariff.ts'

/** Organisations that a preview names. */
const mostNamed = 5

/** What everybody pays in a month as things are, and with another price. @throws Refusal 96007 */
export async function previewPrice(
  { db, now }: Pick<Platform, 'db' | 'now'>,
  id: string,
  body: BodyOf<typeof contract.skus.previewPrice>,
): Promise<contract.PricePreview> {
  const { meter } = found(await store.getSku(db, id))
  const from = effective({ effective_from: body.effective_from, effective_to: null }, now()).effective_from.getTime() / 1000
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
  const affected = (await store.openUse(db, meter)).filter(({ bp_id, variant }) => after.at({ meter, variant, bp_id, period: 'hour' }, from)?.price === price)
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
  const total = effects.reduce((sum, one) => ({ resources: sum.resources + one.resources, before: sum.before + one.before, after: sum.after + one.after }), {
    resources: 0,
    before: 0n,
    after: 0n,
  })
  const shown = <T extends { before: bigint; after: bigint }>(one: T) => ({ ...one, before: toDecimal(one.before), after: toDecimal(one.after) })
  return { organisation_count: effects.length, ...shown(total), organisations: greatest.map((one) => ({ ...shown(one), name: names.get(one.id) ?? '' })) }
}
