import { expect, it } from 'vitest'
import { checkHistories } from './month.histories.ts'

it('100,000 contracts and what was used by them come to their bases, whenever late use and refunds come, as a second computation says', () => {
  const { uses } = checkHistories(10_000, 100_000)
  expect(uses).toBeGreaterThan(500_000)
})
