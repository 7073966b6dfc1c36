import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, verify, type KeyObject } from 'node:crypto'
import { connect, type ClientHttp2Session } from 'node:http2'
import { agentText, challenge, hello, proof, serverText, tunnelCloses, tunnelTimes } from '@zhisuan/contract/agent/tunnel'
import type { Logger } from 'pino'
import { carriedBy } from '@zhisuan/tunnel/carry'
import type { RawData, WebSocket } from 'ws'
import type { z } from 'zod'
import { collectedLast } from './collected.ts'
import { AgentError, openTunnel, type Tunnel } from './tunnel.ts'
import { createTurns } from './turns.ts'

/** One message of an agent: longer ones close the connection. */
export const tunnelMaxPayload = 1024 * 1024
/** Before it has proved who it is, an agent has nothing long to say. */
const handshakeBytes = 1_024
const windowBytes = 1024 * 1024
/** So many agents are let in at once; the others wait a moment. */
const atOnce = 256
/** Who takes longer than that makes room where others wait. */
const turnMs = 5_000
/** Whoever has not said yet who they are costs memory: more are sent away, to come again soon. */
const greetingMost = 10_000

export interface Tunnels {
  /** The server's own key, as agents pin it. */
  readonly publicKey: string
  /** Takes a WebSocket that says it is an agent's. Never throws. */
  accept(socket: WebSocket): void
  /** @throws AgentError `offline` where there is none */
  to(edgeId: string): Tunnel
  connected(edgeId: string): boolean
  count(): number
  /** Ends what an edge has, such as when it was unbound. */
  drop(edgeId: string): void
  /** Tells agents to dial another server, or this one again soon. */
  stop(): void
}

/** What the tunnels have to know of edges. */
export interface TunnelKeeper {
  /** The key with which an edge may connect; null where it may not, or there is none. */
  keyOf(edgeId: string): Promise<string | null>
  up(tunnel: Tunnel): void
  /** Not where another tunnel of the same edge is there. */
  down(edgeId: string): void
}

type Times = Record<'handshakeMs' | 'pingEveryMs' | 'deadAfterMs', number>

export function createTunnels(parts: { identity: ServerIdentity; keeper: TunnelKeeper; log: Logger; times?: Partial<Times> }): Tunnels {
  const { identity, keeper, log } = parts
  const times: Times = { ...tunnelTimes, ...parts.times }
  const tunnels = new Map<string, Tunnel>()
  const greeting = new Set<WebSocket>()
  const turns = createTurns(atOnce, turnMs)
  let stopping = false

  const handshake = async (socket: WebSocket, turn: () => Promise<void>): Promise<{ edgeId: string; version: string } | null> => {
    const messages = listen(socket)
    const { edge_id, nonce } = await messages.next(hello)
    await turn()
    const ours = randomBytes(32).toString('base64url')
    socket.send(
      JSON.stringify({
        nonce: ours,
        signature: sign(null, Buffer.from(serverText(edge_id, nonce, ours)), identity.privateKey).toString('base64url'),
      } satisfies z.input<typeof challenge>),
    )
    const { signature, version } = await messages.next(proof)
    messages.end()
    // Asked for only now, and answered alike: nobody learns which edges there are.
    const key = await keeper.keyOf(edge_id).catch((error: unknown) => {
      throw new Unanswerable('who an agent is could not be looked up', { cause: error })
    })
    const known = key !== null && verify(null, Buffer.from(agentText(edge_id, nonce, ours)), publicKeyOf(key), Buffer.from(signature, 'base64url'))
    return known ? { edgeId: edge_id, version } : null
  }

  const speak = async (socket: WebSocket, { edgeId, version }: { edgeId: string; version: string }): Promise<void> => {
    const stream = await carriedBy(socket).catch((error: unknown) => {
      throw new Unanswerable('an agent could not be taken up', { cause: error })
    })
    if (socket.readyState !== socket.OPEN) return
    socket.send(JSON.stringify({ welcome: true }))
    const session = connect('http://agent', {
      createConnection: () => stream,
      settings: { enablePush: false, initialWindowSize: windowBytes, maxHeaderListSize: 16_384 },
      maxHeaderListPairs: 64,
      maxSettings: 16,
      maxReservedRemoteStreams: 0,
      maxOutstandingPings: 4,
    })
    collectedLast(session)
    session.on('error', (error: Error) => log.debug({ err: error, edge: edgeId }, 'tunnel'))
    session.on('connect', () => session.setLocalWindowSize(4 * windowBytes))
    // Pushes are refused by the settings; a stream that comes all the same is none of ours.
    session.on('stream', (pushed) => pushed.destroy())

    const tunnel = openTunnel({
      edgeId,
      version,
      session,
      close: (code) => {
        if (socket.readyState === socket.OPEN) socket.close(code)
        setTimeout(() => socket.terminate(), 1_000).unref()
        session.destroy(new AgentError('offline', 'the tunnel was closed'))
      },
    })
    const former = tunnels.get(edgeId)
    tunnels.set(edgeId, tunnel)
    former?.close(tunnelCloses.replaced)
    const watch = watching(session, times, () => socket.terminate())
    socket.on('close', () => {
      clearInterval(watch)
      // Without an error what was being answered would end as if it were whole.
      session.destroy(new AgentError('offline', 'the tunnel broke'))
      if (tunnels.get(edgeId) !== tunnel) return
      tunnels.delete(edgeId)
      keeper.down(edgeId)
    })
    keeper.up(tunnel)
  }

  return {
    publicKey: identity.publicKey,
    accept(socket) {
      if (stopping || greeting.size >= greetingMost) return socket.close(tunnelCloses.stopping)
      greeting.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => greeting.delete(socket))
      const timer = setTimeout(() => socket.terminate(), times.handshakeMs)
      let endTurn: () => void = () => undefined
      const turn = () =>
        new Promise<void>((resolve, reject) => {
          endTurn = turns.take(resolve, () => socket.close(tunnelCloses.stopping))
          socket.once('close', () => reject(new Error('the connection closed')))
        })
      handshake(socket, turn)
        .then((who): Promise<void> | void => {
          if (socket.readyState !== socket.OPEN) return
          if (stopping) socket.close(tunnelCloses.stopping)
          else if (who === null) socket.close(tunnelCloses.refused)
          else return speak(socket, who)
        })
        .catch((error: unknown) => {
          // That is not the agent's fault: it shall come again soon, and not be sent away.
          const ours = error instanceof Unanswerable
          log.debug({ err: error }, ours ? 'tunnel' : 'an agent that was not understood')
          if (socket.readyState === socket.OPEN) socket.close(ours ? tunnelCloses.stopping : tunnelCloses.refused)
        })
        .finally(() => {
          clearTimeout(timer)
          endTurn()
          greeting.delete(socket)
        })
    },
    to(edgeId) {
      const tunnel = tunnels.get(edgeId)
      if (tunnel === undefined) throw new AgentError('offline', 'the agent is not connected')
      return tunnel
    },
    connected: (edgeId) => tunnels.has(edgeId),
    count: () => tunnels.size,
    drop: (edgeId) => tunnels.get(edgeId)?.close(tunnelCloses.refused),
    stop() {
      stopping = true
      for (const tunnel of tunnels.values()) tunnel.close(tunnelCloses.stopping)
      for (const socket of greeting) socket.close(tunnelCloses.stopping)
    },
  }
}

/** It cannot be said now who an agent is, or it cannot be spoken with, such as while the database is away. */
class Unanswerable extends Error {}

/** Reads the texts of a handshake, one after the other; anything else ends it. */
function listen(socket: WebSocket) {
  const waiting: { resolve: (text: string) => void; reject: (error: Error) => void }[] = []
  const come: string[] = []
  let broken: Error | null = null
  const fail = (error: Error): void => {
    broken = error
    for (const { reject } of waiting.splice(0)) reject(error)
  }
  const message = (data: RawData, binary: boolean): void => {
    const text = binary ? '' : String(data)
    if (binary || text.length > handshakeBytes || come.length > 1) return fail(new Error('not a handshake'))
    const next = waiting.shift()
    if (next === undefined) come.push(text)
    else next.resolve(text)
  }
  const closed = (): void => fail(new Error('the connection closed'))
  socket.on('message', message)
  socket.on('close', closed)
  return {
    async next<T extends z.ZodType>(schema: T): Promise<z.output<T>> {
      const text =
        come.shift() ??
        (broken === null ? await new Promise<string>((resolve, reject) => waiting.push({ resolve, reject })) : await Promise.reject<string>(broken))
      return schema.parse(JSON.parse(text))
    },
    end(): void {
      socket.off('message', message)
      socket.off('close', closed)
    },
  }
}

/** Asks again and again whether the other side is there; a cut cable closes no connection. */
function watching(session: ClientHttp2Session, { pingEveryMs, deadAfterMs }: Times, dead: () => void): NodeJS.Timeout {
  let heard = Date.now()
  return setInterval(() => {
    if (Date.now() - heard > deadAfterMs) return dead()
    if (session.destroyed) return
    session.ping((error) => {
      if (error === null) heard = Date.now()
    })
  }, pingEveryMs).unref()
}

const publicKeyOf = (text: string): KeyObject => createPublicKey({ key: Buffer.from(text, 'base64url'), format: 'der', type: 'spki' })

/** The key by which agents know their server. */
export interface ServerIdentity {
  readonly privateKey: KeyObject
  /** SPKI DER, base64url. */
  readonly publicKey: string
}

export const newIdentity = (): string => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string

export function openIdentity(pem: string): ServerIdentity {
  const privateKey = createPrivateKey(pem)
  return { privateKey, publicKey: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64url') }
}
