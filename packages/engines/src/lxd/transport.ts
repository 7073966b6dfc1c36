import { connect as connectSocket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Agent, request, type Dispatcher } from 'undici'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { EngineError, type EngineErrorKind } from '../errors.ts'

/** How an LXD or Incus server is reached. */
export type LxdConnection =
  | { socketPath: string; project?: string }
  | {
      /** https://host:8443 */
      url: string
      /** PEM; the server has to trust it. */
      clientCertificate: string
      clientKey: string
      /** PEM of the server's own certificate, to be pinned instead of checked against authorities. */
      serverCertificate?: string
      project?: string
    }

/** LXD REST API: the envelope of every answer. */
const envelope = z.object({
  type: z.enum(['sync', 'async', 'error']),
  status_code: z.number().optional(),
  error_code: z.number().optional(),
  error: z.string().optional(),
  operation: z.string().optional(),
  metadata: z.unknown().optional(),
})

export interface Answer {
  metadata: unknown
  /** Path of the operation that an asynchronous request began. */
  operation: string | null
}

export interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  query?: Readonly<Record<string, string>>
  /** JSON, or raw bytes with their own headers. */
  body?: unknown
  raw?: { content: Dispatcher.DispatchOptions['body']; headers: Record<string, string> }
  signal?: AbortSignal | undefined
  /** Time for the answer to begin, in milliseconds. Default 30 s. */
  timeoutMs?: number
}

export interface Transport {
  ask(path: string, ask?: Ask): Promise<Answer>
  /** The body as it comes, for files and logs. */
  raw(path: string, ask?: Ask): Promise<{ status: number; body: Buffer }>
  socket(path: string, query: Readonly<Record<string, string>>): WebSocket
  close(): Promise<void>
}

const defaultTimeoutMs = 30_000

export function createTransport(connection: LxdConnection): Transport {
  const local = 'socketPath' in connection
  const tls = local
    ? null
    : {
        cert: connection.clientCertificate,
        key: connection.clientKey,
        ...(connection.serverCertificate !== undefined && {
          ca: connection.serverCertificate,
          // A pinned certificate is trusted for what it is, whatever name it was made for.
          checkServerIdentity: () => undefined,
        }),
      }
  const agent = new Agent({
    connections: 32,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: local ? { socketPath: connection.socketPath, timeout: 5_000 } : { ...tls, timeout: 5_000 },
  })
  const origin = local ? 'http://lxd' : new URL(connection.url).origin
  const url = (path: string, query: Readonly<Record<string, string>> = {}): URL => {
    const full = new URL(path, origin)
    if (connection.project !== undefined) full.searchParams.set('project', connection.project)
    for (const [name, value] of Object.entries(query)) full.searchParams.set(name, value)
    return full
  }

  const send = async (path: string, ask: Ask): Promise<Dispatcher.ResponseData> => {
    const timeout = AbortSignal.timeout(ask.timeoutMs ?? defaultTimeoutMs)
    const signal = ask.signal === undefined ? timeout : AbortSignal.any([ask.signal, timeout])
    try {
      return await request(url(path, ask.query), {
        dispatcher: agent,
        method: ask.method ?? 'GET',
        signal,
        ...(ask.raw !== undefined && { body: ask.raw.content as Buffer, headers: ask.raw.headers }),
        ...(ask.body !== undefined && { body: JSON.stringify(ask.body), headers: { 'content-type': 'application/json' } }),
      })
    } catch (error) {
      throw connectionError(error, ask.signal)
    }
  }

  return {
    async ask(path, ask = {}) {
      const response = await send(path, ask)
      let answer: unknown
      try {
        answer = await response.body.json()
      } catch (error) {
        if (ask.signal?.aborted === true) throw connectionError(error, ask.signal)
        throw new EngineError('bad_answer', `${path}: the answer is not JSON`, { cause: error, status: response.statusCode })
      }
      const parsed = envelope.safeParse(answer)
      if (!parsed.success) throw new EngineError('bad_answer', `${path}: unknown answer`, { cause: parsed.error, status: response.statusCode })
      const { type, error, error_code, metadata, operation } = parsed.data
      if (type === 'error') throw answerError(error ?? '', error_code ?? response.statusCode)
      return { metadata, operation: operation === undefined || operation === '' ? null : operation }
    },
    async raw(path, ask = {}) {
      const response = await send(path, ask)
      return { status: response.statusCode, body: Buffer.from(await response.body.arrayBuffer()) }
    },
    socket(path, query) {
      const target = url(path, query)
      if (local) {
        return new WebSocket(`ws://lxd${target.pathname}${target.search}`, {
          createConnection: () => connectSocket(connection.socketPath),
          handshakeTimeout: 10_000,
        })
      }
      target.protocol = 'wss:'
      return new WebSocket(target, {
        createConnection: () => connectTls({ host: target.hostname, port: Number(target.port || 443), servername: target.hostname, ...tls }),
        handshakeTimeout: 10_000,
      })
    },
    close: () => agent.destroy(),
  }
}

function connectionError(error: unknown, signal: AbortSignal | undefined): EngineError {
  if (signal?.aborted === true) return new EngineError('cancelled', 'cancelled', { cause: error })
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  // A certificate that one side does not accept is a matter of credentials, not of the network.
  if (/CERT|SELF_SIGNED|ALERT_BAD_CERTIFICATE|UNABLE_TO_VERIFY/.test(code)) return new EngineError('unauthorized', message, { cause: error })
  return new EngineError('unreachable', message || code, { cause: error })
}

/** LXD tells the kind of an error by its status and, where that is too coarse, by its text. */
export function answerError(message: string, status: number): EngineError {
  return new EngineError(kindOf(message, status), message, { status })
}

function kindOf(message: string, status: number): EngineErrorKind {
  if (status === 401 || status === 403) return 'unauthorized'
  if (/no space left|not enough (disk|memory)|exhausted|no available|reached limit|cannot allocate memory/i.test(message)) return 'exhausted'
  if (status === 404 || /not found/i.test(message)) return 'not_found'
  if (status === 409 || /already exists|already in use/i.test(message)) return 'conflict'
  if (/is busy|busy running|operation.*in progress|currently (being|running)/i.test(message)) return 'busy'
  if (status === 501 || /not supported|not implemented|isn't supported|unsupported|No instance driver|not operational/i.test(message)) return 'unsupported'
  if (status === 400) return 'invalid'
  if (status === 503) return 'unreachable'
  return 'failed'
}
