import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { failure, startFake, sync, type FakeLxd } from './fake.ts'
import { createTransport, type Transport } from './transport.ts'

let fake: FakeLxd
let transport: Transport
beforeEach(async () => {
  fake = await startFake()
  transport = createTransport({ socketPath: fake.socketPath })
})
afterEach(async () => {
  await transport.close()
  await fake.close()
})

const mib = 2 ** 20
const file = { 'content-type': 'application/octet-stream' }

describe('a stream', () => {
  /** Answers with bytes without end, as fast as they are taken. */
  const endless = () => {
    const seen = { sent: 0, closed: false }
    fake.on('GET /file', (response) => {
      response.writeHead(200, file)
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(mib))) seen.sent += mib
        seen.sent += mib
      }
      response.on('drain', more)
      response.on('close', () => {
        seen.closed = true
      })
      more()
    })
    return seen
  }

  it('comes whole, with its headers', async () => {
    fake.on('GET /file', (response) => void response.writeHead(200, { ...file, 'x-about': 'it' }).end(Buffer.alloc(3 * mib, 'x')))
    const { headers, body } = await transport.stream('/file')
    expect(headers['x-about']).toBe('it')
    expect((await buffer(body)).equals(Buffer.alloc(3 * mib, 'x'))).toBe(true)
  })
  it('comes no faster than it is read', async () => {
    const seen = endless()
    const { body } = await transport.stream('/file')
    const steady = async () => {
      const { sent } = seen
      await new Promise((resolve) => setTimeout(resolve, 100))
      return seen.sent === sent
    }
    await expect.poll(steady).toBe(true)
    expect(seen.sent).toBeLessThan(16 * mib)
    const before = seen.sent
    let read = 0
    for await (const part of body as AsyncIterable<Buffer>) if ((read += part.length) > 32 * mib) break
    expect(seen.sent).toBeGreaterThan(before)
  })
  it.each(['destroyed before it is read', 'destroyed while it waits for more', 'left in the middle', 'aborted', 'closed with the transport'])(
    '%s closes its connection',
    async (how) => {
      const seen = endless()
      if (how === 'destroyed while it waits for more') {
        fake.on('GET /file', (response) => {
          response.writeHead(200, file).write('begun')
          response.on('close', () => {
            seen.closed = true
          })
        })
      }
      const controller = new AbortController()
      const { body } = await transport.stream('/file', { signal: controller.signal })
      if (how.startsWith('destroyed')) {
        if (how.endsWith('more')) body.read()
        body.destroy()
      } else if (how === 'left in the middle') {
        for await (const _ of body) break
      } else {
        const cancelled = expect(buffer(body)).rejects.toMatchObject({ kind: 'cancelled' })
        if (how === 'aborted') controller.abort()
        else await transport.close()
        await cancelled
      }
      await expect.poll(() => seen.closed).toBe(true)
    },
  )
  it('that falls silent is unreachable, unless it is the reader who rests', async () => {
    fake.on('GET /file', (response) => void response.writeHead(200, file).write('begun'))
    const { body } = await transport.stream('/file', { timeoutMs: 50 })
    await expect(buffer(body)).rejects.toMatchObject({ kind: 'unreachable' })
  })
  it('that breaks off is unreachable', async () => {
    fake.on('GET /file', (response) => {
      response.writeHead(200, { ...file, 'content-length': '100' })
      response.write('half', () => response.destroy())
    })
    const { body } = await transport.stream('/file')
    await expect(buffer(body)).rejects.toMatchObject({ kind: 'unreachable' })
  })
  it.each<[string, Parameters<FakeLxd['on']>[1], string]>([
    ['an error', failure(404, 'Backup not found'), 'not_found'],
    ['an answer', sync({}), 'bad_answer'],
    ['a web page', { text: '<html>' }, 'bad_answer'],
    ['a proxy’s 502', { status: 502, text: '<html>' }, 'unreachable'],
    ['a closed connection', (response) => void response.destroy(), 'unreachable'],
  ])('is not %s', async (_, reply, kind) => {
    fake.on('GET /file', reply)
    await expect(transport.stream('/file')).rejects.toMatchObject({ kind })
  })
})

describe('an upload', () => {
  const send = (content: Readable, signal?: AbortSignal) => transport.ask('/file', { method: 'POST', raw: { content, headers: file }, signal })

  it('goes whole, as it comes', async () => {
    fake.on('POST /file', sync({}))
    await send(Readable.from(Array.from({ length: 30 }, () => Buffer.alloc(100_000, 'y'))))
    expect(fake.last('POST', '/file').body.equals(Buffer.alloc(3_000_000, 'y'))).toBe(true)
  })
  it('that breaks off says so, and is no whole one for the server', async () => {
    fake.on('POST /file', sync({}))
    const content = new PassThrough()
    content.write(Buffer.alloc(1000), () => content.destroy(new Error('the line was cut')))
    await expect(send(content)).rejects.toMatchObject({ kind: 'invalid', message: expect.stringContaining('the line was cut') })
    expect(fake.seen).toEqual([])
  })
  it('that ends without an end says so', async () => {
    const content = new PassThrough()
    content.write(Buffer.alloc(1000), () => content.destroy())
    await expect(send(content)).rejects.toMatchObject({ kind: 'invalid' })
  })
  it('is destroyed whatever becomes of it', async () => {
    const refused = new PassThrough()
    refused.write('begun')
    const none = createTransport({ socketPath: `${fake.socketPath}.none` })
    await expect(none.ask('/file', { method: 'POST', raw: { content: refused, headers: file } })).rejects.toMatchObject({ kind: 'unreachable' })
    expect(refused.destroyed).toBe(true)
    await none.close()
    const aborted = new PassThrough()
    aborted.write('begun')
    const controller = new AbortController()
    const call = send(aborted, controller.signal)
    controller.abort()
    await expect(call).rejects.toMatchObject({ kind: 'cancelled' })
    expect(aborted.destroyed).toBe(true)
  })
})

it('says how an object was read, and changes it only as it was', async () => {
  fake.on('GET /object', { text: JSON.stringify({ type: 'sync', metadata: {} }), headers: { etag: 'abc' } })
  const { etag } = await transport.ask('/object')
  expect(etag).toBe('abc')
  fake.on('PUT /object', failure(412, "ETag doesn't match"))
  await expect(transport.ask('/object', { method: 'PUT', body: {}, ifMatch: etag })).rejects.toMatchObject({ kind: 'busy' })
  expect(fake.last('PUT', '/object').headers['if-match']).toBe('abc')
})
