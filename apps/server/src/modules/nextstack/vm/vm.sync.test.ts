import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, vms, type Vm, type VmStatus } from '@zhisuan/contract/nextstack/vm'
import type { Instance, InstanceUsage } from '@zhisuan/engines/compute'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { shortened, testApp, type TestApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { freshDatabase } from '../../../testing/database.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { waitingForLocks } from '../../../testing/locks.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createMetrics, sampleEveryMs } from './vm.metrics.ts'
import { insertVms, recordObservations } from './vm.store.ts'
import { look } from './vm.sync.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let engine: TestEngine
let cloud_id: string
beforeAll(async () => {
  app = await testApp({}, { openEngine: openTestEngine, pause: shortened([sampleEveryMs], 500) })
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  engine = startTestEngine()
  ;({ cloud_id } = await call(app, clouds.create, {
    token: admin.token,
    body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: engine.connection },
  }))
})
afterAll(() => app.close())

const get = (id: string, on = app, token = owner.token) => call(on, vms.get, { token, params: { id } })
const becomes = (id: string, wanted: object, on = app, token = owner.token) =>
  vi.waitFor(async () => expect(await get(id, on, token)).toMatchObject(wanted), { interval: 20 })
const engineName = (vm: Pick<Vm, 'id'>) => `zs-${vm.id.replaceAll('-', '')}`
async function create(on = app, token = owner.token, cloud = cloud_id): Promise<Vm> {
  const { items: offered } = await call(on, images.list, { token, query: { cloud_id: cloud, type: 'container' } })
  const { items: sizes } = await call(on, flavors.list, { token })
  const { items } = await call(on, vms.create, {
    token,
    body: {
      cloud_id: cloud,
      name: `vm-${randomUUID()}`,
      type: 'container',
      image_fingerprint: offered[0]?.fingerprint ?? '',
      flavor_id: sizes[0]?.id ?? '',
      network: 'sandbox0',
      password: 'Correct-horse-1',
    },
  })
  const vm = items[0] ?? expect.fail('nothing was created')
  await becomes(vm.id, { status: 'running', addresses: [{ family: 4 }] }, on, token)
  return get(vm.id, on, token)
}
const act = (action: 'active' | 'offline') => call(app, clouds.action, { token: admin.token, params: { id: cloud_id }, body: { action } })

describe('what somebody does on the engine behind our back', () => {
  it('shows: stopped, started, gone, and there again', async () => {
    const vm = await create()
    const name = engineName(vm)
    const { instances } = engine.direct
    const spec = {
      name,
      type: vm.type,
      imageFingerprint: vm.image.fingerprint,
      cpuCores: 1,
      memoryBytes: 1,
      diskBytes: 1,
      network: 'sandbox0',
      tags: { vm_id: vm.id },
    }
    await instances.stop(name)
    await becomes(vm.id, { status: 'stopped', addresses: [] })
    await instances.start(name)
    await becomes(vm.id, { status: 'running', addresses: vm.addresses })
    await instances.delete(name)
    await becomes(vm.id, { status: 'lost', addresses: [], node: null })
    expect((await send(app, vms.start, { token: owner.token, params: { id: vm.id } })).status).toBe(409)
    await instances.create(spec)
    await becomes(vm.id, { status: 'stopped', node: 'sandbox' })
    await instances.delete(name)
    await becomes(vm.id, { status: 'lost' })
    await call(app, vms.delete, { token: owner.token, params: { id: vm.id } })
    await vi.waitFor(async () => expect((await send(app, vms.get, { token: owner.token, params: { id: vm.id } })).status).toBe(404))
  })

  it('is nothing of ours where the instance is not', async () => {
    const vm = await create()
    const before = (await call(app, vms.list, { token: admin.token })).total
    await engine.direct.instances.create({
      name: 'by-hand',
      type: 'container',
      imageFingerprint: vm.image.fingerprint,
      cpuCores: 1,
      memoryBytes: 1,
      diskBytes: 1,
      network: 'sandbox0',
      tags: {},
    })
    // One of ours afterwards, so that both were looked at.
    await engine.direct.instances.stop(engineName(vm))
    await becomes(vm.id, { status: 'stopped' })
    expect((await call(app, vms.list, { token: admin.token })).total).toBe(before)
    expect(await engine.direct.instances.get('by-hand')).not.toBeNull()
  })

  it('while the cloud is offline is caught up with when it comes back', async () => {
    const vm = await create()
    await act('offline')
    await engine.direct.instances.stop(engineName(vm))
    expect((await get(vm.id)).status).toBe('running')
    await act('active')
    await becomes(vm.id, { status: 'stopped' })
  })

  it('while no server ran is caught up with at the next start', async () => {
    const database = await freshDatabase()
    try {
      const first = await testApp({ DATABASE_URL: database.url }, { openEngine: openTestEngine })
      const boss = await someone(first, { kind: 1 })
      const own = startTestEngine()
      const cloud = await call(first, clouds.create, { token: boss.token, body: { name: 'c', product: 'nextstack', connection: own.connection } })
      const vm = await create(first, boss.token, cloud.cloud_id)
      await first.close()
      await own.direct.instances.delete(engineName(vm))
      const second = await testApp({ DATABASE_URL: database.url }, { openEngine: openTestEngine })
      await vi.waitFor(async () => expect((await call(second, vms.get, { token: boss.token, params: { id: vm.id } })).status).toBe('lost'))
      await second.close()
    } finally {
      await database.drop()
    }
  })

  it('is looked at by one after the other, also while a row is held', async () => {
    const [vm, held] = [await create(), await create()]
    const elsewhere = startTestEngine()
    const other = await call(app, clouds.create, {
      token: admin.token,
      body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: elsewhere.connection },
    })
    const clock = await create(app, owner.token, other.cloud_id)
    const { pool } = app.platform.database
    const waiting = () => waitingForLocks(app, '%update vms%')
    const client = await pool.connect()
    try {
      await client.query('begin')
      await client.query('select from vms where id = $1 for update', [held.id])
      await engine.direct.instances.stop(engineName(held))
      await vi.waitFor(async () => expect(await waiting()).toBe(1))
      for (const power of ['start', 'stop', 'start', 'stop'] as const) {
        await engine.direct.instances[power](engineName(held))
        await engine.direct.instances[power](engineName(vm))
        // By the time that another cloud was looked at, this one was due as well.
        await elsewhere.direct.instances[power === 'stop' ? 'start' : 'stop'](engineName(clock))
        await becomes(clock.id, { status: power === 'stop' ? 'running' : 'stopped' })
        expect(await waiting()).toBe(1)
      }
    } finally {
      await client.query('rollback')
      client.release()
    }
    for (const { id } of [vm, held]) await becomes(id, { status: 'stopped' })
  })

  it('clears what had gone wrong, once the engine says that it is well', async () => {
    const vm = await create()
    engine.fail('failed', { method: 'instances.stop', times: 1 })
    await call(app, vms.stop, { token: owner.token, params: { id: vm.id }, body: {} })
    await becomes(vm.id, { status: 'running', error: expect.any(String) })
    await engine.direct.instances.stop(engineName(vm))
    await becomes(vm.id, { status: 'stopped', error: null })
  })
})

describe('what was seen', () => {
  const rowOf = async ({ id }: { id: string }) =>
    app.platform.db.selectFrom('vms').select(['revision', 'observed']).where('id', '=', id).executeTakeFirstOrThrow()
  const record = async (vm: { id: string }, observed: VmStatus, revision?: number) =>
    recordObservations(app.platform.db, [{ id: vm.id, revision: revision ?? (await rowOf(vm)).revision, observed, addresses: [], node: null }])

  /** A row that the running server does not look after: its engine has nothing of that name, and nothing was seen of it. */
  async function unseen(): Promise<{ id: string }> {
    const id = randomUUID()
    const row = {
      id,
      cloud_id,
      bp_id: owner.bp_id,
      name: `vm-${id}`,
      description: '',
      type: 'container' as const,
      status: 'running' as const,
      error_text: null,
      engine_name: `unseen-${id}`,
      image_fingerprint: 'f'.repeat(64),
      image_name: 'busybox',
      flavor_id: null,
      flavor_name: 'nano',
      cpu_cores: 1,
      memory_bytes: 1,
      disk_bytes: 1,
      network: 'sandbox0',
      observed: null,
      addresses: jsonb([]),
      node: null,
      created_by: owner.id,
      created_by_name: owner.name,
    }
    await app.platform.db.transaction().execute((tx) => insertVms(tx, [row]))
    return { id }
  }

  it('before a change that came meanwhile is dropped', async () => {
    const vm = await unseen()
    const { revision } = await rowOf(vm)
    await call(app, vms.rename, { token: owner.token, params: { id: vm.id }, body: { name: `r-${randomUUID()}` } })
    await record(vm, 'lost', revision)
    expect((await get(vm.id)).status).toBe('running')
    await record(vm, 'lost')
    expect((await get(vm.id)).status).toBe('lost')
  })

  it('of a passing state passes: it does not stay when the engine has moved on', async () => {
    const vm = await unseen()
    await record(vm, 'stopping')
    expect((await get(vm.id)).status).toBe('stopping')
    await record(vm, 'stopped')
    expect((await get(vm.id)).status).toBe('stopped')
  })

  it('while an operation runs does not change what people see, but is remembered', async () => {
    const vm = await create()
    const gate = engine.hold('instances.stop')
    await call(app, vms.stop, { token: owner.token, params: { id: vm.id }, body: {} })
    await gate.reached
    await record(vm, 'stopped')
    expect((await get(vm.id)).status).toBe('stopping')
    expect((await rowOf(vm)).observed).toBe('stopped')
    gate.open()
    await becomes(vm.id, { status: 'stopped' })
  })

  it('of thousands is recorded in a few statements', async () => {
    const vm = await unseen()
    const { revision } = await rowOf(vm)
    const others = Array.from({ length: 4_500 }, () => ({ id: randomUUID(), revision: 0, observed: 'running' as const, addresses: [], node: null }))
    await recordObservations(app.platform.db, [
      ...others,
      { id: vm.id, revision, observed: 'running', addresses: [{ family: 6, address: 'fd00::1' }], node: 'n2' },
    ])
    expect(await get(vm.id)).toMatchObject({ addresses: [{ family: 6, address: 'fd00::1' }], node: 'n2' })
  })
})

describe('the difference', () => {
  const instance = (changes: Partial<Instance> = {}): Instance => ({
    name: 'zs-1',
    type: 'container',
    power: 'running',
    engineStatus: 'Running',
    cpuCores: 1,
    memoryBytes: 1,
    diskBytes: 1,
    tags: {},
    addresses: [{ family: 4, address: '10.0.0.2', mac: '', interface: 'eth0', network: null }],
    nic: null,
    gpus: [],
    location: 'n1',
    createdAt: null,
    ...changes,
  })
  const row = (changes: Partial<Parameters<typeof look>[0]> = {}) => ({
    id: 'a',
    status: 'running' as VmStatus,
    observed: 'running' as VmStatus | null,
    addresses: [{ family: 4 as const, address: '10.0.0.2' }],
    node: 'n1',
    revision: 3,
    ...changes,
  })

  it('is none where all is as it was', () => {
    expect(look(row(), instance())).toBeNull()
  })

  it('is none where the engine names no place: it is where it was put', () => {
    expect(look(row(), instance({ location: null }))).toBeNull()
    expect(look(row({ node: null }), instance({ location: null }))).toBeNull()
  })

  it.each([
    ['the power', row(), instance({ power: 'stopped' }), 'stopped'],
    ['an unknown state', row(), instance({ power: 'unknown' }), 'error'],
    ['the address', row(), instance({ addresses: [] }), 'running'],
    ['the host', row(), instance({ location: 'n2' }), 'running'],
    ['what people see', row({ status: 'error' }), instance(), 'running'],
    ['the instance, which is gone', row(), undefined, 'lost'],
    ['the instance, gone while it starts', row({ status: 'starting' }), undefined, 'lost'],
    ['the instance, which is there again', row({ status: 'lost', observed: 'lost', addresses: [], node: null }), instance(), 'running'],
  ] as const)('is %s', (_, before, now, observed) => {
    expect(look(before, now)).toMatchObject({ id: 'a', revision: 3, observed })
  })

  it.each([
    ['is being made', row({ status: 'creating', observed: null })],
    ['is being made, and was seen', row({ status: 'creating' })],
    ['is being deleted', row({ status: 'deleting' })],
    ['failed to be made', row({ status: 'error', observed: null })],
    ['failed to be made, though it was seen', row({ status: 'error' })],
    ['is known to be lost', row({ status: 'lost', observed: 'lost' })],
  ] as const)('is none for one that is not there and %s', (_, before) => {
    expect(look(before, undefined)).toBeNull()
  })
})

describe('usage of running instances', () => {
  it('is sampled by itself', async () => {
    const vm = await create()
    const items = await vi.waitFor(
      async () => {
        const got = (await call(app, vms.metrics, { token: owner.token, params: { id: vm.id }, query: { minutes: 5 } })).items
        expect(got.length).toBeGreaterThanOrEqual(2)
        return got
      },
      { interval: 200 },
    )
    expect(items[0]).toMatchObject({ cpu: null, memory_bytes: expect.any(Number), received_bytes_per_second: null })
    expect(items[1]).toMatchObject({ cpu: expect.any(Number), received_bytes_per_second: expect.any(Number) })
  })
})

describe('metrics', () => {
  let now = 0
  const clock = () => new Date(now)
  const vm = { cloud_id: 'c', engine_name: 'zs-1', cpu_cores: 2 }
  const usage = (seconds: number, changes: Partial<InstanceUsage> = {}): InstanceUsage => ({
    name: 'zs-1',
    takenAt: new Date(seconds * 1000),
    cpuSeconds: seconds,
    memoryBytes: 100,
    diskBytes: 50,
    networkReceivedBytes: seconds * 10,
    networkSentBytes: seconds * 5,
    processes: 1,
    ...changes,
  })

  it('are rates against the sample before; the first has none', () => {
    now = 20_000
    const metrics = createMetrics(clock)
    metrics.record('c', [usage(10)])
    metrics.record('c', [usage(15, { memoryBytes: 200 }), usage(15, { name: 'zs-2', cpuSeconds: 0 })])
    expect(metrics.of(vm, 15)).toEqual({
      interval_seconds: 5,
      items: [
        { at: new Date(10_000).toISOString(), cpu: null, memory_bytes: 100, disk_bytes: 50, received_bytes_per_second: null, sent_bytes_per_second: null },
        { at: new Date(15_000).toISOString(), cpu: 0.5, memory_bytes: 200, disk_bytes: 50, received_bytes_per_second: 10, sent_bytes_per_second: 5 },
      ],
    })
  })

  it('begin anew after a restart, and never are below nothing or above all', () => {
    now = 40_000
    const metrics = createMetrics(clock)
    metrics.record('c', [usage(10)])
    metrics.record('c', [usage(15, { cpuSeconds: 1, networkReceivedBytes: 0 })])
    expect(metrics.of(vm, 15).items).toMatchObject([{ cpu: null }])
    metrics.record('c', [usage(20, { cpuSeconds: 100, networkReceivedBytes: 0 })])
    metrics.record('c', [usage(20, { cpuSeconds: 101 })])
    expect(metrics.of(vm, 15).items.map(({ cpu }) => cpu)).toEqual([null, 1, null])
    metrics.record('c', [usage(25, { cpuSeconds: 101, networkReceivedBytes: 0 })])
    expect(metrics.of(vm, 15).items.at(-1)).toMatchObject({ cpu: 0, received_bytes_per_second: 0 })
  })

  it('keep an hour, show the minutes asked for, and forget instances and clouds that are gone', () => {
    const metrics = createMetrics(clock)
    for (let seconds = 0; seconds <= 4_000; seconds += 5) metrics.record('c', [usage(seconds)])
    now = 4_000_000
    expect(metrics.of(vm, 60).items).toHaveLength(720)
    expect(metrics.of(vm, 1).items).toHaveLength(13)
    metrics.record('c', [])
    expect(metrics.of(vm, 60).items).toEqual([])
    metrics.record('c', [usage(4_000)])
    metrics.forget('c')
    expect(metrics.of(vm, 60).items).toEqual([])
  })

  it('remember for an hour that somebody looked', () => {
    now = 5_000_000
    const metrics = createMetrics(clock)
    expect(metrics.watches('c')).toBe(false)
    metrics.of(vm, 15)
    expect(metrics.watches('c')).toBe(true)
    expect(metrics.watches('other')).toBe(false)
    now += 60 * 60_000
    expect(metrics.watches('c')).toBe(false)
  })
})
