import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** Where the server is, and by which gateway it is reached, if by one: `address:port`. */
export interface ServerAddress {
  readonly url: string
  readonly via?: string | null | undefined
}

const connectMs = 20_000

/** `address:port`, or `[address]:port`. @throws where it is another */
export function gatewayOf(via: string): { host: string; port: number } {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(via)
  if (match === null) throw new Error(`${via}: no gateway such as address:port`)
  return { host: match[1] ?? match[2] ?? '', port: Number(match[3]) }
}

/** As `CONNECT` names it. */
export function authorityOf(url: string): { host: string; port: number; text: string } {
  const { hostname, port, protocol } = new URL(url)
  const number = Number(port || (protocol === 'https:' ? 443 : 80))
  return { host: hostname.replace(/^\[|\]$/g, ''), port: number, text: `${hostname}:${number}` }
}

/** A connection to the server, encrypted where its address says so. */
export async function socketTo({ url, via }: ServerAddress, signal: AbortSignal): Promise<Socket> {
  const { host, port, text } = authorityOf(url)
  const plain =
    via === null || via === undefined ? await connected(connect({ host, port, noDelay: true }), 'connect', signal) : await throughGateway(via, text, signal)
  if (new URL(url).protocol !== 'https:') return plain
  return connected(connectTls({ socket: plain, host, ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }) }), 'secureConnect', signal)
}

function connected<T extends Socket>(socket: T, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => socket.destroy()
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    const timer = setTimeout(() => socket.destroy(new Error('no connection in time')), connectMs)
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the connection closed')))
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
    socket.once('close', done)
    socket.once(event, () => {
      done()
      resolve(socket)
    })
  })
}

function throughGateway(via: string, authority: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      ...gatewayOf(via),
      agent: false,
      method: 'CONNECT',
      path: authority,
      headers: { host: authority },
      timeout: connectMs,
      signal,
    })
    request.on('timeout', () => request.destroy(new Error(`the gateway ${via} does not answer`)))
    request.on('error', reject)
    request.on('response', (answer) => {
      answer.resume()
      reject(new Error(`the gateway ${via} answered ${answer.statusCode}`))
    })
    request.on('connect', (answer, socket: Socket, head: Buffer) => {
      if (answer.statusCode !== 200) {
        socket.destroy()
        return reject(new Error(`the gateway ${via} answered ${answer.statusCode}`))
      }
      socket.setTimeout(0)
      if (head.length > 0) socket.unshift(head)
      resolve(socket)
    })
    request.end()
  })
}

export interface ServerAsk {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  readonly limitBytes: number
  readonly signal: AbortSignal
}

/** An answer whose body is still to be read, and then closed. */
export interface OpenAnswer {
  readonly status: number
  readonly body: IncomingMessage
  close(): void
}

/** Asks the server over HTTP; redirections are not followed. @throws where it does not answer */
export async function openFromServer(server: ServerAddress, { method = 'GET', path, body, signal }: Omit<ServerAsk, 'limitBytes'>): Promise<OpenAnswer> {
  signal.throwIfAborted()
  const socket = await socketTo(server, signal)
  const content = body === undefined ? null : JSON.stringify(body)
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpRequest({
        // No agent: one would make a connection of its own.
        createConnection: () => socket,
        method,
        path,
        signal,
        headers: {
          host: new URL(server.url).host,
          connection: 'close',
          ...(content !== null && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
        },
      })
      request.on('error', reject)
      request.on('response', resolve)
      request.end(content ?? undefined)
    })
    return { status: answer.statusCode ?? 0, body: answer, close: () => socket.destroy() }
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** The same, read to its end. @throws also where it says more than the limit */
export async function askServer(server: ServerAddress, { limitBytes, ...ask }: ServerAsk): Promise<{ status: number; body: Buffer }> {
  const { status, body, close } = await openFromServer(server, ask)
  try {
    const parts: Buffer[] = []
    let size = 0
    for await (const part of body as AsyncIterable<Buffer>) {
      size += part.length
      if (size > limitBytes) throw new Error(`${ask.path}: the server said more than ${limitBytes} bytes`)
      parts.push(part)
    }
    return { status, body: Buffer.concat(parts) }
  } finally {
    close()
  }
}
