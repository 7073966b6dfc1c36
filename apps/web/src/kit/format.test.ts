import { describe, expect, it } from 'vitest'
import { bytes, exactMoney, money, nothing, number, owedMoney, percent, rate } from './format.ts'

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
    ['12.999', '¥12.99'],
    ['1234567.8', '¥1,234,567.80'],
    ['0', '¥0.00'],
    ['0.009', '¥0.00'],
    ['-0.001', '-¥0.01'],
    ['-12.34', '-¥12.34'],
    ['9007199254740993.019', '¥9,007,199,254,740,993.01'],
    [undefined, '—'],
    ['no amount', '—'],
  ])('of %s is floored to %s', (amount, text) => expect(money(amount)).toBe(text))
})

it('money of an hour has as many decimals as it needs, up to six: of a month of 20.08 it is not 0.02', () => {
  expect(['0.0275', '0.02', '0.005', '0.00009', '1234.5678901', '-0.0000001'].map(rate)).toEqual([
    '¥0.0275',
    '¥0.02',
    '¥0.005',
    '¥0.00009',
    '¥1,234.56789',
    '-¥0.000001',
  ])
  expect(rate(null)).toBe('—')
})

it('money that is owed is as much as the balance below 0 that it makes, and nothing owed is nothing', () => {
  expect(owedMoney('0.305')).toBe('¥0.31')
  expect(money('-0.305')).toBe('-¥0.31')
  expect([owedMoney('0.00'), owedMoney('12.30'), owedMoney(null)]).toEqual(['¥0.00', '¥12.30', nothing])
})

it('what moves a balance and what stands in a bill is one amount, whichever sign it has', () => {
  expect([exactMoney('-0.305'), exactMoney('0.305'), exactMoney('-0.30')]).toEqual(['-¥0.305', '¥0.305', '-¥0.30'])
})

it('money that is computed again has all its decimals', () => {
  expect(['5', '0.00000001', '-1234.5'].map(exactMoney)).toEqual(['¥5.00', '¥0.00000001', '-¥1,234.50'])
})

it('no page writes money by itself: its sign, its decimals and its place are of the kit', () => {
  const sources: Readonly<Record<string, string>> = import.meta.glob(['../**/*.{ts,tsx}', '!../**/*.test.ts'], {
    query: '?raw',
    import: 'default',
    eager: true,
  })
  const files = Object.entries(sources)
  expect(files.length).toBeGreaterThan(500)
  // The sign comes with the number; a heading that says the unit says it twice.
  expect(files.flatMap(([file, code]) => (/[¥￥]|（元）|CNY/.test(code) ? file : []))).toEqual(['./format.ts'])
  // What is typed has its sign from its field, and the one table of prices that is a form of its own.
  expect(files.flatMap(([file, code]) => (/\byuanSign\b/.test(code) ? file : [])).toSorted()).toEqual(
    ['./fields.tsx', './format.ts', '../features/bill/catalogue/StarterDialog.tsx'].toSorted(),
  )
})

it('where there is nothing to say, one sign says so everywhere', () => {
  const sources: Readonly<Record<string, string>> = import.meta.glob(['../**/*.{ts,tsx}', '!../**/*.test.ts'], {
    query: '?raw',
    import: 'default',
    eager: true,
  })
  expect(Object.entries(sources).flatMap(([file, code]) => (/'(?:—|暂无)'/.test(code) ? file : []))).toEqual(['./format.ts'])
})
