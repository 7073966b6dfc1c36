import { expect, it } from 'vitest'
import { greatestOf } from './stacks.ts'

it('keeps the greatest and adds up the rest', () => {
  const stacks = [1, 5, 2, 4].map((size) => ({ name: String(size), values: [size, null, size] }))
  expect(greatestOf(stacks, 4, 'rest').map(({ name }) => name)).toEqual(['5', '4', '2', '1'])
  expect(greatestOf(stacks, 3, 'rest')).toEqual([stacks[1], stacks[3], { name: 'rest', values: [3, 0, 3] }])
})
