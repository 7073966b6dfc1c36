import { amountOf, wholeFraction, type Tariff, type Terms } from '../catalogue/tariff.ts'
import type { Interval } from '../metering/timeline.ts'

const hour = 3_600

/** What one meter of a resource used within one hour at one price. */
export interface Line {
  resource_id: string
  interval: Interval
  terms: Terms
  from: number
  seconds: number
  /** Minor units, as text: where they are going they are text anyway. */
  amount: string
}

/** Amounts repeat: most lines are whole hours of the same few sizes. */
export function createAmounts(): (interval: Interval, terms: Terms, seconds: number) => string {
  const known = new WeakMap<Terms, Map<string, string>>()
  return ({ meter, quantity }, terms, seconds) => {
    const of = known.get(terms) ?? new Map<string, string>()
    known.set(terms, of)
    const key = `${quantity} ${seconds}`
    const before = of.get(key)
    if (before !== undefined) return before
    const amount = String(amountOf(meter, terms.price.tiers, quantity, { of: seconds, whole: hour }, terms.discount?.fraction ?? wholeFraction))
    of.set(key, amount)
    return amount
  }
}

/**
 * The lines of a resource from one moment to another, cut at each hour and wherever price or
 * discount change. What has no price has no line.
 */
export function linesOf(tariff: Tariff, resourceId: string, intervals: readonly Interval[], from: number, to: number, amountFor = createAmounts()): Line[] {
  const lines: Line[] = []
  for (const interval of intervals) {
    const end = Math.min(interval.to ?? to, to)
    const spans = tariff.spans({ meter: interval.meter, variant: interval.variant, bp_id: interval.bp_id, period: 'hour' })
    for (const span of spans) {
      const { terms } = span
      if (terms === null) continue
      const until = Math.min(span.to, end)
      let at = Math.max(span.from, interval.from, from)
      while (at < until) {
        const next = Math.min(until, (Math.floor(at / hour) + 1) * hour)
        lines.push({ resource_id: resourceId, interval, terms, from: at, seconds: next - at, amount: amountFor(interval, terms, next - at) })
        at = next
      }
    }
  }
  return lines
}
