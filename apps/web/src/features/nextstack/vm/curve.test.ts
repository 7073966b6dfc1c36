import { expect, it } from 'vitest'
import { curvePath } from './curve.ts'

const span = { from: 1_000, until: 2_000, max: 1 }

it('draws a line from left to right, higher where there is more, and no higher than its box', () => {
  expect(
    curvePath(
      [
        [1_000, 0],
        [1_500, 0.5],
        [2_000, 3],
      ],
      span,
    ),
  ).toBe('M0.0 32.0L50.0 16.0L100.0 0.0')
})

it('breaks where nothing is known, and leaves out what was before', () => {
  expect(
    curvePath(
      [
        [500, 1],
        [1_000, 1],
        [1_200, null],
        [1_500, 1],
      ],
      span,
    ),
  ).toBe('M0.0 0.0M50.0 0.0')
  expect(curvePath([[1_000, 0]], { ...span, max: 0 })).toBe('M0.0 32.0')
})
