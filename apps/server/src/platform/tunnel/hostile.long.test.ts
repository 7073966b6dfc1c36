import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { agentText, challenge, tunnelCloses } from '@zhisuan/contract/agent/tunnel'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pino from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket, WebSocketServer, type RawData } from 'ws'
import { z } from 'zod'
import { newPrivateKey, publicKeyOf, signText } from '../../../../agent/src/identity.ts'
import { keepTunnel } from '../../../../agent/src/tunnel.ts'
import { keptHandles } from './collected.ts'
import { createTunnels, newIdentity, openIdentity, tunnelMaxPayload, type Tunnels } from './tunnels.ts'

const hostileId = '01900000-0000-7000-8000-000000000001'
const otherId = '01900000-0000-7000-8000-000000000002'
const keys = new Map<string, string>()
const hostileKey = newPrivateKey()
const sockets: WebSocket[] = []
let http: Server
let url: string
let tunnels: Tunnels
let stop: AbortController

/** Who is silent at the door, or once they are in, is let go of after that, here. */
const times = { handshakeMs: 8_000, pingEveryMs: 1_000, deadAfterMs: 4_000 }

beforeEach(async () => {
  keys.clear()
  keys.set(hostileId, publicKeyOf(hostileKey))
  tunnels = createTunnels({
    identity: openIdentity(newIdentity()),
    log: pino({ level: 'silent' }),
    keeper: { keyOf: async (id) => keys.get(id) ?? null, up: () => undefined, down: () => undefined },
    times,
  })
  http = createServer()
  const server = new WebSocketServer({ server: http, maxPayload: tunnelMaxPayload, perMessageDeflate: false })
  server.on('connection', (socket) => tunnels.accept(socket))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  stop = new AbortController()
})
afterEach(() => {
  stop.abort()
  for (const socket of sockets.splice(0)) socket.terminate()
  tunnels.stop()
  http.closeAllConnections()
  http.close()
})

const isConnected = (id: string, connected: boolean) => vi.waitFor(() => expect(tunnels.connected(id)).toBe(connected), { interval: 10 })

/** An agent that is as it should be. */
async function another(): Promise<void> {
  const privateKey = newPrivateKey()
  keys.set(otherId, publicKeyOf(privateKey))
  void keepTunnel({
    edgeId: otherId,
    privateKey,
    server: { url, public_key: tunnels.publicKey },
    version: '1.2.3',
    handler: (_, response) => void response.end('"fine"'),
    signal: stop.signal,
    say: () => undefined,
  })
  await isConnected(otherId, true)
}
const isServed = async () => expect(await tunnels.to(otherId).json(z.string(), { path: '/' })).toBe('fine')

const next = async (socket: WebSocket): Promise<string> => String(((await once(socket, 'message')) as [RawData])[0])
async function opened(): Promise<WebSocket> {
  const socket = new WebSocket(url.replace('http', 'ws'), { perMessageDeflate: false })
  socket.on('error', () => undefined)
  sockets.push(socket)
  await once(socket, 'open')
  return socket
}
const nonce = 'A'.repeat(43)
/** Says who they are, and hears the challenge. */
async function greeted(socket: WebSocket): Promise<string> {
  const answer = next(socket)
  socket.send(JSON.stringify({ edge_id: hostileId, nonce }))
  return challenge.parse(JSON.parse(await answer)).nonce
}
const proofOf = (theirs: string): string => JSON.stringify({ signature: signText(hostileKey, agentText(hostileId, nonce, theirs)), version: '1.2.3' })
/** Enrolled, and says what it likes once it was welcomed: the bytes of HTTP/2 by hand. */
async function hostile(): Promise<WebSocket> {
  const socket = await opened()
  const proof = proofOf(await greeted(socket))
  const welcomed = next(socket)
  socket.send(proof)
  expect(JSON.parse(await welcomed)).toEqual({ welcome: true })
  await isConnected(hostileId, true)
  return socket
}

setFlagsFromString('--expose-gc')
// It is there by that flag.
const collectGarbage = runInNewContext('gc') as () => void

const [data, headers, rst, settings, push, ping, goaway, windowUpdate, continuation] = [0, 1, 3, 4, 5, 6, 7, 8, 9] as const
const [endStream, endHeaders, ack] = [1, 4, 1] as const
/** RFC 9113, 4.1 */
function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const many = (count: number, one: (index: number) => Buffer): Buffer => Buffer.concat(Array.from({ length: count }, (_, index) => one(index)))
/** `:status: 200` of HPACK's table. */
const ok = Buffer.from([0x88])
/** A field `x: …` of that length, not to be remembered (RFC 7541, 6.2.2). */
const field = (length: number): Buffer =>
  Buffer.concat([Buffer.from([0, 1, 0x78, 0x7f]), Buffer.from([((length - 127) & 0x7f) | 0x80, (length - 127) >> 7]), Buffer.alloc(length, 'x')])

describe('whoever is at the door', () => {
  it('and speaks no WebSocket, or a broken one, is sent away', async () => {
    await another()
    const { port } = new URL(url)
    const head =
      'GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
    for (const bytes of [
      // Unmasked; a reserved kind of frame; one longer than any; a ping of more than it may have.
      Buffer.from([0x82, 0x04, 1, 2, 3, 4]),
      Buffer.from([0x8b, 0x80, 0, 0, 0, 0]),
      Buffer.concat([Buffer.from([0x82, 0xff]), Buffer.alloc(8, 0x7f), Buffer.alloc(4)]),
      Buffer.concat([Buffer.from([0x89, 0xfe, 0xff, 0xff]), Buffer.alloc(4)]),
    ]) {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => undefined)
      const closed = once(socket, 'close')
      socket.write(head)
      await once(socket, 'data')
      socket.write(bytes)
      socket.resume()
      await closed
    }
    await isServed()
  })

  it('and floods it with headers is sent away', async () => {
    await another()
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    const said: Buffer[] = []
    socket.on('data', (part: Buffer) => said.push(part))
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.write(`GET / HTTP/1.1\r\nhost: x\r\n`)
    for (let n = 0; n < 200; n++) socket.write(`x-${n}: ${'x'.repeat(1_000)}\r\n`)
    await closed
    expect(Buffer.concat(said).toString()).toMatch(/^(HTTP\/1\.1 431|$)/)
    await isServed()
  })

  it('and says nothing, or not who they are, keeps nobody out and does not stay', async () => {
    const silent = await Promise.all(Array.from({ length: 50 }, opened))
    // More than are let in at once: each holds their turn, and does not prove who they are.
    const idle = await Promise.all(Array.from({ length: 400 }, opened))
    for (const socket of idle) socket.send(JSON.stringify({ edge_id: hostileId, nonce }))
    await another()
    await vi.waitFor(() => expect([...silent, ...idle].every(({ readyState }) => readyState === WebSocket.CLOSED)).toBe(true), { interval: 50 })
    await isServed()
  })

  it('and plays back what an agent said before is not that agent', async () => {
    const first = await opened()
    const proof = proofOf(await greeted(first))
    first.send(proof)
    await isConnected(hostileId, true)
    first.terminate()
    await isConnected(hostileId, false)
    const socket = await opened()
    await greeted(socket)
    const closed = once(socket, 'close')
    socket.send(proof)
    expect((await closed)[0]).toBe(tunnelCloses.refused)
    expect(tunnels.connected(hostileId)).toBe(false)
  })

  it("and signs the server's text for themselves, or for another node, is nobody", async () => {
    for (const text of [
      (theirs: string) => `zhisuan tunnel: the server\n${hostileId}\n${nonce}\n${theirs}`,
      (theirs: string) => agentText(otherId, nonce, theirs),
    ]) {
      const socket = await opened()
      const theirs = await greeted(socket)
      const closed = once(socket, 'close')
      socket.send(JSON.stringify({ signature: signText(hostileKey, text(theirs)), version: '1.2.3' }))
      expect((await closed)[0]).toBe(tunnelCloses.refused)
    }
  })
})

describe('an enrolled agent that means harm', () => {
  it.each<[string, readonly Buffer[]]>([
    ['what is no HTTP/2', [Buffer.from('HTTP/1.1 200 OK\r\n\r\n')]],
    ['noise', [Buffer.alloc(100_000, 0xa5)]],
    ['a frame longer than was agreed', [frame(settings, 0, 0), frame(data, 0, 1, Buffer.alloc(70_000))]],
    ['settings that are none', [frame(settings, 0, 0, Buffer.alloc(5))]],
    ['a window that is too large', [frame(settings, 0, 0), many(4, () => frame(windowUpdate, 0, 0, number(0x7fffffff)))]],
    ['a push', [frame(settings, 0, 0), frame(headers, endHeaders, 1, ok), frame(push, endHeaders, 1, Buffer.concat([number(2), ok]))]],
    ['headers that cannot be read', [frame(settings, 0, 0), frame(headers, endHeaders | endStream, 1, Buffer.alloc(64, 0xff))]],
    ['headers that never end', [frame(settings, 0, 0), frame(headers, 0, 1, ok), many(2_000, () => frame(continuation, 0, 1, field(1_000)))]],
    ['more than it was given room for', [frame(settings, 0, 0), frame(headers, endHeaders, 1, ok), many(1_024, () => frame(data, 0, 1, Buffer.alloc(16_384)))]],
    ['an answer to what was not asked', [frame(settings, 0, 0), frame(headers, endHeaders | endStream, 4, ok)]],
    ['data of a stream that there never was', [frame(settings, 0, 0), frame(data, 0, 99, Buffer.alloc(10))]],
    ['that it goes away', [frame(settings, 0, 0), frame(goaway, 0, 0, Buffer.alloc(8))]],
  ])('by saying %s ends its own connection only', async (_, said) => {
    await another()
    const socket = await hostile()
    // Stream 1: something is asked, so that there is something to be answered; nobody reads the answer.
    const asked = tunnels
      .to(hostileId)
      .request({ path: '/', timeoutMs: 5_000 })
      .then(
        ({ stream }) => stream.on('error', () => undefined),
        () => undefined,
      )
    for (const part of said) for (let at = 0; at < part.length; at += 60_000) socket.send(part.subarray(at, at + 60_000))
    await isConnected(hostileId, false)
    await asked
    await isServed()
  })

  it.each<[string, (index: number) => Buffer]>([
    ['pings', (index) => frame(ping, 0, 0, Buffer.concat([number(index), number(0)]))],
    ['settings', () => frame(settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100]))],
    ['answers to pings that were none', (index) => frame(ping, ack, 0, Buffer.concat([number(index), number(0)]))],
    ['empty data', () => frame(data, 0, 1)],
    ['resets', () => frame(rst, 0, 1, number(8))],
    ['answers over and over', () => frame(headers, endHeaders, 1, ok)],
  ])('by a flood of %s keeps nobody else from being served', async (_, one) => {
    await another()
    const socket = await hostile()
    const asked = tunnels
      .to(hostileId)
      .request({ path: '/', timeoutMs: 5_000 })
      .then(
        ({ stream }) => stream.on('error', () => undefined),
        () => undefined,
      )
    socket.send(frame(settings, 0, 0))
    socket.send(frame(headers, endHeaders, 1, ok))
    const flood = many(3_000, one)
    // It does not read what the server answers.
    socket.pause()
    for (let n = 0; n < 50 && socket.readyState === WebSocket.OPEN; n++) {
      socket.send(flood)
      if (n % 10 === 0) await isServed()
    }
    await isServed()
    socket.terminate()
    await isConnected(hostileId, false)
    await asked
    await isServed()
  })

  it.each<[string, (socket: WebSocket) => void]>([
    ['a message that is too long', (socket) => socket.send(Buffer.alloc(tunnelMaxPayload + 1))],
    ['text', (socket) => socket.send('PRI * HTTP/2.0')],
  ])('by %s ends its own connection only', async (_, speak) => {
    await another()
    speak(await hostile())
    await isConnected(hostileId, false)
    await isServed()
  })

  it('cannot end the server by leaving off in the middle of headers', async () => {
    await another()
    let kept = 0
    for (let n = 0; n < 40; n++) {
      const socket = await hostile()
      const asked = tunnels
        .to(hostileId)
        .request({ path: '/', timeoutMs: 5_000 })
        .catch(() => undefined)
      for (const part of [frame(settings, 0, 0), frame(headers, 0, 1, ok), many(50, () => frame(continuation, 0, 1, field(1_000)))]) socket.send(part)
      await isConnected(hostileId, false)
      await asked
      await vi.waitFor(() => expect(keptHandles()).toBeGreaterThan(0))
      kept += keptHandles()
      if (n % 10 === 9) collectGarbage()
    }
    expect(kept).toBeGreaterThan(40)
    // What was kept goes with the collections of garbage, and is not kept for ever.
    await vi.waitFor(
      () => {
        collectGarbage()
        expect(keptHandles()).toBe(0)
      },
      { interval: 100 },
    )
    // Collections of much garbage take long: meanwhile its tunnel may have been given up, and it comes back.
    await isConnected(otherId, true)
    await isServed()
  })

  it('and declares less than it sends has not answered', async () => {
    await another()
    const socket = await hostile()
    const asked = expect(tunnels.to(hostileId).json(z.unknown(), { path: '/', timeoutMs: 5_000 })).rejects.toMatchObject({ kind: 'offline' })
    socket.send(frame(settings, 0, 0))
    // `content-length: 1` (28 of HPACK's table), and two bytes.
    socket.send(frame(headers, endHeaders, 1, Buffer.concat([ok, Buffer.from([0x0f, 0x0d, 1, 0x31])])))
    socket.send(frame(data, endStream, 1, Buffer.from('{}')))
    await asked
    await isServed()
  })

  it('and never reads what it is sent is not waited for, and not remembered for', async () => {
    await another()
    const socket = await hostile()
    socket.send(frame(settings, 0, 0))
    socket.pause()
    const body = Buffer.alloc(2 ** 20)
    await Promise.all(
      Array.from({ length: 20 }, () =>
        expect(tunnels.to(hostileId).request({ method: 'POST', path: '/', body, timeoutMs: 500 })).rejects.toMatchObject({ kind: 'unanswered' }),
      ),
    )
    await isServed()
    // It does not answer whether it is there.
    await isConnected(hostileId, false)
  })
})
