import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { parseChallenge } from './challenge.ts'
import { createRegistry } from './client.ts'
import { RegistrySlow, retryAfterMs } from './errors.ts'
import { parseManifest } from './manifest.ts'

describe('what a registry asks for', () => {
  it.each([
    ['Basic realm="x"', { scheme: 'basic' }],
    ['Bearer realm="https://t.example/token",service="r",scope="a,b"', { scheme: 'bearer', realm: 'https://t.example/token', service: 'r' }],
    ['bearer realm=https://t.example/token', { scheme: 'bearer', realm: 'https://t.example/token', service: null }],
    ['Bearer service="r"', null],
    ['Negotiate', null],
    [undefined, null],
  ])('%s', (header, challenge) => expect(parseChallenge(header)).toEqual(challenge))

  it('to come again is told in seconds or as a date, an hour at most', () => {
    expect(retryAfterMs('7')).toBe(7_000)
    expect(retryAfterMs('Thu, 01 Jan 1970 00:00:30 GMT', 0)).toBe(30_000)
    expect(retryAfterMs(undefined)).toBe(60_000)
    expect(retryAfterMs('999999')).toBe(3_600_000)
    expect(retryAfterMs('soon')).toBe(60_000)
  })
})

describe('a manifest', () => {
  it.each([
    ['is no JSON', '{'],
    ['has more values than any that is made', JSON.stringify({ annotations: Object.fromEntries(Array.from({ length: 12_000 }, (_, n) => [`k${n}`, ''])) })],
    ['is a list', '[]'],
    ['is of the first schema', '{"schemaVersion":1}'],
    ['is larger than any', JSON.stringify({ schemaVersion: 2, manifests: [], more: 'x'.repeat(4 * 2 ** 20) })],
    ['names no digest', '{"schemaVersion":2,"manifests":[{"digest":"../../etc/passwd","size":1}]}'],
  ])('that %s is refused', (_, text) => expect(() => parseManifest(Buffer.from(text))).toThrow())
})

describe('a registry in front of which something stands', () => {
  const ends: (() => void)[] = []
  afterEach(() => ends.splice(0).forEach((end) => end()))
  const serve = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    ends.push(
      () => server.closeAllConnections(),
      () => server.close(),
    )
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('gets a token of its own service, for the account and for what is asked, once for a while', async () => {
    const asked: string[] = []
    const url = await serve((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      if (request.url?.startsWith('/token') === true) {
        if (request.headers.authorization !== `Basic ${Buffer.from('me:secret').toString('base64')}`) return response.writeHead(401).end()
        return response.end('{"token":"t1"}')
      }
      if (request.headers.authorization !== 'Bearer t1')
        return response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${request.headers.host}/token",service="r"` }).end()
      return response.end('{"tags":["a"]}')
    })
    const registry = createRegistry({ url, credentials: { kind: 'account', username: 'me', password: 'secret' } })
    expect((await registry.tags('x/y')).items).toEqual(['a'])
    expect((await registry.tags('x/y')).items).toEqual(['a'])
    expect(asked).toEqual([
      'GET /v2/x/y/tags/list?n=1000',
      'GET /token?service=r&scope=repository%3Ax%2Fy%3Apull',
      'GET /v2/x/y/tags/list?n=1000',
      'GET /v2/x/y/tags/list?n=1000',
    ])
    const other = createRegistry({ url, credentials: { kind: 'account', username: 'me', password: 'wrong' } })
    await expect(other.tags('x/y')).rejects.toMatchObject({ kind: 'unauthorized' })
    await Promise.all([registry.close(), other.close()])
  })

  it('may answer so many names at once, and no more values than that', async () => {
    const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `v${n}`)
    const answers: Record<string, unknown> = { many: names(200_000), 'too-many': names(300_000), nested: names(300_000).map(() => []) }
    const url = await serve((request, response) => {
      response.end(JSON.stringify({ tags: answers[request.url?.split('/')[2] ?? ''] }))
    })
    const registry = createRegistry({ url, credentials: { kind: 'none' } })
    expect((await registry.tags('many')).items).toHaveLength(200_000)
    for (const name of ['too-many', 'nested']) await expect(registry.tags(name)).rejects.toMatchObject({ kind: 'bad_answer' })
    await registry.close()
  })

  it('that has been asked too much says when to come again', async () => {
    const url = await serve((_, response) =>
      response.writeHead(429, { 'retry-after': '12' }).end('{"errors":[{"code":"TOOMANYREQUESTS","message":"slow down"}]}'),
    )
    const registry = createRegistry({ url, credentials: { kind: 'none' } })
    const error: unknown = await registry.tags('x').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RegistrySlow)
    expect(error).toMatchObject({ kind: 'busy', retryAfterMs: 12_000, message: expect.stringContaining('slow down') as string })
    await registry.close()
  })

  it('is not followed elsewhere with what it was given', async () => {
    const url = await serve((_, response) => response.setHeader('link', '<http://169.254.169.254/v2/_catalog>; rel="next"').end('{"repositories":[]}'))
    const registry = createRegistry({ url, credentials: { kind: 'none' } })
    const all = async () => {
      for await (const page of registry.repositories()) expect(page).toEqual([])
    }
    await expect(all()).rejects.toMatchObject({ kind: 'bad_answer' })
    await registry.close()
  })
})
