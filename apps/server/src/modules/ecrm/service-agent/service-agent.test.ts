import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { BodyInput } from '@zhisuan/contract/define'
import { edges, serviceAgents } from '@zhisuan/contract/ecrm/edge'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { joinPort } from '../../../../../agent/src/port.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { register, someNode, type TestAgent } from '../testing.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
const stops: (() => void)[] = []

beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
})
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})
afterAll(() => app.close())

/** A server on this machine's loopback, as one on a node. */
async function someService(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    serve(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.push(() => server.close())
  return (server.address() as AddressInfo).port
}
/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
const node = async (): Promise<TestAgent> => {
  const made = await someNode(app, owner.token, {
    answers: (request, response) => {
      if (request.url?.startsWith('/v1/port?') !== true) return false
      joinPort(response.stream, Number(new URLSearchParams(request.url.split('?')[1]).get('port')))
      return true
    },
  })
  stops.push(made.stop)
  await vi.waitFor(async () => expect((await call(app, edges.get, { token: owner.token, params: { id: made.edge.id } })).status).toBe('online'))
  return made
}
type Body = BodyInput<typeof serviceAgents.create>
const create = (body: Omit<Body, 'name'> & { name?: string }) =>
  call(app, serviceAgents.create, { token: admin.token, body: { name: `a-${randomUUID()}`, ...body } })
const refuse = (body: object, token = admin.token) => refused(app, serviceAgents.create, { token, body: { name: `a-${randomUUID()}`, ...body } })
const listed = async (id: string) => (await call(app, serviceAgents.list, { token: admin.token, query: { page_size: 100 } })).items.find((one) => one.id === id)

describe('a port of the platform that leads to a node', () => {
  it('carries what is said, both ways, to its end', async () => {
    const { edge } = await node()
    const target_port = await someService((socket) => void text(socket).then((heard) => socket.end(`heard ${heard.length}`)))
    const made = await create({ edge_id: edge.id, target_port, listen_port: await freePort() })
    expect(made).toMatchObject({ status: 'listening', edge: { id: edge.id, name: edge.name }, connection_count: 0, error: null })
    const socket = connect({ port: made.listen_port, host: '127.0.0.1', allowHalfOpen: true })
    socket.end('x'.repeat(3_000_000))
    expect(await text(socket)).toBe('heard 3000000')
  })

  it('is closed with what goes through it when it is deleted', async () => {
    const { edge } = await node()
    const target_port = await someService((socket) => socket.write('hello'))
    const { id, listen_port } = await create({ edge_id: edge.id, target_port, listen_port: await freePort() })
    const socket = connect(listen_port, '127.0.0.1')
    await once(socket, 'data')
    expect(await listed(id)).toMatchObject({ connection_count: 1 })
    const closed = once(socket, 'close')
    socket.on('error', () => undefined)
    await call(app, serviceAgents.delete, { token: admin.token, params: { id } })
    await closed
    expect(await listed(id)).toBeUndefined()
    await expect(once(connect(listen_port, '127.0.0.1'), 'connect')).rejects.toThrow(/ECONNREFUSED/)
    expect(await refused(app, serviceAgents.delete, { token: admin.token, params: { id } })).toMatchObject({ status: 404 })
  })

  it('closes connections where nothing listens on the node, or the node is offline', async () => {
    const { edge, stop } = await node()
    const { id, listen_port } = await create({ edge_id: edge.id, target_port: await freePort(), listen_port: await freePort() })
    const ends = async (): Promise<void> => {
      const socket = connect(listen_port, '127.0.0.1')
      socket.on('error', () => undefined)
      await once(socket, 'close')
    }
    await ends()
    stop()
    await vi.waitFor(async () => expect(await listed(id)).toMatchObject({ status: 'offline' }))
    await ends()
  })

  it('is refused where port or name is taken, the node is none, and by who may not', async () => {
    const { edge } = await node()
    const one = { edge_id: edge.id, target_port: 80 }
    const made = await create({ ...one, listen_port: await freePort() })
    const foreign = await someService(() => undefined)
    expect(await refuse({ ...one, listen_port: made.listen_port })).toMatchObject({ code: 95015, fields: [{ field: 'listen_port' }] })
    expect(await refuse({ ...one, listen_port: foreign })).toMatchObject({ code: 95015 })
    expect(await refuse({ ...one, listen_port: await freePort(), name: made.name })).toMatchObject({ code: 95016 })
    expect(await refuse({ ...one, listen_port: 80 })).toMatchObject({ code: 90001 })
    expect(await refuse({ ...one, edge_id: randomUUID(), listen_port: await freePort() })).toMatchObject({ code: 95004 })
    const { edge: pending } = await register(app, owner.token)
    expect(await refuse({ ...one, edge_id: pending.id, listen_port: await freePort() })).toMatchObject({ code: 95004 })
    expect(await refuse({ ...one, listen_port: await freePort() }, owner.token)).toMatchObject({ code: 3000 })
    expect((await call(app, serviceAgents.list, { token: admin.token, query: { edge_id: edge.id } })).items.map(({ id }) => id)).toEqual([made.id])
  })
})
