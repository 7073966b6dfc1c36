import { once } from 'node:events'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import type { CallOptions, ExecRequest, ExecResult, TerminalSession } from '../compute.ts'
import { EngineError } from '../errors.ts'
import { parseOperation } from './operations.ts'
import type { Transport } from './transport.ts'

/** LXD REST API `POST /1.0/instances/{name}/exec`: one secret for each stream's websocket. */
const sockets = z.object({ fds: z.record(z.string(), z.string()) })
const ended = z.object({ return: z.number() })

const outputLimit = 1024 * 1024

async function begin(transport: Transport, instance: string, body: Record<string, unknown>, options: CallOptions) {
  const answer = await transport.ask(`${instance}/exec`, { method: 'POST', body, signal: options.signal })
  const id = answer.operation?.split('?', 1)[0]
  const parsed = sockets.safeParse(parseOperation(answer.metadata).metadata)
  if (id === undefined || !parsed.success) throw new EngineError('bad_answer', 'exec without websockets')
  const open = (fd: string): WebSocket => {
    const socket = transport.socket(`${id}/websocket`, { secret: parsed.data.fds[fd] ?? '' })
    // Whoever waits for it hears of an error by its close; unhandled, it would end the process.
    socket.on('error', () => undefined)
    return socket
  }
  /** Exit code, once the process ended. */
  const exitCode = async (): Promise<number> => {
    for (;;) {
      const { metadata } = await transport.ask(`${id}/wait`, { query: { timeout: '60' }, timeoutMs: 75_000 })
      const state = parseOperation(metadata)
      if (state.status_code < 200) continue
      const result = ended.safeParse(state.metadata)
      if (result.success) return result.data.return
      throw new EngineError('failed', state.err || 'exec ended without an exit code')
    }
  }
  return { id, open, exitCode }
}

const opened = (socket: WebSocket): Promise<unknown> =>
  socket.readyState === socket.OPEN
    ? Promise.resolve()
    : Promise.race([
        once(socket, 'open'),
        once(socket, 'close').then(() => {
          throw new EngineError('unreachable', 'the engine closed the connection')
        }),
      ])

const bytes = (data: unknown): Buffer =>
  Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data as Buffer[]) : Buffer.from(data as ArrayBuffer)

/** Runs a command to its end, with its streams apart. */
export async function runCommand(
  transport: Transport,
  instance: string,
  request: ExecRequest & { input?: Buffer },
  options: CallOptions,
): Promise<ExecResult> {
  const session = await begin(
    transport,
    instance,
    {
      command: request.command,
      environment: request.env ?? {},
      ...(request.cwd !== undefined && { cwd: request.cwd }),
      interactive: false,
      'wait-for-websocket': true,
    },
    options,
  )
  const stdin = session.open('0')
  const stdout = session.open('1')
  const stderr = session.open('2')
  const control = session.open('control')
  const collect = (socket: WebSocket): { data: () => Buffer; closed: Promise<void> } => {
    const parts: Buffer[] = []
    let size = 0
    const closed = new Promise<void>((resolve) => {
      socket.on('close', () => resolve())
      socket.on('message', (data: unknown, isBinary: boolean) => {
        // An empty text frame is how the engine says the stream is over.
        if (!isBinary) {
          socket.close()
          return
        }
        const part = bytes(data)
        if (size < outputLimit) parts.push(part)
        size += part.length
      })
    })
    return { data: () => Buffer.concat(parts).subarray(0, outputLimit), closed }
  }
  const out = collect(stdout)
  const err = collect(stderr)
  const abort = () => control.terminate()
  options.signal?.addEventListener('abort', abort, { once: true })
  try {
    await Promise.all([opened(stdin), opened(stdout), opened(stderr), opened(control)])
    if (request.input !== undefined && request.input.length > 0) stdin.send(request.input, { binary: true })
    // An empty text frame ends standard input.
    stdin.send('')
    const exitCode = await session.exitCode()
    await Promise.all([out.closed, err.closed])
    return { exitCode, stdout: out.data(), stderr: err.data() }
  } catch (error) {
    if (options.signal?.aborted === true) throw new EngineError('cancelled', 'cancelled', { cause: error })
    throw error
  } finally {
    options.signal?.removeEventListener('abort', abort)
    for (const socket of [stdin, stdout, stderr, control]) socket.close()
  }
}

/** A shell in a pseudo-terminal. */
export async function openTerminal(
  transport: Transport,
  instance: string,
  request: ExecRequest & { columns: number; rows: number },
  options: CallOptions,
): Promise<TerminalSession> {
  const session = await begin(
    transport,
    instance,
    {
      command: request.command,
      environment: request.env ?? {},
      ...(request.cwd !== undefined && { cwd: request.cwd }),
      interactive: true,
      'wait-for-websocket': true,
      width: request.columns,
      height: request.rows,
    },
    options,
  )
  const data = session.open('0')
  const control = session.open('control')
  const queue: Buffer[] = []
  let wake: () => void = () => undefined
  let over = false
  data.on('message', (message: unknown, isBinary: boolean) => {
    if (!isBinary) return
    queue.push(bytes(message))
    // A reader that is slower than the shell makes the shell wait, not our memory grow.
    if (queue.length > 256) data.pause()
    wake()
  })
  const finish = () => {
    over = true
    wake()
  }
  data.on('close', finish)
  await Promise.all([opened(data), opened(control)])

  const exit = session.exitCode().then(
    (code): number | null => {
      data.close()
      return code
    },
    (): number | null => null,
  )
  async function* output(): AsyncGenerator<Buffer> {
    for (;;) {
      const next = queue.shift()
      if (next !== undefined) {
        if (data.isPaused && queue.length < 64) data.resume()
        yield next
      } else if (over) return
      else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  }
  return {
    output: output(),
    write(input) {
      if (data.readyState === data.OPEN) data.send(input, { binary: true })
    },
    resize(columns, rows) {
      if (control.readyState === control.OPEN) {
        control.send(JSON.stringify({ command: 'window-resize', args: { width: String(columns), height: String(rows) } }))
      }
    },
    exit,
    close() {
      // Signal 1 is SIGHUP: what a shell gets when its line is hung up.
      if (control.readyState === control.OPEN) control.send(JSON.stringify({ command: 'signal', signal: 1 }))
      data.close()
      control.close()
    },
  }
}
