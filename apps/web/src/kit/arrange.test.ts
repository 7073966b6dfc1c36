import { describe, expect, it } from 'vitest'
import { arranged } from './arrange.ts'

const rows = [
  { name: 'vm-10', size: 2, at: null },
  { name: 'vm-9', size: 1, at: 'b' },
  { name: '网关', size: 3, at: 'a' },
]
const rules = {
  textOf: (row: (typeof rows)[number]) => row.name,
  matches: { size: (row: (typeof rows)[number], value: string) => row.size === Number(value) },
  sortBy: { name: (row: (typeof rows)[number]) => row.name, at: (row: (typeof rows)[number]) => row.at },
}
const names = (state: { filters?: Record<string, string>; sort?: string | null }, more = {}) =>
  arranged(rows, { filters: {}, sort: null, ...state }, { ...rules, ...more }).map(({ name }) => name)

describe('rows that are all here', () => {
  it('stay as they came where nothing is asked', () => expect(names({})).toEqual(['vm-10', 'vm-9', '网关']))
  it('are found by every word, whatever its case', () => {
    expect(names({ filters: { keyword: ' VM 9 ' } })).toEqual(['vm-9'])
    expect(names({ filters: { keyword: '关' } })).toEqual(['网关'])
    expect(names({ filters: { keyword: 'x' } })).toEqual([])
  })
  it('fit all filters at once; a filter that nobody knows keeps none away', () => {
    expect(names({ filters: { size: '1', keyword: 'vm' } })).toEqual(['vm-9'])
    expect(names({ filters: { other: '1' } })).toHaveLength(3)
    expect(names({ filters: { size: '3' } }, { matches: {} })).toEqual(['网关'])
  })
  it('are sorted as people count', () => {
    expect(names({ sort: 'name' })).toEqual(['网关', 'vm-9', 'vm-10'])
    expect(names({ sort: '-name' })).toEqual(['vm-10', 'vm-9', '网关'])
    expect(names({}, { sortFirst: 'name' })).toEqual(['网关', 'vm-9', 'vm-10'])
  })
  it('without a value come last, whichever way', () => {
    expect(names({ sort: 'at' })).toEqual(['网关', 'vm-9', 'vm-10'])
    expect(names({ sort: '-at' })).toEqual(['vm-9', '网关', 'vm-10'])
  })
})
