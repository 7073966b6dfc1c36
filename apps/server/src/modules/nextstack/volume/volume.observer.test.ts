import { volumeSnapshots } from '@zhisuan/contract/nextstack/volume'
import { storagePools } from '@zhisuan/contract/nextstack/volume'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { call, refused } from '../../../testing/call.ts'
import { gib, storageStage, type StorageStage } from './testing.ts'

let stage: StorageStage
beforeAll(async () => {
  stage = await storageStage()
})
afterEach(() => stage.engine.recover())
afterAll(() => stage.app.close())

/** Becomes so by itself, and soon. */
const becomes = (id: string, expected: object) => vi.waitFor(async () => expect(await stage.getVolume(id)).toMatchObject(expected), { interval: 20 })

describe('what others do on the engine shows', () => {
  it('attaching, detaching', async () => {
    const vm = await stage.addInstance()
    const volume = await stage.createVolume()
    const { volumes } = stage.engine.direct.storage
    await volumes.attach(stage.nameOf(volume), { instance: vm.engine_name, device: 'byhand', path: '/byhand' })
    await becomes(volume.id, { status: 'in_use', attached_to: { vm: { id: vm.id }, path: '/byhand' } })
    await volumes.detach(stage.nameOf(volume), { instance: vm.engine_name, device: 'byhand' })
    await becomes(volume.id, { status: 'available', attached_to: null })
    // What somebody attached by hand, whoever may detach here.
    await volumes.attach(stage.nameOf(volume), { instance: vm.engine_name, device: 'byhand', path: '/byhand' })
    await becomes(volume.id, { status: 'in_use' })
    expect(await stage.detach(volume)).toMatchObject({ status: 'available' })
    expect((await stage.onVolume(volume))?.attached).toEqual([])
  })

  it('changing one for another at the same path', async () => {
    const vm = await stage.addInstance()
    const [one, other] = [await stage.attach(await stage.createVolume(), vm), await stage.createVolume()]
    const { volumes } = stage.engine.direct.storage
    await volumes.detach(stage.nameOf(one), { instance: vm.engine_name, device: stage.deviceOf(one.id) })
    await volumes.attach(stage.nameOf(other), { instance: vm.engine_name, device: 'byhand', path: '/data' })
    await becomes(one.id, { status: 'available', attached_to: null })
    await becomes(other.id, { status: 'in_use', attached_to: { vm: { id: vm.id }, path: '/data' } })
  })

  it('attaching to what is not the organisation’s names nobody', async () => {
    const theirs = await stage.addInstance({ of: { cloud_id: stage.cloud_id, bp_id: stage.stranger.bp_id } })
    const volume = await stage.createVolume()
    await stage.engine.direct.storage.volumes.attach(stage.nameOf(volume), { instance: theirs.engine_name, device: 'byhand', path: '/byhand' })
    await becomes(volume.id, { status: 'in_use', attached_to: null })
    expect(await stage.detach(volume)).toMatchObject({ status: 'available' })
  })

  it('growing', async () => {
    const volume = await stage.createVolume()
    await stage.engine.direct.storage.volumes.grow(stage.nameOf(volume), 5 * gib)
    await becomes(volume.id, { size_bytes: 5 * gib, status: 'available' })
  })

  it('deleting the volume, its instance, a snapshot', async () => {
    const vm = await stage.addInstance()
    const [gone, attached, kept] = [await stage.createVolume(), await stage.attach(await stage.createVolume(), vm), await stage.createVolume()]
    const snapshot = await stage.createSnapshot(kept)
    const { volumes } = stage.engine.direct.storage
    await volumes.delete(stage.nameOf(gone))
    await becomes(gone.id, { status: 'lost', attached_to: null })
    await stage.engine.direct.instances.stop(vm.engine_name, { force: true })
    await stage.engine.direct.instances.delete(vm.engine_name)
    await becomes(attached.id, { status: 'available', attached_to: null })
    const [name] = await volumes.snapshots.list(stage.nameOf(kept))
    await volumes.snapshots.delete(stage.nameOf(kept), name?.name ?? '')
    const get = () => call(stage.app, volumeSnapshots.get, { token: stage.owner.token, params: { id: snapshot.id } })
    await vi.waitFor(async () => expect((await get()).status).toBe('lost'), stage.wait)
    await volumes.snapshots.create(stage.nameOf(kept), name?.name ?? '')
    await vi.waitFor(async () => expect((await get()).status).toBe('available'), stage.wait)
  })

  it('but not in the middle of an operation, which knows better', async () => {
    const volume = await stage.createVolume()
    const door = stage.engine.hold('storage.volumes.grow')
    await stage.db.updateTable('volumes').set({ status: 'growing' }).where('id', '=', volume.id).execute()
    await stage.engine.direct.storage.volumes.grow(stage.nameOf(volume), 2 * gib)
    // One that rests is looked at by the same event or a later one.
    const other = await stage.createVolume()
    await stage.engine.direct.storage.volumes.grow(stage.nameOf(other), 2 * gib)
    await becomes(other.id, { size_bytes: 2 * gib })
    expect(await stage.getVolume(volume.id)).toMatchObject({ status: 'growing', size_bytes: gib })
    door.open()
  })
})

describe('storage pools', () => {
  const list = (token: string) => call(stage.app, storagePools.list, { token, query: { cloud_id: stage.cloud_id } })

  it('show administrators what they hold and promised', async () => {
    const before = (await list(stage.admin.token)).items[0] ?? expect.fail('no pool')
    await stage.createVolume({ size_bytes: 7 * gib })
    const after = (await list(stage.admin.token)).items[0] ?? expect.fail('no pool')
    expect(after).toMatchObject({ name: 'default', driver: 'sandbox', shared: true, enforces_size: true, volume_count: before.volume_count + 1 })
    expect(after.promised_bytes - before.promised_bytes).toBe(7 * gib)
    await vi.waitFor(async () => {
      const [now] = (await list(stage.admin.token)).items
      expect((now?.used_bytes ?? 0) - before.used_bytes).toBeGreaterThanOrEqual(7 * gib)
      expect(now?.members).toEqual([{ member: null, total_bytes: now?.total_bytes, used_bytes: now?.used_bytes }])
    }, stage.wait)
    expect(await call(stage.app, storagePools.get, { token: stage.admin.token, params: { id: after.id } })).toMatchObject({ id: after.id, name: 'default' })
  })

  it('show others their names only', async () => {
    const [pool] = (await list(stage.owner.token)).items
    expect(pool).toMatchObject({ name: 'default', driver: 'sandbox', total_bytes: 0, used_bytes: 0, promised_bytes: 0, volume_count: 0, members: [] })
    expect(await refused(stage.app, storagePools.get, { token: stage.owner.token, params: { id: pool?.id ?? '' } })).toMatchObject({ status: 403 })
  })
})
