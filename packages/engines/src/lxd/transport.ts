import { X509Certificate } from 'node:crypto'
import { connect as connectSocket, isIP } from 'node:net'
import { Readable } from 'node:stream'
import { connect as connectTls, type PeerCertificate } from 'node:tls'
import { Agent, request, type Dispatcher } from 'undici'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { EngineError, type EngineErrorKind } from '../errors.ts'
import { keepAlive } from '../keepAlive.ts'
import { streamOf } from './streams.ts'

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
  status_code: z.number().nullish(),
  error_code: z.number().nullish(),
  error: z.string().nullish(),
  operation: z.string().nullish(),
  metadata: z.unknown().optional(),
})

export interface Answer {
  metadata: unknown
  /** Path of the operation that an asynchronous request began. */
  operation: string | null
  /** What `ifMatch` compares with, of an object that was read. */
  etag: string | null
}

export interface Ask {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  query?: Readonly<Record<string, string>>
  /** JSON, or raw bytes with their own headers. */
  body?: unknown
  /** A stream is read to its end or destroyed, whatever becomes of the request. */
  raw?: { content: Dispatcher.DispatchOptions['body']; headers: Record<string, string> }
  /** Only if the object still is as it was read; else `busy`. */
  ifMatch?: string | null
  signal?: AbortSignal | undefined
  /** Time for the whole answer, in milliseconds; of an upload or a stream, for silence. Default 30 s. */
  timeoutMs?: number
  /** Waits on the engine for something: takes no connection from those that only ask. */
  waits?: boolean
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface Transport {
  ask(path: string, ask?: Ask): Promise<Answer>
  /** The body as it comes, for files and logs. */
  raw(path: string, ask?: Ask): Promise<{ status: number; headers: AnswerHeaders; body: Buffer }>
  /**
   * A body of any length, as fast as it is read; whoever asks for it reads or destroys it. The
   * signal ends it as long as it flows. It fails with an EngineError, as does an answer of another
   * status than 200 or of another kind than files.
   */
  stream(path: string, ask?: Ask): Promise<{ headers: AnswerHeaders; body: Readable }>
  /** Kept alive by pings; one that falls silent is cut. Throws when there is no way to connect. */
  socket(path: string, query: Readonly<Record<string, string>>): WebSocket
  /** Aborted by `close`. */
  readonly closed: AbortSignal
  close(): Promise<void>
}

const defaultTimeoutMs = 30_000
/** More than any answer of an engine that is well: ten thousand instances take some 60 MiB. */
const answerLimitBytes = 128 * 1024 * 1024

export function createTransport(connection: LxdConnection): Transport {
  const local = 'socketPath' in connection
  const tls = local ? null : tlsOf(connection)
  const server = local ? new URL('http://lxd') : addressOf(connection.url)
  const agentOf = (connections: number | null) =>
    new Agent({
      connections,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: local ? { socketPath: connection.socketPath, timeout: 5_000 } : { ...tls, timeout: 5_000 },
    })
  const asking = agentOf(32)
  // Every operation that runs and every open terminal holds one of these.
  const waiting = agentOf(null)
  const closing = new AbortController()
  const sockets = new Set<WebSocket>()

  const url = (path: string, query: Readonly<Record<string, string>> = {}): URL => {
    const full = new URL(path, server.origin)
    if (connection.project !== undefined) full.searchParams.set('project', connection.project)
    for (const [name, value] of Object.entries(query)) full.searchParams.set(name, value)
    return full
  }
  const failure = (error: unknown, ask: Pick<Ask, 'method' | 'signal'>): EngineError => {
    if (error instanceof EngineError) return error
    if (ask.signal?.aborted === true || closing.signal.aborted) return new EngineError('cancelled', 'cancelled', { cause: error })
    return connectionError(error, isChange(ask))
  }

  /** Sends a request and waits for the head of its answer; `release` when the body is done with. */
  const begin = async (path: string, ask: Ask, flows: boolean) => {
    // By hand: what AbortSignal.timeout and AbortSignal.any hold on to outlives a quick request by far.
    const ended = new AbortController()
    const end = () => ended.abort()
    const timeoutMs = ask.timeoutMs ?? defaultTimeoutMs
    const timer = flows ? undefined : setTimeout(() => ended.abort(new Error(`${path}: no answer in time`)), timeoutMs)
    const release = () => {
      clearTimeout(timer)
      for (const signal of [ask.signal, closing.signal]) signal?.removeEventListener('abort', end)
    }
    for (const signal of [ask.signal, closing.signal]) {
      if (signal?.aborted === true) end()
      signal?.addEventListener('abort', end, { once: true })
    }
    const content = ask.raw?.content
    // It may break off before it is first read: that is told where it is read, and must not end the process.
    if (content instanceof Readable) content.on('error', () => undefined)
    try {
      const response = await request(url(path, ask.query), {
        dispatcher: ask.waits === true || flows ? waiting : asking,
        method: ask.method ?? 'GET',
        signal: ended.signal,
        headers: {
          ...(typeof ask.ifMatch === 'string' && { 'if-match': ask.ifMatch }),
          ...(ask.body !== undefined && { 'content-type': 'application/json' }),
          ...ask.raw?.headers,
        },
        ...(ask.body !== undefined && { body: JSON.stringify(ask.body) }),
        // undici takes any async iterable, and waits for the server where it is slower.
        ...(ask.raw !== undefined && { body: (content instanceof Readable ? taken(content) : content) as Buffer }),
        ...(flows && { headersTimeout: timeoutMs, bodyTimeout: timeoutMs }),
      })
      return { response, release }
    } catch (error) {
      release()
      throw failure(error, ask)
    } finally {
      if (content instanceof Readable) content.destroy()
    }
  }

  const send = async (path: string, ask: Ask): Promise<{ status: number; headers: AnswerHeaders; body: Buffer }> => {
    const { response, release } = await begin(path, ask, ask.raw !== undefined && !Buffer.isBuffer(ask.raw.content))
    try {
      return { status: response.statusCode, headers: response.headers, body: await collect(path, response.body) }
    } catch (error) {
      throw failure(error, ask)
    } finally {
      release()
    }
  }

  const stream: Transport['stream'] = async (path, ask = {}) => {
    const { response, release } = await begin(path, ask, true)
    const { body, statusCode, headers } = response
    if (statusCode !== 200 || !/^(application\/octet-stream|multipart\/form-data)\b/.test(String(headers['content-type']))) {
      try {
        throw refusalOf(path, statusCode, await collect(path, body))
      } catch (error) {
        throw failure(error, ask)
      } finally {
        release()
      }
    }
    async function* parts(): AsyncGenerator<Buffer> {
      try {
        for await (const part of body as AsyncIterable<Buffer>) yield part
      } catch (error) {
        throw failure(error, ask)
      }
    }
    const readable = streamOf(parts(), () => {
      release()
      body.on('error', () => undefined)
      body.destroy()
    })
    return { headers, body: readable }
  }

  const openSocket = (path: string, query: Readonly<Record<string, string>>): WebSocket => {
    const target = url(path, query)
    const options = { handshakeTimeout: 10_000, maxPayload: 16 * 1024 * 1024 }
    if (local) return new WebSocket(`ws://lxd${target.pathname}${target.search}`, { ...options, createConnection: () => connectSocket(connection.socketPath) })
    target.protocol = 'wss:'
    // An address in brackets is one in a URL only; and TLS names no addresses.
    const host = server.hostname.replace(/^\[|\]$/g, '')
    const named = isIP(host) === 0 ? { servername: host } : {}
    return new WebSocket(target, { ...options, createConnection: () => connectTls({ ...tls, ...named, host, port: Number(server.port || 443) }) })
  }

  return {
    closed: closing.signal,
    async ask(path, ask = {}) {
      const { status, headers, body } = await send(path, ask)
      const { metadata, operation } = opened(path, status, body, isChange(ask))
      return {
        metadata,
        operation: operation === null || operation === undefined || operation === '' ? null : operation,
        etag: typeof headers['etag'] === 'string' ? headers['etag'] : null,
      }
    },
    raw: (path, ask = {}) => send(path, ask),
    stream,
    socket(path, query) {
      if (closing.signal.aborted) throw new EngineError('cancelled', 'the engine was closed')
      let socket: WebSocket
      try {
        socket = openSocket(path, query)
      } catch (error) {
        throw failure(error, {})
      }
      sockets.add(socket)
      const stop = keepAlive(socket)
      socket.on('close', () => {
        sockets.delete(socket)
        stop()
      })
      // Whoever waits for it hears of an error by its close; unhandled, it would end the process.
      socket.on('error', () => undefined)
      return socket
    },
    async close() {
      closing.abort()
      for (const socket of sockets) socket.terminate()
      await Promise.all([asking.destroy(), waiting.destroy()])
    },
  }
}

function addressOf(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url?.protocol !== 'https:') throw new EngineError('invalid', `not an https address: ${address}`)
  return url
}

function tlsOf(connection: Exclude<LxdConnection, { socketPath: string }>) {
  const client = { cert: connection.clientCertificate, key: connection.clientKey }
  if (connection.serverCertificate === undefined) return client
  let pinned: X509Certificate
  try {
    pinned = new X509Certificate(connection.serverCertificate)
  } catch (error) {
    throw new EngineError('invalid', 'the server certificate is not a certificate', { cause: error })
  }
  return {
    ...client,
    ca: connection.serverCertificate,
    // Whoever issued it, it is trusted for what it is, whatever name it was made for; and nothing
    // else is, not even what it could have signed.
    allowPartialTrustChain: true,
    checkServerIdentity: (_host: string, certificate: PeerCertificate): Error | undefined =>
      pinned.raw.equals(certificate.raw)
        ? undefined
        : Object.assign(new Error('the server has another certificate than the pinned one'), { code: 'CERT_NOT_PINNED' }),
  }
}

/** Takes an answer out of its envelope. */
function opened(path: string, status: number, body: Buffer, changes = false): z.output<typeof envelope> {
  const text = body.toString('utf8')
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch (error) {
    throw new EngineError(kindOfForeign(status, changes), `${path}: the answer is not JSON (HTTP ${status}): ${text.slice(0, 100)}`, { cause: error, status })
  }
  const parsed = envelope.safeParse(answer)
  if (!parsed.success) throw new EngineError(kindOfForeign(status, changes), `${path}: unknown answer (HTTP ${status})`, { cause: parsed.error, status })
  const { type, error, error_code } = parsed.data
  if (type === 'error') throw answerError(error ?? '', error_code ?? status)
  return parsed.data
}

/** Why there is no stream. */
function refusalOf(path: string, status: number, body: Buffer): EngineError {
  opened(path, status, body)
  return new EngineError('bad_answer', `${path}: an answer where a stream was to come (HTTP ${status})`, { status })
}

/** What goes wrong with the caller's own stream is not the engine's. */
async function* taken(source: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const part of source as AsyncIterable<Buffer>) yield part
  } catch (error) {
    throw new EngineError('invalid', `what was to be sent broke off: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

async function collect(path: string, body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    size += part.length
    // Leaving the loop ends the connection.
    if (size > answerLimitBytes) throw new EngineError('bad_answer', `${path}: the answer is longer than ${answerLimitBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

const isChange = ({ method = 'GET' }: Pick<Ask, 'method'>): boolean => method !== 'GET' && method !== 'HEAD'

/** Nothing was sent: there was no connection yet. */
const isUnsent = (error: unknown): boolean =>
  error instanceof Error &&
  (('syscall' in error && (error.syscall === 'connect' || error.syscall === 'getaddrinfo')) || ('code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT'))

function connectionError(error: unknown, changes: boolean): EngineError {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  // A certificate or key that one side does not accept is a matter of credentials, not of the network.
  if (/CERT|SELF_SIGNED|UNABLE_TO_|OSSL|KEY_VALUES_MISMATCH/.test(code)) return new EngineError('unauthorized', message, { cause: error })
  return new EngineError(changes && !isUnsent(error) ? 'unanswered' : 'unreachable', message || code, { cause: error })
}

/** What an answer means that no engine gave: of a proxy before it, or of something else altogether. */
function kindOfForeign(status: number, changes: boolean): EngineErrorKind {
  if (status === 401 || status === 403) return 'unauthorized'
  // A proxy had no answer to what it passed on.
  if (changes && (status === 502 || status === 504)) return 'unanswered'
  if (status === 429 || (status >= 502 && status <= 504)) return 'unreachable'
  return 'bad_answer'
}

/** LXD tells the kind of an error by its status and, where that is too coarse, by its text. */
export function answerError(message: string, status: number): EngineError {
  return new EngineError(kindOf(message, status), message, { status })
}

function kindOf(message: string, status: number): EngineErrorKind {
  if (status === 401 || status === 403) return 'unauthorized'
  if (
    /no space left|out of space|quota exceeded|insufficient (free|suitable)|not enough (disk|memory)|exhausted|no available|reached limit|cannot allocate memory/i.test(
      message,
    )
  )
    return 'exhausted'
  if (status === 404 || /not found|image not provided|ACL "[^"]*" does not exist/i.test(message)) return 'not_found'
  if (status === 409 || /already (exists|created|in use)|UNIQUE constraint|overlaps with another|defined on another NIC/i.test(message)) return 'conflict'
  if (
    status === 412 ||
    /is busy|busy running|operation.*in progress|non-reusable operation|currently (being|running)|(still|currently|that is) in use|used by running/i.test(
      message,
    )
  )
    return 'busy'
  if (
    status === 501 ||
    /not supported|not implemented|isn't supported|unsupported|No instance driver|not operational|TC action module|requires bridge netfilter/i.test(message)
  )
    return 'unsupported'
  if (status === 400 || /doesn't match instance type|device validation failed/i.test(message)) return 'invalid'
  if (status === 429 || (status >= 502 && status <= 504)) return 'unreachable'
  return 'failed'
}
