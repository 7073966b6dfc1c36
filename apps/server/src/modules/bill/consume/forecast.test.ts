import { toMinor } from '@zhisuan/contract/bill/money'
import { describe, expect, it } from 'vitest'
import { createTariff, type Discount, type Price } from '../catalogue/tariff.ts'
import { foresee, type InUse, type Known } from './forecast.ts'

const hour = 3_600
const day = 24 * hour
const at = (text: string): number => Date.parse(`${text}+08:00`) / 1000
const months = [at('2026-11-01T00:00'), at('2026-12-01T00:00'), at('2027-01-01T00:00')] as const
const now = at('2026-11-21T00:00')
const sku = { id: 'sku', product_id: 'product', name: 'cores', meter: 'vm.vcpu', variant: '' } as const

let number = 0
const price = (yuan: string, from: number, to: number | null = null): Price => ({
  id: `price ${++number}`,
  sku_id: 'sku',
  number,
  period: 'hour',
  tiers: [{ above: 0, price: toMinor(yuan) }],
  from,
  to,
})
const discount = (fraction: number, from: number, to: number | null): Discount => ({
  id: `discount ${++number}`,
  fraction,
  bp_id: null,
  product_id: null,
  period: null,
  from,
  to,
})
const cores = (quantity: number, more: Partial<InUse> = {}): InUse => ({
  meter: 'vm.vcpu',
  variant: '',
  bp_id: 'org',
  quantity,
  from: now,
  to: null,
  count: 1,
  ...more,
})
const always = price('0.10', at('2026-01-01T00:00'))
const of = (inUse: readonly InUse[], more: Partial<Known> & { prices?: readonly Price[]; discounts?: readonly Discount[] } = {}) =>
  foresee({
    tariff: createTariff({ skus: [sku], prices: more.prices ?? [always], discounts: more.discounts ?? [] }),
    inUse,
    now,
    months,
    used: 0n,
    usedOf: new Map(),
    history: [],
    ...more,
  })
const yuan = (text: string): bigint => toMinor(text)

describe('a forecast', () => {
  it('is what was used, and what is used now until the end', () => {
    const { hourly, current, next, days } = of([cores(2, { count: 3 })], { used: yuan('12.5') })
    expect(hourly).toBe(yuan('0.6'))
    // Ten days of November are left, December has 31.
    expect(current).toEqual({ expected: yuan('12.5') + yuan('144'), low: null, high: null })
    expect(next.expected).toBe(yuan('446.4'))
    expect(days).toHaveLength(41)
    expect([days[0], days.at(-1)]).toEqual([
      { day: '2026-11-21', amount: yuan('14.4') },
      { day: '2026-12-31', amount: yuan('14.4') },
    ])
  })

  it('tells a day with what is rated of it', () => {
    const { days } = of([cores(1, { from: now + 6 * hour })], { used: yuan('7'), usedOf: new Map([['2026-11-21', yuan('0.6')]]) })
    expect(days[0]).toEqual({ day: '2026-11-21', amount: yuan('2.4') })
  })

  it('counts what ended and is not rated only as far as it went', () => {
    const { hourly, current, next } = of([cores(10, { from: now - 2 * hour, to: now })])
    expect([hourly, current.expected, next.expected]).toEqual([0n, yuan('2'), 0n])
  })

  it('counts planned prices and the ends of discounts, and tells of them', () => {
    const prices = [always, price('0.20', at('2026-12-01T00:00')), price('0.20', at('2026-12-05T00:00'))]
    const discounts = [discount(5_000, at('2026-01-01T00:00'), at('2026-11-26T00:00'))]
    const { hourly, current, next, changes } = of([cores(1), cores(1, { count: 2 })], { prices, discounts })
    expect(hourly).toBe(yuan('0.15'))
    // Five days at half, five whole; then twice as much.
    expect(current.expected).toBe(yuan('18') + yuan('36'))
    expect(next.expected).toBe(yuan('446.4'))
    // The third price costs the same: nothing changes.
    expect(changes).toEqual([
      { at: '2026-11-25T16:00:00.000Z', sku: { id: 'sku', name: 'cores' }, kind: 'discount', hourly_before: '0.15', hourly_after: '0.30' },
      { at: '2026-11-30T16:00:00.000Z', sku: { id: 'sku', name: 'cores' }, kind: 'price', hourly_before: '0.30', hourly_after: '0.60' },
    ])
  })

  it('costs nothing where no price holds any more', () => {
    const { current, changes } = of([cores(1)], { prices: [price('1', at('2026-01-01T00:00'), now + day)] })
    expect(current.expected).toBe(yuan('24'))
    expect(changes).toMatchObject([{ kind: 'price', hourly_before: '1.00', hourly_after: '0.00' }])
  })

  it('is cut at midnight in Beijing, and at each change within a day', () => {
    const { days } = of([cores(1)], { prices: [always, price('1', now + 30 * hour + 1)] })
    expect(days.slice(0, 3).map(({ amount }) => amount)).toEqual([
      yuan('2.4'),
      yuan('0.6') + (yuan('0.1') + 1_800n) / 3_600n + (yuan('1') * 64_799n + 1_800n) / 3_600n,
      yuan('24'),
    ])
  })

  it('has a band as wide as days differed, that grows with time and never goes below what is certain', () => {
    const steady = of([cores(1)], { history: [10n, 10n, 10n, 10n, 10n].map((amount) => amount * yuan('1')) })
    expect(steady.current).toEqual({ expected: yuan('24'), low: yuan('24'), high: yuan('24') })
    // Each day differs by one yuan: ten days of a random walk deviate by √385 of it.
    const history = [1n, 2n, 1n, 2n, 1n].map((amount) => amount * yuan('1'))
    const { current, next } = of([cores(1)], { used: yuan('5'), history })
    expect(Number((current.high ?? 0n) - current.expected) / 1e8).toBeCloseTo(1.2816 * Math.sqrt(385), 6)
    expect(current.low).toBe(yuan('5'))
    expect(next.low).toBe(0n)
    expect(Number((next.high ?? 0n) - next.expected) / 1e8).toBeCloseTo(1.2816 * Math.sqrt(10 * 31 ** 2 + (31 * 32 * 63) / 6), 6)
    expect(of([cores(1)], { history: history.slice(1) }).current.high).toBeNull()
  })
})
