import { describe, expect, it } from 'vitest'
import { scaleTo } from './chartScale.ts'
import { summarise, withGaps } from './chartSeries.ts'

const mb = 1024 ** 2

describe('scaleTo', () => {
  it('ends at round numbers at or above the highest value', () => {
    expect(scaleTo(0.37)).toEqual({ max: 0.4, step: 0.1 })
    expect(scaleTo(87)).toEqual({ max: 100, step: 25 })
    expect(scaleTo(1)).toEqual({ max: 1, step: 0.25 })
    for (const value of [0.003, 0.5, 3, 999, 1234.5]) expect(scaleTo(value).max).toBeGreaterThanOrEqual(value * 0.999)
  })
  it('steps by powers of two for bytes', () => {
    expect(scaleTo(700 * mb, 1024)).toEqual({ max: 768 * mb, step: 256 * mb })
    expect(scaleTo(1500, 1024)).toEqual({ max: 1536, step: 512 })
    expect(scaleTo(3, 1024)).toEqual({ max: 3, step: 1 })
    expect(scaleTo(3.9 * 1024 ** 3, 1024)).toEqual({ max: 4 * 1024 ** 3, step: 1024 ** 3 })
  })
  it('has whole steps for what is counted', () => {
    expect(scaleTo(1, 'whole')).toEqual({ max: 1, step: 1 })
    expect(scaleTo(3, 'whole')).toEqual({ max: 3, step: 1 })
    expect(scaleTo(9, 'whole')).toEqual({ max: 10, step: 5 })
    expect(scaleTo(87, 'whole')).toEqual({ max: 100, step: 50 })
  })
  it('stands with nothing to show', () => {
    expect(scaleTo(0)).toEqual({ max: 1, step: 1 })
    expect(scaleTo(Number.NaN)).toEqual({ max: 1, step: 1 })
  })
})

describe('summarise', () => {
  it('gives the newest and the highest value', () => {
    expect(
      summarise([
        {
          name: 'a',
          points: [
            [1, 2],
            [2, 5],
            [3, null],
            [4, 1],
          ],
        },
      ]),
    ).toEqual([{ name: 'a', latest: 1, max: 5 }])
    expect(
      summarise([
        { name: 'a', points: [[1, null]] },
        { name: 'b', points: [] },
      ]),
    ).toEqual([
      { name: 'a', latest: null, max: null },
      { name: 'b', latest: null, max: null },
    ])
  })
})

describe('withGaps', () => {
  it('breaks the line where samples are missing', () => {
    expect(
      withGaps(
        [
          [0, 1],
          [5, 2],
          [30, 3],
        ],
        5,
      ),
    ).toEqual([
      [0, 1],
      [5, 2],
      [10, null],
      [30, 3],
    ])
    expect(
      withGaps(
        [
          [0, 1],
          [6, 2],
          [12, 3],
        ],
        5,
      ),
    ).toEqual([
      [0, 1],
      [6, 2],
      [12, 3],
    ])
  })
})
