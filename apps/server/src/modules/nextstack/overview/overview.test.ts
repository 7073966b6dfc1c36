import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { overview, trendSteps } from '@zhisuan/contract/nextstack/overview'
import { images, vmTransitional, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { retryDelays } from '../../../platform/operations.ts'
import { shortened, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createOverview } from './overview.service.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn
let engine: TestEngine
let cloud_id: string
let flavor: { id: string; cpu_cores: number; memory_bytes: number }
let image: string

beforeAll(async () => {
  app = await testApp({}, { openEngine: openTestEngine, pause: shortened(retryDelays) })
  ;[admin, owner, stranger] = [await someone(app, { kind: 1 }), await someone(app), await someone(app)]
  engine = startTestEngine()
  cloud_id = (await call(app, clouds.create, { token: admin.token, body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: engine.connection } }))
    .cloud_id
  flavor = (await call(app, flavors.list, { token: owner.token })).items[0] ?? expect.fail('no flavor')
  image = (await call(app, images.list, { token: owner.token, query: { cloud_id, type: 'container' } })).items[0]?.fingerprint ?? ''
})
afterEach(() => engine.recover())
afterAll(() => app.close())

const patient = { interval: 20 }
const create = async (count: number, who = owner): Promise<Vm[]> => {
  const body = {
    cloud_id,
    name: `vm-${randomUUID()}`,
    type: 'container' as const,
    image_fingerprint: image,
    flavor_id: flavor.id,
    network: 'sandbox0',
    password: 'Correct-horse-1',
    count,
  }
  const { items } = await call(app, vms.create, { token: who.token, body })
  return Promise.all(items.map(({ id }) => settled(id, who)))
}
const settled = (id: string, who = owner): Promise<Vm> =>
  vi.waitFor(async () => {
    const vm = await call(app, vms.get, { token: who.token, params: { id } })
    expect(vmTransitional).not.toContain(vm.status)
    return vm
  }, patient)
const remove = async (vm: Vm): Promise<void> => {
  await call(app, vms.delete, { token: owner.token, params: { id: vm.id } })
  await vi.waitFor(async () => expect((await send(app, vms.get, { token: owner.token, params: { id: vm.id } })).status).toBe(404), patient)
}
const get = (who: SignedIn) => call(app, overview.get, { token: who.token })
const events = (who: SignedIn, limit?: number) =>
  call(app, overview.events, { token: who.token, query: { ...(limit !== undefined && { limit }) } }).then(({ items }) => items)
const trends = (who: SignedIn, range: 'day' | 'week' | 'month' = 'day') => call(app, overview.trends, { token: who.token, query: { range } })
const countOf = async (who: SignedIn, kind = 'nextstack.vm') => (await get(who)).resources.find((one) => one.kind === kind)

describe('what there is', () => {
  it('is counted by state, of the own organisation, and for administrators of all', async () => {
    const [first] = await create(2)
    await create(1, stranger)
    await call(app, vms.stop, { token: owner.token, params: { id: first?.id ?? '' }, body: { force: true } })
    await settled(first?.id ?? '')
    const mine = await get(owner)
    expect(mine.resources.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['nextstack.vm', 'nextstack.vpc', 'nextstack.eip']))
    expect(mine.resources[0]).toMatchObject({
      kind: 'nextstack.vm',
      total: 2,
      statuses: expect.arrayContaining([
        { status: 'running', count: 1 },
        { status: 'stopped', count: 1 },
      ]),
    })
    expect(mine.promised).toEqual({ cpu_cores: 2 * flavor.cpu_cores, memory_bytes: 2 * flavor.memory_bytes })
    expect(await countOf(stranger)).toEqual({ kind: 'nextstack.vm', total: 1, statuses: [{ status: 'running', count: 1 }] })
    expect(await countOf(admin)).toMatchObject({ total: 3 })
    expect(await countOf(owner, 'nextstack.vpc')).toEqual({ kind: 'nextstack.vpc', total: 0, statuses: [] })
    expect(mine.alarms).toEqual([])
  })

  it('is nothing for who belongs to no organisation', async () => {
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect(await get(nobody)).toMatchObject({ promised: { cpu_cores: 0, memory_bytes: 0 }, alarms: [] })
    expect((await get(nobody)).resources.every(({ total }) => total === 0)).toBe(true)
    expect(await events(nobody)).toEqual([])
  })
})

describe('alarms', () => {
  it('tell of what failed, of whoever it is', async () => {
    engine.fail('failed', { method: 'instances.create', times: 1 })
    const [failed] = await create(1)
    expect(failed?.status).toBe('error')
    const alarm = { type: 'resource', kind: 'nextstack.vm', status: 'error', count: 1 }
    expect((await get(owner)).alarms).toEqual([alarm])
    expect((await get(admin)).alarms).toContainEqual(alarm)
    expect((await get(stranger)).alarms).toEqual([])
    await remove(failed ?? expect.fail('none'))
    expect((await get(owner)).alarms).toEqual([])
  })

  it('tell of clouds to who has instances there, of hosts to administrators', async () => {
    const name = (await call(app, clouds.list, { token: admin.token })).clouds[0]?.name ?? ''
    const refresh = () => call(app, clouds.action, { token: admin.token, params: { id: cloud_id }, body: { action: 'refresh' } })
    const bystander = await someone(app)
    engine.fail('unreachable', { method: 'info' })
    await refresh()
    const alarm = { type: 'cloud', id: cloud_id, name, health: 'unreachable' }
    for (const who of [owner, admin]) expect((await get(who)).alarms).toEqual([alarm])
    expect((await get(bystander)).alarms).toEqual([])
    engine.recover()
    await refresh()
    expect((await get(owner)).alarms).toEqual([])

    await app.platform.db.updateTable('hosts').set({ status: 'offline' }).where('cloud_id', '=', cloud_id).execute()
    expect((await get(admin)).alarms).toEqual([{ type: 'host', id: expect.any(String), name: 'sandbox', cloud_name: name, status: 'offline' }])
    expect((await get(owner)).alarms).toEqual([])
    await app.platform.db.updateTable('hosts').set({ status: 'online' }).where('cloud_id', '=', cloud_id).execute()
  })

  it('tell of a cloud of which some services fail, also to who has a project on it', async () => {
    const name = (await call(app, clouds.list, { token: admin.token })).clouds[0]?.name ?? ''
    const there = await someone(app)
    await app.platform.db
      .insertInto('keystone_projects')
      .values({ cloud_id, keystone_id: 'k1', bp_id: there.bp_id ?? '', project_id: null })
      .execute()
    await app.platform.db.updateTable('clouds').set({ health: 'degraded' }).where('id', '=', cloud_id).execute()
    const alarm = { type: 'cloud', id: cloud_id, name, health: 'degraded' }
    for (const who of [there, admin]) expect((await get(who)).alarms).toEqual([alarm])
    expect((await get(await someone(app))).alarms).toEqual([])
    await app.platform.db.updateTable('clouds').set({ health: 'reachable' }).where('id', '=', cloud_id).execute()
    for (const who of [there, admin]) expect((await get(who)).alarms).toEqual([])
  })
})

describe('events', () => {
  it('tell who did what, newest first, under the name of today', async () => {
    const [vm] = await create(1)
    const renamed = `renamed-${randomUUID()}`
    await call(app, vms.rename, { token: owner.token, params: { id: vm?.id ?? '' }, body: { name: renamed } })
    const [newest] = (await events(owner)).filter(({ status }) => status !== 'failed')
    expect(newest).toMatchObject({
      kind: 'nextstack.vm.create',
      resource: 'nextstack.vm',
      resource_id: vm?.id,
      resource_name: renamed,
      exists: true,
      status: 'succeeded',
      error: null,
      actor_name: owner.name,
      finished_at: expect.any(String),
    })
    expect((await events(stranger)).every(({ resource_id }) => resource_id !== vm?.id)).toBe(true)
    expect((await events(admin)).map(({ resource_id }) => resource_id)).toContain(vm?.id)
  })

  it('remember the name of what was deleted', async () => {
    const [vm] = await create(1)
    await remove(vm ?? expect.fail('none'))
    expect((await events(owner)).find(({ kind }) => kind === 'nextstack.vm.delete')).toMatchObject({
      resource_id: vm?.id,
      resource_name: vm?.name,
      exists: false,
      status: 'succeeded',
    })
  })

  it('tell of nodes and what runs on them, too', async () => {
    const { db } = app.platform
    const { edge } = await call(app, edges.create, {
      token: owner.token,
      body: { name: `e-${randomUUID().slice(0, 8)}`, description: '', site_id: null, labels: [], taints: [], confirm: 'auto' },
    })
    const pull = randomUUID()
    await db
      .insertInto('edge_image_pulls')
      .values({ id: pull, edge_id: edge.id, image: 'nginx:1.27', status: 'succeeded', error: null, layers: '[]' })
      .execute()
    const done = {
      bp_id: owner.bp_id,
      actor_id: owner.id,
      actor_name: owner.name,
      status: 'succeeded' as const,
      steps_done: 1,
      steps_total: 1,
      step: null,
      input: '',
      error: null,
      error_text: null,
      started_at: null,
      finished_at: null,
    }
    const container = randomUUID()
    await db
      .insertInto('operations')
      .values([
        { ...done, id: randomUUID(), kind: 'ecrm.edge.upgrade', resource_type: 'ecrm.edge', resource_id: edge.id, resource_name: edge.name },
        { ...done, id: randomUUID(), kind: 'ecrm.edge.pullImage', resource_type: 'ecrm.imagePull', resource_id: pull, resource_name: 'nginx:1.27' },
        { ...done, id: randomUUID(), kind: 'cis.container.delete', resource_type: 'cis.container', resource_id: container },
        { ...done, id: randomUUID(), kind: 'made.up', resource_type: 'bill.order', resource_id: container },
      ])
      .execute()
    const told = await events(owner, 50)
    const of = (kind: string) => told.find((event) => event.kind === kind)
    expect(of('ecrm.edge.upgrade')).toMatchObject({ resource: 'ecrm.edge', resource_id: edge.id, resource_name: edge.name, exists: true })
    expect(of('ecrm.edge.pullImage')).toMatchObject({ resource: 'ecrm.edge', resource_id: edge.id, resource_name: 'nginx:1.27', exists: true })
    expect(of('cis.container.delete')).toMatchObject({ resource: 'cis.container', resource_id: container, exists: false })
    expect(of('made.up')).toBeUndefined()
    await db.deleteFrom('edge_image_pulls').where('id', '=', pull).execute()
    // The name stays.
    expect((await events(owner, 50)).find(({ kind }) => kind === 'ecrm.edge.pullImage')).toMatchObject({ resource_name: 'nginx:1.27', exists: false })
    expect((await events(stranger, 50)).some(({ kind }) => kind.startsWith('ecrm.'))).toBe(false)
  })

  it('begin with what failed today, and no older', async () => {
    engine.fail('failed', { method: 'instances.create', times: 1 })
    const [failed] = await create(1)
    await create(1)
    const [first] = await events(owner)
    expect(first).toMatchObject({ kind: 'nextstack.vm.create', resource_id: failed?.id, status: 'failed' })
    expect(first?.error).toMatch(/\p{Script=Han}{4}/u)
    await app.platform.db
      .updateTable('operations')
      .set({ created_at: new Date(Date.now() - 25 * 3_600_000) })
      .where('status', '=', 'failed')
      .execute()
    expect((await events(owner))[0]?.status).toBe('succeeded')
    await remove(failed ?? expect.fail('none'))
  })

  it('are as many as were asked for', async () => {
    expect(await events(owner, 2)).toHaveLength(2)
    expect((await refused(app, overview.events, { token: owner.token, query: { limit: 0 } })).code).toBe(90001)
  })
})

describe('trends', () => {
  const minute = 60_000
  it('are counted from the start on, and end with now', async () => {
    const late = await someone(app)
    const { since, items } = await trends(late)
    expect(since).not.toBeNull()
    expect(items.at(-1)).toMatchObject({ vms: 0, running: 0, cpu_cores: 0, memory_bytes: 0 })
    await create(2, late)
    expect((await trends(late)).items.at(-1)).toMatchObject({ vms: 2, running: 2, cpu_cores: 2 * flavor.cpu_cores, memory_bytes: 2 * flavor.memory_bytes })
  })

  it('have a point every ten minutes, hour and four hours, each of its own organisation', async () => {
    const late = await someone(app)
    const at = Math.ceil(Date.now() / (4 * 3_600_000)) * 4 * 3_600_000
    const count = async (moment: number) => createOverview({ ...app.platform, now: () => new Date(moment) }).takeSample()
    const before = (await trends(admin)).items.at(-1)?.vms ?? 0
    await count(at + minute)
    await create(1, late)
    await count(at + 11 * minute)
    // The same moment counts once.
    await count(at + 12 * minute)
    await create(1, late)
    for (const after of [61, 4 * 60 + 1]) await count(at + after * minute)

    const now = () => new Date(at + 5 * 60 * minute)
    const service = createOverview({ ...app.platform, now })
    const vmsOf = async (scope: { bp_id: string } | { everything: true }, range: keyof typeof trendSteps) =>
      (await service.trends(scope, range)).items.filter((item) => Date.parse(item.at) >= at).map((item) => [(Date.parse(item.at) - at) / minute, item.vms])
    const own = { bp_id: late.bp_id ?? '' }
    expect(await vmsOf(own, 'day')).toEqual([
      [0, 0],
      [10, 1],
      [60, 2],
      [240, 2],
      [300, 2],
    ])
    expect(await vmsOf(own, 'week')).toEqual([
      [10, 1],
      [60, 2],
      [240, 2],
      [300, 2],
    ])
    expect(await vmsOf(own, 'month')).toEqual([
      [60, 2],
      [240, 2],
      [300, 2],
    ])
    expect(await vmsOf({ everything: true }, 'week')).toEqual([
      [10, before + 1],
      [60, before + 2],
      [240, before + 2],
      [300, before + 2],
    ])
  })

  it('are forgotten after a month', async () => {
    const { db } = app.platform
    const rows = () => db.selectFrom('overview_samples').select('at').execute()
    expect((await rows()).length).toBeGreaterThan(1)
    const later = new Date(Date.now() + 40 * 24 * 3_600_000)
    await createOverview({ ...app.platform, now: () => later }).takeSample()
    expect(new Set((await rows()).map(({ at }) => at.getTime())).size).toBe(1)
  })
})
