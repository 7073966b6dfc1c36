import { describe, expect, it } from 'vitest'
import { createShared } from './shared.ts'

/** A question whose answers the test gives, one after the other. */
function question() {
  const asked: { resolve: (answer: string) => void; reject: (error: Error) => void }[] = []
  const make = () => new Promise<string>((resolve, reject) => asked.push({ resolve, reject }))
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return { asked, make, settle }
}

describe('shared answers', () => {
  it('gives nobody an answer that was begun before they asked, and all who wait the same one', async () => {
    const { asked, make, settle } = question()
    const share = createShared<string>()
    const first = share('a', make)
    const waiting = [share('a', make), share('a', make)]
    expect(asked).toHaveLength(1)
    asked[0]?.resolve('old')
    expect(await first).toBe('old')
    await settle()
    expect(asked).toHaveLength(2)
    const late = share('a', make)
    asked[1]?.resolve('new')
    expect(await Promise.all(waiting)).toEqual(['new', 'new'])
    await settle()
    asked[2]?.resolve('newest')
    expect(await late).toBe('newest')
  })

  it('keeps other questions apart, and forgets what was answered', async () => {
    const { asked, make, settle } = question()
    const share = createShared<string>()
    const answers = [share('a', make), share('b', make)]
    expect(asked).toHaveLength(2)
    asked[0]?.resolve('A')
    asked[1]?.resolve('B')
    expect(await Promise.all(answers)).toEqual(['A', 'B'])
    await settle()
    void share('a', make)
    expect(asked).toHaveLength(3)
  })

  it('tells a failure to those who asked before it only', async () => {
    const { asked, make, settle } = question()
    const share = createShared<string>()
    const first = share('a', make)
    const second = share('a', make)
    asked[0]?.reject(new Error('lost'))
    await expect(first).rejects.toThrow('lost')
    await settle()
    asked[1]?.resolve('found')
    expect(await second).toBe('found')
  })
})
