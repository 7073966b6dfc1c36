import { randomBytes } from 'node:crypto'
import { createServer, type ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentText, challenge, hello, proof, serverText, tunnelCloses, tunnelPath, tunnelTimes, welcome } from '@zhisuan/contract/agent/tunnel'
import { carriedBy } from '@zhisuan/tunnel/carry'
import { WebSocket, type RawData } from 'ws'
import { z } from 'zod'
import { signText, verifyText } from './identity.ts'
import { socketTo, type ServerAddress } from './server.ts'

const windowBytes = 1024 * 1024

export interface TunnelParts {
  readonly edgeId: string
  readonly privateKey: string
  readonly server: ServerAddress & { readonly public_key: string }
  readonly version: string
  /** Answers what the server asks. */
  readonly handler: Parameters<typeof createServer>[1]
  readonly signal: AbortSignal
  readonly say: (line: string) => void
  /** Welcomed by the server, which is who it was at enrolment. */
  readonly up?: () => void
}

/** A server that is not the one of the enrolment, or that does not know this agent (any more). */
export class Refused extends Error {}

/** Stays connected until the signal is aborted: dials, serves, and dials again. */
export async function keepTunnel(parts: TunnelParts): Promise<void> {
  const { signal, say } = parts
  let failures = 0
  while (!signal.aborted) {
    let wait: number
    try {
      await serveOnce(parts, () => {
        failures = 0
        parts.up?.()
      })
      say('the connection ended')
      // A server that stops has many agents: they do not come back in one moment.
      wait = Math.random() * tunnelTimes.backOffFirstMs * 4
    } catch (error) {
      if (signal.aborted) return
      say(error instanceof Error ? error.message : String(error))
      const most = error instanceof Refused ? tunnelTimes.refusedMs : Math.min(tunnelTimes.backOffMostMs, tunnelTimes.backOffFirstMs * 2 ** failures)
      failures = Math.min(failures + 1, 16)
      wait = error instanceof Refused ? most / 2 + (Math.random() * most) / 2 : Math.random() * most
    }
    await sleep(wait, undefined, { signal }).catch(() => undefined)
  }
}

/** One connection, until it ends. */
async function serveOnce(parts: TunnelParts, welcomed: () => void): Promise<void> {
  const { socket, stream, closed } = await dial(parts)
  const stop = () => socket.terminate()
  parts.signal.addEventListener('abort', stop, { once: true })
  try {
    // Sent away in the breath that welcomed it, it may never begin to serve.
    const session = await Promise.race([serve(stream, parts.handler), closed.then(() => null)])
    const watch = session === null ? undefined : watching(session, () => socket.terminate())
    if (session !== null) welcomed()
    const code = await closed
    clearInterval(watch)
    session?.destroy()
    if (code === tunnelCloses.refused) throw new Refused('the server does not know this node any more')
    if (code === tunnelCloses.replaced) throw new Refused('another agent has connected with this identity')
  } finally {
    parts.signal.removeEventListener('abort', stop)
    socket.terminate()
  }
}

/** Connects, and proves who is who. @throws Refused where one of both is not */
async function dial({ edgeId, privateKey, server, version, signal }: TunnelParts): Promise<{ socket: WebSocket; stream: Socket; closed: Promise<number> }> {
  const url = new URL(tunnelPath, server.url)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  const connection = await socketTo(server, signal)
  const socket = new WebSocket(url, {
    createConnection: () => connection,
    handshakeTimeout: tunnelTimes.handshakeMs,
    maxPayload: 1024 * 1024,
    perMessageDeflate: false,
    followRedirects: false,
  })
  // Listened to from the beginning: who comes later waits for ever.
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  const messages = texts(socket)
  const timer = setTimeout(() => socket.terminate(), tunnelTimes.handshakeMs)
  const abort = () => socket.terminate()
  signal.addEventListener('abort', abort, { once: true })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve())
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('the server closed the connection')))
    })
    const nonce = randomBytes(32).toString('base64url')
    socket.send(JSON.stringify({ edge_id: edgeId, nonce } satisfies z.input<typeof hello>))
    const theirs = challenge.parse(await messages.next())
    if (!verifyText(server.public_key, serverText(edgeId, nonce, theirs.nonce), theirs.signature))
      throw new Refused('this is not the server that the node was enrolled at')
    socket.send(JSON.stringify({ signature: signText(privateKey, agentText(edgeId, nonce, theirs.nonce)), version } satisfies z.input<typeof proof>))
    welcome.parse(await messages.next())
    return { socket, stream: await carriedBy(socket, messages.end()), closed }
  } catch (error) {
    socket.terminate()
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

/** `challenge` and `welcome`. */
const textsMost = 2

/** The handshake's messages, in order. What is asked before the welcome is nothing that a server asks: it ends the connection. */
function texts(socket: WebSocket) {
  const come: string[] = []
  const early: Buffer[] = []
  let heard = 0
  let waiting: { resolve: (text: string) => void; reject: (error: Error) => void } | null = null
  let ended: Error | null = null
  const fail = (error: Error): void => {
    ended ??= error
    waiting?.reject(ended)
    waiting = null
  }
  const message = (data: RawData, binary: boolean): void => {
    if (binary ? heard < textsMost : heard === textsMost) {
      fail(new Error('the server speaks out of turn'))
      return socket.terminate()
    }
    if (binary) return void early.push(data as Buffer)
    heard++
    if (waiting === null) come.push(String(data))
    else waiting.resolve(String(data))
    waiting = null
  }
  const close = (code: number): void =>
    fail(code === tunnelCloses.refused ? new Refused('the server does not know this node') : new Error(`the server closed the connection (${code})`))
  socket.on('message', message)
  socket.on('close', close)
  socket.on('error', () => undefined)
  return {
    async next(): Promise<unknown> {
      const text =
        come.shift() ?? (ended === null ? await new Promise<string>((resolve, reject) => (waiting = { resolve, reject })) : await Promise.reject<string>(ended))
      return JSON.parse(text)
    },
    /** @returns what came after the welcome already: the begin of HTTP/2 */
    end(): readonly Buffer[] {
      socket.off('message', message)
      socket.off('close', close)
      return early
    },
  }
}

/** An HTTP/2 server that is reachable by this stream only. */
function serve(stream: Socket, handler: TunnelParts['handler']): Promise<ServerHttp2Session> {
  const server = createServer({ settings: { initialWindowSize: windowBytes, maxConcurrentStreams: 500 } }, handler)
  const session = new Promise<ServerHttp2Session>((resolve) => {
    server.once('session', (opened: ServerHttp2Session) => {
      opened.on('error', () => undefined)
      resolve(opened)
    })
  })
  server.emit('connection', stream)
  return session
}

/** The server asks every few seconds; when it does not, the cable is cut. */
function watching(session: ServerHttp2Session, dead: () => void): NodeJS.Timeout {
  let heard = Date.now()
  const hear = () => {
    heard = Date.now()
  }
  session.on('ping', hear)
  session.on('stream', hear)
  return setInterval(() => {
    if (Date.now() - heard > tunnelTimes.silentAfterMs) dead()
  }, 1_000).unref()
}
