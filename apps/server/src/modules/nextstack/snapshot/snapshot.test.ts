import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput } from '@zhisuan/contract/define'
import { flavors, type Flavor } from '@zhisuan/contract/nextstack/flavor'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { snapshots, snapshotTransitional, type VmSnapshot } from '@zhisuan/contract/nextstack/snapshot'
import { securityGroups } from '@zhisuan/contract/nextstack/security-group'
import { images, vmTransitional, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { vpcs } from '@zhisuan/contract/nextstack/vpc'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { retryDelays } from '../../../platform/operations.ts'
import { shortened, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn
let engine: TestEngine
let cloud_id: string
let sizes: readonly Flavor[]
let image_fingerprint: string

beforeAll(async () => {
  app = await testApp({}, { openEngine: openTestEngine, pause: shortened(retryDelays) })
  ;[admin, owner, stranger] = [await someone(app, { kind: 1 }), await someone(app), await someone(app)]
  engine = startTestEngine()
  cloud_id = (await call(app, clouds.create, { token: admin.token, body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: engine.connection } }))
    .cloud_id
  sizes = (await call(app, flavors.list, { token: owner.token, query: { sort: 'memory_bytes' } })).items
  const { items } = await call(app, images.list, { token: owner.token, query: { cloud_id, type: 'container' } })
  image_fingerprint = items.find(({ name }) => name === 'busybox')?.fingerprint ?? ''
})
afterEach(() => engine.recover())
afterAll(() => app.close())

const patient = { interval: 20 }
const of = (one: { id: string }, token = owner.token) => ({ token, params: { id: one.id } })
const engineName = (vm: { id: string }) => `zs-${vm.id.replaceAll('-', '')}`
const onEngine = (vm: { id: string }) => engine.direct.instances.snapshots.list(engineName(vm))
const get = (one: { id: string }) => call(app, snapshots.get, of(one))
const getVm = (one: { id: string }) => call(app, vms.get, of(one))

const settledVm = (one: { id: string }): Promise<Vm> =>
  vi.waitFor(async () => {
    const vm = await getVm(one)
    expect(vmTransitional).not.toContain(vm.status)
    expect(vm.operation_id).toBeNull()
    return vm
  }, patient)
const beginVm = async (wish: Partial<BodyInput<typeof vms.create>> = {}): Promise<Vm> => {
  const network = wish.vpc_id === undefined ? { network: 'sandbox0' } : {}
  const body = {
    cloud_id,
    name: `vm-${randomUUID()}`,
    type: 'container' as const,
    image_fingerprint,
    flavor_id: sizes[0]?.id ?? '',
    password: 'Correct-horse-1',
    ...network,
    ...wish,
  }
  const { items } = await call(app, vms.create, { token: owner.token, body })
  return items[0] ?? expect.fail('nothing was created')
}
const makeVm = async (wish: Partial<BodyInput<typeof vms.create>> = {}): Promise<Vm> => settledVm(await beginVm(wish))
const begin = (vm: { id: string }, wish: { name?: string; description?: string } = {}) =>
  call(app, snapshots.create, { token: owner.token, body: { vm_id: vm.id, name: `s-${randomUUID()}`, ...wish } })
const settled = (one: { id: string }): Promise<VmSnapshot> =>
  vi.waitFor(async () => {
    const snapshot = await get(one)
    expect(snapshotTransitional).not.toContain(snapshot.status)
    return snapshot
  }, patient)
const take = async (vm: { id: string }, wish: { name?: string } = {}): Promise<VmSnapshot> => settled(await begin(vm, wish))
const gone = (one: { id: string }) => vi.waitFor(async () => expect((await send(app, snapshots.get, of(one))).status).toBe(404), patient)
const write = (vm: { id: string }, text: string) =>
  engine.direct.instances.writeFile(engineName(vm), { path: '/root/file', content: Buffer.from(text), mode: 0o600 })
const read = async (vm: { id: string }) => (await engine.direct.instances.exec(engineName(vm), { command: ['cat', '/root/file'] })).stdout.toString()
const history = async (vm: { id: string }) => (await call(app, vms.operations, of(vm))).items

describe('a snapshot', () => {
  it('is made, shows what it is, sets the disk back, and is deleted', async () => {
    const vm = await makeVm()
    await write(vm, 'then')
    const begun = await begin(vm, { name: '升级前', description: '三月' })
    expect(begun).toMatchObject({
      name: '升级前',
      description: '三月',
      status: 'creating',
      vm: { id: vm.id, name: vm.name },
      cloud_id,
      bp_id: owner.bp_id,
      created_by: owner.name,
      schedule_id: null,
      error: null,
    })
    expect(begun.operation_id).not.toBeNull()
    const made = await settled(begun)
    expect(made).toMatchObject({ status: 'available', operation_id: null, size_bytes: expect.any(Number) })
    expect(await onEngine(vm)).toHaveLength(1)
    await write(vm, 'now')
    expect(await call(app, snapshots.restore, of(made))).toMatchObject({ status: 'restoring' })
    await settledVm(vm)
    expect(await settled(made)).toMatchObject({ status: 'available', error: null })
    expect(await getVm(vm)).toMatchObject({ status: 'running', error: null })
    expect(await read(vm)).toBe('then')
    expect((await history(vm)).map(({ kind, status }) => [kind, status])).toEqual([
      ['nextstack.snapshot.restore', 'succeeded'],
      ['nextstack.snapshot.create', 'succeeded'],
      ['nextstack.vm.create', 'succeeded'],
    ])
    expect(await call(app, snapshots.delete, of(made))).toMatchObject({ status: 'deleting', operation_id: expect.any(String) })
    await gone(made)
    expect(await onEngine(vm)).toEqual([])
    expect((await history(vm)).map(({ kind, part, status }) => [kind, part, status])).toEqual([
      ['nextstack.snapshot.delete', '升级前', 'succeeded'],
      ['nextstack.snapshot.restore', '升级前', 'succeeded'],
      ['nextstack.snapshot.create', '升级前', 'succeeded'],
      ['nextstack.vm.create', null, 'succeeded'],
    ])
  })

  it('of a stopped instance sets it back and leaves it stopped', async () => {
    const vm = await makeVm()
    await write(vm, 'then')
    const made = await take(vm)
    await write(vm, 'now')
    await call(app, vms.stop, { ...of(vm), body: { force: true } })
    await settledVm(vm)
    await call(app, snapshots.restore, of(made))
    await settled(made)
    expect(await settledVm(vm)).toMatchObject({ status: 'stopped' })
    await engine.direct.instances.start(engineName(vm))
    expect(await read(vm)).toBe('then')
  })

  it('is renamed; of one instance no two have the same name', async () => {
    const vm = await makeVm()
    const [one, other] = [await take(vm, { name: 'one' }), await take(vm, { name: 'other' })]
    expect(await call(app, snapshots.update, { ...of(one), body: { name: 'first', description: 'd' } })).toMatchObject({ name: 'first', description: 'd' })
    expect(await refused(app, snapshots.update, { ...of(other), body: { name: 'first' } })).toMatchObject({ code: 94040, fields: [{ field: 'name' }] })
    expect(await refused(app, snapshots.create, { token: owner.token, body: { vm_id: vm.id, name: 'other' } })).toMatchObject({
      code: 94040,
      fields: [{ field: 'name' }],
    })
    expect(await take(await makeVm(), { name: 'other' })).toMatchObject({ name: 'other', status: 'available' })
  })

  it('does not exist for another organisation, nor does its instance', async () => {
    const vm = await makeVm()
    const made = await take(vm)
    const theirs = of(made, stranger.token)
    for (const answer of [
      await send(app, snapshots.get, theirs),
      await send(app, snapshots.update, { ...theirs, body: { name: 'mine' } }),
      await send(app, snapshots.restore, theirs),
      await send(app, snapshots.clone, { ...theirs, body: { name: 'mine' } }),
      await send(app, snapshots.delete, theirs),
      await send(app, snapshots.create, { token: stranger.token, body: { vm_id: vm.id, name: 'mine' } }),
    ])
      expect([answer.status, (answer.body as { code: number }).code]).toEqual([404, 90006])
    expect((await call(app, snapshots.list, { token: stranger.token })).items).toEqual([])
    expect(await get(made)).toMatchObject({ status: 'available' })
    expect((await call(app, snapshots.list, { token: admin.token, query: { vm_id: vm.id } })).items).toMatchObject([
      { id: made.id, bp_name: expect.any(String) },
    ])
  })

  it('is found by name, instance and status, and sorted', async () => {
    const vm = await makeVm()
    const made = [await take(vm, { name: 'b' }), await take(vm, { name: 'a' }), await take(vm, { name: 'c_1' })]
    const names = async (query: Parameters<typeof call<typeof snapshots.list>>[2]['query']) =>
      (await call(app, snapshots.list, { token: owner.token, query: { vm_id: vm.id, ...query } })).items.map(({ name }) => name)
    expect(await names({})).toEqual(['c_1', 'a', 'b'])
    expect(await names({ sort: 'name' })).toEqual(['a', 'b', 'c_1'])
    expect(await names({ sort: '-size_bytes', page_size: 2, page_num: 2 })).toHaveLength(1)
    expect(await names({ keyword: '_' })).toEqual(['c_1'])
    expect(await names({ keyword: made[1]?.id ?? '' })).toEqual(['a'])
    expect(await names({ status: 'lost' })).toEqual([])
    expect(await names({ status: 'available', cloud_id })).toHaveLength(3)
    expect(await names({ cloud_id: randomUUID() })).toEqual([])
  })

  it('counts in the quota', async () => {
    const somebody = await someone(app)
    const was = owner
    owner = somebody
    try {
      const vm = await makeVm()
      await call(app, quotas.set, { token: admin.token, params: { bp_id: somebody.bp_id ?? '' }, body: { limits: { vm_snapshots: 1 } } })
      const made = await take(vm)
      expect(await refused(app, snapshots.create, { token: owner.token, body: { vm_id: vm.id, name: 'more' } })).toMatchObject({
        code: 94030,
        message: '超出配额：云主机快照最多1，已用1',
      })
      expect((await call(app, quotas.mine, { token: owner.token })).lines).toContainEqual({ resource: 'vm_snapshots', used: 1, limit: 1, own: true })
      await call(app, snapshots.delete, of(made))
      await gone(made)
      expect(await take(vm)).toMatchObject({ status: 'available' })
    } finally {
      owner = was
    }
  })
})

describe('one thing at a time', () => {
  it('is done to an instance: what comes meanwhile is refused', async () => {
    const vm = await makeVm()
    const made = await take(vm)
    const gate = engine.hold('instances.snapshots.create')
    const second = await begin(vm)
    await gate.reached
    const wishes = () => [
      refused(app, vms.stop, { ...of(vm), body: {} }),
      refused(app, vms.delete, of(vm)),
      refused(app, snapshots.create, { token: owner.token, body: { vm_id: vm.id, name: 'third' } }),
      refused(app, snapshots.restore, of(made)),
      refused(app, snapshots.delete, of(made)),
    ]
    for (const refusal of await Promise.all(wishes())) expect(refusal.code).toBe(90011)
    expect(await refused(app, snapshots.delete, of(second))).toMatchObject({ code: 90010 })
    gate.open()
    await settled(second)
  })

  it('is begun by one of many who ask at once', async () => {
    const vm = await makeVm()
    const made = await take(vm)
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(app, snapshots.restore, of(made))))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409, 409])
    await settledVm(vm)
    expect((await history(vm)).filter(({ kind }) => kind === 'nextstack.snapshot.restore')).toHaveLength(1)
  })

  it('leaves many snapshots free to be deleted together, and the instance to be used, but not set back', async () => {
    const vm = await makeVm()
    const made = [await take(vm), await take(vm), await take(vm)]
    const gate = engine.hold('instances.snapshots.delete')
    await Promise.all(made.slice(1).map((one) => call(app, snapshots.delete, of(one))))
    await gate.reached
    expect(await refused(app, snapshots.restore, of(made[0] ?? vm))).toMatchObject({ code: 90011 })
    await call(app, vms.restart, { ...of(vm), body: { force: true } })
    await settledVm(vm)
    gate.open()
    for (const one of made.slice(1)) await gone(one)
    expect(await onEngine(vm)).toHaveLength(1)
  })

  it('comes of many requests at once, which are done or refused and never in each other’s way', async () => {
    const vm = await makeVm()
    const made = await take(vm)
    const token = owner.token
    for (let round = 0; round < 12; round++) {
      const spare = (await call(app, snapshots.list, { token, query: { vm_id: vm.id, sort: 'created_at' } })).items.at(-1) ?? made
      const answers = await Promise.all([
        send(app, snapshots.create, { token, body: { vm_id: vm.id, name: `r-${round}` } }),
        send(app, vms.restart, { ...of(vm), body: { force: true } }),
        send(app, snapshots.restore, of(made)),
        send(app, snapshots.update, { ...of(made), body: { name: `first-${round}` } }),
        ...(spare.id === made.id ? [] : [send(app, snapshots.delete, of(spare))]),
        send(app, snapshots.clone, { ...of(made), body: { name: `clone-${randomUUID()}` } }),
      ])
      for (const { status, body } of answers) expect([200, 202, 404, 409], JSON.stringify(body)).toContain(status)
    }
    await settledVm(vm)
    await vi.waitFor(async () => {
      const { items } = await call(app, snapshots.list, { token, query: { vm_id: vm.id } })
      expect(items.filter(({ status, error }) => status !== 'available' || error !== null)).toEqual([])
      expect(await onEngine(vm)).toHaveLength(items.length)
    }, patient)
    const { items } = await call(app, vms.list, { token, query: { keyword: 'clone-', page_size: 100 } })
    for (const clone of items) expect(await settledVm(clone)).toMatchObject({ status: 'running', error: null })
  })

  it.each(['creating', 'lost'])('says that an instance which is %s has none made', async (status) => {
    const vm = await makeVm()
    // Who follows the engine would see at once that it is there.
    if (status === 'creating') for (const look of ['instances.list', 'instances.get']) engine.hold(look)
    if (status === 'lost') await engine.direct.instances.delete(engineName(vm))
    else await app.platform.db.updateTable('vms').set({ status: 'creating' }).where('id', '=', vm.id).execute()
    await vi.waitFor(async () => expect((await getVm(vm)).status).toBe(status), patient)
    expect(await refused(app, snapshots.create, { token: owner.token, body: { vm_id: vm.id, name: 'no' } })).toMatchObject({ code: 94041 })
  })

  it('is a rebuild only where no snapshot would hold the disk', async () => {
    const vm = await makeVm()
    const made = await take(vm)
    const body = { image_fingerprint }
    expect(await refused(app, vms.rebuild, { ...of(vm), body })).toMatchObject({ code: 94042, message: '实例还有1个快照，请先删除快照再重装系统' })
    await call(app, snapshots.delete, of(made))
    await gone(made)
    await call(app, vms.rebuild, { ...of(vm), body })
    expect(await settledVm(vm)).toMatchObject({ error: null })
  })
})

describe('what goes wrong', () => {
  it('is said of the snapshot that could not be made, which can be deleted', async () => {
    const vm = await makeVm()
    engine.fail('exhausted', { method: 'instances.snapshots.create', times: 1 })
    const failed = await settled(await begin(vm))
    expect(failed).toMatchObject({ status: 'error', error: '节点资源不足', size_bytes: null })
    expect(await getVm(vm)).toMatchObject({ status: 'running', error: null })
    expect(await onEngine(vm)).toEqual([])
    expect(await refused(app, snapshots.restore, of(failed))).toMatchObject({ code: 90010 })
    await call(app, snapshots.delete, of(failed))
    await gone(failed)
  })

  it('is taken back where it is half made', async () => {
    const vm = await makeVm()
    // Who follows the engine lists them too, and would meet a failure that comes once.
    engine.fail('failed', { method: 'instances.snapshots.list' })
    expect(await settled(await begin(vm))).toMatchObject({ status: 'error' })
    engine.recover()
    expect(await onEngine(vm)).toEqual([])
  })

  it('is said of the instance that could not be set back, and the snapshot stays', async () => {
    const vm = await makeVm()
    const made = await take(vm)
    engine.fail('failed', { method: 'instances.snapshots.restore', times: 1 })
    await call(app, snapshots.restore, of(made))
    expect(await settled(made)).toMatchObject({ status: 'available', error: expect.stringContaining('云平台执行失败') })
    expect(await settledVm(vm)).toMatchObject({ status: 'running', error: expect.stringContaining('云平台执行失败') })
    await call(app, snapshots.restore, of(made))
    expect(await settled(made)).toMatchObject({ status: 'available', error: null })
  })

  it('leaves nothing of one that is cancelled', async () => {
    const vm = await makeVm()
    const gate = engine.hold('instances.snapshots.create')
    const begun = await begin(vm)
    await gate.reached
    await call(app, vms.cancelOperation, { token: owner.token, params: { id: vm.id, operation_id: begun.operation_id ?? '' } })
    gate.open()
    await gone(begun)
    expect(await onEngine(vm)).toEqual([])
    expect((await history(vm))[0]).toMatchObject({ kind: 'nextstack.snapshot.create', status: 'cancelled' })
  })

  it('is said of one that could not be deleted, and it is tried again', async () => {
    const vm = await makeVm()
    const made = await take(vm)
    engine.fail('failed', { method: 'instances.snapshots.delete', times: 1 })
    await call(app, snapshots.delete, of(made))
    expect(await settled(made)).toMatchObject({ status: 'error', error: expect.stringContaining('云平台执行失败') })
    await call(app, snapshots.delete, of(made))
    await gone(made)
    expect(await onEngine(vm)).toEqual([])
  })

  it('takes nothing with it where the instance is deleted: snapshots go too', async () => {
    const vm = await makeVm()
    const made = [await take(vm), await take(vm)]
    await call(app, vms.delete, of(vm))
    for (const one of made) await gone(one)
  })
})

describe('a clone', () => {
  it('begins as the snapshot, with the size, network, groups and keys of the source, and another address', async () => {
    const vpc = await call(app, vpcs.create, { token: owner.token, body: { cloud_id, name: `net-${randomUUID()}`, cidr: '10.77.0.0/24' } })
    const group = await call(app, securityGroups.create, { token: owner.token, body: { cloud_id, name: `g-${randomUUID()}` } })
    const vm = await makeVm({ vpc_id: vpc.id, security_group_ids: [group.id], disk_bytes: (sizes[0]?.disk_bytes ?? 0) + 2 ** 30 })
    await write(vm, 'then')
    const made = await take(vm)
    await write(vm, 'now')
    const name = `clone-${randomUUID()}`
    const begun = await call(app, snapshots.clone, { ...of(made), body: { name, description: 'd' } })
    expect(begun).toMatchObject({ name, description: 'd', status: 'creating', bp_id: owner.bp_id, created_by: owner.name, cloud_id })
    const clone = await settledVm(begun)
    expect(clone).toMatchObject({
      status: 'running',
      error: null,
      type: vm.type,
      image: vm.image,
      flavor: vm.flavor,
      disk_bytes: vm.disk_bytes,
      vpc: { id: vpc.id },
      security_groups: [{ id: group.id }],
    })
    expect(await read(clone)).toBe('then')
    const [mine, its] = await Promise.all([clone, vm].map((one) => engine.direct.instances.get(engineName(one))))
    expect(mine?.nic?.address).toMatch(/^10\.77\.0\./)
    expect(mine?.nic?.address).not.toBe(its?.nic?.address)
    expect(mine?.tags).toEqual({ vm_id: clone.id })
    expect(await onEngine(clone)).toEqual([])
    expect(await refused(app, snapshots.clone, { ...of(made), body: { name } })).toMatchObject({ code: 94001, fields: [{ field: 'name' }] })
  })

  it('takes another size and another network where they are asked for', async () => {
    const vm = await makeVm()
    const made = await take(vm)
    const bigger = sizes.find(({ memory_bytes, disk_bytes }) => memory_bytes > vm.memory_bytes && disk_bytes > vm.disk_bytes) ?? sizes[1]
    const vpc = await call(app, vpcs.create, { token: owner.token, body: { cloud_id, name: `net-${randomUUID()}`, cidr: '10.78.0.0/24' } })
    const clone = await settledVm(
      await call(app, snapshots.clone, { ...of(made), body: { name: `clone-${randomUUID()}`, flavor_id: bigger?.id ?? '', vpc_id: vpc.id } }),
    )
    expect(clone).toMatchObject({ flavor: { id: bigger?.id }, memory_bytes: bigger?.memory_bytes, vpc: { id: vpc.id } })
    expect(clone.disk_bytes).toBe(Math.max(vm.disk_bytes, bigger?.disk_bytes ?? 0))
    const plain = await settledVm(await call(app, snapshots.clone, { ...of(await take(clone)), body: { name: `plain-${randomUUID()}`, vpc_id: null } }))
    expect(plain).toMatchObject({ vpc: null, network: 'sandbox0', status: 'running' })
  })

  it('made by an administrator belongs to the organisation of the source', async () => {
    const made = await take(await makeVm())
    const clone = await call(app, snapshots.clone, { ...of(made, admin.token), body: { name: `clone-${randomUUID()}` } })
    expect(clone).toMatchObject({ bp_id: owner.bp_id, created_by: admin.name })
    expect(await settledVm(clone)).toMatchObject({ status: 'running' })
  })

  it('takes from the quota as every instance does', async () => {
    const somebody = await someone(app)
    const was = owner
    owner = somebody
    try {
      const made = await take(await makeVm())
      await call(app, quotas.set, { token: admin.token, params: { bp_id: somebody.bp_id ?? '' }, body: { limits: { vms: 1 } } })
      expect(await refused(app, snapshots.clone, { ...of(made), body: { name: 'more' } })).toMatchObject({ code: 94030 })
    } finally {
      owner = was
    }
  })

  it('keeps its snapshot, and the instance of that, from going while it is made', async () => {
    const vm = await makeVm()
    const made = await take(vm)
    const gate = engine.hold('instances.create')
    const clone = await call(app, snapshots.clone, { ...of(made), body: { name: `clone-${randomUUID()}` } })
    await gate.reached
    expect(await refused(app, snapshots.delete, of(made))).toMatchObject({ code: 90011 })
    expect(await refused(app, snapshots.restore, of(made))).toMatchObject({ code: 90011 })
    expect(await refused(app, vms.delete, of(vm))).toMatchObject({ code: 90011 })
    gate.open()
    await settledVm(clone)
    await call(app, snapshots.delete, of(made))
    await gone(made)
  })

  it.each([
    [{ name: '' }, 'name'],
    [{ name: 'x', flavor_id: randomUUID() }, 'flavor_id'],
    [{ name: 'x', vpc_id: randomUUID() }, 'vpc_id'],
  ])('names what is wrong with %o', async (body, field) => {
    const made = await take(await makeVm())
    expect(await refused(app, snapshots.clone, { ...of(made), body })).toMatchObject({ fields: [{ field }] })
  })
})

describe('what others do on the engine', () => {
  it('shows: theirs appears and goes, ours that goes is lost and comes back', async () => {
    const vm = await makeVm()
    const { snapshots: direct } = engine.direct.instances
    await direct.create(engineName(vm), 'by-hand')
    const theirs = await vi.waitFor(async () => {
      const { items } = await call(app, snapshots.list, { token: owner.token, query: { vm_id: vm.id } })
      expect(items).toMatchObject([{ name: 'by-hand', status: 'available', created_by: '', schedule_id: null }])
      return items[0] ?? expect.fail('none')
    }, patient)
    await write(vm, 'now')
    await call(app, snapshots.restore, of(theirs))
    await settled(theirs)
    await direct.delete(engineName(vm), 'by-hand')
    await gone(theirs)

    const ours = await take(vm)
    const [there] = await onEngine(vm)
    await direct.delete(engineName(vm), there?.name ?? '')
    await vi.waitFor(async () => expect(await get(ours)).toMatchObject({ status: 'lost' }), patient)
    expect(await refused(app, snapshots.restore, of(ours))).toMatchObject({ code: 90010 })
    await direct.create(engineName(vm), there?.name ?? '')
    await vi.waitFor(async () => expect(await get(ours)).toMatchObject({ status: 'available' }), patient)
    await direct.delete(engineName(vm), there?.name ?? '')
    await vi.waitFor(async () => expect(await get(ours)).toMatchObject({ status: 'lost' }), patient)
    await call(app, snapshots.delete, of(ours))
    await gone(ours)
  })

  it('shows where an instance goes with all it has', async () => {
    const vm = await makeVm()
    const ours = await take(vm)
    await engine.direct.instances.delete(engineName(vm))
    await vi.waitFor(async () => expect(await get(ours)).toMatchObject({ status: 'lost' }), patient)
  })
})
