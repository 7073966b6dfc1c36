import { finished, Readable, type Duplex, type Transform } from 'node:stream'
import { z } from 'zod'
import { EngineError, type EngineErrorKind } from '../errors.ts'

/** What is asked of a Docker Engine, whichever way leads there. */
export interface DockerAsk {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** With query, without the version of the API. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** A stream is read to its end or destroyed, whatever becomes of the request. */
  readonly body?: string | Buffer | Readable
  /** Ends the request, and the answer as long as it flows. */
  readonly signal?: AbortSignal | undefined
  /** Until the head of the answer has come. Default 30 s. */
  readonly timeoutMs?: number
  /** Whether it matters what became of it where no answer comes. Default: by its method. */
  readonly changes?: boolean
}

export const isChange = ({ method = 'GET', changes = method !== 'GET' && method !== 'HEAD' }: Pick<DockerAsk, 'method' | 'changes'>): boolean => changes

export interface DockerAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** To be read or destroyed. */
  readonly stream: Readable
}

/** A way to a Docker Engine: its socket on this host, or the tunnel to a node. Both throw EngineError `unreachable`, `cancelled`, or `unanswered` where a change was sent. */
export interface DockerTransport {
  request(ask: DockerAsk): Promise<DockerAnswer>
  /** Starts an exec and joins it: a status of 200 comes with a stream both ways, any other with what Docker says. */
  attach(
    execId: string,
    options: { readonly tty: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<{ readonly status: number; readonly stream: Duplex }>
}

export const defaultTimeoutMs = 30_000
/** Longer than what any engine that is well says at once. */
const answerLimitBytes = 64 * 2 ** 20
/** The API that this client is written for; an older engine is asked in its own. */
const newest = [1, 47] as const
const oldest = [1, 41] as const

export interface DockerAsker {
  /** @returns the answer's head and body; the caller reads or destroys it. @throws EngineError where Docker refuses */
  open(ask: DockerAsk): Promise<DockerAnswer>
  json<T extends z.ZodType>(schema: T, ask: Omit<DockerAsk, 'body'> & { readonly body?: unknown }): Promise<z.output<T>>
  /** Where only success matters. `304`, nothing to do, is one. */
  done(ask: Omit<DockerAsk, 'body'> & { readonly body?: unknown }): Promise<void>
  readonly transport: DockerTransport
}

export function createAsker(transport: DockerTransport): DockerAsker {
  let version: Promise<string> | null = null
  const negotiated = (): Promise<string> => {
    version ??= negotiate(transport).catch((error: unknown) => {
      version = null
      throw error
    })
    return version
  }
  const open = async (ask: DockerAsk): Promise<DockerAnswer> => {
    let answer: DockerAnswer
    try {
      answer = await transport.request({ ...ask, path: `/v${await negotiated()}${ask.path}` })
    } catch (error) {
      if (ask.body instanceof Readable) ask.body.destroy()
      throw error
    }
    if (answer.status < 400) return answer
    throw refusalOf(ask.path, answer.status, await wholeOf(ask.path, answer.stream, ask.signal, lostBy(ask)), isChange(ask))
  }
  const withJson = ({ body, headers, ...ask }: Omit<DockerAsk, 'body'> & { readonly body?: unknown }): DockerAsk => ({
    ...ask,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return {
    transport,
    open,
    async json(schema, ask) {
      const { stream } = await open(withJson(ask))
      const text = (await wholeOf(ask.path, stream, ask.signal, lostBy(ask))).toString('utf8')
      return parsed(schema, jsonOf(ask.path, text), ask.path)
    },
    async done(ask) {
      const { stream } = await open(withJson(ask))
      await wholeOf(ask.path, stream, ask.signal, lostBy(ask))
    },
  }
}

/** Parses an answer, or says which one was nonsense. */
export function parsed<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const result = schema.safeParse(value)
  if (!result.success) throw new EngineError('bad_answer', `${what}: ${z.prettifyError(result.error)}`, { cause: result.error })
  return result.data
}

/** The highest API that both know. */
async function negotiate(transport: DockerTransport): Promise<string> {
  const { status, headers, stream } = await transport.request({ path: '/_ping' })
  const body = await wholeOf('/_ping', stream)
  if (status !== 200) throw refusalOf('/_ping', status, body)
  const match = /^(\d+)\.(\d+)$/.exec(String(headers['api-version']))
  if (match === null) throw new EngineError('bad_answer', '/_ping: this is no Docker Engine')
  const theirs = [Number(match[1]), Number(match[2])] as const
  if (below(theirs, oldest)) throw new EngineError('unsupported', `Docker's API ${theirs.join('.')} is older than ${oldest.join('.')}`)
  return (below(theirs, newest) ? theirs : newest).join('.')
}
const below = (one: readonly [number, number], other: readonly [number, number]): boolean => one[0] < other[0] || (one[0] === other[0] && one[1] < other[1])

type Lost = 'unreachable' | 'unanswered'
const lostBy = (ask: Pick<DockerAsk, 'method' | 'changes'>): Lost => (isChange(ask) ? 'unanswered' : 'unreachable')

/** A body that is read at once. @param lost what it is where it breaks off */
export async function wholeOf(path: string, stream: Readable, signal?: AbortSignal, lost: Lost = 'unreachable'): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      size += part.length
      if (size > answerLimitBytes) throw new EngineError('bad_answer', `${path}: the answer is longer than ${answerLimitBytes} bytes`)
      parts.push(part)
    }
  } catch (error) {
    throw brokenOff(path, error, signal, lost)
  }
  return Buffer.concat(parts)
}

/**
 * A body as it flows, by way of a transform. Whoever leaves the transform lets go of the body; a
 * body that breaks off ends the transform with an EngineError, `cancelled` by the signal.
 */
export function through<T extends Transform>(path: string, source: Readable, sink: T, signal?: AbortSignal): T {
  finished(source, { writable: false }, (error) => {
    if (error !== null && error !== undefined) sink.destroy(brokenOff(path, error, signal))
  })
  sink.on('close', () => source.destroy())
  // Told to whoever reads; where nobody does any more, it must not end the process.
  sink.on('error', () => undefined)
  source.pipe(sink)
  return sink
}

function brokenOff(path: string, error: unknown, signal: AbortSignal | undefined, lost: Lost = 'unreachable'): EngineError {
  if (error instanceof EngineError) return error
  return signal?.aborted === true
    ? new EngineError('cancelled', 'cancelled', { cause: error })
    : new EngineError(lost, `${path}: the answer broke off`, { cause: error })
}

export function jsonOf(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new EngineError('bad_answer', `${path}: the answer is not JSON: ${text.slice(0, 100)}`, { cause: error })
  }
}

/** `{"message": "…"}` is what Docker says of what it does not do. */
const complaint = z.object({ message: z.string() })

export function refusalOf(path: string, status: number, body: Buffer, changes = false): EngineError {
  let message = `${path}: HTTP ${status}`
  try {
    message = complaint.parse(JSON.parse(body.toString('utf8'))).message
  } catch {
    // Something between us and Docker said it in its own words.
  }
  // Whoever passes it on, such as an agent, had no answer to it; only where it did not get there nothing was done.
  if (changes && (status === 502 || status === 504) && !message.startsWith('docker: connect ')) return new EngineError('unanswered', message, { status })
  return dockerError(message, status)
}

/** Docker tells the kind of an error by its status and, where that is too coarse, by its text. */
export function dockerError(message: string, status: number): EngineError {
  return new EngineError(kindOf(message, status), message, { status })
}

function kindOf(message: string, status: number): EngineErrorKind {
  if (/no space left on device|cannot allocate memory|all predefined address pools/i.test(message)) return 'exhausted'
  if (/port is already allocated|address already in use/i.test(message)) return 'conflict'
  if (/No such (container|image|exec|volume|network)|manifest unknown|manifest for .* not found|pull access denied|not found: manifest/i.test(message))
    return 'not_found'
  if (/could not select device driver|unknown runtime|not supported/i.test(message)) return 'unsupported'
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 404) return 'not_found'
  if (status === 409) return /already in progress|is being|is restarting/i.test(message) ? 'busy' : 'conflict'
  if (status === 400) return 'invalid'
  if (status === 502 || status === 503 || status === 504) return 'unreachable'
  return 'failed'
}
