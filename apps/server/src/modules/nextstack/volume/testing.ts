import { randomUUID } from 'node:crypto'
import type { BodyInput } from '@zhisuan/contract/define'
import {
  volumeBackups,
  volumes,
  volumeSnapshots,
  volumeTransitional,
  type Volume,
  type VolumeBackup,
  type VolumeSnapshot,
} from '@zhisuan/contract/nextstack/volume'
import { expect, vi } from 'vitest'
import type { TestApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { networkStage } from '../vpc/testing.ts'
import { deviceOf, engineNameOf } from './volume.facts.ts'

export const gib = 2 ** 30

/** The stage of networks with what tests of storage do again and again. */
export async function storageStage(on?: TestApp) {
  const stage = await networkStage(on)
  const { app, owner, cloud_id, engine, db } = stage
  const wait = { interval: 20 }

  const getVolume = (id: string, token = owner.token) => call(app, volumes.get, { token, params: { id } })
  const settledVolume = (id: string, token = owner.token): Promise<Volume> =>
    vi.waitFor(async () => {
      const volume = await getVolume(id, token)
      expect(volumeTransitional).not.toContain(volume.status)
      return volume
    }, wait)
  const beginVolume = (wish: Partial<BodyInput<typeof volumes.create>> = {}, token = owner.token): Promise<Volume> =>
    call(app, volumes.create, { token, body: { cloud_id, name: `vol-${randomUUID()}`, size_bytes: gib, ...wish } })
  const createVolume = async (wish: Partial<BodyInput<typeof volumes.create>> = {}, token = owner.token): Promise<Volume> =>
    settledVolume((await beginVolume(wish, token)).id, token)
  const goneVolume = (id: string, token = owner.token) =>
    vi.waitFor(async () => expect((await send(app, volumes.get, { token, params: { id } })).status).toBe(404), wait)

  const settledSnapshot = (id: string, token = owner.token): Promise<VolumeSnapshot> =>
    vi.waitFor(async () => {
      const snapshot = await call(app, volumeSnapshots.get, { token, params: { id } })
      expect(['creating', 'deleting']).not.toContain(snapshot.status)
      return snapshot
    }, wait)
  const createSnapshot = async (volume: Pick<Volume, 'id'>, name = `snap-${randomUUID()}`, token = owner.token): Promise<VolumeSnapshot> =>
    settledSnapshot((await call(app, volumeSnapshots.create, { token, body: { volume_id: volume.id, name } })).id, token)

  const settledBackup = (id: string, token = owner.token): Promise<VolumeBackup> =>
    vi.waitFor(async () => {
      const backup = await call(app, volumeBackups.get, { token, params: { id } })
      expect(['creating', 'deleting']).not.toContain(backup.status)
      return backup
    }, wait)
  const createBackup = async (volume: Pick<Volume, 'id'>, name = `backup-${randomUUID()}`, token = owner.token): Promise<VolumeBackup> =>
    settledBackup((await call(app, volumeBackups.create, { token, body: { volume_id: volume.id, name } })).id, token)

  /** An instance with its record, and on the engine too. */
  const addInstance = async (wish: { status?: 'running' | 'stopped'; of?: { cloud_id: string; bp_id: string | null } } = {}) => {
    const vm = await stage.addPlainVm(wish.of)
    const name = stage.vmName(vm)
    const [image] = await engine.direct.images.list()
    const [network] = await engine.direct.networks.list()
    await engine.direct.instances.create({
      name,
      type: 'container',
      imageFingerprint: image?.fingerprint ?? '',
      cpuCores: 1,
      memoryBytes: 2 ** 28,
      diskBytes: gib,
      network: network?.name ?? '',
      tags: { vm_id: vm.id },
    })
    if (wish.status !== 'stopped') await engine.direct.instances.start(name)
    const status = wish.status ?? 'running'
    await db.updateTable('vms').set({ status, observed: status }).where('id', '=', vm.id).execute()
    return { ...vm, engine_name: name }
  }
  /** What the engine has of a volume. */
  const onEngine = (volume: Pick<Volume, 'id' | 'pool'>) => engine.direct.storage.volumes.get(nameOf(volume))
  const nameOf = (volume: Pick<Volume, 'id' | 'pool'>) => ({ pool: volume.pool, volume: engineNameOf(volume.id) })
  const attach = async (volume: Pick<Volume, 'id'>, vm: { id: string }, path: string | null = '/data', token = owner.token): Promise<Volume> => {
    await call(app, volumes.attach, { token, params: { id: volume.id }, body: { vm_id: vm.id, path } })
    return settledVolume(volume.id, token)
  }
  const detach = async (volume: Pick<Volume, 'id'>, force = false, token = owner.token): Promise<Volume> => {
    await call(app, volumes.detach, { token, params: { id: volume.id }, body: { force } })
    return settledVolume(volume.id, token)
  }
  /** Writes in an instance, where a volume may be mounted. */
  const write = (vm: { engine_name: string }, path: string, text: string) =>
    engine.direct.instances.writeFile(vm.engine_name, { path, content: Buffer.from(text), mode: 0o644, uid: 0, gid: 0 })
  const read = async (vm: { engine_name: string }, path: string) =>
    (await engine.direct.instances.exec(vm.engine_name, { command: ['cat', path] })).stdout.toString()

  return {
    ...stage,
    wait,
    getVolume,
    settledVolume,
    beginVolume,
    createVolume,
    goneVolume,
    settledSnapshot,
    createSnapshot,
    settledBackup,
    createBackup,
    addInstance,
    onVolume: onEngine,
    nameOf,
    deviceOf,
    attach,
    detach,
    write,
    read,
  }
}
export type StorageStage = Awaited<ReturnType<typeof storageStage>>
