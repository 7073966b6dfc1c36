import { randomUUID } from 'node:crypto'
import type { BodyInput, QueryInput } from '@zhisuan/contract/define'
import { edges, enrolments } from '@zhisuan/contract/ecrm/edge'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { newPrivateKey, publicKeyOf } from '../../../../../agent/src/identity.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { register, someNode, startAgent, type TestAgent } from '../testing.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn
const stops: (() => void)[] = []

beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  stranger = await someone(app)
})
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})
afterAll(() => app.close())

const get = (id: string, token = owner.token) => call(app, edges.get, { token, params: { id } })
const list = (query: QueryInput<typeof edges.list>, token = owner.token) => call(app, edges.list, { token, query })
const enrol = (token: string, public_key = publicKeyOf(newPrivateKey())) => call(app, enrolments.enrol, { body: { token, public_key, version: '0.1.0' } })
const notEnrolled = (token: string, public_key = publicKeyOf(newPrivateKey())) =>
  refused(app, enrolments.enrol, { body: { token, public_key, version: '0.1.0' } })
const is = (id: string, status: string) => vi.waitFor(async () => expect((await get(id)).status).toBe(status), { interval: 20 })
const node = async (wish: Parameters<typeof someNode>[2] = {}, token = owner.token): Promise<TestAgent> => {
  const made = await someNode(app, token, wish)
  stops.push(made.stop)
  return made
}

describe('registering a node', () => {
  it('answers with a token, a command and a code, this once', async () => {
    const { edge, enrolment } = await register(app, owner.token, {
      name: '机房-1',
      description: '一层',
      labels: [{ key: 'zone', value: 'a' }],
      confirm: 'manual',
    })
    expect(edge).toMatchObject({
      name: '机房-1',
      status: 'pending',
      activation: 'active',
      bp_id: owner.bp_id,
      labels: [{ key: 'zone', value: 'a' }],
      container_count: 0,
      host_name: null,
      seen_at: null,
      created_by: owner.name,
    })
    expect(enrolment.command).toContain(`ZHISUAN_TOKEN='${enrolment.token}'`)
    expect(enrolment.token).toMatch(/^[0-9a-f]{48}$/)
    expect(enrolment.command).toMatch(/--key '[A-Za-z0-9_-]{59}'/)
    expect(new URL(enrolment.url).searchParams.get('token')).toBe(enrolment.token)
    expect(Date.parse(enrolment.expires_at) - Date.now()).toBeGreaterThan(23 * 3_600_000)
    const { rows } = await sql<{ text: string }>`select edges::text as text from edges where id = ${edge.id}`.execute(app.platform.db)
    expect(rows[0]?.text).not.toContain(enrolment.token)
  })

  it('refuses a name that is taken in the organisation, a site that is not there, and labels twice', async () => {
    const { edge } = await register(app, owner.token)
    const refuse = (body: object) => refused(app, edges.create, { token: owner.token, body })
    expect(await refuse({ name: edge.name })).toMatchObject({ code: 95001, fields: [{ field: 'name' }] })
    expect(await refuse({ name: 'x', site_id: randomUUID() })).toMatchObject({ code: 95025, fields: [{ field: 'site_id' }] })
    expect(
      await refuse({
        name: 'x',
        labels: [
          { key: 'a', value: '1' },
          { key: 'a', value: '2' },
        ],
      }),
    ).toMatchObject({ code: 90001 })
    expect(await register(app, stranger.token, { name: edge.name })).toMatchObject({ edge: { name: edge.name } })
  })
})

describe('enrolling', () => {
  it('takes a token once; the same agent may ask again', async () => {
    const { edge, enrolment } = await register(app, owner.token, { confirm: 'manual' })
    const key = publicKeyOf(newPrivateKey())
    const first = await enrol(enrolment.token, key)
    expect(first.edge_id).toBe(edge.id)
    expect(await enrol(enrolment.token, key)).toEqual(first)
    expect(await notEnrolled(enrolment.token)).toMatchObject({ status: 401, code: 95002 })
    expect(await get(edge.id)).toMatchObject({ status: 'unconfirmed', fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/) })
  })

  it('refuses tokens that are none, that have expired, and that were renewed', async () => {
    const { edge, enrolment } = await register(app, owner.token)
    expect(await notEnrolled('nonsense')).toMatchObject({ code: 95002 })
    expect(await notEnrolled(enrolment.token, 'A'.repeat(59))).toMatchObject({ code: 95002 })
    const renewed = await call(app, edges.qrcode, { token: owner.token, params: { id: edge.id } })
    expect(await notEnrolled(enrolment.token)).toMatchObject({ code: 95002 })
    await app.platform.db
      .updateTable('edges')
      .set({ token_expires_at: new Date(Date.now() - 1_000) })
      .where('id', '=', edge.id)
      .execute()
    expect(await notEnrolled(renewed.token)).toMatchObject({ code: 95002 })
    expect(await get(edge.id)).toMatchObject({ status: 'pending', fingerprint: null })
  })

  it('of two agents that come at once with one token lets one in', async () => {
    const { enrolment } = await register(app, owner.token)
    const answers = await Promise.allSettled(Array.from({ length: 5 }, () => enrol(enrolment.token)))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('gives no new token for a node that is there', async () => {
    const { edge, enrolment } = await register(app, owner.token)
    await enrol(enrolment.token)
    expect(await refused(app, edges.qrcode, { token: owner.token, params: { id: edge.id } })).toMatchObject({ status: 409, code: 90010 })
  })
})

describe('an agent that has come', () => {
  it('is online with what it says of itself, and offline when it is gone', async () => {
    const { edge, stop } = await node({
      facts: { gpus: [0, 1].map((index) => ({ index, uuid: `GPU-${index}`, vendor: 'nvidia' as const, model: 'H200', memory_bytes: 1, driver: '1' })) },
    })
    await is(edge.id, 'online')
    await vi.waitFor(async () => expect(await get(edge.id)).toMatchObject({ metrics: { cpu_share: 0.25 }, facts: { kernel: '6.12.0' } }))
    expect(await get(edge.id)).toMatchObject({
      host_name: 'edge-01',
      addresses: ['192.0.2.7'],
      cpu_cores: 8,
      docker_version: '20.10.24',
      agent_version: '0.1.0',
      gpus: [{ model: 'H200', count: 2 }],
      facts: { kernel: '6.12.0' },
    })
    expect((await call(app, edges.metrics, { token: owner.token, params: { id: edge.id } })).items.length).toBeGreaterThan(0)
    stop()
    await is(edge.id, 'offline')
    expect((await get(edge.id)).seen_at).not.toBeNull()
  })

  it('that says of itself what no database stores is not believed, and the facts of others are written', async () => {
    for (const host_name of ['a\0b', '\ud800']) {
      const [odd, other] = await Promise.all([node({ facts: { host_name } }), node()])
      await vi.waitFor(async () => expect(await get(other.edge.id)).toMatchObject({ host_name: 'edge-01' }))
      await is(odd.edge.id, 'online')
      expect((await get(odd.edge.id)).facts).toBeNull()
    }
  })

  it('waits to be confirmed where that is wished', async () => {
    const { edge } = await node({ create: { confirm: 'manual' } })
    await vi.waitFor(async () => expect((await get(edge.id)).facts).not.toBeNull())
    expect((await get(edge.id)).status).toBe('unconfirmed')
    expect(await refused(app, edges.activate, { token: owner.token, params: { id: edge.id }, query: { action: 'deactive' } })).toMatchObject({ code: 90010 })
    expect(await call(app, edges.confirm, { token: owner.token, params: { id: edge.id }, body: {} })).toMatchObject({ status: 'online' })
    expect(await refused(app, edges.confirm, { token: owner.token, params: { id: edge.id }, body: {} })).toMatchObject({ code: 90010 })
  })

  it('is sent away when it is unbound, and may be enrolled anew', async () => {
    const { edge, said, privateKey } = await node()
    await is(edge.id, 'online')
    const { items } = await call(app, edges.unbind, { token: owner.token, body: { ids: [edge.id] } })
    expect(items).toMatchObject([{ id: edge.id, status: 'unbound' }])
    await vi.waitFor(() => expect(said.join('\n')).toMatch(/does not know this node/))
    const renewed = await call(app, edges.qrcode, { token: owner.token, params: { id: edge.id } })
    const again = await enrol(renewed.token, publicKeyOf(privateKey))
    const back = await startAgent(app, { edgeId: edge.id, privateKey, serverKey: again.server_public_key })
    stops.push(back.stop)
    await is(edge.id, 'online')
  })

  it('with another key is refused', async () => {
    const { edge, enrolment } = await register(app, owner.token)
    const { server_public_key } = await enrol(enrolment.token)
    const { said, stop } = await startAgent(app, { edgeId: edge.id, privateKey: newPrivateKey(), serverKey: server_public_key })
    stops.push(stop)
    await vi.waitFor(() => expect(said).not.toEqual([]))
    expect((await get(edge.id)).status).toBe('offline')
  })

  it('is offline where the server that had it was killed', async () => {
    const { edge } = await register(app, owner.token)
    const { db } = app.platform
    const server = randomUUID()
    await db.insertInto('edge_servers').values({ id: server }).execute()
    await db.updateTable('edges').set({ binding: 'bound', server_id: server }).where('id', '=', edge.id).execute()
    expect((await get(edge.id)).status).toBe('online')
    await db
      .updateTable('edge_servers')
      .set({ seen_at: new Date(Date.now() - 9_000) })
      .where('id', '=', server)
      .execute()
    await is(edge.id, 'offline')
  })
})

describe('two servers on one database', () => {
  it('both say how a node is, and each sends it away from where it is', async () => {
    const other = await testApp({ DATABASE_URL: app.databaseUrl })
    try {
      const { edge, said } = await node()
      await is(edge.id, 'online')
      const there = async () => (await call(other, edges.get, { token: owner.token, params: { id: edge.id } })).status
      expect(await there()).toBe('online')
      await call(other, edges.unbind, { token: owner.token, body: { ids: [edge.id] } })
      await vi.waitFor(() => expect(said.join('\n')).toMatch(/does not know this node/))
      expect(await there()).toBe('unbound')
    } finally {
      await other.close()
    }
  })

  it('know at once that the nodes of one are offline when it stops', async () => {
    const other = await testApp({ DATABASE_URL: app.databaseUrl })
    let closed = false
    try {
      const { edge, stop } = await someNode(other, owner.token)
      stops.push(stop)
      await is(edge.id, 'online')
      await other.close()
      closed = true
      expect((await get(edge.id)).status).toBe('offline')
    } finally {
      if (!closed) await other.close()
    }
  })
})

describe('changing a node', () => {
  it('renames it, marks it, and takes it out of use', async () => {
    const { edge } = await node()
    await is(edge.id, 'online')
    const params = { id: edge.id }
    const name = `n-${randomUUID()}`
    expect(await call(app, edges.update, { token: owner.token, params, body: { name, description: '新' } })).toMatchObject({ name, description: '新' })
    expect(await call(app, edges.mark, { token: owner.token, params, body: { taints: [{ key: 'gpu', value: '', effect: 'NoSchedule' }] } })).toMatchObject({
      labels: [],
      taints: [{ key: 'gpu' }],
    })
    expect(await call(app, edges.activate, { token: owner.token, params, query: { action: 'deactive' } })).toMatchObject({ activation: 'deactive' })
    const { edge: other } = await register(app, owner.token)
    expect(await refused(app, edges.update, { token: owner.token, params, body: { name: other.name } })).toMatchObject({ code: 95001 })
    expect(await refused(app, edges.delete, { token: owner.token, params })).toMatchObject({ status: 409, code: 90010 })
  })

  it('forgets it when it is deleted', async () => {
    const { edge } = await register(app, owner.token)
    await call(app, edges.delete, { token: owner.token, params: { id: edge.id } })
    expect(await refused(app, edges.get, { token: owner.token, params: { id: edge.id } })).toMatchObject({ status: 404 })
  })
})

describe('the list', () => {
  it('filters by label, keyword, status and GPUs', async () => {
    const mark = `m${randomUUID().slice(0, 8)}`
    const one = (
      await register(app, owner.token, {
        labels: [
          { key: mark, value: 'a' },
          { key: 'disk', value: 'ssd' },
        ],
      })
    ).edge
    const two = (await register(app, owner.token, { labels: [{ key: mark, value: 'b' }] })).edge
    const ids = async (query: QueryInput<typeof edges.list>, token = owner.token) =>
      (await list({ ...query, sort: 'created_at' }, token)).items.map(({ id }) => id)
    expect(await ids({ labels: mark })).toEqual([one.id, two.id])
    expect(await ids({ labels: `${mark}=b` })).toEqual([two.id])
    expect(await ids({ labels: `${mark}, disk=ssd` })).toEqual([one.id])
    expect(await ids({ labels: mark, status: 'online' })).toEqual([])
    expect(await ids({ labels: mark, gpu: 'false' })).toEqual([one.id, two.id])
    expect(await ids({ labels: mark, gpu: 'true' })).toEqual([])
    expect(await ids({ keyword: two.name })).toEqual([two.id])
    expect(await ids({ labels: mark }, stranger.token)).toEqual([])
    expect(await ids({ labels: mark }, admin.token)).toEqual([one.id, two.id])
    for (const sort of ['name', '-status', 'seen_at', '-created_at'] as const) expect((await list({ labels: mark, sort })).total).toBe(2)
  })
})

describe('another organisation', () => {
  it('finds nothing', async () => {
    const { edge } = await node()
    await is(edge.id, 'online')
    const [token, params] = [stranger.token, { id: edge.id }]
    const body: BodyInput<typeof edges.update> = { name: 'mine' }
    for (const answer of [
      await refused(app, edges.get, { token, params }),
      await refused(app, edges.update, { token, params, body }),
      await refused(app, edges.mark, { token, params, body: { labels: [] } }),
      await refused(app, edges.delete, { token, params }),
      await refused(app, edges.activate, { token, params, query: { action: 'deactive' } }),
      await refused(app, edges.confirm, { token, params, body: {} }),
      await refused(app, edges.unbind, { token, body: { ids: [edge.id] } }),
      await refused(app, edges.qrcode, { token, params }),
      await refused(app, edges.metrics, { token, params }),
    ]) {
      expect(answer).toMatchObject({ status: 404, code: 90006 })
    }
    expect((await get(edge.id)).status).toBe('online')
  })
})
