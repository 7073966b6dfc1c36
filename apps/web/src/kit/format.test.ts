import { describe, expect, it } from 'vitest'
import { bytes, money, number, percent, rate } from './format.ts'

describe('sizes', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1 KB'],
    [1536, '1.5 KB'],
    [2 ** 20 - 1, '1023.99 KB'],
    [2 ** 20, '1 MB'],
    [2 ** 30, '1 GB'],
    [1.999 * 2 ** 30, '1.99 GB'],
    [2 ** 40, '1 TB'],
    [2 ** 50, '1 PB'],
    [2 ** 60, '1024 PB'],
    [null, '—'],
  ])('%d is %s', (value, text) => expect(bytes(value)).toBe(text))
})

describe('numbers', () => {
  it.each([
    [1.239, '1.23'],
    [1.15, '1.15'],
    [0.999, '0.99'],
    [-0.001, '-0.01'],
    [1_234_567.891, '1,234,567.89'],
    [7, '7'],
    [null, '—'],
  ])('%d is floored to %s', (value, text) => expect(number(value)).toBe(text))

  it('in percent are floored too: what is nearly full is not yet', () => expect(percent(0.999_999)).toBe('99.99%'))
})

describe('a balance', () => {
  it.each([
    ['12.999', '12.99'],
    ['1234567.8', '1,234,567.80'],
    ['0', '0.00'],
    ['0.009', '0.00'],
    ['-0.001', '-0.01'],
    ['-12.34', '-12.34'],
    ['9007199254740993.019', '9,007,199,254,740,993.01'],
    [undefined, '—'],
    ['no amount', '—'],
  ])('of %s is floored to %s', (amount, text) => expect(money(amount)).toBe(text))
})

it('money of an hour has up to four decimals: of a month of 20.08 it is not 0.02', () => {
  expect(['0.0275', '0.02', '0.005', '0.00009', '1234.56789'].map(rate)).toEqual(['0.0275', '0.02', '0.005', '0.00', '1,234.5678'])
  expect(rate(null)).toBe('—')
})

it('where there is nothing to say, one sign says so everywhere', () => {
  const sources: Readonly<Record<string, string>> = import.meta.glob(['../**/*.{ts,tsx}', '!../**/*.test.ts'], {
    query: '?raw',
    import: 'default',
    eager: true,
  })
  expect(Object.entries(sources).flatMap(([file, code]) => (/'(?:—|暂无)'/.test(code) ? file : []))).toEqual(['./format.ts'])
})
