import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { floored, money, owed, toDecimal, toMinor } from './money.ts'

describe('money', () => {
  it('is the same after a journey over the wire', () => {
    fc.assert(
      fc.property(fc.bigInt(), (minor) => {
        const text = toDecimal(minor)
        expect(money.safeParse(text).success).toBe(true)
        expect(toMinor(text)).toBe(minor)
      }),
    )
  })

  it('has at least two decimals, and no more than it needs', () => {
    expect([0n, 1n, -1n, 10n ** 8n, -150_000_000n, 12_345_678_900n].map(toDecimal)).toEqual([
      '0.00',
      '0.00000001',
      '-0.00000001',
      '1.00',
      '-1.50',
      '123.456789',
    ])
  })

  it('is shown floored to two decimals', () => {
    expect(['0.019', '-0.001', '-0.01', '12.00', '99999999999999999999.999'].map(floored)).toEqual([
      '0.01',
      '-0.01',
      '-0.01',
      '12.00',
      '99999999999999999999.99',
    ])
  })

  it('that is owed is as much as the balance that it makes', () => {
    const amounts = ['0.00', '0.001', '0.305', '0.31', '12.00']
    expect(amounts.map(owed)).toEqual(['0.00', '0.01', '0.31', '0.31', '12.00'])
    for (const amount of amounts.slice(1)) expect(`-${owed(amount)}`).toBe(floored(`-${amount}`))
  })

  it('is nothing else', () => {
    for (const text of ['', '1.', '.5', '1e3', '+1', '1,000.00', ' 1', '0.000000001', 'NaN', '１']) expect(() => toMinor(text), text).toThrow(RangeError)
  })
})
