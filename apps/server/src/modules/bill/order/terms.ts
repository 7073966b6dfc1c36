import type { PrepaidPeriod } from '@zhisuan/contract/bill/order'
import { isMeter, type Meter } from '@zhisuan/contract/bill/meter'

/** Beijing is eight hours ahead, the whole year. */
const zoneMs = 8 * 3_600_000

const dayMs = 86_400_000
const days = { day: 1, week: 7 } as const
/** Whether something is paid by whole days, which are all as long: what follows has nothing to do with the day on which it began. */
export const isOfDays = (period: PrepaidPeriod): period is keyof typeof days => period in days

/**
 * So many days or weeks later, or the same moment of a later month or year of Beijing; of a month that is shorter, its last day. Time that
 * goes on without a gap is counted from where the first of it began (`chain`), so that a short month is
 * not kept to ever after, and months that are paid one by one end as those that are paid at once.
 */
export function endOf(begin: Date, period: PrepaidPeriod, count: number, chain = begin): Date {
  if (isOfDays(period)) return new Date(begin.getTime() + count * days[period] * dayMs)
  const [local, current] = [new Date(chain.getTime() + zoneMs), new Date(begin.getTime() + zoneMs)]
  const passed = (current.getUTCFullYear() - local.getUTCFullYear()) * 12 + current.getUTCMonth() - local.getUTCMonth()
  const months = local.getUTCMonth() + passed + count * (period === 'year' ? 12 : 1)
  const [year, month] = [local.getUTCFullYear() + Math.floor(months / 12), months % 12]
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const day = Math.min(local.getUTCDate(), lastDay)
  return new Date(Date.UTC(year, month, day, local.getUTCHours(), local.getUTCMinutes(), local.getUTCSeconds()) - zoneMs)
}

export const wholeSecond = (moment: Date): Date => new Date(Math.floor(moment.getTime() / 1000) * 1000)

/** Whole seconds of a span that are not over, and all of them. */
export function unusedOf(span: { from: Date; to: Date }, now: Date): { unused: number; total: number } {
  const seconds = (moment: Date): number => moment.getTime() / 1000
  const total = seconds(span.to) - seconds(span.from)
  // A second that has begun is used.
  return { unused: Math.max(0, Math.min(total, seconds(span.to) - Math.ceil(seconds(now)))), total }
}

/** The unused share of what was paid: exact, and rounded once, down. Minor units. */
export const refundOf = (paid: bigint, { unused, total }: { unused: number; total: number }): bigint => (paid * BigInt(unused)) / BigInt(total)

/** What is used, as the catalogue is asked for its price. */
export const itemsOf = (usage: Readonly<Record<string, number>>): { meter: Meter; variant: string; quantity: number }[] =>
  Object.entries(usage).flatMap(([key, quantity]) => {
    const [meter = '', ...variant] = key.split('/')
    return isMeter(meter) && quantity > 0 ? [{ meter, variant: variant.join('/'), quantity }] : []
  })
