import {
  computeBackupCan,
  computeBackupStatuses,
  computeSnapshotCan,
  computeVolumeCan,
  type ComputeBackupStatus,
  type ComputeVolumeBackup,
  type computeVolumeBackups as calls,
} from '@zhisuan/contract/compute/volume'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { all } from '@zhisuan/engines/openstack/session'
import type { Backup } from '@zhisuan/engines/openstack/volume'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal, refuseUnless } from '../../../platform/errors.ts'
import { linesOf, mapped } from '../../../platform/lines.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOf, namesOfPlaces, pagesOf } from '../view.ts'
import { statusOf as statusOfSnapshot } from './snapshot.service.ts'
import { asNames, gib, known, mayMakeBeside, messagesOf, moment, named, namesOf, projectSeen, refusedAtField } from './storage.ts'
import { statusOf as statusOfVolume, volumeIn } from './volume.service.ts'

const backupIn = (view: View, id: string) => changeableOf(view, (cloud) => cloud.volume.backups.get(id))

/** Volumes in the cloud's store of backups. */
export function createBackups(tenancy: Tenancy) {
  const found = async (actor: Actor, cloudId: string, id: string, action: keyof typeof computeBackupCan) => {
    const backup = await backupIn(await tenancy.viewForChange(actor, cloudId), id)
    refuseUnless(computeBackupCan[action], { status: statusOf(backup.one) })
    return backup
  }

  return {
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const backups = pagesOf(view, (cloud, allTenants) => mapped(cloud.volume.backups.list(allTenants, signal), (one) => shape(one, projectSeen(view, cloud))))
      const volumes = pagesOf(view, (cloud, allTenants) => cloud.volume.volumes.names(allTenants, signal))
      yield* linesOf({ items: backups, names: [namesOfPlaces(view), asNames(volumes)], requestId })
    },

    async get(actor: Actor, cloudId: string, id: string): Promise<ResponseOf<typeof calls.get>> {
      const view = await tenancy.view(actor, cloudId)
      const { one, cloud } = await backupIn(view, id)
      const { volume } = cloud
      const [messages, names] = await Promise.all([
        messagesOf(cloud, id),
        namesOf([volume.volumes.get(one.volumeId), ...(one.snapshotId === null ? [] : [volume.snapshots.get(one.snapshotId)])]),
      ])
      return { ...shape(one, projectSeen(view, cloud)), messages, names: { ...namesOfPlaces(view), ...names } }
    },

    /** @throws Refusal 90010, `computeVolumeMissing`, `computeSnapshotMissing`, `computeSnapshotOfOther`, `computeVolumeInUse`, `computeNoFullBackup`, `computeStorageExhausted` */
    async create(
      actor: Actor,
      cloudId: string,
      { volume_id, snapshot_id, name, description, incremental, force }: BodyOf<typeof calls.create>,
    ): Promise<ComputeVolumeBackup> {
      const view = await tenancy.viewForChange(actor, cloudId)
      const volume = await named(volumeIn(view, volume_id), 'computeVolumeMissing', 'volume_id')
      const { backups, snapshots } = volume.cloud.volume
      refuseUnless(computeVolumeCan.backup, { status: statusOfVolume(volume.one) }, 'volume_id')
      const inUse = volume.one.status === 'in-use'
      if (snapshot_id === null) {
        if (inUse && !force) throw new Refusal('computeVolumeInUse', { field: 'force' })
      } else {
        const snapshot = await named(snapshots.get(snapshot_id), 'computeSnapshotMissing', 'snapshot_id')
        if (snapshot.volumeId !== volume_id) throw new Refusal('computeSnapshotOfOther', { field: 'snapshot_id' })
        refuseUnless(computeSnapshotCan.backup, { status: statusOfSnapshot(snapshot) }, 'snapshot_id')
      }
      await mayMakeBeside(tenancy, actor, cloudId, volume)
      if (incremental) {
        const before = await all(backups.list({ volume_id, ...(volume.place === null && { all_tenants: 1 }) }))
        if (!before.some((backup) => backup.volumeId === volume_id && backup.status === 'available'))
          throw new Refusal('computeNoFullBackup', { field: 'incremental' })
      }
      const wish = { volumeId: volume_id, name, description, incremental, force: inUse, ...(snapshot_id !== null && { snapshotId: snapshot_id }) }
      const id = await refusedAtField(backups.create(wish), { exhausted: ['computeStorageExhausted', 'volume_id'] })
      return shape(await backups.get(id), volume.one.projectId)
    },

    async update(actor: Actor, cloudId: string, id: string, { name, description }: BodyOf<typeof calls.update>): Promise<ComputeVolumeBackup> {
      const { cloud, place } = await found(actor, cloudId, id, 'update')
      await cloud.volume.backups.update(id, { name, description })
      return shape(await cloud.volume.backups.get(id), place?.keystoneId ?? null)
    },

    /** @throws Refusal 90010, `computeVolumeMissing`, `computeBackupTooLarge`, `computeStorageExhausted` */
    async restore(actor: Actor, cloudId: string, id: string, { volume_id, name }: BodyOf<typeof calls.restore>): Promise<ResponseOf<typeof calls.restore>> {
      const backup = await found(actor, cloudId, id, 'restore')
      const { backups, volumes } = backup.cloud.volume
      if (volume_id === null) {
        await mayMakeBeside(tenancy, actor, cloudId, backup)
        return {
          volume_id: await refusedAtField(backups.restore(id, { name: name ?? backup.one.name }), { exhausted: ['computeStorageExhausted', 'volume_id'] }),
        }
      }
      // From within the backup's own project: another's volume does not exist there.
      const into = await named(volumes.get(volume_id), 'computeVolumeMissing', 'volume_id')
      refuseUnless(computeVolumeCan.restoreInto, { status: statusOfVolume(into) }, 'volume_id')
      if (into.sizeGib < backup.one.sizeGib) throw new Refusal('computeBackupTooLarge', { field: 'volume_id', values: { size: backup.one.sizeGib } })
      return { volume_id: await backups.restore(id, { volumeId: volume_id }) }
    },

    /** For the platform's administrators: what Cinder says of it, not what it is. */
    async resetStatus(actor: Actor, cloudId: string, id: string, { status }: BodyOf<typeof calls.resetStatus>): Promise<ComputeVolumeBackup> {
      const view = await tenancy.viewForChange(actor, cloudId)
      if (!view.everything) throw new Refusal('noPermission')
      const { place } = await backupIn(view, id)
      await view.administrator.volume.backups.resetStatus(id, status)
      return shape(await view.administrator.volume.backups.get(id), place?.keystoneId ?? null)
    },

    /** @throws Refusal 90010, `computeBackupHasDependents` */
    async delete(actor: Actor, cloudId: string, id: string): Promise<ComputeVolumeBackup> {
      const { one, cloud, place } = await found(actor, cloudId, id, 'delete')
      if (one.hasDependents) throw new Refusal('computeBackupHasDependents')
      await cloud.volume.backups.delete(id)
      return shape({ ...one, status: 'deleting' }, place?.keystoneId ?? null)
    },
  }
}
export type Backups = ReturnType<typeof createBackups>

const statusOf = ({ status }: Pick<Backup, 'status'>): ComputeBackupStatus => known(computeBackupStatuses, status)

/** @param projectId whose it is, where the cloud does not tell */
const shape = (backup: Backup, projectId: string | null): ComputeVolumeBackup => ({
  id: backup.id,
  name: backup.name,
  description: backup.description,
  status: statusOf(backup),
  cloud_status: backup.status,
  size_bytes: backup.sizeGib * gib,
  volume_id: backup.volumeId,
  snapshot_id: backup.snapshotId,
  incremental: backup.incremental,
  has_dependents: backup.hasDependents,
  failure: backup.failure,
  keystone_project_id: backup.projectId ?? projectId,
  data_at: moment(backup.dataAt),
  created_at: moment(backup.createdAt),
  updated_at: moment(backup.updatedAt),
})
