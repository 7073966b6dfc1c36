import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTaxNumber } from './tax-number.ts'

describe('a tax number', () => {
  // Published ones of large companies, and the example of GB 11643.
  const right = ['91440300708461136T', '914403001922038216', '91110000802100433B', '91330100799655058B', '11010519491231002X']
  it('is taken as companies and people have them', () => {
    for (const text of right) expect(isTaxNumber(text), text).toBe(true)
    // Before 2015: region and organisation code, which stands in the later one too.
    expect(isTaxNumber('440300708461136')).toBe(true)
    expect(isTaxNumber('11010519491231002X01')).toBe(true)
  })
  it('is refused with any one character wrong, or of another length', () => {
    for (const text of right) {
      for (let at = 0; at < text.length; at++) {
        const other = text.charAt(at) === '1' ? '2' : '1'
        expect(isTaxNumber(text.slice(0, at) + other + text.slice(at + 1)), `${text} at ${at}`).toBe(false)
      }
      expect(isTaxNumber(text.slice(1))).toBe(false)
      expect(isTaxNumber(`${text}1`)).toBe(false)
    }
    for (const text of ['', '440300708461137', '11010519490231002X', '9144030070846113６T', '91440300708461136t']) expect(isTaxNumber(text), text).toBe(false)
  })
  it('takes few of what people type at random', () => {
    const counted = { right: 0, all: 0 }
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-HJ-NPQRTUWXY]{18}$/), (text) => void (counted.all++, (counted.right += Number(isTaxNumber(text))))),
      { numRuns: 2_000 },
    )
    expect(counted.right / counted.all).toBeLessThan(0.06)
  })
})
