import { expect, it } from 'vitest'
import { freeRanges } from './freeRange.ts'

it('offers ranges that overlap none of those that are seen', () => {
  const free = freeRanges(['10.10.0.0/16', '10.11.0.128/25', null, '192.168.0.0/24', 'nonsense'], () => 0)
  expect(free[0]).toBe('10.12.0.0/24')
  expect(free).toHaveLength(238)
  expect(freeRanges(['10.0.0.0/8'])).toEqual([])
})

it('begins anywhere: two who take the first at a time seldom take the same', () => {
  expect(freeRanges([]).toSorted()).toEqual(freeRanges([]).toSorted())
  let next = 1
  expect(freeRanges([], () => (next -= 0.001))[0]).toBe('10.249.0.0/24')
})
