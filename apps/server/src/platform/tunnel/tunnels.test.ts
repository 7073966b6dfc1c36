import { createServer, type Server } from 'node:http'
import { constants } from 'node:http2'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { tunnelCloses } from '@zhisuan/contract/agent/tunnel'
import pino from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { newPrivateKey, publicKeyOf } from '../../../../agent/src/identity.ts'
import { keepTunnel, type TunnelParts } from '../../../../agent/src/tunnel.ts'
import { dockerOver } from './docker.ts'
import { createTunnels, newIdentity, openIdentity, type Tunnels } from './tunnels.ts'

const edgeId = '01900000-0000-7000-8000-000000000001'
const otherId = '01900000-0000-7000-8000-000000000002'
const keys = new Map<string, string>()
const seen: string[] = []
const ends: AbortController[] = []
/** Whether nobody can be asked for keys. */
let away = false
let http: Server
let url: string
let tunnels: Tunnels

const begin = async (identity = openIdentity(newIdentity()), port = 0): Promise<void> => {
  tunnels = createTunnels({
    identity,
    log: pino({ level: 'silent' }),
    keeper: {
      keyOf: async (id) => {
        if (away) throw new Error('the database is away')
        return keys.get(id) ?? null
      },
      up: (tunnel) => seen.push(`up ${tunnel.edgeId}`),
      down: (id) => seen.push(`down ${id}`),
    },
  })
  http = createServer()
  const sockets = new WebSocketServer({ server: http, maxPayload: 1024 * 1024, perMessageDeflate: false })
  sockets.on('connection', (socket) => tunnels.accept(socket))
  http.listen(port, '127.0.0.1')
  await once(http, 'listening')
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}
const end = async (): Promise<void> => {
  tunnels.stop()
  http.closeAllConnections()
  http.close()
}
beforeEach(async () => {
  keys.clear()
  seen.length = 0
  await begin()
})
afterEach(async () => {
  for (const one of ends.splice(0)) one.abort()
  await end()
})

/** An agent that answers by `handler`; enrolled, unless it says otherwise. */
function agent(handler: TunnelParts['handler'], wish: Partial<TunnelParts> = {}): { said: string[]; stop: () => void; privateKey: string } {
  const stop = new AbortController()
  ends.push(stop)
  const said: string[] = []
  const privateKey = wish.privateKey ?? newPrivateKey()
  const id = wish.edgeId ?? edgeId
  if (wish.privateKey === undefined) keys.set(id, publicKeyOf(privateKey))
  void keepTunnel({
    edgeId: id,
    privateKey,
    server: { url, public_key: tunnels.publicKey },
    version: '1.2.3',
    handler,
    signal: stop.signal,
    say: (line) => said.push(line),
    ...wish,
  })
  return { said, stop: () => stop.abort(), privateKey }
}
const connected = (id = edgeId) => vi.waitFor(() => expect(tunnels.connected(id)).toBe(true), { interval: 10 })
const gone = (id = edgeId) => vi.waitFor(() => expect(tunnels.connected(id)).toBe(false), { interval: 10 })

describe('an agent that is enrolled', () => {
  it('answers what the server asks, with what is sent, streamed, and left open', async () => {
    agent((request, response) => {
      if (request.url === '/echo') {
        request.stream.respond()
        request.stream.pipe(request.stream)
      } else if (request.url === '/json') response.end(JSON.stringify({ method: request.method, version: 3 }))
      else response.writeHead(404).end(JSON.stringify({ message: 'no such thing' }))
    })
    await connected()
    const tunnel = tunnels.to(edgeId)
    expect(tunnel.version).toBe('1.2.3')
    expect(await tunnel.json(z.object({ method: z.string(), version: z.int() }), { method: 'POST', path: '/json', body: {} })).toEqual({
      method: 'POST',
      version: 3,
    })
    const big = Buffer.alloc(20 * 2 ** 20, 'x')
    const { stream } = await tunnel.request({ method: 'POST', path: '/echo', body: Readable.from(Array.from({ length: 320 }, () => big.subarray(0, 65_536))) })
    expect((await buffer(stream)).equals(big)).toBe(true)
    const duplex = await tunnel.request({ method: 'POST', path: '/echo', body: 'open' })
    duplex.stream.write('ping')
    expect(String((await once(duplex.stream, 'data'))[0])).toBe('ping')
    duplex.stream.end()
    await expect(tunnel.json(z.unknown(), { path: '/none' })).rejects.toMatchObject({ kind: 'refused', status: 404, message: 'no such thing' })
    await expect(tunnel.json(z.object({ other: z.string() }), { path: '/json' })).rejects.toMatchObject({ kind: 'bad_answer' })
    expect(seen).toEqual([`up ${edgeId}`])
  })

  it('is let go of in the middle of an answer where the asker leaves', async () => {
    let closed = false
    agent((_, response) => {
      response.writeHead(200)
      const pour = () => {
        while (response.write(Buffer.alloc(65_536)));
        response.once('drain', pour)
      }
      pour()
      response.on('close', () => {
        closed = true
      })
    })
    await connected()
    const leave = new AbortController()
    const { stream } = await tunnels.to(edgeId).request({ path: '/', signal: leave.signal })
    await once(stream, 'data')
    leave.abort()
    await vi.waitFor(() => expect(closed).toBe(true))
    expect(tunnels.connected(edgeId)).toBe(true)
    await expect(tunnels.to(edgeId).request({ path: '/', signal: AbortSignal.abort() })).rejects.toThrow()
  })

  it('is not sent away where nobody can be asked who it is, and comes again soon', async () => {
    away = true
    const { said } = agent((_, response) => void response.end())
    await vi.waitFor(() => expect(said.join()).toContain(String(tunnelCloses.stopping)))
    away = false
    await connected()
    expect(said.join()).not.toContain('does not know')
  })

  it.each(['is cut', 'lets go of the answer'])('that %s in the middle of an answer has not answered', async (how) => {
    const end: (() => void)[] = []
    const { stop } = agent((_, response) => {
      response.writeHead(200)
      response.write('half')
      end.push(() => response.stream.close(constants.NGHTTP2_CANCEL))
    })
    await connected()
    const { stream } = await tunnels.to(edgeId).request({ path: '/' })
    const read = buffer(stream)
    await vi.waitFor(() => expect(end).toHaveLength(1))
    if (how === 'is cut') stop()
    else end[0]?.()
    await expect(read).rejects.toThrow()
  })

  it('comes back by itself when the server is back', async () => {
    const identity = openIdentity(newIdentity())
    await end()
    await begin(identity)
    agent((_, response) => void response.end('there'))
    await connected()
    const port = Number(new URL(url).port)
    await end()
    await vi.waitFor(() => expect(seen).toContain(`down ${edgeId}`))
    await begin(identity, port)
    await connected()
    expect(String(await buffer((await tunnels.to(edgeId).request({ path: '/' })).stream))).toBe('there')
  })

  it('that goes while it is asked breaks off what was asked', async () => {
    const { stop } = agent(() => undefined)
    await connected()
    const asked = expect(tunnels.to(edgeId).request({ path: '/' })).rejects.toMatchObject({ kind: 'offline' })
    // Nobody knows whether a change that was sent happened; Docker behind it neither, but of what only joins.
    const docker = dockerOver(tunnels.to(edgeId))
    const changed = Promise.all([
      expect(tunnels.to(edgeId).json(z.unknown(), { method: 'PUT', path: '/' })).rejects.toMatchObject({ kind: 'unanswered' }),
      expect(docker.request({ method: 'POST', path: '/' })).rejects.toMatchObject({ kind: 'unanswered' }),
      expect(docker.request({ path: '/' })).rejects.toMatchObject({ kind: 'unreachable' }),
      expect(docker.attach('x', { tty: false })).rejects.toMatchObject({ kind: 'unreachable' }),
    ])
    stop()
    await Promise.all([asked, changed])
    await gone()
    expect(() => tunnels.to(edgeId)).toThrow(/not connected/)
  })

  it('has one connection: the newer takes the place of the older', async () => {
    const first = agent((_, response) => void response.end('first'))
    await connected()
    agent((_, response) => void response.end('second'), { privateKey: first.privateKey })
    await vi.waitFor(() => expect(seen).toEqual([`up ${edgeId}`, `up ${edgeId}`]))
    expect(String(await buffer((await tunnels.to(edgeId).request({ path: '/' })).stream))).toBe('second')
    await vi.waitFor(() => expect(first.said.join()).toContain('another agent'))
  })

  it('is ended when it is dropped, and refused once its key is gone', async () => {
    const { said } = agent((_, response) => void response.end())
    await connected()
    keys.delete(edgeId)
    tunnels.drop(edgeId)
    await gone()
    await vi.waitFor(() => expect(said.join()).toContain('does not know this node'))
  })
})

describe('who is not who they say', () => {
  it('an agent with another key, and one that nobody knows, are refused alike', async () => {
    keys.set(edgeId, publicKeyOf(newPrivateKey()))
    const wrong = agent(() => undefined, { privateKey: newPrivateKey() })
    const unknown = agent(() => undefined, { edgeId: otherId, privateKey: newPrivateKey() })
    for (const { said } of [wrong, unknown]) await vi.waitFor(() => expect(said).toEqual(['the server does not know this node']))
    expect(tunnels.count()).toBe(0)
  })

  it('a server with another key is not served', async () => {
    const { said } = agent(() => undefined, { server: { url, public_key: openIdentity(newIdentity()).publicKey } })
    await vi.waitFor(() => expect(said).toEqual(['this is not the server that the node was enrolled at']))
    expect(tunnels.count()).toBe(0)
  })

  it.each<[string, (socket: WebSocket) => void]>([
    ['nonsense', (socket) => socket.send('{')],
    ['another shape', (socket) => socket.send(JSON.stringify({ edge_id: edgeId, nonce: 'short' }))],
    ['binary', (socket) => socket.send(Buffer.alloc(100))],
    ['much', (socket) => socket.send('x'.repeat(5_000))],
    ['many at once', (socket) => [1, 2, 3, 4].forEach(() => socket.send(JSON.stringify({ edge_id: edgeId, nonce: 'A'.repeat(43) })))],
  ])('says %s, and is refused', async (_, speak) => {
    const socket = new WebSocket(url.replace('http', 'ws'))
    const closed = once(socket, 'close')
    await once(socket, 'open')
    speak(socket)
    expect((await closed)[0]).toBe(tunnelCloses.refused)
  })
})

describe('a hostile agent', () => {
  it.each<[string, TunnelParts['handler']]>([
    ['huge headers', (_, response) => void response.writeHead(200, { 'x-huge': 'x'.repeat(60_000) }).end()],
    [
      'many headers',
      (_, response) => {
        for (let n = 0; n < 500; n++) response.setHeader(`x-${n}`, 'x')
        response.end()
      },
    ],
  ])('with %s harms nobody else', async (_, handler) => {
    agent(handler)
    agent((_, response) => void response.end('fine'), { edgeId: otherId })
    await connected()
    await connected(otherId)
    // Refused once it has taken note of how much the server reads; before, read and thrown away.
    await tunnels
      .to(edgeId)
      .request({ path: '/', timeoutMs: 2_000 })
      .catch((error: unknown) => expect(error).toMatchObject({ kind: 'offline' }))
    expect(String(await buffer((await tunnels.to(otherId).request({ path: '/' })).stream))).toBe('fine')
  })

  it('that answers without an end is not read without one', async () => {
    agent((_, response) => {
      const endless = new PassThrough()
      endless.pipe(response.writeHead(200))
      const pour = () => {
        while (endless.write(Buffer.alloc(65_536, '1')));
        endless.once('drain', pour)
      }
      pour()
    })
    await connected()
    await expect(tunnels.to(edgeId).json(z.unknown(), { path: '/' })).rejects.toMatchObject({ kind: 'bad_answer' })
  })

  it('that sends what is no HTTP/2 ends its own connection', async () => {
    const privateKey = newPrivateKey()
    keys.set(edgeId, publicKeyOf(privateKey))
    agent((_, response) => void response.end('fine'), { edgeId: otherId })
    await connected(otherId)
    // By a handler that speaks over the head of HTTP/2.
    agent((request) => request.stream.session?.socket.destroy(), { privateKey })
    await connected()
    await expect(tunnels.to(edgeId).request({ path: '/' })).rejects.toMatchObject({ kind: 'offline' })
    expect(tunnels.connected(otherId)).toBe(true)
  })
})
