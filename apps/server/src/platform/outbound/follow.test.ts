import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOutboundGuard } from './guard.ts'
import { finalAddress } from './follow.ts'

describe('the address that somebody else is told to fetch from', () => {
  const asked: string[] = []
  let from = ''
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const to: Record<string, string> = {
      '/a': '/b',
      '/b': `${from}/file?sign=1`,
      '/metadata': 'http://169.254.169.254/latest',
      '/name': 'http://localhost:1/x',
      '/round': '/round',
      '/file-scheme': 'file:///etc/passwd',
    }
    const location = to[request.url ?? '']
    if (location !== undefined) return response.writeHead(302, { location }).end()
    if (request.url === '/gone') return response.writeHead(404).end()
    // Without end: nobody reads it.
    response.writeHead(200, { 'content-length': 2 ** 30 }).write(Buffer.alloc(2 ** 16))
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.7', resolve))
    from = `http://127.0.0.7:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  beforeEach(() => {
    asked.length = 0
  })
  const guard = createOutboundGuard({ allow: ['127.0.0.7'], publicUrl: undefined })

  it('is the last one of all redirects, of whose file nothing is read', async () => {
    expect(await finalAddress(`${from}/a`, guard)).toBe(`${from}/file?sign=1`)
    expect(asked).toEqual(['GET /a', 'GET /b', 'GET /file?sign=1'])
  })

  it.each(['/metadata', '/name', '/file-scheme'])('leads nowhere inside, whoever says so: %s', async (path) => {
    await expect(finalAddress(from + path, guard)).rejects.toMatchObject({ refusal: 'imageAddressForbidden', fields: [{ field: 'url' }] })
  })

  it('is refused where nobody answers to its name, where nothing is there, and where it goes round in circles', async () => {
    await expect(finalAddress('http://nothing.invalid/x', guard)).rejects.toMatchObject({
      refusal: 'imageFetchFailed',
      values: { reason: '域名无法解析' },
      fields: [{ field: 'url' }],
    })
    await expect(finalAddress(`${from}/gone`, guard)).rejects.toMatchObject({ refusal: 'imageFetchFailed', values: { reason: '对方返回HTTP 404' } })
    await expect(finalAddress(`${from}/round`, guard)).rejects.toMatchObject({ refusal: 'imageFetchFailed', values: { reason: '重定向次数过多' } })
    await expect(finalAddress('http://127.0.0.7:1/x', guard)).rejects.toMatchObject({ refusal: 'imageFetchFailed', values: { reason: '连接失败或中途断开' } })
  })
})
