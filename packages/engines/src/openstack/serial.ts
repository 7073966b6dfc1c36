import type { WebSocket } from 'ws'
import type { TerminalSession } from '../compute.ts'
import { EngineError } from '../errors.ts'
import { untilAborted } from '../signals.ts'
import { OpenStackError, type Place } from './errors.ts'

/** Above this much that nobody took yet, either side waits. */
const unreadBytes = 256 * 1024
/** nova-serialproxy lets everybody in and hangs up at once on whom it does not want: so it takes no longer. */
const firstMs = 5_000
/** How long the other side may take to say that it closes too. */
const closingMs = 2_000

/**
 * What is wrong with the way to a serial console: `unreachable`: nobody answers at its address, `refused`: the proxy
 * does not take the token, or does not reach the machine, `broken`: it worked until then.
 */
export class SerialConsoleError extends OpenStackError {
  readonly reason: 'unreachable' | 'refused' | 'broken'

  constructor(reason: SerialConsoleError['reason'], message: string, place: Place, options: { cause?: unknown } = {}) {
    super(reason === 'refused' ? 'unauthorized' : 'unreachable', message, place, options)
    this.name = 'SerialConsoleError'
    this.reason = reason
  }
}

/**
 * A serial console over a websocket that begins. It knows no sizes and no exit codes: `exit` is null where the other
 * end hung up, as a machine does that goes off, and fails with SerialConsoleError where the connection did.
 */
export async function openSerialConsole(socket: WebSocket, place: Place, signal?: AbortSignal): Promise<TerminalSession> {
  const queue: Buffer[] = []
  let queued = 0
  let wake: () => void = () => undefined
  let over = false
  let failure: unknown
  let openedAt: number | null = null
  let heard = false
  let closing = false

  socket.on('error', (error) => (failure ??= error))
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('open', () => {
      openedAt = Date.now()
      resolve()
    })
    socket.once('unexpected-response', (_request, response) => {
      response.destroy()
      const { statusCode = 0 } = response
      reject(new SerialConsoleError(statusCode >= 500 ? 'unreachable' : 'refused', `the proxy of the console answered HTTP ${statusCode}`, place))
      socket.terminate()
    })
    socket.once('close', () => reject(new SerialConsoleError('unreachable', `no proxy of the console: ${wordsOf(failure)}`, place, { cause: failure })))
  })
  const exit = new Promise<null>((resolve, reject) => {
    socket.once('close', (code) => {
      over = true
      wake()
      if (closing || code === 1000 || code === 1001) return resolve(null)
      const atOnce = !heard && openedAt !== null && Date.now() - openedAt < firstMs
      reject(
        new SerialConsoleError(
          atOnce ? 'refused' : 'broken',
          atOnce ? 'the proxy of the console hung up' : `the console broke off (${code}): ${wordsOf(failure)}`,
          place,
          { cause: failure },
        ),
      )
    })
  })
  // Heard of by whoever waits.
  exit.catch(() => undefined)
  socket.on('message', (data) => {
    const bytes = bytesOf(data)
    if (bytes.length === 0 || over) return
    heard = true
    queue.push(bytes)
    queued += bytes.length
    if (queued > unreadBytes) socket.pause()
    wake()
  })
  async function* output(): AsyncGenerator<Buffer> {
    for (;;) {
      const next = queue.shift()
      if (next !== undefined) {
        queued -= next.length
        if (socket.isPaused && queued < unreadBytes / 4) socket.resume()
        yield next
      } else if (over) return
      else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  }

  try {
    await untilAborted(opened, signal)
  } catch (error) {
    socket.terminate()
    if (error instanceof EngineError && error.kind === 'cancelled') throw new OpenStackError('cancelled', 'cancelled', place, { cause: error })
    throw error
  }
  return {
    output: output(),
    write(data) {
      if (socket.readyState !== socket.OPEN) return undefined
      const sent = new Promise<void>((resolve) => socket.send(data, { binary: true }, () => resolve()))
      return socket.bufferedAmount > unreadBytes ? sent : undefined
    },
    resize: () => undefined,
    exit,
    close() {
      if (closing) return
      closing = true
      over = true
      wake()
      // What is not read would hide the other side's close.
      socket.resume()
      socket.close(1000)
      setTimeout(() => socket.terminate(), closingMs).unref()
    },
  }
}

const bytesOf = (data: Buffer | ArrayBuffer | Buffer[]): Buffer =>
  Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
const wordsOf = (failure: unknown): string => (failure instanceof Error ? failure.message : 'closed')
