import { afterEach, describe, expect, it, vi } from 'vitest'
import { gatherLooks } from './looks.ts'

type Names = readonly string[] | null

let stop = new AbortController()
afterEach(() => {
  stop.abort()
  stop = new AbortController()
})
const patient = { interval: 5 }

/** Looks that are held until they are let go on. */
function held() {
  const begun: { names: Names; end: () => void; fail: (error: Error) => void }[] = []
  const failures: unknown[] = []
  const gather = gatherLooks(
    stop.signal,
    (names) => new Promise<void>((resolve, reject) => begun.push({ names, end: resolve, fail: reject })),
    (error) => failures.push(error),
  )
  const look = (nth: number) => vi.waitFor(() => begun[nth] ?? expect.fail(`no look ${nth}`), patient)
  return { gather, look, begun, failures }
}

describe('looks', () => {
  it('answer a burst at once, each name once', async () => {
    const { gather, look, begun } = held()
    for (const name of ['a', 'b', 'a']) gather(name)
    const first = await look(0)
    expect(first.names).toEqual(['a', 'b'])
    first.end()
    gather('c')
    expect((await look(1)).names).toEqual(['c'])
    expect(begun).toHaveLength(2)
  })

  it('are of everything where that was asked for, whatever else was', async () => {
    const { gather, look } = held()
    gather('a')
    gather(null)
    gather('b')
    expect((await look(0)).names).toBeNull()
  })

  it('come one after the other: what comes during one is of the next', async () => {
    const { gather, look, begun } = held()
    gather('a')
    const first = await look(0)
    gather('b')
    gather('a')
    expect(begun).toHaveLength(1)
    first.end()
    expect((await look(1)).names).toEqual(['b', 'a'])
  })

  it('that fail tell it, and the next one has what came meanwhile', async () => {
    const { gather, look, failures } = held()
    gather('a')
    const first = await look(0)
    gather('b')
    first.fail(new Error('away'))
    expect((await look(1)).names).toEqual(['b'])
    expect(failures).toEqual([new Error('away')])
  })

  it('end with the signal, and tell nothing of it', async () => {
    const { gather, look, begun, failures } = held()
    gather('a')
    const first = await look(0)
    gather('b')
    stop.abort()
    first.fail(new Error('cancelled'))
    gather('c')
    // Whoever would look has looked by now: another one's look has begun and ended.
    const other = gatherLooks(
      new AbortController().signal,
      async () => void begun.push({ names: ['other'], end: () => undefined, fail: () => undefined }),
      (error) => failures.push(error),
    )
    other('other')
    expect((await look(1)).names).toEqual(['other'])
    expect(failures).toEqual([])
  })
})
