import { randomUUID } from 'node:crypto'
import { allCalls } from '@zhisuan/contract/calls'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { storagePools, volumes, volumeSnapshots, type Volume } from '@zhisuan/contract/nextstack/volume'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { call, refused, send } from '../../../testing/call.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'
import { gib, storageStage, type StorageStage } from './testing.ts'

let stage: StorageStage
beforeAll(async () => {
  stage = await storageStage()
})
afterEach(() => stage.engine.recover())
afterAll(() => stage.app.close())

const params = (one: { id: string }, token = stage.owner.token) => ({ token, params: { id: one.id } })
const refuseCreate = (body: object, token = stage.owner.token) =>
  refused(stage.app, volumes.create, { token, body: { cloud_id: stage.cloud_id, name: `v-${randomUUID()}`, size_bytes: gib, ...body } })
const refuseAttach = (volume: { id: string }, vm_id: string, path: string | null = '/data', token = stage.owner.token) =>
  refused(stage.app, volumes.attach, { ...params(volume, token), body: { vm_id, path } })

describe('creating', () => {
  it('makes an empty volume in the default pool, as it was asked for', async () => {
    const { app, owner, cloud_id, onVolume } = stage
    const begun = await call(app, volumes.create, { token: owner.token, body: { cloud_id, name: '数据盘', description: '库', size_bytes: 2 * gib } })
    expect(begun).toEqual({
      id: expect.any(String),
      name: '数据盘',
      description: '库',
      bp_id: owner.bp_id,
      bp_name: expect.stringMatching(/^org-/),
      project_id: null,
      created_by: owner.name,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      cloud_id,
      error: null,
      operation_id: expect.any(String),
      status: 'creating',
      pool: 'default',
      content: 'filesystem',
      size_bytes: 2 * gib,
      used_bytes: null,
      attached_to: null,
      snapshot_count: 0,
    })
    const made = await stage.settledVolume(begun.id)
    expect(made).toMatchObject({ status: 'available', error: null, operation_id: null, used_bytes: 0 })
    expect(await onVolume(made)).toMatchObject({ content: 'filesystem', sizeBytes: 2 * gib, tags: { volume_id: made.id }, attached: [] })
  })

  it('attaches it where asked to', async () => {
    const vm = await stage.addInstance()
    const volume = await stage.createVolume({ attach: { vm_id: vm.id, path: '/srv/data' } })
    expect(volume).toMatchObject({ status: 'in_use', attached_to: { vm: { id: vm.id, name: vm.name }, path: '/srv/data' } })
    expect((await stage.onVolume(volume))?.attached).toEqual([{ instance: vm.engine_name, device: stage.deviceOf(volume.id), path: '/srv/data' }])
  })

  it('keeps the volume where only attaching fails, and says why', async () => {
    const vm = await stage.addInstance()
    stage.engine.fail('conflict', { method: 'storage.volumes.attach' })
    const volume = await stage.createVolume({ attach: { vm_id: vm.id, path: '/data' } })
    expect(volume).toMatchObject({ status: 'available', attached_to: null, error: '该路径已挂载其他云硬盘' })
    expect(await stage.onVolume(volume)).toMatchObject({ attached: [] })
  })

  it('that fails leaves nothing on the engine, and a record that can be deleted', async () => {
    stage.engine.fail('exhausted', { method: 'storage.volumes.create' })
    const volume = await stage.createVolume()
    expect(volume).toMatchObject({ status: 'error', error: '存储池空间不足' })
    stage.engine.recover()
    expect(await stage.onVolume(volume)).toBeNull()
    await call(stage.app, volumes.delete, params(volume))
    await stage.goneVolume(volume.id)
  })

  it.each([
    ['name', { name: 'a b' }],
    ['size_bytes', { size_bytes: 0 }],
    ['size_bytes', { size_bytes: 2 ** 51 }],
    ['content', { content: 'tape' }],
    ['cloud_id', { cloud_id: 'x' }],
    ['attach.path', { attach: { vm_id: randomUUID(), path: '/etc/x' } }],
    ['attach.path', { attach: { vm_id: randomUUID(), path: 'data' } }],
    ['backup_id', { snapshot_id: randomUUID(), backup_id: randomUUID() }],
  ])('refuses a wrong %s', async (field, wish) => {
    expect(await refuseCreate(wish)).toMatchObject({ status: 400, code: 90001, fields: [{ field }] })
  })

  it('is refused for what is not there, not theirs, or taken', async () => {
    const { owner, stranger, cloud_id } = stage
    const theirs = await stage.createVolume({}, stranger.token)
    const snapshot = await stage.createSnapshot(theirs, 's', stranger.token)
    const vm = await stage.addInstance({ of: { cloud_id, bp_id: stranger.bp_id } })
    expect(await refuseCreate({ pool: 'nowhere' })).toMatchObject({ code: 94153, fields: [{ field: 'pool' }] })
    expect(await refuseCreate({ cloud_id: randomUUID() })).toMatchObject({ status: 404 })
    expect(await refuseCreate({ snapshot_id: snapshot.id })).toMatchObject({ status: 404, fields: [{ field: 'snapshot_id' }] })
    expect(await refuseCreate({ backup_id: randomUUID() })).toMatchObject({ status: 404, fields: [{ field: 'backup_id' }] })
    expect(await refuseCreate({ attach: { vm_id: vm.id, path: '/data' } })).toMatchObject({ status: 404, fields: [{ field: 'attach.vm_id' }] })
    expect(await refuseCreate({ project_id: randomUUID() })).toMatchObject({ code: 94031, fields: [{ field: 'project_id' }] })
    const name = `n-${randomUUID()}`
    await stage.createVolume({ name })
    expect(await refuseCreate({ name })).toMatchObject({ code: 94151, fields: [{ field: 'name' }] })
    // The name is another organisation's, too.
    await stage.createVolume({ name }, stranger.token)
    const nobody = await someone(stage.app, { kind: 4, organisation: null })
    expect((await refuseCreate({}, nobody.token)).code).toBe(3000)
    expect(owner.bp_id).not.toBe(stranger.bp_id)
  })

  it('is refused above what the pool has altogether', async () => {
    const pools = await call(stage.app, storagePools.list, { token: stage.admin.token, query: { cloud_id: stage.cloud_id } })
    await stage.db
      .updateTable('storage_pools')
      .set({ total_bytes: gib })
      .where('id', '=', pools.items[0]?.id ?? '')
      .execute()
    expect(await refuseCreate({ size_bytes: 2 * gib })).toMatchObject({ code: 94159, fields: [{ field: 'size_bytes' }] })
    await stage.db
      .updateTable('storage_pools')
      .set({ total_bytes: 2 ** 50 })
      .where('id', '=', pools.items[0]?.id ?? '')
      .execute()
  })

  it('is refused on a cloud in maintenance', async () => {
    const { app, admin, cloud_id } = stage
    await call(app, clouds.action, { token: admin.token, params: { id: cloud_id }, body: { action: 'maintenance' } })
    expect((await refuseCreate({})).code).toBe(12005)
    await call(app, clouds.action, { token: admin.token, params: { id: cloud_id }, body: { action: 'active' } })
  })

  it('a hundred at once against ten make ten', async () => {
    const { app, admin, cloud_id } = stage
    const organisation = await makeOrganisation(app)
    const { token } = await someone(app, { organisation })
    await call(app, quotas.set, { token: admin.token, params: { bp_id: organisation }, body: { limits: { volumes: 10 } } })
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => send(app, volumes.create, { token, body: { cloud_id, name: `q-${index}`, size_bytes: 2 ** 20 } })),
    )
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(10)
    expect(new Set(answers.filter(({ status }) => status !== 202).map(({ body }) => (body as { code: number }).code))).toEqual(new Set([94030]))
    expect((await call(app, volumes.list, { token, query: { cloud_id } })).total).toBe(10)
  })
})

describe('attaching and detaching', () => {
  it('is live, and what is written stays with the volume', async () => {
    const [one, other] = [await stage.addInstance(), await stage.addInstance()]
    const volume = await stage.createVolume()
    const begun = await call(stage.app, volumes.attach, { ...params(volume), body: { vm_id: one.id, path: '/data' } })
    expect(begun).toMatchObject({ status: 'attaching', attached_to: { vm: { id: one.id }, path: '/data' } })
    expect(await stage.settledVolume(volume.id)).toMatchObject({ status: 'in_use', error: null, operation_id: null })
    await stage.write(one, '/data/a', 'kept')
    expect(await stage.detach(volume)).toMatchObject({ status: 'available', attached_to: null, error: null })
    await stage.attach(volume, other, '/mnt/x')
    expect(await stage.read(other, '/mnt/x/a')).toBe('kept')
    await stage.detach(volume)
  })

  it('refuses what the instance, its state, or the path does not allow', async () => {
    const { cloud_id, owner, stranger, addCloud } = stage
    const vm = await stage.addInstance()
    const volume = await stage.createVolume()
    await stage.attach(await stage.createVolume(), vm, '/data')
    expect(await refuseAttach(volume, vm.id, '/data')).toMatchObject({ status: 400, code: 94156, fields: [{ field: 'path' }] })
    expect(await refuseAttach(volume, vm.id, null)).toMatchObject({ code: 94158, fields: [{ field: 'path' }] })
    expect(await refuseAttach(volume, vm.id, '/proc/x')).toMatchObject({ code: 90001, fields: [{ field: 'path' }] })
    const block = await stage.createVolume({ content: 'block' })
    expect(await refuseAttach(block, vm.id, null)).toMatchObject({ code: 94157, fields: [{ field: 'vm_id' }] })
    const elsewhere = await addCloud()
    const others = [
      await stage.addInstance({ of: { cloud_id, bp_id: stranger.bp_id } }),
      await stage.addPlainVm({ cloud_id: elsewhere.cloud_id, bp_id: owner.bp_id }),
    ]
    for (const { id } of [...others, { id: randomUUID() }]) expect(await refuseAttach(volume, id)).toMatchObject({ status: 404, fields: [{ field: 'vm_id' }] })
    const starting = await stage.addPlainVm()
    await stage.db.updateTable('vms').set({ status: 'starting' }).where('id', '=', starting.id).execute()
    expect(await refuseAttach(volume, starting.id)).toMatchObject({ status: 409, code: 90010, fields: [{ field: 'vm_id' }] })
    // And in the volume's own state.
    expect((await refused(stage.app, volumes.detach, { ...params(volume), body: {} })).code).toBe(90010)
    const used = await stage.attach(volume, vm, '/other')
    expect((await refuseAttach(used, vm.id, '/third')).code).toBe(90010)
  })

  it('keeps to the member of a cluster that has the volume, and makes one where its instance is', async () => {
    const vm = await stage.addInstance()
    const volume = await stage.createVolume()
    // The engine knows of no host "two": nobody looks there meanwhile.
    for (const look of ['instances.list', 'instances.get', 'hosts.list', 'storage.volumes.list']) stage.engine.hold(look)
    // Nor at the one volume, that it was made being told late; attaching asks for it too.
    const lookAtOne = stage.engine.hold('storage.volumes.get')
    await sql`insert into hosts (id, cloud_id, name, status, observed, status_message, clustered, architecture, hardware, memory_total_bytes, memory_used_bytes)
      values (${randomUUID()}, ${stage.cloud_id}, 'two', 'online', 'online', '', true, 'x86_64', '{"cpu":{"model":"","sockets":1,"cores":1,"threads":1},"disks":[],"nics":[],"system":{"vendor":"","product":"","kind":"","kernel":"","firmware":""}}', 1, 0)`.execute(
      stage.db,
    )
    // What was seen before, and is still to be recorded, is of an older revision.
    const anew = { revision: sql<number>`revision + 1` }
    await stage.db
      .updateTable('vms')
      .set({ node: 'two', ...anew })
      .where('id', '=', vm.id)
      .execute()
    await stage.db
      .updateTable('volumes')
      .set({ node: 'one', ...anew })
      .where('id', '=', volume.id)
      .execute()
    expect(await refuseAttach(volume, vm.id)).toMatchObject({
      code: 94190,
      message: '云硬盘在主机“one”上，不能挂载到主机“two”上的实例',
      fields: [{ field: 'vm_id' }],
    })
    lookAtOne.open()
    const there = await stage.createVolume({ attach: { vm_id: vm.id, path: '/data' } })
    expect(there.status).toBe('in_use')
    expect(stage.engine.asked.findLast(({ method }) => method === 'storage.volumes.create')?.args[0]).toMatchObject({
      host: 'two',
      tags: { volume_id: there.id },
    })
    stage.engine.recover()
  })

  it('a virtual machine takes a block volume, without a path', async () => {
    const vm = await stage.addInstance()
    await stage.db.updateTable('vms').set({ type: 'vm' }).where('id', '=', vm.id).execute()
    const block = await stage.createVolume({ content: 'block' })
    expect(await refuseAttach(block, vm.id, '/data')).toMatchObject({ code: 94189, fields: [{ field: 'path' }] })
  })

  it('of two at once for one path one gets it', async () => {
    const vm = await stage.addInstance()
    const [one, other] = [await stage.createVolume(), await stage.createVolume()]
    const answers = await Promise.all(
      [one, other].map((volume) => send(stage.app, volumes.attach, { ...params(volume), body: { vm_id: vm.id, path: '/data' } })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 400])
  })

  it('one that a process uses stays attached, unless forced', async () => {
    const vm = await stage.addInstance()
    const volume = await stage.attach(await stage.createVolume(), vm)
    stage.engine.fail('busy', { method: 'storage.volumes.detach' })
    expect(await stage.detach(volume)).toMatchObject({
      status: 'in_use',
      attached_to: { vm: { id: vm.id } },
      error: '实例中有程序正在使用该云硬盘，请先停止程序或卸载',
    })
    expect((await stage.onVolume(volume))?.attached).toHaveLength(1)
    stage.engine.recover()
    expect(await stage.detach(volume, true)).toMatchObject({ status: 'available', error: null })
    expect(stage.engine.asked.filter(({ method }) => method === 'storage.volumes.detach').at(-1)?.args[1]).toMatchObject({ force: true })
  })

  it('that the engine refuses ends as it was', async () => {
    const vm = await stage.addInstance()
    const volume = await stage.createVolume()
    stage.engine.fail('invalid', { method: 'storage.volumes.attach' })
    expect(await stage.attach(volume, vm)).toMatchObject({ status: 'available', attached_to: null, error: '云平台不能把云硬盘挂载到该实例的这个路径' })
  })
})

describe('an instance that is deleted', () => {
  it('leaves its volumes behind, with what is on them', async () => {
    const [vm, other] = [await stage.addInstance(), await stage.addInstance()]
    const volume = await stage.attach(await stage.createVolume(), vm)
    await stage.write(vm, '/data/a', 'kept')
    await call(stage.app, vms.delete, params(vm))
    await vi.waitFor(async () => expect((await send(stage.app, vms.get, params(vm))).status).toBe(404), stage.wait)
    expect(await stage.settledVolume(volume.id)).toMatchObject({ status: 'available', attached_to: null })
    await stage.attach(volume, other)
    expect(await stage.read(other, '/data/a')).toBe('kept')
  })

  it('keeps them where it stays after all', async () => {
    const vm = await stage.addInstance()
    const volume = await stage.attach(await stage.createVolume(), vm)
    stage.engine.fail('failed', { method: 'instances.delete' })
    await call(stage.app, vms.delete, params(vm))
    expect(await stage.getVolume(volume.id)).toMatchObject({ attached_to: { vm: { id: vm.id } } })
    await vi.waitFor(async () => expect((await call(stage.app, vms.get, params(vm))).operation_id).toBeNull(), stage.wait)
    expect(await stage.getVolume(volume.id)).toMatchObject({ status: 'in_use', attached_to: { vm: { id: vm.id }, path: '/data' } })
  })

  it('is not while something is done to one of them', async () => {
    const vm = await stage.addInstance()
    const volume = await stage.attach(await stage.createVolume({ name: '忙碌' }), vm)
    const door = stage.engine.hold('storage.volumes.grow')
    await call(stage.app, volumes.grow, { ...params(volume), body: { size_bytes: 3 * gib } })
    expect(await refused(stage.app, vms.delete, params(vm))).toMatchObject({
      status: 409,
      code: 94185,
      message: '实例挂载的云硬盘“忙碌”有正在进行的操作，请等待完成后再试',
    })
    door.open()
    await stage.settledVolume(volume.id)
  })
})

describe('growing', () => {
  it('makes it larger, never smaller', async () => {
    const volume = await stage.createVolume()
    const grow = (size_bytes: number) => ({ ...params(volume), body: { size_bytes } })
    expect(await call(stage.app, volumes.grow, grow(2 * gib))).toMatchObject({ status: 'growing', size_bytes: gib })
    expect(await stage.settledVolume(volume.id)).toMatchObject({ status: 'available', size_bytes: 2 * gib })
    expect((await stage.onVolume(volume))?.sizeBytes).toBe(2 * gib)
    expect(await refused(stage.app, volumes.grow, grow(gib))).toMatchObject({ code: 94152, fields: [{ field: 'size_bytes' }] })
    expect(await refused(stage.app, volumes.grow, grow(2 * gib))).toMatchObject({ code: 94188, fields: [{ field: 'size_bytes' }] })
    stage.engine.fail('busy', { method: 'storage.volumes.grow' })
    await call(stage.app, volumes.grow, grow(3 * gib))
    expect(await stage.settledVolume(volume.id)).toMatchObject({ size_bytes: 2 * gib, error: '运行中的实例正在使用该云硬盘，请先关机或卸载' })
  })

  it('takes from the quota as it begins: of twenty at once against ten, ten', async () => {
    const { app, admin, cloud_id } = stage
    const organisation = await makeOrganisation(app)
    const { token } = await someone(app, { organisation })
    const made = await Promise.all(Array.from({ length: 20 }, () => stage.createVolume({ cloud_id, size_bytes: gib }, token)))
    await call(app, quotas.set, { token: admin.token, params: { bp_id: organisation }, body: { limits: { volume_bytes: 30 * gib } } })
    const answers = await Promise.all(made.map((volume) => send(app, volumes.grow, { ...params(volume, token), body: { size_bytes: 2 * gib } })))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(202), ...Array(10).fill(400)])
    await Promise.all(made.map(({ id }) => stage.settledVolume(id, token)))
    const { lines } = await call(app, quotas.mine, { token })
    expect(lines.find(({ resource }) => resource === 'volume_bytes')).toMatchObject({ used: 30 * gib, limit: 30 * gib })
    expect(lines.find(({ resource }) => resource === 'volumes')).toMatchObject({ used: 20 })
  })
})

describe('deleting', () => {
  it('takes it off the engine with its snapshots, but not while it is attached', async () => {
    const vm = await stage.addInstance()
    const volume = await stage.attach(await stage.createVolume(), vm)
    await stage.createSnapshot(volume)
    expect(await refused(stage.app, volumes.delete, params(volume))).toMatchObject({ status: 409, code: 94181 })
    await stage.detach(volume)
    expect(await call(stage.app, volumes.delete, params(volume))).toMatchObject({ status: 'deleting' })
    await stage.goneVolume(volume.id)
    expect(await stage.onVolume(volume)).toBeNull()
    expect((await call(stage.app, volumeSnapshots.list, { token: stage.owner.token, query: { volume_id: volume.id } })).total).toBe(0)
  })

  it('never touches what bears its name and is somebody else’s', async () => {
    const volume = await stage.createVolume()
    const { volumes: direct } = stage.engine.direct.storage
    await direct.delete(stage.nameOf(volume))
    await vi.waitFor(async () => expect((await stage.getVolume(volume.id)).status).toBe('lost'), stage.wait)
    await direct.create({ ...stage.nameOf(volume), content: 'filesystem', sizeBytes: gib, description: '', tags: {} })
    await call(stage.app, volumes.delete, params(volume))
    await stage.goneVolume(volume.id)
    expect(await stage.onVolume(volume)).not.toBeNull()
  })

  it('that fails says so, and can be asked for again', async () => {
    const volume = await stage.createVolume()
    stage.engine.fail('failed', { method: 'storage.volumes.delete' })
    await call(stage.app, volumes.delete, params(volume))
    expect(await stage.settledVolume(volume.id)).toMatchObject({ status: 'available', error: expect.stringContaining('云平台执行失败') })
    stage.engine.recover()
    await call(stage.app, volumes.delete, params(volume))
    await stage.goneVolume(volume.id)
  })
})

describe('a cloud with volumes', () => {
  it('is removed by force only', async () => {
    const { app, admin } = stage
    const { cloud_id } = await stage.addCloud()
    const volume = await stage.createVolume({ cloud_id })
    const removal = (force: 'true' | 'false') => ({ token: admin.token, params: { id: cloud_id }, query: { force } })
    expect(await refused(app, clouds.delete, removal('false'))).toMatchObject({ code: 93010, message: '云平台上还有1个云硬盘，请先删除或选择强制删除' })
    await call(app, clouds.delete, removal('true'))
    await stage.goneVolume(volume.id)
  })
})

describe('one operation at a time', () => {
  it('refuses everything else meanwhile', async () => {
    const volume = await stage.createVolume()
    const snapshot = await stage.createSnapshot(volume)
    const door = stage.engine.hold('storage.volumes.grow')
    await call(stage.app, volumes.grow, { ...params(volume), body: { size_bytes: 2 * gib } })
    const tries: [keyof typeof volumes, object][] = [
      ['attach', { vm_id: randomUUID(), path: '/data' }],
      ['grow', { size_bytes: 3 * gib }],
      ['restore', { snapshot_id: snapshot.id }],
      ['update', { name: 'other' }],
    ]
    const vm = await stage.addInstance()
    for (const [action, body] of tries)
      expect(await refused(stage.app, volumes[action], { ...params(volume), body: { ...body, ...(action === 'attach' && { vm_id: vm.id }) } })).toMatchObject({
        status: 409,
        code: 90010,
      })
    expect(await refused(stage.app, volumes.delete, params(volume))).toMatchObject({ status: 409, code: 90010 })
    door.open()
    await stage.settledVolume(volume.id)
  })
})

describe('renaming', () => {
  it('changes name and description, to a name that is free', async () => {
    const [one, other] = [await stage.createVolume(), await stage.createVolume()]
    const body = { name: `renamed-${randomUUID()}`, description: '新' }
    expect(await call(stage.app, volumes.update, { ...params(one), body })).toMatchObject(body)
    expect(await refused(stage.app, volumes.update, { ...params(other), body })).toMatchObject({ code: 94151, fields: [{ field: 'name' }] })
  })
})

describe('the list', () => {
  it('is filtered, sorted and cut into pages', async () => {
    const { app } = stage
    const organisation = await makeOrganisation(app)
    const { token } = await someone(app, { organisation })
    const vm = await stage.addInstance({ of: { cloud_id: stage.cloud_id, bp_id: organisation } })
    const made: Volume[] = []
    for (const [index, name] of ['beta', 'alpha', 'gamma'].entries()) made.push(await stage.createVolume({ name, size_bytes: (3 - index) * gib }, token))
    await stage.attach(made[1] ?? { id: '' }, vm, '/data', token)
    const names = async (query: object) =>
      (await call(app, volumes.list, { token, query: { cloud_id: stage.cloud_id, ...query } })).items.map(({ name }) => name)
    expect(await names({})).toEqual(['gamma', 'alpha', 'beta'])
    expect(await names({ sort: 'name' })).toEqual(['alpha', 'beta', 'gamma'])
    expect(await names({ sort: '-size_bytes' })).toEqual(['beta', 'alpha', 'gamma'])
    expect(await names({ sort: 'status' })).toHaveLength(3)
    expect(await names({ sort: 'created_at', page_size: 1, page_num: 2 })).toEqual(['alpha'])
    expect(await names({ vm_id: vm.id })).toEqual(['alpha'])
    expect(await names({ status: 'in_use' })).toEqual(['alpha'])
    expect(await names({ keyword: 'ph' })).toEqual(['alpha'])
    expect(await names({ pool: 'other' })).toEqual([])
    // Others see none of it, whatever they ask for.
    expect((await call(app, volumes.list, { token: stage.stranger.token, query: { bp_id: organisation } })).total).toBe(0)
    expect((await call(app, volumes.list, { token: stage.admin.token, query: { bp_id: organisation } })).total).toBe(3)
  })
})

describe('another organisation', () => {
  it('finds none of it', async () => {
    const volume = await stage.createVolume()
    const body = { name: 'x', vm_id: randomUUID(), path: '/data', size_bytes: 2 * gib, snapshot_id: randomUUID() }
    for (const declared of allCalls.filter(({ id, path }) => id.startsWith('nextstack.volume.') && path.includes('{id}'))) {
      expect(
        await refused(stage.app, declared, {
          ...params(volume, stage.stranger.token),
          ...(declared.method !== 'GET' && declared.method !== 'DELETE' && { body }),
        }),
        declared.id,
      ).toMatchObject({ status: 404, code: 90006 })
    }
  })
})
