import type { Interval } from '../metering/timeline.ts'

/** What of a resource is paid in advance, from and to whole seconds. Those of one resource do not overlap. */
export interface PrepaidSpan {
  from: number
  to: number
  /** Quantities by `meter` or `meter/variant`, as usage is told. */
  usage: Readonly<Record<string, number>>
}

/**
 * What is left to be paid by the hour: of each interval the time that no span covers, and within a
 * span the quantity beyond it, which is priced as a quantity of its own. Neighbours that are alike
 * are one, so that a span which covers nothing of a meter cuts nothing.
 */
export function uncovered(intervals: readonly Interval[], spans: readonly PrepaidSpan[]): readonly Interval[] {
  if (spans.length === 0) return intervals
  return intervals.flatMap((interval) => {
    const key = interval.variant === '' ? interval.meter : `${interval.meter}/${interval.variant}`
    const end = interval.to ?? Number.POSITIVE_INFINITY
    const own = spans.filter(({ from, to, usage }) => (usage[key] ?? 0) > 0 && from < end && to > interval.from).toSorted((one, other) => one.from - other.from)
    if (own.length === 0) return [interval]
    const pieces: Interval[] = []
    const add = (from: number, to: number, quantity: number): void => {
      if (from >= to || quantity <= 0) return
      const last = pieces.at(-1)
      const until = to === Number.POSITIVE_INFINITY ? null : to
      if (last?.to === from && last.quantity === quantity) last.to = until
      else pieces.push({ ...interval, quantity, from, to: until })
    }
    let at = interval.from
    for (const { from, to, usage } of own) {
      add(at, Math.max(at, from), interval.quantity)
      const [begin, stop] = [Math.max(at, from), Math.min(to, end)]
      add(begin, stop, interval.quantity - (usage[key] ?? 0))
      at = Math.max(at, stop)
    }
    add(at, end, interval.quantity)
    return pieces
  })
}
