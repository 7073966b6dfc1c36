import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { constants } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { hello, serverText, tunnelCloses } from '@zhisuan/contract/agent/tunnel'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocketServer, type RawData, type WebSocket } from 'ws'
import { newPrivateKey } from './identity.ts'
import { keepTunnel } from './tunnel.ts'

const edgeId = '01900000-0000-7000-8000-000000000001'
const theirs = 'B'.repeat(43)
const { privateKey } = generateKeyPairSync('ed25519')
const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64url')
/** The beginning of HTTP/2, and a request for `/v1/reboot`, as bytes: RFC 9113, 3.4 and RFC 7541, C.4. */
const request = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
  Buffer.from([0, 0, 17, 1, 5, 0, 0, 0, 1, 0x83, 0x86, 0x04, 10, ...Buffer.from('/v1/reboot'), 0x41, 1, 0x78]),
])

let http: Server
let url: string
let stop: AbortController
/** What the server does with whoever dials. */
let serve: (socket: WebSocket, next: () => Promise<string>) => Promise<void>
const asked: string[] = []
const said: string[] = []

beforeEach(async () => {
  asked.length = 0
  said.length = 0
  http = createServer()
  new WebSocketServer({ server: http }).on('connection', (socket) => {
    socket.on('error', () => undefined)
    void serve(socket, async () => String(((await once(socket, 'message')) as [RawData])[0])).catch(() => undefined)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  stop = new AbortController()
})
afterEach(() => {
  stop.abort()
  http.closeAllConnections()
  http.close()
})

const dial = (): void =>
  void keepTunnel({
    edgeId,
    privateKey: newPrivateKey(),
    server: { url, public_key: publicKey },
    version: '1.2.3',
    signal: stop.signal,
    say: (line) => said.push(line),
    handler: ({ url: path, stream }) => {
      asked.push(path)
      stream.respond({ [constants.HTTP2_HEADER_STATUS]: 200 }, { endStream: true })
    },
  })
const challengeFor = (text: string): string => {
  const { edge_id, nonce } = hello.parse(JSON.parse(text))
  return JSON.stringify({ nonce: theirs, signature: sign(null, Buffer.from(serverText(edge_id, nonce, theirs)), privateKey).toString('base64url') })
}
const shows = (text: string) => vi.waitFor(() => expect(said.join()).toContain(text), { interval: 10 })

describe('an agent', () => {
  it('answers its server, once that has proved who it is', async () => {
    serve = async (socket, next) => {
      socket.send(challengeFor(await next()))
      await next()
      socket.send(JSON.stringify({ welcome: true }))
      socket.send(request)
    }
    dial()
    await vi.waitFor(() => expect(asked).toEqual(['/v1/reboot']), { interval: 10 })
  })

  it.each([0, 1, 2, 3, 4, 6, 8])('hears that it is sent away %i ms after it was welcomed', async (ms) => {
    serve = async (socket, next) => {
      socket.send(challengeFor(await next()))
      await next()
      socket.send(JSON.stringify({ welcome: true }))
      setTimeout(() => socket.close(tunnelCloses.refused), ms)
    }
    dial()
    await shows('does not know this node')
  })

  it.each<[string, (socket: WebSocket, next: () => Promise<string>) => Promise<void>]>([
    ['at once', async (socket) => socket.send(request)],
    [
      'before the challenge',
      async (socket, next) => {
        const text = await next()
        socket.send(request)
        socket.send(challengeFor(text))
        socket.send(JSON.stringify({ welcome: true }))
      },
    ],
    [
      'before the welcome',
      async (socket, next) => {
        socket.send(challengeFor(await next()))
        await next()
        socket.send(request)
        socket.send(JSON.stringify({ welcome: true }))
      },
    ],
  ])('answers nothing that is asked %s', async (_, how) => {
    const closed: Promise<unknown>[] = []
    serve = async (socket, next) => {
      closed.push(once(socket, 'close'))
      await how(socket, next)
    }
    dial()
    await shows('the server speaks out of turn')
    await closed[0]
    expect(asked).toEqual([])
  })

  it.each<[string, (text: string) => string, string]>([
    [
      'a signature of another key',
      (text) => challengeFor(text.replace(edgeId, '01900000-0000-7000-8000-000000000002')),
      'not the server that the node was enrolled at',
    ],
    [
      'a challenge that was played back',
      () => challengeFor(JSON.stringify({ edge_id: edgeId, nonce: 'C'.repeat(43) })),
      'not the server that the node was enrolled at',
    ],
    ['no challenge', () => JSON.stringify({ welcome: true }), 'nonce'],
    ['no JSON', () => '{', 'JSON'],
  ])('tells nothing to a server with %s', async (_, answer, why) => {
    const heard: string[] = []
    serve = async (socket, next) => {
      const text = await next()
      socket.on('message', (data: RawData) => heard.push(String(data)))
      socket.send(answer(text))
    }
    dial()
    await shows(why)
    expect(heard).toEqual([])
  })
})
