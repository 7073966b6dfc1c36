import { describe, expect, it, vi } from 'vitest'
import { createTurns } from './turns.ts'

/** @returns who has begun and who was late, and how each ends */
function some(most: number, longMs: number, names: readonly string[]) {
  const turns = createTurns(most, longMs)
  const seen: string[] = []
  const ends = new Map(
    names.map((name) => [
      name,
      turns.take(
        () => seen.push(name),
        () => seen.push(`${name} is late`),
      ),
    ]),
  )
  return { seen, end: (name: string) => ends.get(name)?.() }
}

describe('turns', () => {
  it('are taken in order, so many at once', () => {
    const { seen, end } = some(2, 60_000, ['a', 'b', 'c', 'd'])
    expect(seen).toEqual(['a', 'b'])
    end('b')
    expect(seen).toEqual(['a', 'b', 'c'])
    end('b')
    end('d')
    end('a')
    expect(seen).toEqual(['a', 'b', 'c'])
  })

  it('end where they last long, as far as others wait', async () => {
    const { seen, end } = some(2, 20, ['a', 'b', 'c'])
    await vi.waitFor(() => expect(seen).toEqual(['a', 'b', 'a is late', 'c']))
    end('a')
    end('c')
    expect(seen).toHaveLength(4)
  })
})
