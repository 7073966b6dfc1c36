import { QueryClient } from '@tanstack/react-query'
// oxlint-disable-next-line no-restricted-imports -- no page loads a test
import { allCalls } from '@zhisuan/contract/calls'
import { kindOf, type Kind } from '@zhisuan/contract/kind'
import { describe, expect, it, vi } from 'vitest'
import { followChanges, invalidateKinds, touched, type Follow } from './changes.ts'
import { ApiError } from '../api/client.ts'

/** Of all that there are calls about. */
const kinds = [...new Set(allCalls.map(({ id }) => kindOf(id) as Kind))]

/** Everything that followChanges depends on, in the hand of the test. */
function stage() {
  const end = new AbortController()
  const asked: { after: string | undefined; signal: AbortSignal; answer: (cursor: string, ...kinds: Kind[]) => void; fail: (status: number) => void }[] = []
  const told: (readonly Kind[])[] = []
  const pauses: number[] = []
  let shown = true
  const listeners = new Set<() => void>()
  const done = followChanges({
    signal: end.signal,
    wait: (after, signal) =>
      new Promise((resolve, reject) => {
        asked.push({
          after,
          signal,
          answer: (cursor, ...kinds) => resolve({ cursor, kinds }),
          fail: (status) => reject(new ApiError({ status, code: -2, message: '' })),
        })
        signal.addEventListener('abort', () => reject(new ApiError({ status: 0, code: -4, message: '' })))
      }),
    onKinds: (kinds) => told.push(kinds),
    visible: () => shown,
    onVisible: (tell) => {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    pause: async (ms) => void pauses.push(ms),
  } satisfies Follow)
  const last = async (count: number) => {
    await vi.waitFor(() => expect(asked).toHaveLength(count), { interval: 1 })
    return asked[count - 1] ?? expect.fail()
  }
  const show = (next: boolean): void => {
    shown = next
    for (const tell of listeners) tell()
  }
  return { asked, told, pauses, last, show, end, done, listeners }
}

describe('following changes', () => {
  it('takes the first answer as its place, and tells what changed from there on', async () => {
    const { last, told, end, done } = stage()
    const first = await last(1)
    expect(first.after).toBeUndefined()
    first.answer('a.1', ...kinds)
    const second = await last(2)
    expect(second.after).toBe('a.1')
    expect(told).toEqual([])
    second.answer('a.5', 'nextstack.vm', 'nextstack.volume')
    const third = await last(3)
    expect(third.after).toBe('a.5')
    expect(told).toEqual([['nextstack.vm', 'nextstack.volume']])
    end.abort()
    await done
  })

  it('rests between answers, so that much that happens is told at once', async () => {
    const { last, pauses, end, done } = stage()
    for (const count of [1, 2, 3]) (await last(count)).answer(`a.${count}`)
    await last(4)
    expect(pauses).toEqual([1_000, 1_000, 1_000])
    end.abort()
    await done
  })

  it('asks less and less often while nobody answers, and forgets nothing', async () => {
    const { last, pauses, told, end, done } = stage()
    ;(await last(1)).answer('a.1')
    for (let count = 2; count <= 9; count++) (await last(count)).fail(count % 2 === 0 ? 0 : 503)
    const again = await last(10)
    expect(pauses).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
    expect(again.after).toBe('a.1')
    again.answer('b.1', 'nextstack.vm')
    ;(await last(11)).fail(0)
    await last(12)
    expect(told).toEqual([['nextstack.vm']])
    expect(pauses.at(-1)).toBe(1_000)
    end.abort()
    await done
  })

  it('asks nothing while nobody looks, and then from where it was', async () => {
    const { last, asked, show, pauses, end, done, told } = stage()
    ;(await last(1)).answer('a.1')
    const open = await last(2)
    show(false)
    expect(open.signal.aborted).toBe(true)
    await Promise.resolve()
    show(false)
    expect(asked).toHaveLength(2)
    show(true)
    const back = await last(3)
    expect(back.after).toBe('a.1')
    // To be hidden is no failure.
    expect(pauses).toEqual([1_000])
    back.answer('a.9', 'nextstack.command')
    await last(4)
    expect(told).toEqual([['nextstack.command']])
    end.abort()
    await done
  })

  it.each([401, 403])('ends at %s, and leaves what it means to others', async (status) => {
    const { last, asked, done, listeners } = stage()
    ;(await last(1)).fail(status)
    await done
    expect(asked).toHaveLength(1)
    expect(listeners.size).toBe(0)
  })

  it('ends with the session, whether it waits or is hidden', async () => {
    const waiting = stage()
    const open = await waiting.last(1)
    waiting.end.abort()
    await waiting.done
    expect(open.signal.aborted).toBe(true)
    const hidden = stage()
    await hidden.last(1)
    hidden.show(false)
    hidden.end.abort()
    await hidden.done
    expect(hidden.asked).toHaveLength(1)
    expect(hidden.listeners.size).toBe(0)
  })
})

describe('what changed', () => {
  const ids = (kinds: readonly Kind[]): string[] => {
    const client = new QueryClient()
    for (const { id } of allCalls) client.setQueryData([id, {}], {})
    invalidateKinds(client, kinds)
    return client
      .getQueryCache()
      .findAll({ predicate: ({ state }) => state.isInvalidated })
      .map(({ queryKey }) => String(queryKey[0]))
  }

  it('is read again, and nothing else', () => {
    expect(ids([])).toEqual([])
    expect(ids(['nextstack.command'])).toEqual(expect.arrayContaining(['nextstack.command.list', 'nextstack.command.get']))
    expect(ids(['nextstack.command']).every((id) => id.startsWith('nextstack.command.'))).toBe(true)
    const vm = ids(['nextstack.vm'])
    expect(vm).toEqual(expect.arrayContaining(['nextstack.vm.list', 'nextstack.vm.get', 'nextstack.vm.operations', 'cmp.cloud.list']))
    expect(vm).not.toContain('nextstack.volume.list')
    // A volume's snapshots are no volumes.
    expect(ids(['nextstack.volume']).some((id) => id.startsWith('nextstack.volumeSnapshot.'))).toBe(false)
  })

  it('asks no engine for what has its own pace', () => {
    expect(ids(kinds)).not.toContain('nextstack.vm.metrics')
    expect(ids(kinds)).not.toContain('nextstack.vm.consoleLog')
  })

  it.each(Object.entries(touched))('of kind %s touches others that there are', (kind, beginnings) => {
    expect(kinds).toContain(kind)
    expect(beginnings.filter((one) => !allCalls.some(({ id }) => id.startsWith(one)))).toEqual([])
  })
})
