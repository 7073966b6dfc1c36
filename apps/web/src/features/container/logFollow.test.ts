import { describe, expect, it, vi } from 'vitest'
import { followLog, type FollowState, type LogSocket } from './logFollow.ts'

const line = (text: string) => ({ at: null, stream: 'stdout' as const, text })

/** A follower whose sockets and pauses the test holds in its hands. */
function follower(link: () => Promise<string> = async () => '/log?ticket=1') {
  const end = new AbortController()
  const dialled: { path: string; socket: LogSocket; closed: boolean }[] = []
  const states: FollowState[] = []
  const pauses: number[] = []
  let shown: string[] = []
  const done = followLog({
    link,
    dial: (path) => {
      const one = { path, closed: false, socket: { onopen: null, onmessage: null, onclose: null, close: () => void (one.closed = true) } as LogSocket }
      dialled.push(one)
      return one.socket
    },
    signal: end.signal,
    onStart: () => {
      shown = []
    },
    onLines: (lines) => shown.push(...lines.map(({ text }) => text)),
    onState: (state) => states.push(state),
    temporary: (error) => error === 'busy',
    pause: async (ms) => void pauses.push(ms),
  })
  const socket = async (index: number): Promise<LogSocket> => {
    await vi.waitFor(() => expect(dialled.length).toBeGreaterThan(index))
    const found = dialled[index]
    if (found === undefined) throw new Error('not dialled')
    return found.socket
  }
  const say = (to: LogSocket, message: unknown): void => to.onmessage?.({ data: JSON.stringify(message) })
  return { end, dialled, states, pauses, done, socket, say, shown: () => shown }
}

describe('following a log', () => {
  it('shows lines until the container ends', async () => {
    const { socket, say, done, states, shown, dialled } = follower()
    const first = await socket(0)
    first.onopen?.()
    say(first, { items: [line('a'), line('b')] })
    say(first, { ended: true })
    first.onclose?.({ code: 1000 })
    await done
    expect(shown()).toEqual(['a', 'b'])
    expect(states).toEqual(['connecting', 'following', 'ended'])
    expect(dialled[0]?.path).toBe('/log?ticket=1&tail=1000')
  })

  it('dials again after a broken connection, and shows nothing twice', async () => {
    const { socket, say, done, states, shown, pauses } = follower()
    const first = await socket(0)
    first.onopen?.()
    say(first, { items: [line('a')] })
    first.onclose?.({ code: 1013 })
    const second = await socket(1)
    second.onopen?.()
    say(second, { items: [line('a'), line('b')] })
    say(second, { ended: true })
    second.onclose?.({ code: 1000 })
    await done
    expect(shown()).toEqual(['a', 'b'])
    expect(pauses).toEqual([1_000])
    expect(states).toEqual(['connecting', 'following', 'waiting', 'connecting', 'following', 'ended'])
  })

  it('waits longer while nothing comes', async () => {
    const { socket, pauses, end, done } = follower()
    for (const index of [0, 1, 2]) {
      const one = await socket(index)
      one.onopen?.()
      one.onclose?.({ code: 1013 })
    }
    await socket(3)
    expect(pauses).toEqual([1_000, 2_000, 4_000])
    end.abort()
    await done
  })

  it('asks again for a link where that may pass, and says else what is wrong', async () => {
    const answers = [() => Promise.reject('busy'), () => Promise.reject('gone')]
    const { done, states } = follower(() => answers.shift()?.() ?? Promise.resolve(''))
    await done
    expect(states).toEqual(['connecting', 'waiting', 'connecting', 'refused'])
  })

  it('ends where the container is gone, and closes when it is left', async () => {
    const gone = follower()
    const socket = await gone.socket(0)
    socket.onclose?.({ code: 1008 })
    await gone.done
    expect(gone.states.at(-1)).toBe('ended')

    const left = follower()
    await left.socket(0)
    left.end.abort()
    await left.done
    expect(left.dialled[0]?.closed).toBe(true)
  })

  it('does not stumble over what it does not understand', async () => {
    const { socket, say, done, shown } = follower()
    const only = await socket(0)
    only.onopen?.()
    only.onmessage?.({ data: '{' })
    say(only, { items: 'none' })
    say(only, { items: [line('a')] })
    say(only, { ended: true })
    only.onclose?.({ code: 1000 })
    await done
    expect(shown()).toEqual(['a'])
  })
})
