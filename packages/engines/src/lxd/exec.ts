import { randomUUID } from 'node:crypto'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import type { CallOptions, ExecRequest, ExecResult, OnOutput, TerminalSession } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { untilAborted } from '../signals.ts'
import { parseOperation } from './operations.ts'
import type { Transport } from './transport.ts'

/** LXD REST API `POST /1.0/instances/{name}/exec`: one secret for each stream's websocket. */
const sockets = z.object({ fds: z.record(z.string(), z.string()) })
const ended = z.object({ return: z.number() })

const outputLimit = 1024 * 1024
/** How long a process may take to die of SIGHUP before it is killed. */
const hangUpMs = 5_000
const sighup = 1

interface Session<Stream extends string> {
  streams: Record<Stream, WebSocket>
  /** All streams are connected. Whoever wants to hear everything listens before it waits for this. */
  ready(): Promise<void>
  /** Exit code, once the process ended. */
  exitCode(): Promise<number>
  /** Cuts all streams; the engine kills a process whose control stream is cut. */
  cut(): void
}

/** Starts a process, which waits for its streams to be connected. */
async function begin<Stream extends string>(
  transport: Transport,
  instance: string,
  names: readonly Stream[],
  body: Record<string, unknown>,
  options: CallOptions,
): Promise<Session<Stream>> {
  const answer = await transport.ask(`${instance}/exec`, { method: 'POST', body: { ...body, 'wait-for-websocket': true }, signal: options.signal })
  const id = answer.operation?.split('?', 1)[0]
  const parsed = sockets.safeParse(parseOperation(answer.metadata).metadata)
  if (id === undefined || !parsed.success) throw new EngineError('bad_answer', 'exec without websockets')
  options.onOperation?.(id.split('/').at(-1) ?? id)
  const open: [Stream, WebSocket][] = []
  const cut = () => {
    for (const [, socket] of open) socket.terminate()
  }
  try {
    // Control first: the process begins when all others are connected, and a short one could end before this is.
    for (const name of [...names].sort((left, right) => Number(right === 'control') - Number(left === 'control'))) {
      const secret = parsed.data.fds[name]
      if (secret === undefined) throw new EngineError('bad_answer', `exec without the stream ${name}`)
      const socket = transport.socket(`${id}/websocket`, { secret })
      open.push([name, socket])
      if (name === 'control') await untilAborted(opened(socket, transport.closed), options.signal)
    }
  } catch (error) {
    cut()
    throw error
  }
  const allOpened = Promise.all(open.filter(([name]) => name !== 'control').map(([, socket]) => opened(socket, transport.closed)))
  // Heard of by whoever waits.
  allOpened.catch(() => undefined)
  return {
    streams: Object.fromEntries(open) as Record<Stream, WebSocket>,
    cut,
    async ready() {
      try {
        await untilAborted(allOpened, options.signal)
      } catch (error) {
        cut()
        throw error
      }
    },
    async exitCode() {
      for (;;) {
        const { metadata } = await transport.ask(`${id}/wait`, { query: { timeout: '60' }, timeoutMs: 75_000, waits: true }).catch((error: unknown) => {
          // It runs by now.
          throw isEngineError(error, 'unreachable') ? new EngineError('unanswered', error.message, { cause: error }) : error
        })
        const state = parseOperation(metadata)
        if (state.status_code < 200) continue
        const result = ended.safeParse(state.metadata)
        if (result.success) return result.data.return
        throw new EngineError('failed', state.err || 'exec ended without an exit code')
      }
    },
  }
}

const opened = (socket: WebSocket, closed: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once('open', () => resolve())
    socket.once('close', () =>
      reject(closed.aborted ? new EngineError('cancelled', 'cancelled') : new EngineError('unreachable', 'the engine closed the connection')),
    )
  })

const bytes = (data: unknown): Buffer =>
  Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data as Buffer[]) : Buffer.from(data as ArrayBuffer)

const processOf = (request: ExecRequest): Record<string, unknown> => ({
  command: request.command,
  environment: request.env ?? {},
  ...(request.cwd !== undefined && { cwd: request.cwd }),
})

/** Takes what a stream says, as far as the limit; the engine goes on writing and is not held up. */
function gather(socket: WebSocket, tell: (part: Buffer) => void): { data: () => Buffer; closed: Promise<void> } {
  const parts: Buffer[] = []
  let size = 0
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
    socket.on('message', (data: unknown, isBinary: boolean) => {
      // An empty text frame is how the engine says the stream is over, and it waits for our close.
      if (!isBinary) {
        socket.close()
        return
      }
      const part = bytes(data)
      if (size < outputLimit) parts.push(part)
      size += part.length
      tell(part)
    })
  })
  return { data: () => Buffer.concat(parts).subarray(0, outputLimit), closed }
}

type CommandRequest = ExecRequest & { input?: Buffer; onOutput?: OnOutput }

/** In the environment of a command, and of what it starts: the engine itself kills no more than the first process. */
const markName = 'LXD_EXEC_ID'
/** Again and again, as what is killed may just have started another. Ends with 0 when nothing is left. */
const killMarked = Buffer.from(`
round=0
while [ $round -lt 50 ]; do
  left=$(grep -ls "$NAME=$MARK" /proc/[0-9]*/environ)
  [ -n "$left" ] || exit 0
  kill -9 $(printf '%s\\n' $left | cut -d/ -f3) 2>/dev/null
  round=$((round+1))
done
exit 1
`)
const killTimeoutMs = 10_000

/**
 * LXD 5.0 loses what a process said that ended before the engine began to read, as happens where the machine is
 * busy (some of a hundred; `lxc exec` loses it, too): so it ends a moment later, by a shell around it.
 */
const lingering = (command: readonly string[]): [string, ...string[]] => ['sh', '-c', '"$@"; code=$?; sleep 0.1; exit $code', 'sh', ...command]

/** Runs a command to its end, with its streams apart. Aborted, it ends with all that it started. */
export async function runCommand(transport: Transport, instance: string, request: CommandRequest, options: CallOptions): Promise<ExecResult> {
  const mark = randomUUID()
  const kill = async (): Promise<void> => {
    const killer = { command: ['sh'], input: killMarked, env: { NAME: markName, MARK: mark } } as const
    const { exitCode } = await run(transport, instance, killer, { signal: AbortSignal.timeout(killTimeoutMs) })
    if (exitCode !== 0) throw new EngineError('failed', `killing what it started ended with ${exitCode}`)
  }
  return run(transport, instance, { ...request, command: lingering(request.command), env: { ...request.env, [markName]: mark } }, options, kill)
}

/** @param kill told when it was aborted, as long as the process may run */
async function run(transport: Transport, instance: string, request: CommandRequest, options: CallOptions, kill?: () => Promise<void>): Promise<ExecResult> {
  const session = await begin(transport, instance, ['0', '1', '2', 'control'], { ...processOf(request), interactive: false }, options)
  const { '0': stdin, '1': stdout, '2': stderr } = session.streams
  const out = gather(stdout, (part) => request.onOutput?.('stdout', part))
  const err = gather(stderr, (part) => request.onOutput?.('stderr', part))
  await session.ready()
  try {
    if (request.input !== undefined && request.input.length > 0) stdin.send(request.input, { binary: true })
    // An empty text frame ends standard input.
    stdin.send('')
    const done = async (): Promise<ExecResult> => {
      const exitCode = await session.exitCode()
      await Promise.all([out.closed, err.closed])
      return { exitCode, stdout: out.data(), stderr: err.data() }
    }
    return await untilAborted(done(), options.signal)
  } catch (error) {
    if (options.signal?.aborted === true && !transport.closed.aborted) await kill?.()
    throw error
  } finally {
    session.cut()
  }
}

/** A shell in a pseudo-terminal. The signal is for the opening; what is open is closed. */
export async function openTerminal(
  transport: Transport,
  instance: string,
  request: ExecRequest & { columns: number; rows: number },
  options: CallOptions,
): Promise<TerminalSession> {
  const session = await begin(
    transport,
    instance,
    ['0', 'control'],
    { ...processOf(request), interactive: true, width: request.columns, height: request.rows },
    options,
  )
  const { '0': data, control } = session.streams
  const queue: Buffer[] = []
  let wake: () => void = () => undefined
  let over = false
  const finish = () => {
    over = true
    wake()
  }
  data.on('close', () => {
    // Lost, unless it was ended by either side before.
    if (!over) session.cut()
    finish()
  })
  data.on('message', (message: unknown, isBinary: boolean) => {
    // The empty text frame that ends the output; the process counts as ended once we close.
    if (!isBinary) {
      finish()
      data.close()
      return
    }
    if (over) return
    queue.push(bytes(message))
    // A reader that is slower than the shell makes the shell wait, not our memory grow.
    if (queue.length > 256) data.pause()
    wake()
  })
  await session.ready()
  const exit = session.exitCode().then(
    (code): number | null => code,
    (): number | null => null,
  )
  void exit.then(() => control.terminate())
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
  const tell = (message: unknown) => {
    if (control.readyState === control.OPEN) control.send(JSON.stringify(message))
  }
  return {
    output: output(),
    write(input) {
      if (data.readyState === data.OPEN) data.send(input, { binary: true })
    },
    resize(columns, rows) {
      tell({ command: 'window-resize', args: { width: String(columns), height: String(rows) } })
    },
    exit,
    close() {
      if (over && data.readyState !== data.OPEN) return
      // What a shell gets when its line is hung up. Cutting the control stream would kill it
      // before it can tidy up.
      tell({ command: 'signal', signal: sighup })
      finish()
      data.resume()
      data.close()
      const timer = setTimeout(() => session.cut(), hangUpMs).unref()
      void exit.then(() => clearTimeout(timer))
    },
  }
}
