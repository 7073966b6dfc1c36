import { createHash, randomBytes } from 'node:crypto'
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { Duplex } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import type { Docker } from '@zhisuan/engines/docker/types'
import { rentals } from '@zhisuan/contract/market/rental'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { uuidv7 } from '../../../platform/ids.ts'
import { someActor } from '../../../testing/actor.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { cardNode, listed, providing, type CardNode } from '../../../testing/market.ts'
import { someone } from '../../../testing/people.ts'
import { hostLabel, openPass, readHostLabel, sealPass } from './apps.pass.ts'
import { createEntering } from '../inside.ts'
import { strangersMost } from './apps.counting.ts'
import { enterPath } from './apps.entering.ts'
import { createAppsProxy, type AppsProxy } from './apps.proxy.ts'

/** What is executed in a machine speaks to a port of it: here to one of this host, in the frames of Docker's streams. */
const execs = {
  create: async (_id: string, { command }: { command: readonly string[] }) => String(command.at(-1)),
  attach: async (port: string): Promise<Duplex> => {
    const socket = connect(Number(port), '127.0.0.1')
    const stream = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, () => done()),
      final: (done) => void socket.end(() => done()),
      destroy: (_error, done) => {
        socket.destroy()
        done(null)
      },
    })
    socket.on('data', (data) => {
      const head = Buffer.alloc(8)
      head[0] = 1
      head.writeUInt32BE(data.length, 4)
      stream.push(Buffer.concat([head, data]))
    })
    // As the relay does it where nobody listens: it complains, and ends.
    socket.on('error', () => stream.push(null))
    socket.on('end', () => stream.push(null))
    return stream
  },
}

describe('browsers that are led into a machine', () => {
  let app: TestApp
  let node: CardNode
  let inside: Server
  let sockets: WebSocketServer
  let proxy: AppsProxy
  let rentalId: string
  /** Of what runs in the machine, and of the door. */
  let port: number
  let door: number
  const seen: { url: string | undefined; headers: IncomingHttpHeaders }[] = []
  const listening = async (server: Server): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }
  beforeAll(async () => {
    app = await testApp()
    const [admin, owner, renter] = [await someone(app, { kind: 1 }), await someone(app), await someone(app)]
    node = await cardNode(app, owner.token)
    await providing(app, owner, admin, [node], '华东算力')
    const offer = await listed(app, owner, admin)
    rentalId = (await call(app, rentals.create, { token: renter.token, body: { name: 'm', offer_id: offer.id, image: 'app:1' } })).id
    await vi.waitFor(async () => expect((await call(app, rentals.get, { token: renter.token, params: { id: rentalId } })).status).toBe('running'), {
      timeout: 15_000,
    })
    inside = createServer((asked, answer) => {
      seen.push({ url: asked.url, headers: asked.headers })
      if (asked.method === 'POST') {
        void buffer(asked).then((body) => answer.end(createHash('sha256').update(body).digest('hex')))
        return
      }
      if (asked.url === '/events') return void answer.write('begins')
      if (asked.url === '/')
        answer.writeHead(302, { location: `http://127.0.0.1:${port}/lab`, 'set-cookie': ['_xsrf=1; Domain=localhost; Path=/', 'zs_app=stolen; Path=/'] })
      answer.end('页面')
    })
    port = await listening(inside)
    sockets = new WebSocketServer({ server: inside })
    sockets.on('connection', (socket) => socket.on('message', (data, binary) => socket.send(data, { binary })))
    const spare = createServer()
    door = await listening(spare)
    await new Promise((resolve) => spare.close(resolve))
    proxy = createAppsProxy(
      { ...app.platform, config: { ...app.config, APPS_PORT: door, APPS_URL: `http://localhost:${door}` } },
      {
        entering: createEntering(app.platform),
        rented: { enter: async () => ({ docker: { execs } as unknown as Docker, docker_id: 'd' }) },
        actorOf: async (session) => (session === 'ended' ? null : someActor({ bp_id: session === 'foreign' ? uuidv7() : renter.bp_id, session_id: session })),
      },
    )
    await proxy.start()
  })
  afterAll(async () => {
    proxy.drain()
    sockets.close()
    inside.closeAllConnections()
    inside.close()
    node.stop()
    await app.close()
  })

  const hostOf = (at = port): string => `${hostLabel(rentalId, at)}.localhost:${door}`
  const pass = (kind: 'ticket' | 'entry', changes: { session_id?: string; port?: number; ends?: number } = {}): string =>
    sealPass(app.platform.secrets, { id: uuidv7(), kind, rental_id: rentalId, port, session_id: 's', ends: Date.now() + 10_000, ...changes })
  const ask = (path: string, headers: Record<string, string> = {}, body?: Buffer): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sent = request({ port: door, path, method: body === undefined ? 'GET' : 'POST', headers: { host: hostOf(), ...headers } }, resolve)
      sent.on('error', reject)
      sent.end(body)
    })
  const withEntry = (changes = {}): Record<string, string> => ({ cookie: `a=1; zs_app=${pass('entry', changes)}` })

  it('come in by a ticket, once, and only at the origin that it is for', async () => {
    const ticket = pass('ticket')
    expect((await ask(`${enterPath}?ticket=${ticket}`, { host: hostOf(port + 1) })).statusCode).toBe(401)
    const first = await ask(`${enterPath}?ticket=${ticket}`)
    expect([first.statusCode, first.headers.location]).toEqual([302, '/'])
    const [cookie = ''] = first.headers['set-cookie'] ?? []
    expect(cookie).toMatch(/^zs_app=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200$/)
    expect((await ask(`${enterPath}?ticket=${ticket}`)).statusCode).toBe(401)
    expect((await ask('/lab', { cookie: cookie.split(';')[0] ?? '' })).statusCode).toBe(200)
    // A ticket is no entry, and an entry no ticket.
    expect((await ask('/lab', { cookie: `zs_app=${pass('ticket')}` })).statusCode).toBe(401)
    expect((await ask(`${enterPath}?ticket=${pass('entry')}`)).statusCode).toBe(401)
  })

  it('are spoken to as if from inside, and what they are told is of their own origin', async () => {
    const own = `http://${hostOf()}`
    const answer = await ask('/', { ...withEntry(), origin: own, referer: `${own}/tree` })
    expect(answer.headers).toMatchObject({ location: `${own}/lab`, 'set-cookie': ['_xsrf=1; Path=/'], 'x-frame-options': 'SAMEORIGIN' })
    expect(seen.at(-1)?.headers).toMatchObject({
      host: `127.0.0.1:${port}`,
      cookie: 'a=1',
      origin: `http://127.0.0.1:${port}`,
      referer: `http://127.0.0.1:${port}/tree`,
    })
    const body = randomBytes(5 * 2 ** 20)
    expect(await text(await ask('/api/contents', withEntry(), body))).toBe(createHash('sha256').update(body).digest('hex'))
  })

  it('stay outside without a session that lasts, of another organisation, of another port, or once their entry is over', async () => {
    const before = seen.length
    for (const headers of [
      {},
      withEntry({ session_id: 'ended' }),
      withEntry({ session_id: 'foreign' }),
      withEntry({ port: port + 1 }),
      withEntry({ ends: Date.now() - 1 }),
    ])
      expect((await ask('/lab', headers)).statusCode).toBe(401)
    for (const host of [`localhost:${door}`, `x.localhost:${door}`, `${hostLabel(uuidv7(), port)}.localhost:${door}`])
      expect((await ask('/lab', { ...withEntry(), host })).statusCode).toBe(401)
    expect(seen).toHaveLength(before)
  })

  it('of an address are not heard for a while where it comes again and again without a pass; others are', async () => {
    const from = async (localAddress: string, headers: Record<string, string> = {}): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const sent = request({ port: door, host: '127.0.0.1', localAddress, path: '/lab', headers: { host: hostOf(), ...headers } }, (answer) => {
          answer.resume()
          resolve(answer.statusCode)
        })
        sent.on('error', reject)
        sent.end()
      })
    for (let time = 0; time < strangersMost; time++) expect(await from('127.0.0.7')).toBe(401)
    expect(await from('127.0.0.7', withEntry())).toBe(429)
    expect(await from('127.0.0.8', withEntry())).toBe(200)
  })

  it('are not made to ask anything by a page of elsewhere, be it another machine', async () => {
    const before = seen.length
    const elsewhere = `http://${hostLabel(uuidv7(), port)}.localhost:${door}`
    expect((await ask('/api/kernels', { ...withEntry(), origin: elsewhere }, Buffer.from('{}'))).statusCode).toBe(401)
    expect((await ask('/api/kernels', { ...withEntry(), 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' })).statusCode).toBe(401)
    expect(seen).toHaveLength(before)
    // A link leads in, as from the console.
    expect((await ask('/lab', { ...withEntry(), 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).statusCode).toBe(200)
  })

  it('are told what goes on as long as it does, and no longer than their session', async () => {
    const answer = await ask('/events', withEntry({ session_id: 'mine too' }))
    const said = answer[Symbol.asyncIterator]()
    expect(String((await said.next()).value)).toBe('begins')
    const closed = new Promise((resolve) => answer.once('error', resolve))
    app.platform.openStreams.sessionEnded('mine too')
    void said.next().catch(() => undefined)
    await closed
  })

  it('have websockets, from their own origin only, that end with their session', async () => {
    const opened = (headers: Record<string, string>) =>
      new Promise<WebSocket | number>((resolve) => {
        const socket = new WebSocket(`ws://127.0.0.1:${door}/api/kernels`, { headers: { host: hostOf(), ...headers } })
        socket.on('open', () => resolve(socket))
        socket.on('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode))
        socket.on('error', () => undefined)
      })
    expect(await opened({})).toBe(401)
    expect(await opened({ ...withEntry(), origin: 'https://elsewhere.example' })).toBe(401)
    const socket = await opened({ ...withEntry({ session_id: 'mine' }), origin: `http://${hostOf()}` })
    if (!(socket instanceof WebSocket)) throw new Error('no websocket')
    const said = new Promise<Buffer>((resolve) => socket.once('message', (data: Buffer) => resolve(data)))
    const sent = randomBytes(200_000)
    socket.send(sent)
    expect((await said).equals(sent)).toBe(true)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    app.platform.openStreams.sessionEnded('mine')
    await closed
  })

  it('have names that lead nowhere else', () => {
    expect(readHostLabel(hostLabel(rentalId, 8888))).toEqual({ rental_id: rentalId, port: 8888 })
    for (const wrong of [
      '',
      'www',
      `${rentalId}-8888`,
      `${rentalId.replaceAll('-', '')}-0`,
      `${rentalId.replaceAll('-', '')}-65536`,
      `${rentalId.replaceAll('-', '')}`,
    ])
      expect(readHostLabel(wrong)).toBeNull()
    expect(openPass(app.platform.secrets, 'nothing', 'entry', new Date())).toBeNull()
  })
})
