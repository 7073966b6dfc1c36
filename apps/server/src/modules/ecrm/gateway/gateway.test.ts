import { randomUUID } from 'node:crypto'
import { agentPaths } from '@zhisuan/contract/agent/node'
import type { QueryInput } from '@zhisuan/contract/define'
import { edges, gateways } from '@zhisuan/contract/ecrm/edge'
import { lookups, regions, sites } from '@zhisuan/contract/ecrm/region'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { someNode, startAgent, type TestAgent } from '../testing.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let siteId: string
const stops: (() => void)[] = []

beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  const { id: region_id } = await call(app, regions.create, { token: admin.token, body: { name: `r-${randomUUID()}` } })
  siteId = (await call(app, sites.create, { token: admin.token, body: { name: `s-${randomUUID()}`, region_id } })).id
})
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})
afterAll(() => app.close())

const status = async (id: string) => (await call(app, edges.get, { token: admin.token, params: { id } })).status
/** A node that writes down what it is told of its gateway; it has no port 81 to give. */
async function node(site_id: string | null = siteId): Promise<TestAgent & { told: (number | null)[]; answers: NonNullable<Parameters<typeof startAgent>[2]> }> {
  const told: (number | null)[] = []
  const answers: NonNullable<Parameters<typeof startAgent>[2]> = (request, response) => {
    if (request.url !== agentPaths.gateway) return false
    const end = () => void response.end(JSON.stringify({ port: told.at(-1) ?? null, connections: 3 }))
    if (request.method === 'GET') end()
    else {
      let text = ''
      response.stream.on('data', (part: Buffer) => (text += part.toString('utf8')))
      response.stream.on('end', () => {
        const { port } = JSON.parse(text) as { port: number | null }
        told.push(port)
        if (port === 81) response.writeHead(409).end(JSON.stringify({ message: 'port 81: EADDRINUSE' }))
        else end()
      })
    }
    return true
  }
  const made = await someNode(app, owner.token, { answers, create: { site_id } })
  stops.push(made.stop)
  await vi.waitFor(async () => expect(await status(made.edge.id)).toBe('online'))
  return { ...made, told, answers }
}
const create = (edge_id: string, wish: object = {}) =>
  call(app, gateways.create, { token: admin.token, body: { name: `g-${randomUUID()}`, edge_id, address: '10.0.0.7', port: 7000, ...wish } })
const act = (id: string, action: 'active' | 'deactive' | 'reboot') => call(app, gateways.action, { token: admin.token, params: { id }, query: { action } })
const list = (query: QueryInput<typeof gateways.list>) => call(app, gateways.list, { token: admin.token, query })

describe('a gateway', () => {
  it('is opened on its node, closed, opened anew, and forgotten', async () => {
    const { edge, told } = await node()
    const made = await create(edge.id)
    expect(made).toMatchObject({ status: 'active', site: { id: siteId }, edge: { id: edge.id }, address: '10.0.0.7', port: 7000, agent_count: 3, error: null })
    expect((await call(app, sites.list, { token: owner.token })).items.find(({ id }) => id === siteId)?.gateway_count).toBe(1)
    expect(await refused(app, gateways.delete, { token: admin.token, params: { id: made.id } })).toMatchObject({ status: 409, code: 90010 })
    expect(await act(made.id, 'reboot')).toMatchObject({ status: 'active' })
    expect(await act(made.id, 'deactive')).toMatchObject({ status: 'deactive', agent_count: 0 })
    expect(told).toEqual([null, 7000, null, 7000, null])
    expect((await list({ status: 'deactive', site_id: siteId })).items.map(({ id }) => id)).toEqual([made.id])
    expect(await list({ status: 'active', keyword: made.name, sort: '-status' })).toMatchObject({ total: 0 })
    await call(app, gateways.delete, { token: admin.token, params: { id: made.id } })
    expect(await refused(app, gateways.action, { token: admin.token, params: { id: made.id }, query: { action: 'active' } })).toMatchObject({ status: 404 })
  })

  it('is told again to a node that comes back, and is offline until then', async () => {
    const { edge, told, stop, privateKey, enrolment, answers } = await node()
    const made = await create(edge.id)
    expect(told).toEqual([null, 7000])
    stop()
    await vi.waitFor(async () => expect((await list({ keyword: made.name })).items[0]?.status).toBe('offline'))
    expect(await refused(app, gateways.action, { token: admin.token, params: { id: made.id }, query: { action: 'reboot' } })).toMatchObject({ code: 90010 })
    const back = await startAgent(app, { edgeId: edge.id, privateKey, serverKey: new URL(enrolment.url).searchParams.get('key') ?? '' }, answers)
    stops.push(back.stop)
    await vi.waitFor(() => expect(told).toEqual([null, 7000, 7000]))
  })

  it('says why its node does not let anybody through', async () => {
    const { edge } = await node()
    const made = await create(edge.id, { port: 81 })
    expect(made.error).toBe(`节点“${edge.name}”的端口81已被“其他程序”占用`)
    expect(await act(made.id, 'deactive')).toMatchObject({ error: null })
  })

  it('is refused where name or node is taken, the node has no site or is none, and by who may not', async () => {
    const { edge } = await node()
    const made = await create(edge.id)
    const refuse = (edge_id: string, wish: object = {}, token = admin.token) =>
      refused(app, gateways.create, { token, body: { name: `g-${randomUUID()}`, edge_id, address: 'gw.example.com', port: 7000, ...wish } })
    expect(await refuse(edge.id)).toMatchObject({ code: 95013, fields: [{ field: 'edge_id' }] })
    expect(await refuse(randomUUID())).toMatchObject({ code: 95004 })
    const siteless = await node(null)
    expect(await refuse(siteless.edge.id)).toMatchObject({ code: 95014 })
    const other = await node()
    expect(await refuse(other.edge.id, { name: made.name })).toMatchObject({ code: 95012, fields: [{ field: 'name' }] })
    expect(await refuse(other.edge.id, { address: 'not an address' })).toMatchObject({ code: 90001, fields: [{ field: 'address' }] })
    expect(await refuse(other.edge.id, {}, owner.token)).toMatchObject({ code: 3000 })
    expect(await call(app, lookups.uniqueness, { token: admin.token, body: { kind: 'ecrm.gateway', name: made.name } })).toEqual({ unique: false })
  })
})
