import type { BillingPeriod } from '@zhisuan/contract/bill/catalogue'
import { meters, type Meter } from '@zhisuan/contract/bill/meter'
import { toDecimal } from '@zhisuan/contract/bill/money'

/** Moments are whole seconds since 1970, as usage is counted. */
export interface Sku {
  id: string
  product_id: string
  name: string
  meter: Meter
  variant: string
}
export interface Tier {
  /** Units; the first tier's is 0. */
  above: number
  /** Minor units of money for each unit beyond. */
  price: bigint
}
export interface Price {
  id: string
  sku_id: string
  /** Of two that begin together the later made holds. */
  number: number
  period: BillingPeriod
  tiers: readonly Tier[]
  from: number
  to: number | null
}
export interface Discount {
  id: string
  /** Ten-thousandths of the price that are paid. */
  fraction: number
  /** Null: whichever. */
  bp_id: string | null
  product_id: string | null
  period: BillingPeriod | null
  from: number
  to: number | null
}

/** What somebody pays for something at a moment. */
export interface Terms {
  readonly sku: Sku
  readonly price: Price
  readonly discount: Discount | null
}
/** From when to when the same terms hold, or none: then it costs nothing. */
export interface Span {
  readonly from: number
  readonly to: number
  readonly terms: Terms | null
}
/** What is measured, of whom, paid how. */
export interface Wish {
  meter: Meter
  variant: string
  bp_id: string
  period: BillingPeriod
}

export type Tariff = ReturnType<typeof createTariff>

const holdsAt = ({ from, to }: { from: number; to: number | null }, moment: number): boolean => from <= moment && (to === null || moment < to)

/** Says which price and discount hold, at a moment or over time: the one place that knows. */
export function createTariff(rows: { skus: readonly Sku[]; prices: readonly Price[]; discounts: readonly Discount[] }) {
  const skus = new Map(rows.skus.map((sku) => [`${sku.meter}/${sku.variant}`, sku]))
  const pricesOf = Map.groupBy(rows.prices, ({ sku_id, period }) => `${sku_id} ${period}`)
  const discountsOf = Map.groupBy(rows.discounts, ({ bp_id }) => bp_id)
  const known = new Map<string, readonly Span[]>()

  // A SKU of the very kind comes before that of all kinds, wherever it has a price.
  const candidates = ({ meter, variant }: Wish): Sku[] =>
    [...new Set([skus.get(`${meter}/${variant}`), skus.get(`${meter}/`)])].filter((sku) => sku !== undefined)
  const prices = (sku: Sku, period: BillingPeriod) => pricesOf.get(`${sku.id} ${period}`) ?? []
  const discounts = ({ bp_id, period }: Wish) =>
    [...(discountsOf.get(null) ?? []), ...(discountsOf.get(bp_id) ?? [])].filter((one) => one.period === null || one.period === period)

  const at = (wish: Wish, moment: number): Terms | null => {
    for (const sku of candidates(wish)) {
      const begun = prices(sku, wish.period).filter(({ from }) => from <= moment)
      const [first] = begun
      if (first === undefined) continue
      const price = begun.reduce((last, one) => (one.from > last.from || (one.from === last.from && one.number > last.number) ? one : last), first)
      // The last that began is the one that counts: where it has ended, none takes its place.
      if (!holdsAt(price, moment)) continue
      const fitting = discounts(wish).filter((one) => (one.product_id === null || one.product_id === sku.product_id) && holdsAt(one, moment))
      const discount = fitting.reduce<Discount | null>(
        (least, one) => (least === null || one.fraction < least.fraction || (one.fraction === least.fraction && one.id < least.id) ? one : least),
        null,
      )
      return { sku, price, discount }
    }
    return null
  }

  return {
    at,

    /** All time in order, from the first price to `Infinity`. */
    spans(wish: Wish): readonly Span[] {
      const key = `${wish.meter}/${wish.variant} ${wish.bp_id} ${wish.period}`
      const before = known.get(key)
      if (before !== undefined) return before
      const limits = [...candidates(wish).flatMap((sku) => prices(sku, wish.period)), ...discounts(wish)].flatMap(({ from, to }) =>
        to === null ? [from] : [from, to],
      )
      const cuts = [...new Set(limits)].sort((left, right) => left - right)
      const spans: Span[] = []
      for (const [index, from] of cuts.entries()) {
        const [terms, to, last] = [at(wish, from), cuts[index + 1] ?? Number.POSITIVE_INFINITY, spans.at(-1)]
        if (last !== undefined && same(last.terms, terms)) spans[spans.length - 1] = { ...last, to }
        else spans.push({ from, to, terms })
      }
      known.set(key, spans)
      return spans
    },
  }
}

const same = (one: Terms | null, other: Terms | null): boolean => one?.price.id === other?.price.id && one?.discount?.id === other?.discount?.id

export const wholeFraction = 10_000

/** What falls into each tier, in base units of the meter. */
function portions(meter: Meter, tiers: readonly Tier[], quantity: number): { quantity: number; price: bigint }[] {
  const { perUnit } = meters[meter]
  return tiers
    .map(({ above, price }, index) => ({
      quantity: Math.min(quantity, (tiers[index + 1]?.above ?? Number.POSITIVE_INFINITY) * perUnit) - above * perUnit,
      price,
    }))
    .filter((part) => part.quantity > 0)
}

/** For people: units and price of each tier that is reached. */
export const formulaOf = (meter: Meter, tiers: readonly Tier[], quantity: number): { units: string; price: string }[] =>
  portions(meter, tiers, quantity).map((part) => ({ units: quotient(BigInt(part.quantity), BigInt(meters[meter].perUnit)), price: toDecimal(part.price) }))

/** With all its digits, which end: a meter's units are powers of two, or one. */
function quotient(dividend: bigint, divisor: bigint): string {
  let digits = ''
  for (let rest = dividend % divisor; rest > 0n; rest = (rest * 10n) % divisor) digits += String((rest * 10n) / divisor)
  return `${dividend / divisor}${digits === '' ? '' : `.${digits}`}`
}

/**
 * What a quantity costs for a share of the period, such as 1,800 of 3,600 seconds of an hour:
 * exact, and rounded half up to one minor unit at the very end.
 * @param fraction ten-thousandths that are paid
 */
export function amountOf(meter: Meter, tiers: readonly Tier[], quantity: number, share: { of: number; whole: number }, fraction: number): bigint {
  const full = portions(meter, tiers, quantity).reduce((sum, part) => sum + BigInt(part.quantity) * part.price, 0n)
  const dividend = full * BigInt(share.of) * BigInt(fraction)
  const divisor = BigInt(meters[meter].perUnit) * BigInt(share.whole) * BigInt(wholeFraction)
  return (2n * dividend + divisor) / (2n * divisor)
}
