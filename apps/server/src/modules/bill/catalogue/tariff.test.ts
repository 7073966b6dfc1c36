import { toMinor } from '@zhisuan/contract/bill/money'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formulaOf } from './tariff.ts'

const gib = 2 ** 30
const tiers = [{ above: 0, price: toMinor('0.5') }]
const unitsOf = (quantity: number, of = tiers): string[] => formulaOf('vm.disk', of, quantity).map(({ units }) => units)

describe('the units of a formula', () => {
  it('are written out, however few they are', () => {
    expect(unitsOf(3 * gib)).toEqual(['3'])
    expect(unitsOf(gib / 4)).toEqual(['0.25'])
    expect(unitsOf(500)).toEqual(['0.000000465661287307739257812500'.replace(/0+$/, '')])
    expect(unitsOf(1)).toEqual(['0.000000000931322574615478515625'])
    expect(formulaOf('vm.vcpu', tiers, 7)).toEqual([{ units: '7', price: '0.50' }])
  })

  it('are those of each tier', () => {
    const graduated = [...tiers, { above: 2, price: toMinor('0.4') }]
    expect(unitsOf(2 * gib + 1, graduated)).toEqual(['2', '0.000000000931322574615478515625'])
  })

  it('multiplied are the quantity again', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (quantity) => {
        const [units = ''] = unitsOf(quantity)
        const [, whole = '', digits = ''] = /^(\d+)(?:\.(\d+))?$/.exec(units) ?? []
        expect(BigInt(whole + digits) * BigInt(gib)).toBe(BigInt(quantity) * 10n ** BigInt(digits.length))
      }),
    )
  })
})
