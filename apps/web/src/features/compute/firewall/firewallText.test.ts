import { expect, it } from 'vitest'
import { moved, serviceRefreshMs } from './firewallText.ts'

it('moves one of a list, and leaves the others in their order', () => {
  expect(moved(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a'])
  expect(moved(['a', 'b', 'c'], 2, 1)).toEqual(['a', 'c', 'b'])
  expect(moved(['a'], 5, 0)).toEqual(['a'])
})

it('looks for a firewall service as lists are read, until there is one', () => {
  expect([undefined, { available: false }, { available: true }].map(serviceRefreshMs)).toEqual([5_000, 5_000, false])
})
