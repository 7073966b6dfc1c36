import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput } from '@zhisuan/contract/define'
import { flavors, type Flavor } from '@zhisuan/contract/nextstack/flavor'
import { hosts, type Host } from '@zhisuan/contract/nextstack/host'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { images, vmTransitional, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import type { ComputeEngine } from '@zhisuan/engines/compute'
import { EngineError } from '@zhisuan/engines/errors'
import type { Host as EngineHost } from '@zhisuan/engines/hosts'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { retryDelays } from '../../../platform/operations.ts'
import { shortened, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createHostObserver } from './host.observer.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let plain: Flavor
let withGpu: Flavor
const started: TestEngine[] = []

beforeAll(async () => {
  app = await testApp({}, { openEngine: openTestEngine, pause: shortened(retryDelays) })
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  plain = (await call(app, flavors.list, { token: owner.token })).items[0] ?? expect.fail('no flavor')
  withGpu = await makeFlavor(1)
})
afterEach(() => started.forEach((engine) => engine.recover()))
afterAll(() => app.close())

const patient = { interval: 20 }
const makeFlavor = (count: number, model = 'Sandbox GPU') =>
  call(app, flavors.create, {
    token: admin.token,
    body: { name: `gpu-${randomUUID()}`, cpu_cores: 1, memory_bytes: 2 ** 30, disk_bytes: plain.disk_bytes, gpu: { model, count } },
  })

const listed = async (cloudId: string): Promise<Host[]> => (await call(app, hosts.list, { token: admin.token, query: { cloud_id: cloudId } })).items
/** A cloud whose hosts are known. */
async function addCloud(members = 1) {
  const engine = startTestEngine({ members })
  started.push(engine)
  const { cloud_id } = await call(app, clouds.create, {
    token: admin.token,
    body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: engine.connection },
  })
  const all = await vi.waitFor(async () => {
    const items = await listed(cloud_id)
    expect(items).toHaveLength(members)
    expect(items[0]?.gpus).toHaveLength(1)
    return items
  }, patient)
  const { items } = await call(app, images.list, { token: admin.token, query: { cloud_id, type: 'container' } })
  return { engine, cloud_id, hosts: all, host: all[0] ?? expect.fail('no host'), image: items[0]?.fingerprint ?? '' }
}
type Cloud = Awaited<ReturnType<typeof addCloud>>

const wish = (cloud: Cloud, more: Partial<BodyInput<typeof vms.create>> = {}) => ({
  cloud_id: cloud.cloud_id,
  name: `vm-${randomUUID()}`,
  type: 'container' as const,
  image_fingerprint: cloud.image,
  flavor_id: plain.id,
  network: 'sandbox0',
  password: 'Correct-horse-1',
  ...more,
})
const settled = (id: string, token = owner.token): Promise<Vm> =>
  vi.waitFor(async () => {
    const vm = await call(app, vms.get, { token, params: { id } })
    expect(vmTransitional).not.toContain(vm.status)
    return vm
  }, patient)
const create = async (cloud: Cloud, more: Partial<BodyInput<typeof vms.create>> = {}): Promise<Vm[]> => {
  const { items } = await call(app, vms.create, { token: owner.token, body: wish(cloud, more) })
  return Promise.all(items.map(({ id }) => settled(id)))
}
const remove = async (vm: Vm): Promise<void> => {
  await call(app, vms.delete, { token: owner.token, params: { id: vm.id } })
  await vi.waitFor(async () => expect((await send(app, vms.get, { token: owner.token, params: { id: vm.id } })).status).toBe(404), patient)
}
const onEngine = (cloud: Cloud, vm: Pick<Vm, 'id'>) => cloud.engine.direct.instances.get(`zs-${vm.id.replaceAll('-', '')}`)
const get = (host: Pick<Host, 'id'>) => call(app, hosts.get, { token: admin.token, params: { id: host.id } })
const resting = (host: Pick<Host, 'id'>) =>
  vi.waitFor(async () => {
    const now = await get(host)
    expect(now.operation_id).toBeNull()
    return now
  }, patient)
const setSchedulable = (host: Host, schedulable: boolean) =>
  call(app, hosts.setSchedulable, { token: admin.token, params: { id: host.id }, body: { schedulable } })
const of = (host: Pick<Host, 'id'>) => ({ token: admin.token, params: { id: host.id } })
const look = (cloud: Cloud, engine: ComputeEngine = cloud.engine.direct) =>
  createHostObserver(app.platform).look({ id: cloud.cloud_id, engine, signal: new AbortController().signal }, null)

describe('a cloud of one host', () => {
  let cloud: Cloud
  beforeAll(async () => {
    cloud = await addCloud()
  })

  it('is told of with what it has and what is promised of it', async () => {
    const [vm] = await create(cloud)
    expect(await get(cloud.host)).toMatchObject({
      cloud_id: cloud.cloud_id,
      name: 'sandbox',
      status: 'online',
      schedulable: true,
      clustered: false,
      address: null,
      cpu: { model: 'Sandbox CPU', sockets: 2, cores: 64, threads: 128, promised: plain.cpu_cores },
      memory: { total_bytes: 512 * 2 ** 30, promised_bytes: plain.memory_bytes },
      disk_bytes: 4096 * 2 ** 30,
      gpus: [{ model: 'Sandbox GPU', count: 2, used: 0 }],
      vm_count: 1,
      error: null,
      disks: [{ id: 'sda' }],
      nics: [{ id: 'eth0', link: true, speed_mbps: 10_000 }],
      gpu_cards: [
        { pci_address: '0000:01:00.0', vm: null, taken_by: null, present: true },
        { pci_address: '0000:02:00.0', vm: null, taken_by: null, present: true },
      ],
    })
    expect((await call(app, vms.list, { token: admin.token, query: { host_id: cloud.host.id } })).items.map(({ id }) => id)).toEqual([vm?.id])
  })

  it('is found by name and status, and nobody but administrators hears of it', async () => {
    const find = (query: object) => call(app, hosts.list, { token: admin.token, query: { cloud_id: cloud.cloud_id, ...query } })
    expect((await find({ keyword: 'andbo', status: 'online' })).total).toBe(1)
    expect((await find({ keyword: 'nobody' })).total).toBe(0)
    expect((await find({ status: 'gone' })).total).toBe(0)
    expect((await refused(app, hosts.get, { token: owner.token, params: { id: cloud.host.id } })).status).toBe(403)
    expect((await refused(app, hosts.get, { token: admin.token, params: { id: randomUUID() } })).status).toBe(404)
  })

  it('cannot be evacuated', async () => {
    for (const action of [hosts.evacuate, hosts.restore]) expect(await refused(app, action, of(cloud.host))).toMatchObject({ status: 400, code: 94171 })
  })

  it('takes no new instances while it is not schedulable, and changes nothing of the others', async () => {
    expect(await setSchedulable(cloud.host, false)).toMatchObject({ schedulable: false, status: 'online' })
    expect(await refused(app, vms.create, { token: owner.token, body: wish(cloud) })).toMatchObject({ status: 400, code: 94172 })
    await setSchedulable(cloud.host, true)
    expect((await create(cloud))[0]).toMatchObject({ status: 'running' })
  })

  it('is offline when its engine does not answer, gone when it names it no longer, and may come back', async () => {
    const own = await addCloud()
    const { direct } = own.engine
    const hear = (list: () => Promise<EngineHost[]>) => look(own, { ...direct, hosts: { ...direct.hosts, list } })
    const cards = async () => (await call(app, hosts.gpuModels, { token: admin.token })).items[0]?.count ?? 0
    const before = await cards()
    await expect(hear(() => Promise.reject(new EngineError('unreachable', 'by test')))).rejects.toMatchObject({ kind: 'unreachable' })
    expect(await get(own.host)).toMatchObject({ status: 'offline', cpu: { cores: 64 }, memory: { total_bytes: 512 * 2 ** 30 } })
    await hear(async () => [])
    expect(await get(own.host)).toMatchObject({ status: 'gone', gpus: [{ count: 2 }] })
    expect(await cards()).toBe(before - 2)
    await look(own)
    expect(await get(own.host)).toMatchObject({ status: 'online' })
    // One that is off tells nothing of itself.
    const { seen_at } = await get(own.host)
    await hear(async () =>
      (await direct.hosts.list()).map((host) => ({
        ...host,
        status: 'offline',
        architecture: '',
        cpu: { model: '', sockets: 0, cores: 0, threads: 0 },
        memory: { totalBytes: 0, usedBytes: 0 },
        disks: [],
        gpus: [],
      })),
    )
    expect(await get(own.host)).toMatchObject({ status: 'offline', cpu: { cores: 64 }, disks: [{ id: 'sda' }], gpus: [{ count: 2 }], seen_at })
  })

  it('loses a card that is taken out, but not while an instance holds it', async () => {
    const own = await addCloud()
    const { direct } = own.engine
    const without = (pci: string) =>
      look(own, {
        ...direct,
        hosts: {
          ...direct.hosts,
          list: async () => (await direct.hosts.list()).map((host) => ({ ...host, gpus: host.gpus.filter(({ pciAddress }) => pciAddress !== pci) })),
        },
      })
    const [vm] = await create(own, { flavor_id: withGpu.id })
    await without('0000:01:00.0')
    expect((await get(own.host)).gpu_cards).toMatchObject([{ pci_address: '0000:01:00.0', present: false, vm: { id: vm?.id } }, { present: true }])
    await without('0000:02:00.0')
    expect((await get(own.host)).gpu_cards).toMatchObject([{ pci_address: '0000:01:00.0', present: true }])
  })
})

describe('GPUs', () => {
  it('are given to one instance each, however many ask at once, and given back', async () => {
    const cloud = await addCloud()
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => send(app, vms.create, { token: owner.token, body: wish(cloud, { flavor_id: withGpu.id }) })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 400, 400, 400, 400])
    expect(answers.flatMap(({ body, status }) => (status === 400 ? [(body as { code: number }).code] : []))).toEqual([94023, 94023, 94023, 94023])
    const made = await Promise.all(answers.flatMap(({ body, status }) => (status === 202 ? (body as { items: Vm[] }).items : [])).map(({ id }) => settled(id)))
    expect(made.map(({ status }) => status)).toEqual(['running', 'running'])
    expect(made.map(({ gpus: has }) => has)).toEqual(made.map(() => [{ model: 'Sandbox GPU', count: 1 }]))
    const given = await Promise.all(made.map(async (vm) => (await onEngine(cloud, vm))?.gpus))
    expect(given.flat().sort()).toEqual(['0000:01:00.0', '0000:02:00.0'])
    const { gpu_cards, gpus } = await get(cloud.host)
    expect(gpus).toEqual([{ model: 'Sandbox GPU', count: 2, used: 2 }])
    for (const [index, vm] of made.entries())
      expect(gpu_cards.find(({ pci_address }) => pci_address === given[index]?.[0])?.vm).toEqual({ id: vm.id, name: vm.name })
    // Nothing is left of those that were refused.
    expect(await cloud.engine.direct.instances.list()).toHaveLength(2)

    for (const vm of made) await remove(vm)
    expect((await get(cloud.host)).gpus).toEqual([{ model: 'Sandbox GPU', count: 2, used: 0 }])
    const both = await makeFlavor(2)
    const [vm] = await create(cloud, { flavor_id: both.id })
    expect((await onEngine(cloud, vm ?? expect.fail('none')))?.gpus).toEqual(['0000:01:00.0', '0000:02:00.0'])
  })

  it('are given back by a creation that failed when its instance is deleted', async () => {
    const cloud = await addCloud()
    const both = await makeFlavor(2)
    cloud.engine.fail('exhausted', { method: 'instances.create', times: 1 })
    const [failed] = await create(cloud, { flavor_id: both.id })
    expect(failed?.status).toBe('error')
    expect(await refused(app, vms.create, { token: owner.token, body: wish(cloud, { flavor_id: withGpu.id }) })).toMatchObject({ code: 94023 })
    await remove(failed ?? expect.fail('none'))
    expect((await create(cloud, { flavor_id: both.id }))[0]?.status).toBe('running')
  })

  it('of all or none are given to several instances of one request', async () => {
    const cloud = await addCloud()
    expect(await refused(app, vms.create, { token: owner.token, body: wish(cloud, { flavor_id: withGpu.id, count: 3 }) })).toMatchObject({ code: 94023 })
    expect((await get(cloud.host)).gpus[0]?.used).toBe(0)
    expect(await create(cloud, { flavor_id: withGpu.id, count: 2 })).toHaveLength(2)
    expect((await get(cloud.host)).gpus[0]?.used).toBe(2)
  })

  it('that another instance on the engine has are not given away', async () => {
    const cloud = await addCloud()
    await cloud.engine.direct.instances.create({
      name: 'by-hand',
      type: 'container',
      imageFingerprint: cloud.image,
      network: 'sandbox0',
      gpus: ['0000:01:00.0'],
      cpuCores: 1,
      memoryBytes: 2 ** 28,
      diskBytes: 2 ** 30,
      tags: {},
    })
    await look(cloud)
    expect((await get(cloud.host)).gpu_cards[0]).toMatchObject({ vm: null, taken_by: 'by-hand' })
    expect((await get(cloud.host)).gpus[0]?.used).toBe(1)
    const [vm] = await create(cloud, { flavor_id: withGpu.id })
    expect((await onEngine(cloud, vm ?? expect.fail('none')))?.gpus).toEqual(['0000:02:00.0'])
    await cloud.engine.direct.instances.delete('by-hand')
    await look(cloud)
    expect((await get(cloud.host)).gpu_cards[0]).toMatchObject({ taken_by: null })
  })

  it('of another model are none, and none come or go with another size', async () => {
    const cloud = await addCloud()
    const other = await makeFlavor(1, 'NVIDIA H200')
    expect(await refused(app, vms.create, { token: owner.token, body: wish(cloud, { flavor_id: other.id }) })).toMatchObject({
      code: 94023,
      fields: [{ field: 'flavor_id' }],
    })
    const [vm] = await create(cloud)
    expect(await refused(app, vms.resize, { token: owner.token, params: { id: vm?.id ?? '' }, body: { flavor_id: withGpu.id } })).toMatchObject({
      code: 94024,
      fields: [{ field: 'flavor_id' }],
    })
  })

  it('count against the quota', async () => {
    const cloud = await addCloud()
    const bp_id = owner.bp_id ?? ''
    const lines = async () => (await call(app, quotas.mine, { token: owner.token })).lines.find(({ resource }) => resource === 'gpus')
    const used = (await lines())?.used ?? 0
    const quota = { token: admin.token, params: { bp_id } }
    await call(app, quotas.set, { ...quota, body: { limits: { gpus: used + 1 } } })
    await create(cloud, { flavor_id: withGpu.id })
    expect(await lines()).toMatchObject({ used: used + 1, limit: used + 1 })
    expect(await refused(app, vms.create, { token: owner.token, body: wish(cloud, { flavor_id: withGpu.id }) })).toMatchObject({ code: 94030 })
    await call(app, quotas.set, { ...quota, body: { limits: {} } })
  })

  it('show for flavors, by model', async () => {
    const { items } = await call(app, hosts.gpuModels, { token: admin.token })
    expect(items).toEqual([{ model: 'Sandbox GPU', count: expect.any(Number), used: expect.any(Number) }])
  })
})

describe('a cluster', () => {
  let cloud: Cloud
  beforeAll(async () => {
    cloud = await addCloud(3)
  })
  const nodes = async (some: readonly Pick<Vm, 'id'>[]) => Promise.all(some.map(async (vm) => (await onEngine(cloud, vm))?.location))

  it('has new instances where there is most room, and none where none are wanted', async () => {
    const made = await create(cloud, { count: 3 })
    expect((await nodes(made)).sort()).toEqual(['sandbox-1', 'sandbox-2', 'sandbox-3'])
    expect(made.map(({ node }) => node)).toEqual(await nodes(made))
    expect((await listed(cloud.cloud_id)).map((host) => [host.vm_count, host.cpu.promised])).toEqual([1, 2, 3].map(() => [1, plain.cpu_cores]))
    await setSchedulable(cloud.host, false)
    const more = await create(cloud, { count: 4 })
    expect((await nodes(more)).sort()).toEqual(['sandbox-2', 'sandbox-2', 'sandbox-3', 'sandbox-3'])
    await setSchedulable(cloud.host, true)
    expect(await nodes(await create(cloud))).toEqual(['sandbox-1'])
    for (const vm of [...made, ...more]) await remove(vm)
  })

  it('has its GPUs on the host that has them free', async () => {
    const both = await makeFlavor(2)
    const made = [
      ...(await create(cloud, { flavor_id: withGpu.id })),
      ...(await create(cloud, { flavor_id: withGpu.id })),
      ...(await create(cloud, { flavor_id: both.id, count: 2 })),
    ]
    const [first, second, ...others] = await nodes(made)
    // The two that need one each share a host, so that the others find two together.
    expect(second).toBe(first)
    expect(new Set([first, ...others]).size).toBe(3)
    for (const vm of made) await remove(vm)
  })

  it('moves what is on a host elsewhere, and brings it back', async () => {
    const made = await create(cloud, { count: 3 })
    const before = await nodes(made)
    const host = cloud.hosts.find(({ name }) => name === before[0]) ?? cloud.host
    const answer = await call(app, hosts.evacuate, of(host))
    expect(answer).toMatchObject({ status: 'evacuating', operation_id: expect.any(String) })
    expect(await resting(host)).toMatchObject({ status: 'evacuated', vm_count: 0, error: null })
    for (const [index, vm] of made.entries()) {
      const now = await settled(vm.id)
      expect(now.node).not.toBe(host.name)
      expect(now.node).toBe((await nodes(made))[index])
    }
    expect(await refused(app, hosts.evacuate, of(host))).toMatchObject({ status: 409, code: 90010 })
    expect((await nodes(await create(cloud, { count: 2 }))).includes(host.name)).toBe(false)

    expect(await call(app, hosts.restore, of(host))).toMatchObject({ status: 'restoring' })
    expect(await resting(host)).toMatchObject({ status: 'online' })
    expect(await nodes(made)).toEqual(before)
    expect(await refused(app, hosts.restore, of(host))).toMatchObject({ status: 409, code: 90010 })
  })

  it('says what went wrong, and how the host is then', async () => {
    cloud.engine.fail('failed', { method: 'hosts.evacuate', times: 1 })
    await call(app, hosts.evacuate, of(cloud.host))
    const failed = await resting(cloud.host)
    expect(failed).toMatchObject({ status: 'online' })
    expect(failed.error).toMatch(/\p{Script=Han}{4}/u)
    await call(app, hosts.evacuate, of(cloud.host))
    expect(await resting(cloud.host)).toMatchObject({ status: 'evacuated', error: null })
    await call(app, hosts.restore, of(cloud.host))
    await resting(cloud.host)
  })

  it('hears what somebody does by hand, and keeps one host', async () => {
    const statusOf = (name: string) => async (status: string) => expect((await listed(cloud.cloud_id)).find((host) => host.name === name)?.status).toBe(status)
    for (const name of ['sandbox-2', 'sandbox-3']) {
      await cloud.engine.direct.hosts.evacuate(name)
      await vi.waitFor(() => statusOf(name)('evacuated'), patient)
    }
    expect(await refused(app, hosts.evacuate, of(cloud.host))).toMatchObject({ code: 94172 })
    for (const name of ['sandbox-2', 'sandbox-3']) {
      await cloud.engine.direct.hosts.restore(name)
      await vi.waitFor(() => statusOf(name)('online'), patient)
    }
  })

  it('is not listed any more once its cloud is removed', async () => {
    await call(app, clouds.delete, { token: admin.token, params: { id: cloud.cloud_id }, query: { force: 'true' } })
    expect(await listed(cloud.cloud_id)).toEqual([])
    // A look that was under way finds no place to write to that anybody reads.
    await look(cloud)
    expect(await listed(cloud.cloud_id)).toEqual([])
  })
})
