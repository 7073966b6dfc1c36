import type { BillingPeriod, Price } from '@zhisuan/contract/bill/catalogue'
import { meters, type Meter } from '@zhisuan/contract/bill/meter'
import { moneyScale, toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { TFunction } from 'i18next'
import { exactMoney } from '../../../kit/format.ts'

type Text = TFunction<'catalogue'>
export type Tiers = readonly { readonly above: number; readonly price: string }[]

export const unitOf = (t: Text, meter: Meter): string => t(`unit.${meters[meter].unit}`)
/** Which of a meter that varies; nothing of one that does not. */
export const variantText = (t: Text, meter: Meter, variant: string): string => (variant !== '' ? variant : meters[meter].varies ? t('variant.all') : '')
export const meterText = (t: Text, meter: Meter, variant = ''): string =>
  [t(`meter.${meter}`), variantText(t, meter, variant)].filter((part) => part !== '').join(' · ')
/** Meters that vary: what each kind of them is called. */
export const kindText = (t: Text, meter: Meter): string => (meter === 'vm.gpu' || meter === 'volume.size' ? t(`variant.of.${meter}`) : t('variant.kind'))

/** One unit for one period. Prices are shown as exact as they are: floored they would be other prices. */
export function priceText(t: Text, meter: Meter, { tiers, period }: { readonly tiers: Tiers; readonly period: BillingPeriod }): string {
  const [first] = tiers
  if (first === undefined) return ''
  const one =
    toMinor(first.price) === 0n && tiers.length === 1
      ? t('free')
      : t('each', { price: exactMoney(first.price), unit: unitOf(t, meter), period: t(`per.${period}`) })
  return tiers.length === 1 ? one : t('price.steps', { count: tiers.length, first: one })
}

/** What so many units cost by graduated tiers, part by part: exact. */
export function costOf(tiers: Tiers, units: number): { parts: { units: number; price: string }[]; amount: string } {
  const parts = tiers
    .map(({ above, price }, at) => ({ units: Math.min(units, tiers[at + 1]?.above ?? Number.POSITIVE_INFINITY) - above, price }))
    .filter((part) => part.units > 0)
  return { parts, amount: toDecimal(parts.reduce((sum, part) => sum + BigInt(part.units) * toMinor(part.price), 0n)) }
}

/** A discount as people say it: 0.85 is 8.5 折. */
export function fractionText(t: Text, fraction: string): string {
  const minor = toMinor(fraction)
  const whole = 10n ** BigInt(moneyScale)
  if (minor === whole) return t('discount.whole')
  return t('discount.zhe', { zhe: toDecimal(minor * 10n).replace(/\.?0+$/, '') })
}

export const priceTones = { planned: 'busy', current: 'good', superseded: 'rest', ended: 'rest' } as const
export const discountTones = { planned: 'busy', current: 'good', ended: 'rest' } as const

/** From when to when a price really held, or is to hold; null: it never did. `to` null: it goes on. */
export function heldSpan({
  effective_from,
  effective_to,
  replaced_at,
}: Pick<Price, 'effective_from' | 'effective_to' | 'replaced_at'>): { from: number; to: number | null } | null {
  const from = Date.parse(effective_from)
  const end = replaced_at ?? effective_to
  const to = end === null ? null : Date.parse(end)
  return to !== null && to <= from ? null : { from, to }
}
