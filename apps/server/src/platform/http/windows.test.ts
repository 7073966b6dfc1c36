import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Windows } from './windows.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

it('counts each address for itself, and begins anew after the window', () => {
  const windows = new Windows()
  const results: ({ current: number; ttl: number } | undefined)[] = []
  const ask = (key: string, on = windows) => on.incr(key, (_error, result) => results.push(result), 60_000)
  ask('a')
  vi.advanceTimersByTime(20_000)
  ask('a')
  ask('b')
  ask('a', windows.child())
  vi.advanceTimersByTime(40_000)
  ask('a')
  // What was told stays as it was told, however many came after.
  expect(results).toEqual([
    { current: 1, ttl: 60_000 },
    { current: 2, ttl: 40_000 },
    { current: 1, ttl: 60_000 },
    { current: 1, ttl: 60_000 },
    { current: 1, ttl: 60_000 },
  ])
})
