import { expect, it } from 'vitest'
import { moved } from './firewallText.ts'

it('moves one of a list, and leaves the others in their order', () => {
  expect(moved(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a'])
  expect(moved(['a', 'b', 'c'], 2, 1)).toEqual(['a', 'c', 'b'])
  expect(moved(['a'], 5, 0)).toEqual(['a'])
})
