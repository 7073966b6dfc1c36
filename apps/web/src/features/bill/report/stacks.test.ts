import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { expect, it } from 'vitest'
import { greatestOf, heightOf } from './stacks.ts'

it('keeps the greatest and adds up the rest', () => {
  const stacks = [1n, 5n, 2n, 4n].map((size) => ({ name: String(size), values: [size, null, size] }))
  expect(greatestOf(stacks, 4, 'rest').map(({ name }) => name)).toEqual(['5', '4', '2', '1'])
  expect(greatestOf(stacks, 3, 'rest')).toEqual([stacks[1], stacks[3], { name: 'rest', values: [3n, 0n, 3n] }])
})

it('adds up amounts exactly', () => {
  const stacks = ['9.00', '0.10', '0.20', '0.00000001'].map((amount) => ({ name: amount, values: [toMinor(amount)] }))
  const [, rest] = greatestOf(stacks, 2, 'rest')
  expect(rest?.values.map((value) => toDecimal(value ?? 0n))).toEqual(['0.30000001'])
  expect(heightOf(toMinor('0.1') + toMinor('0.2'))).toBe(0.3)
})
