import { constants, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2'
import type { Readable } from 'node:stream'
import { isChange } from '@zhisuan/engines/docker/transport'
import type { z } from 'zod'

/** `offline`: no tunnel, or it broke. `unanswered`: it broke, or nobody answered, when a change had been sent. `refused`: the agent's own 4xx. `failed`: its 5xx. `bad_answer`: what it says makes no sense. */
export type AgentErrorKind = 'offline' | 'unanswered' | 'refused' | 'failed' | 'bad_answer' | 'cancelled'

export class AgentError extends Error {
  readonly kind: AgentErrorKind
  readonly status: number | undefined
  constructor(kind: AgentErrorKind, message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'AgentError'
    this.kind = kind
    this.status = options.status
  }
}
export const isAgentError = (error: unknown, ...kinds: readonly AgentErrorKind[]): error is AgentError =>
  error instanceof AgentError && (kinds.length === 0 || kinds.includes(error.kind))

/** What is asked of an agent. */
export interface AgentAsk {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD'
  /** With query, as the agent's contract has it. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whole, or as it comes; `open` leaves the writing side to the caller. Left out: none. */
  readonly body?: string | Buffer | Readable | 'open'
  readonly signal?: AbortSignal | undefined
  /** Until the head of the answer has come. */
  readonly timeoutMs?: number
  /** Whether it matters what became of it where no answer comes. Default: by its method. */
  readonly changes?: boolean
}

export interface AgentAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** To be read or destroyed; written to where the ask left it open. */
  readonly stream: ClientHttp2Stream
}

/** A way to an agent that is there. */
export interface Tunnel {
  readonly edgeId: string
  readonly version: string
  readonly since: Date
  /** Whatever the agent answers. @throws AgentError `offline`, `unanswered`, `cancelled` */
  request(ask: AgentAsk): Promise<AgentAnswer>
  /** @throws AgentError also where it refuses, fails, or answers something else */
  json<T extends z.ZodType>(schema: T, ask: Omit<AgentAsk, 'body'> & { readonly body?: unknown }): Promise<z.output<T>>
  /** Ends it; the agent dials again. */
  close(code: number): void
}

const defaultTimeoutMs = 30_000
/** No answer that is read as a whole is longer. */
const wholeBytes = 2 ** 20

export function openTunnel(parts: { edgeId: string; version: string; session: ClientHttp2Session; close: (code: number) => void }): Tunnel {
  const { edgeId, session } = parts

  const request = async (ask: AgentAsk): Promise<AgentAnswer> => {
    ask.signal?.throwIfAborted()
    if (session.closed || session.destroyed) throw new AgentError('offline', 'the agent is not connected')
    const { body } = ask
    let stream: ClientHttp2Stream
    try {
      stream = session.request({ ':method': ask.method ?? 'GET', ':path': ask.path, ...ask.headers }, { endStream: body === undefined })
    } catch (error) {
      throw new AgentError('offline', 'the agent is not connected', { cause: error })
    }
    const lost = isChange(ask) ? 'unanswered' : 'offline'
    endsOnlyWhole(stream, lost)
    const cancel = () => stream.close(constants.NGHTTP2_CANCEL)
    ask.signal?.addEventListener('abort', cancel, { once: true })
    stream.on('close', () => ask.signal?.removeEventListener('abort', cancel))
    // What goes wrong later is told to whoever reads; it must not end the process.
    stream.on('error', () => undefined)
    if (typeof body === 'string' || Buffer.isBuffer(body)) {
      if (body !== 'open') stream.end(body)
    } else if (body !== undefined) {
      body.on('error', cancel)
      body.pipe(stream)
      stream.on('close', () => body.destroy())
    }
    return new Promise<AgentAnswer>((resolve, reject) => {
      const timer = setTimeout(() => {
        cancel()
        reject(new AgentError(lost, 'the agent did not answer in time'))
      }, ask.timeoutMs ?? defaultTimeoutMs)
      const broke = (): void => {
        clearTimeout(timer)
        reject(
          ask.signal?.aborted === true
            ? new AgentError('cancelled', 'cancelled')
            : new AgentError(lost, 'the tunnel broke', { cause: stream.errored ?? undefined }),
        )
      }
      stream.once('close', broke)
      stream.once('response', (headers) => {
        clearTimeout(timer)
        stream.off('close', broke)
        resolve({ status: headers[':status'] ?? 0, headers, stream })
      })
    })
  }

  return {
    edgeId,
    version: parts.version,
    since: new Date(),
    request,
    async json(schema, { body, headers, ...ask }) {
      const answer = await request({
        ...ask,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = (await whole(answer.stream, isChange(ask) ? 'unanswered' : 'offline')).toString('utf8')
      if (answer.status >= 400)
        throw new AgentError(answer.status >= 500 ? 'failed' : 'refused', messageOf(text) ?? `the agent answered ${answer.status}`, { status: answer.status })
      try {
        return schema.parse(text === '' ? undefined : JSON.parse(text))
      } catch (error) {
        throw new AgentError('bad_answer', `${ask.path}: not what an agent answers`, { cause: error })
      }
    },
    close: parts.close,
  }
}

/** An answer that the other side left off is an error to whoever reads it: Node's HTTP/2 ends it as if it were whole. */
function endsOnlyWhole(stream: ClientHttp2Stream, lost: AgentErrorKind): void {
  const push = stream.push.bind(stream)
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk !== null || stream.rstCode === constants.NGHTTP2_NO_ERROR) return push(chunk, encoding)
    stream.destroy(new AgentError(lost, 'the answer broke off'))
    return false
  }
}

async function whole(stream: ClientHttp2Stream, lost: AgentErrorKind): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      size += part.length
      if (size > wholeBytes) throw new AgentError('bad_answer', `the agent's answer is longer than ${wholeBytes} bytes`)
      parts.push(part)
    }
  } catch (error) {
    throw isAgentError(error, 'bad_answer') ? error : new AgentError(lost, 'the tunnel broke', { cause: error })
  }
  return Buffer.concat(parts)
}

function messageOf(text: string): string | null {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? message.slice(0, 2_000) : null
  } catch {
    return null
  }
}
