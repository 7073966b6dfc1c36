import { expect, it } from 'vitest'
import * as format from './format.ts'

it('money has two decimals, floored, and its thousands apart', () => {
  expect(['0', '20.089', '1234567.5', '-0.001', '-1234.5'].map(format.money)).toEqual(['0.00', '20.08', '1,234,567.50', '-0.01', '-1,234.50'])
  expect([null, undefined, 'x'].map(format.money)).toEqual(['—', '—', '—'])
})

it('money of an hour has up to four: of a month of 20.08 it is not 0.02', () => {
  expect(['0.0275', '0.02', '0.005', '0.00009', '1234.56789'].map(format.rate)).toEqual(['0.0275', '0.02', '0.005', '0.00', '1,234.5678'])
  expect(format.rate(null)).toBe('—')
})
