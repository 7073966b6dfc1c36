import { expect, it } from 'vitest'
import { readTableState, writeTableState } from './tableState.ts'

const sizeOf = (address: string): number => readTableState(new URLSearchParams(address), []).size

it('a list has ten rows a page where nothing else is chosen, and no size that cannot be', () => {
  expect(sizeOf('')).toBe(10)
  for (const size of [5, 10, 20, 30, 40, 50, 100]) expect(sizeOf(`page_size=${size}`)).toBe(size)
  for (const size of ['15', '0', '-5', '1000', '1e1', 'all']) expect(sizeOf(`page_size=${size}`)).toBe(10)
})

it('what is as by default stays out of the address', () => {
  const written = (search: string, change: Parameters<typeof writeTableState>[1]): string => writeTableState(new URLSearchParams(search), change).toString()
  expect(written('', { page: 3, size: 50, sort: '-name', filters: { keyword: '网' } })).toBe('page=3&page_size=50&sort=-name&keyword=%E7%BD%91')
  expect(written('page=3&page_size=50&sort=name&keyword=a&tab=b', { page: 1, size: 10, sort: null, filters: { keyword: '' } })).toBe('tab=b')
})
