import { describe, expect, it } from 'vitest'
import { errorBlocks, errors } from './errors.ts'

/** Section 8 of the specification, as far as we answer them. */
const specified = [
  0, 1101, 1111, 1120, 1121, 1122, 1124, 1134, 1135, 1136, 1182, 1183, 1184, 2293, 3000, 3001, 3006, 3041, 8805, 8809, 9000, 12005, 12006, 12906, 24007, 24008,
  24011, 24014, 24018, 24044, 24047, 24048, 26004, 26012, 26018, 99999,
]

describe('numbers of errors', () => {
  const blocks = Object.entries(errorBlocks).flatMap(([family, ranges]) => ranges.map(([from, to]) => ({ family, from, to })))
  const codes = Object.values(errors).map(({ code }) => code)

  it('are each one family’s', () => {
    for (const one of blocks) {
      expect(one.from, one.family).toBeLessThanOrEqual(one.to)
      for (const other of blocks) if (other !== one) expect(one.to < other.from || other.to < one.from, `${one.family} and ${other.family}`).toBe(true)
    }
    for (const code of codes)
      expect(
        blocks.filter(({ from, to }) => from <= code && code <= to),
        String(code),
      ).toHaveLength(1)
  })

  it('are given once', () => expect(new Set(codes).size).toBe(codes.length))

  it('are ours wherever the specification gave none', () => {
    const given = errorBlocks.specification
    expect(codes.filter((code) => given.some(([from, to]) => from <= code && code <= to)).toSorted((one, other) => one - other)).toEqual(specified)
  })
})
