import { EventEmitter, once } from 'node:events'
import type { TerminalSession } from '@zhisuan/engines/compute'
import { vi } from 'vitest'
import type { WebSocket } from 'ws'

/** A shell in the test's hand. */
export function fakeSession() {
  const printed = new EventEmitter()
  const queue: (Buffer | null)[] = []
  const exit = Promise.withResolvers<number | null>()
  const put = (chunk: Buffer | null) => {
    queue.push(chunk)
    printed.emit('more')
  }
  async function* output(): AsyncGenerator<Buffer> {
    for (;;) {
      while (queue.length === 0) await once(printed, 'more')
      const next = queue.shift()
      if (next === null || next === undefined) return
      yield next
    }
  }
  const write = vi.fn<(data: Buffer) => void | Promise<void>>()
  const close = vi.fn(() => {
    exit.resolve(null)
    put(null)
  })
  const session: TerminalSession = { output: output(), write, resize: () => undefined, exit: exit.promise, close }
  return {
    session,
    write,
    close,
    print: (text: string | Buffer) => put(Buffer.from(text)),
    end: (code: number) => {
      exit.resolve(code)
      put(null)
    },
    fail: (error: Error) => {
      exit.reject(error)
      put(null)
    },
  }
}

/** A websocket that keeps what it is sent. */
export function fakeSocket() {
  const sent: (string | Buffer)[] = []
  const socket = Object.assign(new EventEmitter(), {
    OPEN: 1,
    readyState: 1,
    bufferedAmount: 0,
    send: (data: string | Buffer) => void sent.push(data),
    close: vi.fn<(code: number) => void>(),
    pause: vi.fn<() => void>(),
    resume: vi.fn<() => void>(),
  })
  // Of a websocket a terminal needs no more.
  return { socket, sent, as: socket as unknown as WebSocket }
}
