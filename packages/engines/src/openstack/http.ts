import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { Agent, request, type Dispatcher } from 'undici'
import { WebSocket } from 'ws'
import { EngineError } from '../errors.ts'
import { keepAlive } from '../keepAlive.ts'
import { OpenStackError, type Place, type Service } from './errors.ts'

export interface HttpAsk {
  readonly service: Service
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  /** A stream is read to its end or destroyed, whatever becomes of the request. */
  readonly body?: string | Readable
  readonly signal?: AbortSignal | undefined
  /** Time for the whole answer; of a stream, either way, for silence. */
  readonly timeoutMs: number
}

export interface HttpAnswer<Body> {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Body
  readonly place: Place
}

/** One request and its answer, whatever it says: fails only where none came. */
export interface Http {
  send(ask: HttpAsk): Promise<HttpAnswer<Buffer>>
  /** The caller reads the body or destroys it; the signal ends it as long as it flows. */
  open(ask: HttpAsk): Promise<HttpAnswer<Readable>>
  /** Begins a websocket, which ends with the client. */
  socket(url: URL, protocol: string): WebSocket
  close(): Promise<void>
}

/** A thousand servers with all that Nova tells of them are some 5 MiB. */
const answerLimitBytes = 64 * 2 ** 20

/** @param certificateAuthority PEM: of a cloud whose certificates no public authority made */
export function createHttp(cloud: string, certificateAuthority: string | undefined): Http {
  const agent = new Agent({
    // Of each service; a cloud is not asked more at once than its few workers do.
    connections: 16,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 10_000, ...(certificateAuthority !== undefined && { ca: certificateAuthority }) },
  })
  const closing = new AbortController()

  const begin = async (ask: HttpAsk, flows: boolean) => {
    // A service that never answers has written this one into its log: it takes it for the request's global id.
    let place: Place = { cloud, service: ask.service, requestId: `req-${randomUUID()}` }
    const ended = new AbortController()
    const end = () => ended.abort()
    let late = false
    const timer = flows
      ? undefined
      : setTimeout(() => {
          late = true
          ended.abort()
        }, ask.timeoutMs)
    const signals = [ask.signal, closing.signal].filter((signal) => signal !== undefined)
    const release = () => {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', end)
    }
    for (const signal of signals) {
      if (signal.aborted) end()
      signal.addEventListener('abort', end, { once: true })
    }
    const failure = (error: unknown): EngineError => {
      if (error instanceof EngineError) return error
      if (signals.some((signal) => signal.aborted)) return new OpenStackError('cancelled', 'cancelled', place, { cause: error })
      if (late) return new OpenStackError('unreachable', `no answer within ${ask.timeoutMs} ms`, place, { cause: error })
      return connectionError(error, place)
    }
    const content = ask.body
    if (content instanceof Readable) content.on('error', () => undefined)
    try {
      const response = await request(ask.url, {
        dispatcher: agent,
        method: ask.method,
        signal: ended.signal,
        headers: { accept: 'application/json', ...ask.headers, 'x-openstack-request-id': place.requestId },
        // undici takes any async iterable, and waits for the server where it is slower.
        ...(content !== undefined && { body: (content instanceof Readable ? taken(content, place) : content) as string }),
        ...(flows && { headersTimeout: ask.timeoutMs, bodyTimeout: ask.timeoutMs }),
      })
      const theirs = response.headers['x-openstack-request-id'] ?? response.headers['x-compute-request-id']
      if (typeof theirs === 'string' && theirs !== '') place = { ...place, requestId: theirs }
      return { response, place, failure, release }
    } catch (error) {
      release()
      throw failure(error)
    } finally {
      if (content instanceof Readable) content.destroy()
    }
  }

  return {
    async send(ask) {
      const { response, place, failure, release } = await begin(ask, ask.body instanceof Readable)
      try {
        return { status: response.statusCode, headers: response.headers, body: await collect(response.body, place), place }
      } catch (error) {
        throw failure(error)
      } finally {
        release()
      }
    },
    async open(ask) {
      const { response, place, failure, release } = await begin(ask, true)
      async function* parts(): AsyncGenerator<Buffer> {
        try {
          for await (const part of response.body as AsyncIterable<Buffer>) yield part
        } catch (error) {
          throw failure(error)
        }
      }
      const body = Readable.from(parts(), { objectMode: false })
      body.on('close', () => {
        release()
        response.body.on('error', () => undefined)
        response.body.destroy()
      })
      return { status: response.statusCode, headers: response.headers, body, place }
    },
    socket(url, protocol) {
      const socket = new WebSocket(url, protocol, {
        handshakeTimeout: 10_000,
        maxPayload: 2 ** 20,
        perMessageDeflate: false,
        ...(certificateAuthority !== undefined && { ca: certificateAuthority }),
      })
      const stop = keepAlive(socket)
      const end = () => socket.terminate()
      closing.signal.addEventListener('abort', end, { once: true })
      socket.on('close', () => {
        closing.signal.removeEventListener('abort', end)
        stop()
      })
      // Its close says so too; unhandled, it would end the process.
      socket.on('error', () => undefined)
      return socket
    },
    async close() {
      closing.abort()
      await agent.destroy()
    },
  }
}

async function collect(body: Dispatcher.ResponseData['body'], place: Place): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    size += part.length
    if (size > answerLimitBytes) throw new OpenStackError('bad_answer', `the answer is longer than ${answerLimitBytes} bytes`, place)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** What goes wrong with the caller's own stream is not the cloud's. */
async function* taken(source: Readable, place: Place): AsyncGenerator<Buffer> {
  try {
    for await (const part of source as AsyncIterable<Buffer>) yield part
  } catch (error) {
    throw new OpenStackError('invalid', `what was to be sent broke off: ${error instanceof Error ? error.message : String(error)}`, place, { cause: error })
  }
}

function connectionError(error: unknown, place: Place): OpenStackError {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  // A certificate that is not trusted is a matter of configuration, not of the network.
  if (/CERT|SELF_SIGNED|UNABLE_TO_|OSSL/.test(code)) return new OpenStackError('unauthorized', message, place, { cause: error })
  return new OpenStackError('unreachable', message || code, place, { cause: error })
}
