import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { forgetSearches, readSearches, rememberSearch } from './recentSearches.ts'

const stored = new Map<string, string>()
beforeEach(() =>
  vi.stubGlobal('localStorage', { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, value: string) => void stored.set(key, value) }),
)
afterEach(() => {
  vi.unstubAllGlobals()
  stored.clear()
})

describe('recent searches', () => {
  it('are the newest first, each once', () => {
    for (const text of ['a', 'b', ' a ', 'c', '  ']) rememberSearch('vms', text)
    expect(readSearches('vms')).toEqual(['c', 'a', 'b'])
  })

  it('are twenty at most', () => {
    for (let one = 1; one <= 25; one++) rememberSearch('vms', String(one))
    expect(readSearches('vms')).toEqual(Array.from({ length: 20 }, (_, at) => String(25 - at)))
  })

  it('are kept in local storage, each list its own, until they are forgotten', () => {
    rememberSearch('vms', 'a')
    rememberSearch('products', 'b')
    expect([...stored.keys()]).toEqual(['zhisuan.searches.vms', 'zhisuan.searches.products'])
    forgetSearches('vms')
    expect([readSearches('vms'), readSearches('products')]).toEqual([[], ['b']])
  })

  it('are none where something else lies there, or nothing may be stored', () => {
    stored.set('zhisuan.searches.vms', '{"a":1}')
    expect(readSearches('vms')).toEqual([])
    vi.stubGlobal('localStorage', undefined)
    expect([readSearches('vms'), rememberSearch('vms', 'a')]).toEqual([[], ['a']])
  })
})
