import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { errors } from '@zhisuan/contract/errors'
import fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { answerProblems } from './problems.ts'
import { bodyPace, createSlowBodies } from './slow.ts'
import { answerUnparsed, unparsed } from './unparsed.ts'

let app: FastifyInstance
let port: number
let now: number
let slow: ReturnType<typeof createSlowBodies>
/** As the server has it. */
let newest: IncomingMessage | undefined
const arrived = (): number => newest?.socket.bytesRead ?? 0
beforeEach(async () => {
  now = 0
  newest = undefined
  slow = createSlowBodies(() => now)
  app = fastify({ bodyLimit: 1e9, forceCloseConnections: true, ...unparsed, http: { ...unparsed.http, headersTimeout: 100, connectionsCheckingInterval: 20 } })
  answerProblems(app, async () => undefined)
  answerUnparsed(app)
  app.addHook('onRequest', async (request, reply) => {
    newest = request.raw
    slow.watch(request, reply)
  })
  app.post('/json', async ({ body }) => body)
  app.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload))
  app.put<{ Body: AsyncIterable<Buffer> }>('/upload', async ({ body }) => {
    let bytes = 0
    for await (const chunk of body) bytes += chunk.length
    return { bytes }
  })
  app.put('/never', () => new Promise(() => undefined))
  await app.listen({ host: '127.0.0.1', port: 0 })
  ;({ port } = app.server.address() as AddressInfo)
})
afterEach(() => app.close())

async function begin(...lines: string[]): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return socket
}
const answerOf = async (socket: Socket): Promise<{ status: number; head: string; body: unknown }> => {
  const whole = await text(socket)
  const [head = '', body = ''] = whole.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head, body: JSON.parse(body) as unknown }
}
const refusal = (name: keyof typeof errors) => ({ code: errors[name].code, message: errors[name].text, request_id: expect.any(String) as string })
/** Writes, and waits for the server to have it. */
const bring = async (socket: Socket, bytes: number): Promise<void> => {
  const before = arrived()
  socket.write(Buffer.alloc(bytes, 0x20))
  await vi.waitFor(() => expect(arrived() - before).toBeGreaterThanOrEqual(bytes), 5000)
}

it.each(['/json', '/upload'])('a body to %s that comes a byte at a time is ended', async (path) => {
  const type = path === '/json' ? 'application/json' : 'application/octet-stream'
  const socket = await begin(`${path === '/json' ? 'POST' : 'PUT'} ${path} HTTP/1.1`, 'host: x', `content-type: ${type}`, 'content-length: 1000000')
  await vi.waitFor(() => expect(arrived()).toBeGreaterThan(0))
  const answer = answerOf(socket)
  for (let at = 4_000; at < bodyPace.spanMs; at += 4_000) {
    await bring(socket, 1)
    now = at
    slow.look()
    expect(socket.closed).toBe(false)
  }
  now = bodyPace.spanMs
  slow.look()
  expect(await answer).toMatchObject({ status: 408, body: refusal('requestTooSlow'), head: expect.stringContaining('connection: close') as string })
})

it('one that keeps its pace takes as long as it likes', async () => {
  const spans = 20
  const socket = await begin(
    'PUT /upload HTTP/1.1',
    'host: x',
    'connection: close',
    'content-type: application/octet-stream',
    `content-length: ${spans * bodyPace.bytes}`,
  )
  await vi.waitFor(() => expect(arrived()).toBeGreaterThan(0))
  const answer = answerOf(socket)
  for (let span = 0; span < spans; span++) {
    await bring(socket, bodyPace.bytes)
    now += bodyPace.spanMs
    slow.look()
  }
  expect(await answer).toMatchObject({ status: 200, body: { bytes: spans * bodyPace.bytes } })
})

it('one that we do not read waits for us', async () => {
  const socket = await begin('PUT /never HTTP/1.1', 'host: x', 'content-type: application/octet-stream', 'content-length: 100000000')
  await vi.waitFor(() => expect(arrived()).toBeGreaterThan(0))
  socket.write(Buffer.alloc(1_000_000))
  await vi.waitFor(() => expect(newest?.readableLength).toBeGreaterThanOrEqual(newest?.readableHighWaterMark ?? 0), 5000)
  slow.look()
  for (let span = 0; span < 3; span++) {
    now += bodyPace.spanMs
    slow.look()
  }
  expect(socket.closed).toBe(false)
  socket.destroy()
})

it.each([
  ['headers that never end', ['GET / HTTP/1.1', 'host: x', 'x-a: b'].join('\r\n'), 'requestTooSlow'],
  ['headers that are too large', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`, 'headersTooLarge'],
  ['what is no HTTP', 'hello\r\n\r\n', 'requestInvalid'],
  ['no host', 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n', 'requestInvalid'],
  ['an expectation', 'GET / HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n', 'requestInvalid'],
  ['a path that cannot be read', 'GET /%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 'requestInvalid'],
] as const)('%s is answered as all else is refused', async (_, bytes, name) => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(bytes)
  expect(await answerOf(socket)).toMatchObject({ status: errors[name].status, body: refusal(name) })
})
