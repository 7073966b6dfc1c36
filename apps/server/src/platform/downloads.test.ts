import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { errors } from '@zhisuan/contract/errors'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createClock, type Clock } from '../testing/app.ts'
import { createDownloads, fileDownload } from './downloads.ts'
import { heldMax } from './held.ts'
import { answerProblems } from './http/problems.ts'
import { createSecrets } from './secrets.ts'

const secrets = createSecrets(Buffer.alloc(32, 1))
const me = { user_id: 'me' }
const content = Buffer.from('0123456789')
let folder: string
let file: string
let app: FastifyInstance
let clock: Clock
let downloads: ReturnType<typeof createDownloads>

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'zhisuan-downloads-'))
  file = join(folder, 'file')
  writeFileSync(file, content)
  clock = createClock()
  app = fastify({ routerOptions: { maxParamLength: 2048 } })
  answerProblems(app, async () => undefined)
  downloads = createDownloads({ secrets, now: clock.now })
  downloads.offer('backup', async (id) => (id === 'mine' ? fileDownload(file, { name: '数据 "1" (β).tar', etag: 'abc' }) : null))
  downloads.serve(app)
})
afterEach(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })

it('gives the file under its own name, to whoever has the link', async () => {
  const { path, expires_at } = downloads.link('backup', 'mine', me)
  expect(Date.parse(expires_at) - clock.now().getTime()).toBeGreaterThan(9 * 60_000)
  const answer = await get(path)
  expect(answer.statusCode).toBe(200)
  expect(answer.rawPayload).toEqual(content)
  expect(answer.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-length': '10',
    'content-disposition': `attachment; filename="__ _1_ (_).tar"; filename*=UTF-8''%E6%95%B0%E6%8D%AE%20%221%22%20%28%CE%B2%29.tar`,
    'cache-control': 'private, no-store',
    'accept-ranges': 'bytes',
    etag: '"abc"',
  })
})

it.each([
  ['bytes=0-3', '0123', 'bytes 0-3/10'],
  ['bytes=4-', '456789', 'bytes 4-9/10'],
  ['bytes=-3', '789', 'bytes 7-9/10'],
  ['bytes=8-100', '89', 'bytes 8-9/10'],
  ['bytes=-100', '0123456789', 'bytes 0-9/10'],
])('gives the part %s', async (range, part, contentRange) => {
  const answer = await get(downloads.link('backup', 'mine', me).path, { range, 'if-range': '"abc"' })
  expect(answer.statusCode).toBe(206)
  expect(answer.body).toBe(part)
  expect(answer.headers).toMatchObject({ 'content-range': contentRange, 'content-length': String(part.length) })
})

it.each(['bytes=10-', 'bytes=-0'])('has nothing at %s', async (range) => {
  const answer = await get(downloads.link('backup', 'mine', me).path, { range })
  expect(answer.statusCode).toBe(416)
  expect(answer.headers['content-range']).toBe('bytes */10')
})

it.each([
  ['of several parts', { range: 'bytes=0-1,4-5' }],
  ['that goes backwards', { range: 'bytes=5-2' }],
  ['of other bytes than there are now', { range: 'bytes=4-', 'if-range': '"other"' }],
])('gives the whole for a range %s', async (_, headers) => {
  const answer = await get(downloads.link('backup', 'mine', me).path, headers)
  expect([answer.statusCode, answer.body]).toEqual([200, '0123456789'])
})

it('refuses links that are too old, altered, of another key, or of what is gone', async () => {
  const { path } = downloads.link('backup', 'mine', me)
  const altered = `${path.slice(0, -4)}${path.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
  const other = createDownloads({ secrets: createSecrets(Buffer.alloc(32, 2)), now: clock.now }).link('backup', 'mine', me).path
  for (const wrong of [altered, other, '/api/downloads/x', downloads.link('backup', 'other', me).path, downloads.link('image', 'mine', me).path]) {
    const answer = await get(wrong)
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({ code: 90020 })
  }
  expect((await get(path)).statusCode).toBe(200)
  clock.advance(600_001)
  expect((await get(path)).json()).toMatchObject({ code: 90020 })
})

it('refuses a file that is gone', async () => {
  rmSync(file)
  expect((await get(downloads.link('backup', 'mine', me).path)).statusCode).toBe(404)
})

it('sends what has no known length whole, and ends what flows when the server stops', async () => {
  downloads.offer('stream', async () => ({ name: 'a', size: null, open: () => Readable.from([content]) }))
  const whole = await get(downloads.link('stream', '1', me).path, { range: 'bytes=1-2' })
  expect([whole.statusCode, whole.body, whole.headers['accept-ranges']]).toEqual([200, '0123456789', undefined])

  const endless = new PassThrough()
  downloads.offer('endless', async () => ({ name: 'b', size: null, open: () => endless }))
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  endless.write('x')
  const { body } = await fetch(`${url}${downloads.link('endless', '1', me).path}`)
  await body?.getReader().read()
  await app.close()
  await vi.waitFor(() => expect(endless.destroyed).toBe(true))
})

it('is offered once for each kind', () => {
  expect(() => downloads.offer('backup', async () => null)).toThrow('twice')
})

it('holds so many open for one person, and none more of another for that; who leaves makes room at once', async () => {
  downloads.offer('endless', async () => ({
    name: 'x',
    size: null,
    open: () => {
      const bytes = new PassThrough()
      bytes.write('x')
      return bytes
    },
  }))
  const url = await app.listen()
  const begin = async (user_id: string) => {
    const leaving = new AbortController()
    const { promise: begun, resolve } = Promise.withResolvers<number>()
    const { path } = downloads.link('endless', '1', { user_id })
    const asked = request(`${url}${path}`, { signal: leaving.signal }, (response) => {
      response.on('error', () => undefined).resume()
      resolve(response.statusCode ?? 0)
    })
    asked.on('error', () => undefined).end()
    return { status: await begun, leave: () => leaving.abort() }
  }
  const mine = await Promise.all(Array.from({ length: heldMax.streams }, () => begin('me')))
  expect(mine.map(({ status }) => status)).toEqual(mine.map(() => 200))
  const { path } = downloads.link('endless', '1', me)
  const refusal = await get(path)
  expect(refusal.json()).toMatchObject({ code: errors.streamsExceeded.code, message: expect.stringContaining('32') as string })
  expect(refusal.statusCode).toBe(429)
  const other = await begin('other')
  expect(other.status).toBe(200)
  mine[0]?.leave()
  const again = await vi.waitFor(async () => {
    const one = await begin('me')
    expect(one.status).toBe(200)
    return one
  })
  for (const { leave } of [...mine, other, again]) leave()
})

it('holds so many open for one address of whom nobody knows, none less for another, and so many for all of them', () => {
  const raw = new EventEmitter().setMaxListeners(0)
  // Nothing else of them is looked at.
  const from = (ip: string): void => downloads.hold(null, { ip } as FastifyRequest, { raw } as unknown as FastifyReply)
  const fill = (ip: string): void => Array.from({ length: heldMax.streams }).forEach(() => from(ip))
  const full = (refusal: string) => expect.objectContaining({ refusal }) as Error
  fill('192.0.2.1')
  expect(() => from('192.0.2.1')).toThrow(full('streamsExceeded'))
  // What one customer is given of IPv6 is one.
  fill('2001:db8::1')
  expect(() => from('2001:db8:0:0:ffff::2')).toThrow(full('streamsExceeded'))
  for (let other = 2; other < heldMax.visitors / heldMax.streams; other++) fill(`192.0.2.${other}`)
  expect(() => from('198.51.100.1')).toThrow(full('tooMuchAtOnce'))
  raw.emit('close')
  from('198.51.100.1')
})
