import { describe, expect, it } from 'vitest'
import { linesOf, parseRanges, rangesText } from './eipRules.ts'

describe('ranges as people type them', () => {
  it('are one a line, or a single address', () => {
    expect(parseRanges(' 203.0.113.10 - 203.0.113.50 \n\n203.0.113.60')).toEqual({
      ranges: [
        { from: '203.0.113.10', to: '203.0.113.50' },
        { from: '203.0.113.60', to: '203.0.113.60' },
      ],
    })
  })
  it.each([
    ['203.0.113.1\nabc', 2, 'abc'],
    ['203.0.113.1-203.0.113.2-203.0.113.3', 1, '203.0.113.1-203.0.113.2-203.0.113.3'],
    ['203.0.113.256', 1, '203.0.113.256'],
  ])('of %j names line %d', (text, line, wrong) => {
    expect(parseRanges(text)).toEqual({ line, text: wrong })
  })
  it('are written as they are read', () => {
    const text = '203.0.113.10-203.0.113.50\n203.0.113.60'
    const parsed = parseRanges(text)
    expect('ranges' in parsed && rangesText(parsed.ranges)).toBe(text)
  })
  it('of addresses are split at whatever stands between', () => {
    expect(linesOf(' 1.1.1.1，2.2.2.2\n\n3.3.3.3 ')).toEqual(['1.1.1.1', '2.2.2.2', '3.3.3.3'])
  })
})
