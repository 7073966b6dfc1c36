import { toDecimal } from '@zhisuan/contract/bill/money'
import { periodHours, type OfferPeriod } from '@zhisuan/contract/market/offer'
import type { OfferRow } from '../market.tables.ts'

const gib = 2n ** 30n

type Prices = Pick<OfferRow, 'card_price' | 'disk_price' | 'stopped_disk_price' | 'disk_bytes_per_card'>

/** What so many cards cost for an hour, disk included: running, and stopped. In minor units, rounded half up as bills are. */
export function hourly(offer: Prices, count: number): { running: bigint; stopped: bigint } {
  const bytes = BigInt(offer.disk_bytes_per_card) * BigInt(count)
  const disk = (price: string): bigint => (2n * bytes * BigInt(price) + gib) / (2n * gib)
  return { running: BigInt(offer.card_price) * BigInt(count) + disk(offer.disk_price), stopped: disk(offer.stopped_disk_price) }
}

/** Prices for a whole period in advance; null where it cannot be paid so. A card’s is its own; its disk is what it costs by the hour. */
export function inAdvance(offer: Prices & Pick<OfferRow, `${OfferPeriod}_price`>, count: number, period: OfferPeriod): bigint | null {
  const price = offer[`${period}_price`]
  if (price === null) return null
  const bytes = BigInt(offer.disk_bytes_per_card) * BigInt(count)
  return BigInt(price) * BigInt(count) + (2n * bytes * diskInAdvance(offer, period) + gib) / (2n * gib)
}
/** Of a GiB. */
export const diskInAdvance = (offer: Pick<OfferRow, 'disk_price'>, period: OfferPeriod): bigint => BigInt(offer.disk_price) * BigInt(periodHours[period])

const yuanOrNull = (amount: string | null): string | null => (amount === null ? null : toDecimal(BigInt(amount)))

export const shownTerms = (row: OfferRow) => ({
  mode: row.mode,
  card_model: row.card_model,
  most_cards: row.most_cards,
  cpus_per_card: row.milli_cpus_per_card / 1_000,
  memory_bytes_per_card: row.memory_bytes_per_card,
  disk_bytes_per_card: row.disk_bytes_per_card,
  card_price: toDecimal(BigInt(row.card_price)),
  disk_price: toDecimal(BigInt(row.disk_price)),
  stopped_disk_price: toDecimal(BigInt(row.stopped_disk_price)),
  day_price: yuanOrNull(row.day_price),
  week_price: yuanOrNull(row.week_price),
  month_price: yuanOrNull(row.month_price),
  grace_seconds: row.grace_seconds,
})
