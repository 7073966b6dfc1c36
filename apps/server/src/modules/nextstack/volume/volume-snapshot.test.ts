import { randomUUID } from 'node:crypto'
import { allCalls } from '@zhisuan/contract/calls'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { volumeBackups, volumes, volumeSnapshots } from '@zhisuan/contract/nextstack/volume'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { jsonb } from '../../../platform/db/jsonb.ts'
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
const namesOnEngine = async (volume: { id: string; pool: string }) =>
  (await stage.engine.direct.storage.volumes.snapshots.list(stage.nameOf(volume))).map(({ name }) => name)

it('keeps a volume as it is, also while it is attached', async () => {
  const { app, owner, cloud_id } = stage
  const vm = await stage.addInstance()
  const volume = await stage.attach(await stage.createVolume({ size_bytes: 3 * gib }), vm)
  const begun = await call(app, volumeSnapshots.create, { token: owner.token, body: { volume_id: volume.id, name: '升级前', description: '一' } })
  expect(begun).toEqual({
    id: expect.any(String),
    name: '升级前',
    description: '一',
    bp_id: owner.bp_id,
    bp_name: expect.stringMatching(/^org-/),
    created_by: owner.name,
    created_at: expect.any(String),
    updated_at: expect.any(String),
    cloud_id,
    error: null,
    operation_id: expect.any(String),
    status: 'creating',
    volume: { id: volume.id, name: volume.name },
    size_bytes: 3 * gib,
  })
  expect(await stage.settledSnapshot(begun.id)).toMatchObject({ status: 'available', error: null, operation_id: null })
  expect(await namesOnEngine(volume)).toHaveLength(1)
  expect((await stage.getVolume(volume.id)).snapshot_count).toBe(1)
})

it('stands in the history of its volume, as do backups, also when it is gone', async () => {
  const [volume, other] = [await stage.createVolume(), await stage.createVolume()]
  await stage.createSnapshot(other, 'another')
  const snapshot = await stage.createSnapshot(volume, 'daily')
  const backup = await stage.createBackup(volume, 'weekly')
  const gate = stage.engine.hold('storage.volumes.snapshots.delete')
  await call(stage.app, volumeSnapshots.delete, params(snapshot))
  await gate.reached
  const [running] = (await call(stage.app, volumes.operations, params(volume))).items
  expect(running).toMatchObject({ kind: 'nextstack.volumeSnapshot.delete', part: 'daily', status: 'running', cancellable: false, actor_name: stage.owner.name })
  gate.open()
  await vi.waitFor(async () => expect((await send(stage.app, volumeSnapshots.get, params(snapshot))).status).toBe(404), stage.wait)
  await call(stage.app, volumeBackups.delete, params(backup))
  await vi.waitFor(async () => expect((await send(stage.app, volumeBackups.get, params(backup))).status).toBe(404), stage.wait)
  const { total, items } = await call(stage.app, volumes.operations, params(volume))
  expect(total).toBe(5)
  expect(items.map(({ kind, part, status }) => [kind, part, status])).toEqual([
    ['nextstack.volumeBackup.delete', 'weekly', 'succeeded'],
    ['nextstack.volumeSnapshot.delete', 'daily', 'succeeded'],
    ['nextstack.volumeBackup.create', 'weekly', 'succeeded'],
    ['nextstack.volumeSnapshot.create', 'daily', 'succeeded'],
    ['nextstack.volume.create', null, 'succeeded'],
  ])
})

it('that fails leaves nothing on the engine', async () => {
  const volume = await stage.createVolume()
  stage.engine.fail('exhausted', { method: 'storage.volumes.snapshots.create' })
  const snapshot = await stage.createSnapshot(volume)
  expect(snapshot).toMatchObject({ status: 'error', error: '存储池空间不足' })
  stage.engine.recover()
  expect(await namesOnEngine(volume)).toEqual([])
  await call(stage.app, volumeSnapshots.delete, params(snapshot))
  await vi.waitFor(async () => expect((await send(stage.app, volumeSnapshots.get, params(snapshot))).status).toBe(404), stage.wait)
})

it('has a name of its own on its volume', async () => {
  const [one, other] = [await stage.createVolume(), await stage.createVolume()]
  await stage.createSnapshot(one, 'daily')
  await stage.createSnapshot(other, 'daily')
  const second = await stage.createSnapshot(one, 'weekly')
  expect(await refused(stage.app, volumeSnapshots.create, { token: stage.owner.token, body: { volume_id: one.id, name: 'daily' } })).toMatchObject({
    code: 94184,
    fields: [{ field: 'name' }],
  })
  expect(await refused(stage.app, volumeSnapshots.update, { ...params(second), body: { name: 'daily' } })).toMatchObject({ code: 94184 })
  expect(await call(stage.app, volumeSnapshots.update, { ...params(second), body: { name: 'monthly', description: 'x' } })).toMatchObject({
    name: 'monthly',
    description: 'x',
  })
})

it('is counted', async () => {
  const { app, admin } = stage
  const organisation = await makeOrganisation(app)
  const { token } = await someone(app, { organisation })
  const volume = await stage.createVolume({}, token)
  await call(app, quotas.set, { token: admin.token, params: { bp_id: organisation }, body: { limits: { volume_snapshots: 3 } } })
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => send(app, volumeSnapshots.create, { token, body: { volume_id: volume.id, name: `s-${index}` } })),
  )
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(3)
  expect(new Set(answers.filter(({ status }) => status !== 202).map(({ body }) => (body as { code: number }).code))).toEqual(new Set([94030]))
})

describe('setting a volume back', () => {
  const restore = (volume: { id: string }, snapshot: { id: string }, token = stage.owner.token) => ({
    ...params(volume, token),
    body: { snapshot_id: snapshot.id },
  })

  it('brings what was written before, and nothing since', async () => {
    const vm = await stage.addInstance()
    const volume = await stage.attach(await stage.createVolume(), vm)
    await stage.write(vm, '/data/a', 'before')
    const snapshot = await stage.createSnapshot(volume)
    await stage.write(vm, '/data/a', 'after')
    expect(await refused(stage.app, volumes.restore, restore(volume, snapshot))).toMatchObject({ status: 409, code: 94155 })
    await stage.detach(volume)
    expect(await call(stage.app, volumes.restore, restore(volume, snapshot))).toMatchObject({ status: 'restoring' })
    expect(await stage.settledVolume(volume.id)).toMatchObject({ status: 'available', error: null })
    await stage.attach(volume, vm)
    expect(await stage.read(vm, '/data/a')).toBe('before')
  })

  it('is allowed of an instance that is stopped, and where the pool can', async () => {
    const [stopped, running] = [await stage.addInstance({ status: 'stopped' }), await stage.addInstance()]
    const volume = await stage.attach(await stage.createVolume(), stopped)
    const snapshot = await stage.createSnapshot(volume)
    await call(stage.app, volumes.restore, restore(volume, snapshot))
    expect(await stage.settledVolume(volume.id)).toMatchObject({ status: 'in_use', error: null, attached_to: { vm: { id: stopped.id } } })

    const other = await stage.attach(await stage.createVolume(), running)
    const second = await stage.createSnapshot(other)
    await stage.db.updateTable('storage_pools').set({ restores_in_use: true }).where('cloud_id', '=', stage.cloud_id).execute()
    // It was said that it can, and cannot: what the engine says counts.
    await call(stage.app, volumes.restore, restore(other, second))
    expect(await stage.settledVolume(other.id)).toMatchObject({ status: 'in_use', error: '运行中的实例正在使用该云硬盘，请先关机或卸载' })
    await stage.db.updateTable('storage_pools').set({ restores_in_use: false }).where('cloud_id', '=', stage.cloud_id).execute()
  })

  it('takes only its own snapshots, which are whole', async () => {
    const [volume, other] = [await stage.createVolume(), await stage.createVolume()]
    const foreign = await stage.createSnapshot(other)
    for (const snapshot of [foreign, { id: randomUUID() }])
      expect(await refused(stage.app, volumes.restore, restore(volume, snapshot))).toMatchObject({ status: 404, fields: [{ field: 'snapshot_id' }] })
    stage.engine.fail('failed', { method: 'storage.volumes.snapshots.create' })
    const broken = await stage.createSnapshot(volume)
    expect(await refused(stage.app, volumes.restore, restore(volume, broken))).toMatchObject({ code: 90010, fields: [{ field: 'snapshot_id' }] })
  })

  it('keeps snapshot and volume from going meanwhile', async () => {
    const volume = await stage.createVolume()
    const snapshot = await stage.createSnapshot(volume)
    const door = stage.engine.hold('storage.volumes.snapshots.restore')
    await call(stage.app, volumes.restore, restore(volume, snapshot))
    expect((await refused(stage.app, volumeSnapshots.delete, params(snapshot))).code).toBe(90011)
    expect((await refused(stage.app, volumes.delete, params(volume))).code).toBe(90010)
    door.open()
    await stage.settledVolume(volume.id)
  })
})

describe('a volume made from one', () => {
  it('is a copy of it, as large as was asked for, in the same pool', async () => {
    const vm = await stage.addInstance()
    const volume = await stage.attach(await stage.createVolume(), vm)
    await stage.write(vm, '/data/a', 'then')
    const snapshot = await stage.createSnapshot(volume)
    await stage.write(vm, '/data/a', 'now')
    const copy = await stage.createVolume({ snapshot_id: snapshot.id, size_bytes: 2 * gib, attach: { vm_id: vm.id, path: '/copy' } })
    expect(copy).toMatchObject({ status: 'in_use', size_bytes: 2 * gib, pool: volume.pool })
    expect(await stage.read(vm, '/copy/a')).toBe('then')
    const body = { cloud_id: stage.cloud_id, name: 'x', snapshot_id: snapshot.id, size_bytes: gib / 2 }
    expect(await refused(stage.app, volumes.create, { token: stage.owner.token, body })).toMatchObject({
      code: 94183,
      message: '容量不能小于来源的1 GB',
      fields: [{ field: 'size_bytes' }],
    })
  })

  it('has the content of its source, whatever is asked for', async () => {
    const block = await stage.createVolume({ content: 'block' })
    const snapshot = await stage.createSnapshot(block)
    expect((await stage.createVolume({ snapshot_id: snapshot.id })).content).toBe('block')
  })

  it('keeps snapshot and source until it is made', async () => {
    const volume = await stage.createVolume()
    const snapshot = await stage.createSnapshot(volume)
    const door = stage.engine.hold('storage.volumes.create')
    const copy = await stage.beginVolume({ snapshot_id: snapshot.id })
    expect((await refused(stage.app, volumeSnapshots.delete, params(snapshot))).code).toBe(90011)
    expect((await refused(stage.app, volumes.delete, params(volume))).code).toBe(90011)
    door.open()
    expect((await stage.settledVolume(copy.id)).status).toBe('available')
    await call(stage.app, volumes.delete, params(volume))
    await stage.goneVolume(volume.id)
  })

  it('is in no other pool', async () => {
    const volume = await stage.createVolume()
    const snapshot = await stage.createSnapshot(volume)
    const [pool] = await stage.db.selectFrom('storage_pools').selectAll().where('cloud_id', '=', stage.cloud_id).execute()
    const { id: _, ...facts } = pool ?? expect.fail('no pool')
    await stage.db
      .insertInto('storage_pools')
      .values({ ...facts, id: randomUUID(), name: 'other', members: jsonb([]) })
      .execute()
    const body = { cloud_id: stage.cloud_id, name: `x-${randomUUID()}`, snapshot_id: snapshot.id, size_bytes: gib, pool: 'other' }
    expect(await refused(stage.app, volumes.create, { token: stage.owner.token, body })).toMatchObject({ code: 94182, fields: [{ field: 'pool' }] })
  })
})

describe('deleting', () => {
  it('takes it off the engine', async () => {
    const volume = await stage.createVolume()
    const snapshot = await stage.createSnapshot(volume)
    expect(await call(stage.app, volumeSnapshots.delete, params(snapshot))).toMatchObject({ status: 'deleting' })
    await vi.waitFor(async () => expect((await send(stage.app, volumeSnapshots.get, params(snapshot))).status).toBe(404), stage.wait)
    expect(await namesOnEngine(volume)).toEqual([])
  })

  it('that fails says so, and can be asked for again', async () => {
    const volume = await stage.createVolume()
    const snapshot = await stage.createSnapshot(volume)
    stage.engine.fail('failed', { method: 'storage.volumes.snapshots.delete' })
    await call(stage.app, volumeSnapshots.delete, params(snapshot))
    expect(await stage.settledSnapshot(snapshot.id)).toMatchObject({ status: 'error' })
    stage.engine.recover()
    await call(stage.app, volumeSnapshots.delete, params(snapshot))
    await vi.waitFor(async () => expect((await send(stage.app, volumeSnapshots.get, params(snapshot))).status).toBe(404), stage.wait)
  })

  it('of the volume, and whatever else is done to it, waits for what is being done to its snapshots', async () => {
    const volume = await stage.createVolume()
    const door = stage.engine.hold('storage.volumes.snapshots.create')
    const snapshot = await call(stage.app, volumeSnapshots.create, { token: stage.owner.token, body: { volume_id: volume.id, name: 's' } })
    expect((await refused(stage.app, volumes.delete, params(volume))).code).toBe(90011)
    expect((await refused(stage.app, volumes.grow, { ...params(volume), body: { size_bytes: 2 * gib } })).code).toBe(90011)
    expect((await refused(stage.app, volumeBackups.create, { token: stage.owner.token, body: { volume_id: volume.id, name: 'b' } })).code).toBe(90011)
    door.open()
    await stage.settledSnapshot(snapshot.id)
  })
})

it('the list is filtered and sorted', async () => {
  const { app } = stage
  const { token } = await someone(app)
  const [one, other] = [await stage.createVolume({}, token), await stage.createVolume({}, token)]
  for (const name of ['b', 'a', 'c']) await stage.createSnapshot(one, name, token)
  await stage.createSnapshot(other, 'd', token)
  const names = async (query: object) =>
    (await call(app, volumeSnapshots.list, { token, query: { cloud_id: stage.cloud_id, ...query } })).items.map(({ name }) => name)
  expect(await names({})).toEqual(['d', 'c', 'a', 'b'])
  expect(await names({ sort: 'name' })).toEqual(['a', 'b', 'c', 'd'])
  expect(await names({ volume_id: one.id, sort: '-name' })).toEqual(['c', 'b', 'a'])
  expect(await names({ status: 'lost' })).toEqual([])
  expect(await names({ keyword: 'd', sort: 'status' })).toContain('d')
})

it('another organisation finds none of it', async () => {
  const volume = await stage.createVolume()
  const snapshot = await stage.createSnapshot(volume)
  const { token } = stage.stranger
  for (const declared of allCalls.filter(({ id, path }) => id.startsWith('nextstack.volumeSnapshot.') && path.includes('{id}'))) {
    expect(
      await refused(stage.app, declared, { ...params(snapshot, token), ...(declared.method === 'PUT' && { body: { name: 'x' } }) }),
      declared.id,
    ).toMatchObject({ status: 404, code: 90006 })
  }
  expect(await refused(stage.app, volumeSnapshots.create, { token, body: { volume_id: volume.id, name: 'x' } })).toMatchObject({
    status: 404,
    fields: [{ field: 'volume_id' }],
  })
})
