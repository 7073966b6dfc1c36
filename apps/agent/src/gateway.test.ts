import { once } from 'node:events'
import { createServer, request as httpRequest, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createGateway, type Gateway } from './gateway.ts'
import { askServer, gatewayOf } from './server.ts'

const never = new AbortController().signal
let server: Server
let url: string
let gateway: Gateway

const freePort = async (): Promise<number> => {
  const one = createServer().listen(0)
  await once(one, 'listening')
  const { port } = one.address() as AddressInfo
  one.close()
  await once(one, 'close')
  return port
}

beforeEach(async () => {
  server = createServer((request, response) => void request.pipe(response.writeHead(200, { 'x-path': request.url })))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  gateway = createGateway({ url })
})
afterEach(async () => {
  await gateway.listen(null)
  server.closeAllConnections()
  server.close()
})

const ask = (via: string | null) => askServer({ url, via }, { method: 'POST', path: '/x?y=1', body: { a: '智' }, limitBytes: 1_000, signal: never })
/** What a gateway answers to `CONNECT`. */
const statusOf = (port: number, authority: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method: 'CONNECT', path: authority })
    request.on('connect', (answer, socket) => {
      socket.destroy()
      resolve(answer.statusCode)
    })
    request.on('error', reject)
    request.end()
  })

describe('a gateway', () => {
  it('leads to its server, as the straight way does', async () => {
    const port = await freePort()
    await gateway.listen(port)
    const [straight, by] = await Promise.all([ask(null), ask(`127.0.0.1:${port}`)])
    expect(by).toEqual(straight)
    expect(by.body.toString('utf8')).toBe('{"a":"智"}')
  })

  it('leads nowhere else, and is no server itself', async () => {
    const port = await freePort()
    await gateway.listen(port)
    expect(await statusOf(port, '127.0.0.1:22')).toBe(403)
    expect(await statusOf(port, 'example.com:443')).toBe(403)
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(405)
  })

  it('says so where its server does not answer', async () => {
    const port = await freePort()
    await gateway.listen(port)
    server.close()
    await once(server, 'close')
    await expect(ask(`127.0.0.1:${port}`)).rejects.toThrow('answered 502')
  })

  it('counts who comes by it, and cuts them when it is closed or moved', async () => {
    const [first, second] = [await freePort(), await freePort()]
    await gateway.listen(first)
    await gateway.listen(first)
    const socket = connect(first, '127.0.0.1')
    socket.write(`CONNECT ${new URL(url).host} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await once(socket, 'data')
    expect(gateway.state()).toEqual({ port: first, connections: 1 })
    const closed = once(socket, 'close')
    await gateway.listen(second)
    await closed
    await vi.waitFor(() => expect(gateway.state()).toEqual({ port: second, connections: 0 }))
    await expect(ask(`127.0.0.1:${first}`)).rejects.toThrow('ECONNREFUSED')
    await gateway.listen(null)
    expect(gateway.state()).toEqual({ port: null, connections: 0 })
  })

  it('tells of a port that is taken', async () => {
    await expect(gateway.listen((server.address() as AddressInfo).port)).rejects.toMatchObject({ status: 409 })
    expect(gateway.state().port).toBe(null)
  })
})

describe('the address of a gateway', () => {
  it.each([
    ['10.0.0.1:3128', { host: '10.0.0.1', port: 3_128 }],
    ['[fd00::1]:3128', { host: 'fd00::1', port: 3_128 }],
    ['gateway.site:80', { host: 'gateway.site', port: 80 }],
  ])('%s', (via, parts) => expect(gatewayOf(via)).toEqual(parts))
  it.each(['10.0.0.1', 'http://10.0.0.1:80', 'a b:80', ':80'])('%s is none', (via) => expect(() => gatewayOf(via)).toThrow('no gateway'))
})

describe('asking the server', () => {
  it('reads no more than it wants', async () => {
    await expect(askServer({ url }, { method: 'POST', path: '/', body: 'x'.repeat(2_000), limitBytes: 1_000, signal: never })).rejects.toThrow(
      'more than 1000 bytes',
    )
  })
  it('ends with the signal', async () => {
    await expect(askServer({ url }, { path: '/', limitBytes: 1_000, signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  })
})
