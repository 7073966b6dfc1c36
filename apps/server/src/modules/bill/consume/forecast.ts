import type { TariffChange } from '@zhisuan/contract/bill/consume'
import type { Meter } from '@zhisuan/contract/bill/meter'
import { toDecimal } from '@zhisuan/contract/bill/money'
import { amountOf, wholeFraction, type Tariff, type Terms } from '../catalogue/tariff.ts'

const hour = 3_600
const day = 24 * hour
/** Days of bills begin when it is midnight in Beijing, which has no summer time. */
const zone = 8 * hour
/** Below this many complete days nothing is said of how much days differ. */
const leastDays = 5
/** Of a normal distribution, four of five lie within so many standard deviations. */
const fourOfFive = 1.2816

/** So many resources that use the same of the same from the same moment on. */
export interface InUse {
  meter: Meter
  variant: string
  bp_id: string
  quantity: number
  /** Seconds since 1970; everything before is rated. */
  from: number
  /** Null: it goes on. */
  to: number | null
  count: number
}

export interface Known {
  tariff: Tariff
  inUse: readonly InUse[]
  now: number
  /** Seconds since 1970: the first moments of this month, the next and the one after. */
  months: readonly [begin: number, next: number, end: number]
  /** What is rated of the running month, and of each of its days, in minor units. */
  used: bigint
  usedOf: ReadonlyMap<string, bigint>
  /** What complete days cost, the oldest first, one after the other. */
  history: readonly bigint[]
}

export interface Expectation {
  expected: bigint
  low: bigint | null
  high: bigint | null
}

export interface Foreseen {
  hourly: bigint
  current: Expectation
  next: Expectation
  days: { day: string; amount: bigint }[]
  changes: TariffChange[]
}

const numberOfDay = (at: number): number => Math.floor((at + zone) / day)
const nameOfDay = (number: number): string => new Date(number * day * 1000).toISOString().slice(0, 10)

/**
 * What is used now goes on being used, at the prices and discounts that will hold then: that is
 * what is expected. It may be off by what people will make and delete, and nobody knows that: the
 * band supposes that they go on doing as much of it as they did, so that each day differs from
 * the one before as days did so far (a random walk).
 */
export function foresee({ tariff, inUse, now, months: [begin, next, end], used, usedOf, history }: Known): Foreseen {
  const perDay = new Map<number, bigint>()
  const changes = new Map<string, { at: number; terms: Terms; price: boolean; discount: boolean; before: bigint; after: bigint }>()
  let hourly = 0n
  for (const one of inUse) {
    const cost = (terms: Terms | null, seconds: number): bigint =>
      terms === null
        ? 0n
        : amountOf(one.meter, terms.price.tiers, one.quantity, { of: seconds, whole: hour }, terms.discount?.fraction ?? wholeFraction) * BigInt(one.count)
    const until = Math.min(one.to ?? end, end)
    const wish = { meter: one.meter, variant: one.variant, bp_id: one.bp_id, period: 'hour' } as const
    const spans = tariff.spans(wish)
    const isNow = one.from <= now && (one.to === null || one.to > now)
    if (isNow) hourly += cost(tariff.at(wish, now), hour)
    for (const [index, { from, to, terms }] of spans.entries()) {
      let at = Math.max(from, one.from, begin)
      const stop = Math.min(to, until)
      const whole = cost(terms, day)
      while (at < stop) {
        const midnight = (numberOfDay(at) + 1) * day - zone
        const seconds = Math.min(stop, midnight) - at
        perDay.set(numberOfDay(at), (perDay.get(numberOfDay(at)) ?? 0n) + (seconds === day ? whole : cost(terms, seconds)))
        at += seconds
      }
      const before = spans[index - 1]?.terms ?? null
      const about = terms ?? before
      if (!isNow || from <= now || from >= until || about === null) continue
      const key = `${from} ${about.sku.id}`
      const change = changes.get(key) ?? { at: from, terms: about, price: false, discount: false, before: 0n, after: 0n }
      change.price ||= terms?.price.id !== before?.price.id
      // Where there is no price a discount is none.
      change.discount ||= terms !== null && before !== null && terms.discount?.id !== before.discount?.id
      change.before += cost(before, hour)
      change.after += cost(terms, hour)
      changes.set(key, change)
    }
  }

  const sumOf = (from: number, to: number): bigint =>
    [...perDay].reduce((sum, [number, amount]) => (number >= numberOfDay(from) && number < numberOfDay(to) ? sum + amount : sum), 0n)
  const deviation = deviationOf(history)
  const ahead = (next - now) / day
  const spread = (first: number, length: number): bigint | null =>
    deviation === null ? null : BigInt(Math.round(fourOfFive * deviation * deviations(first, length)))
  const around = (expected: bigint, least: bigint, half: bigint | null): Expectation => ({
    expected,
    low: half === null ? null : atLeast(expected - half, least),
    high: half === null ? null : expected + half,
  })
  return {
    hourly,
    current: around(used + sumOf(begin, next), used, spread(0, ahead)),
    next: around(sumOf(next, end), 0n, spread(ahead, (end - next) / day)),
    days: [...perDay]
      .filter(([number]) => number < numberOfDay(end))
      .toSorted(([one], [other]) => one - other)
      .map(([number, amount]) => ({ day: nameOfDay(number), amount: amount + (usedOf.get(nameOfDay(number)) ?? 0n) })),
    changes: [...changes.values()]
      .filter(({ before, after }) => before !== after)
      .toSorted((one, other) => one.at - other.at || (one.terms.sku.name < other.terms.sku.name ? -1 : 1))
      .map(({ at, terms, price, discount, before, after }) => ({
        at: new Date(at * 1000).toISOString(),
        sku: { id: terms.sku.id, name: terms.sku.name },
        kind: price && discount ? 'both' : price ? 'price' : 'discount',
        hourly_before: toDecimal(before),
        hourly_after: toDecimal(after),
      })),
  }
}

const atLeast = (amount: bigint, least: bigint): bigint => (amount < least ? least : amount)

/** How much a day differs from the one before: a standard deviation, in minor units; null where too few days are known. */
function deviationOf(history: readonly bigint[]): number | null {
  if (history.length < leastDays) return null
  const steps = history.slice(1).map((amount, index) => Number(amount - (history[index] ?? amount)))
  return Math.sqrt(steps.reduce((sum, step) => sum + step * step, 0) / steps.length)
}

/**
 * The sum of so many days of a random walk, that begin when it has walked for `first` days, in
 * standard deviations of one step: what it walked before counts for each of them.
 */
const deviations = (first: number, length: number): number => Math.sqrt(first * length * length + (length * (length + 1) * (2 * length + 1)) / 6)
