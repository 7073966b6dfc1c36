import { describe, expect, it } from 'vitest'
import { gathered } from './gathered.ts'

describe('questions that are gathered', () => {
  it('go out at once, and together while one is under way', async () => {
    const asked: (readonly number[])[] = []
    const double = gathered(async (keys: readonly number[]) => {
      asked.push(keys)
      await Promise.resolve()
      return new Map(keys.filter((key) => key !== 3).map((key) => [key, key * 2]))
    })
    expect(await Promise.all([1, 2, 3, 2].map(double))).toEqual([2, 4, undefined, 4])
    expect(asked).toEqual([[1], [2, 3]])
    expect(await double(5)).toBe(10)
  })

  it('fail together, and not for those who ask later', async () => {
    let away = true
    const ask = gathered(async (keys: readonly string[]) => {
      if (away) throw new Error('away')
      return new Map(keys.map((key) => [key, key]))
    })
    expect((await Promise.allSettled(['a', 'b', 'c'].map(ask))).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    away = false
    expect(await ask('a')).toBe('a')
  })

  it('are many questions where they are very many', async () => {
    const sizes: number[] = []
    const ask = gathered(async (keys: readonly number[]) => {
      sizes.push(keys.length)
      return new Map(keys.map((key) => [key, key]))
    })
    const keys = Array.from({ length: 1_101 }, (_, key) => key)
    expect(await Promise.all(keys.map(ask))).toEqual(keys)
    expect(sizes).toEqual([1, 500, 500, 100])
  })
})
