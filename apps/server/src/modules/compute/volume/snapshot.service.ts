import {
  computeSnapshotCan,
  computeSnapshotStatuses,
  computeVolumeCan,
  type ComputeSnapshotStatus,
  type ComputeVolumeSnapshot,
  type computeVolumeSnapshots as calls,
} from '@zhisuan/contract/compute/volume'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { VolumeSnapshot } from '@zhisuan/engines/openstack/volume'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal, refuseUnless } from '../../../platform/errors.ts'
import { linesOf, mapped, only } from '../../../platform/lines.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOf, namesOfPlaces, pagesOf } from '../view.ts'
import { asNames, gib, isLasting, known, mayMakeBeside, messagesOf, moment, named, namesOf, refusedAtField } from './storage.ts'
import { statusOf as statusOfVolume, volumeIn } from './volume.service.ts'

export const snapshotIn = (view: View, id: string) => changeableOf(view, (cloud) => cloud.volume.snapshots.get(id))

/** Volumes as they were. */
export function createSnapshots(tenancy: Tenancy) {
  const found = async (actor: Actor, cloudId: string, id: string, action: keyof typeof computeSnapshotCan) => {
    const snapshot = await snapshotIn(await tenancy.viewForChange(actor, cloudId), id)
    refuseUnless(computeSnapshotCan[action], { status: statusOf(snapshot.one) })
    return snapshot
  }

  return {
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const snapshots = pagesOf(view, (cloud, allTenants) => cloud.volume.snapshots.list(allTenants, signal))
      const volumes = pagesOf(view, (cloud, allTenants) => cloud.volume.volumes.names(allTenants, signal))
      yield* linesOf({ items: mapped(only(snapshots, isLasting), shape), names: [namesOfPlaces(view), asNames(volumes)], requestId })
    },

    async get(actor: Actor, cloudId: string, id: string): Promise<ResponseOf<typeof calls.get>> {
      const view = await tenancy.view(actor, cloudId)
      const { one, cloud } = await snapshotIn(view, id)
      const [messages, names] = await Promise.all([messagesOf(cloud, id), namesOf([cloud.volume.volumes.get(one.volumeId)])])
      return { ...shape(one), messages, names: { ...namesOfPlaces(view), ...names } }
    },

    /** @throws Refusal 90010, `computeVolumeMissing`, `computeVolumeInUse`, `computeStorageExhausted` */
    async create(actor: Actor, cloudId: string, { volume_id, name, description, force }: BodyOf<typeof calls.create>): Promise<ComputeVolumeSnapshot> {
      const volume = await named(volumeIn(await tenancy.viewForChange(actor, cloudId), volume_id), 'computeVolumeMissing', 'volume_id')
      refuseUnless(computeVolumeCan.snapshot, { status: statusOfVolume(volume.one) }, 'volume_id')
      const inUse = volume.one.status === 'in-use'
      if (inUse && !force) throw new Refusal('computeVolumeInUse', { field: 'force' })
      await mayMakeBeside(tenancy, actor, cloudId, volume)
      // Newer Cinders take no `force` where nothing has to be forced.
      const wish = { volumeId: volume_id, name, description, force: inUse }
      return shape(await refusedAtField(volume.cloud.volume.snapshots.create(wish), { exhausted: ['computeStorageExhausted', 'volume_id'] }))
    },

    async update(actor: Actor, cloudId: string, id: string, { name, description }: BodyOf<typeof calls.update>): Promise<ComputeVolumeSnapshot> {
      const { one, cloud } = await found(actor, cloudId, id, 'update')
      const changed = await cloud.volume.snapshots.update(id, { name, description })
      // Cinder's answer to a change leaves out whose it is, and how far.
      return shape({ ...changed, projectId: one.projectId, progress: one.progress })
    },

    /** For the platform's administrators: what Cinder says of it, not what it is. */
    async resetStatus(actor: Actor, cloudId: string, id: string, { status }: BodyOf<typeof calls.resetStatus>): Promise<ComputeVolumeSnapshot> {
      const view = await tenancy.viewForChange(actor, cloudId)
      if (!view.everything) throw new Refusal('noPermission')
      await snapshotIn(view, id)
      await view.administrator.volume.snapshots.resetStatus(id, status)
      return shape(await view.administrator.volume.snapshots.get(id))
    },

    async delete(actor: Actor, cloudId: string, id: string): Promise<ComputeVolumeSnapshot> {
      const { one, cloud } = await found(actor, cloudId, id, 'delete')
      await cloud.volume.snapshots.delete(id)
      return shape({ ...one, status: 'deleting' })
    },
  }
}
export type Snapshots = ReturnType<typeof createSnapshots>

export const statusOf = ({ status }: Pick<VolumeSnapshot, 'status'>): ComputeSnapshotStatus => known(computeSnapshotStatuses, status)

const shape = (snapshot: VolumeSnapshot): ComputeVolumeSnapshot => ({
  id: snapshot.id,
  name: snapshot.name,
  description: snapshot.description,
  status: statusOf(snapshot),
  cloud_status: snapshot.status,
  size_bytes: snapshot.sizeGib * gib,
  volume_id: snapshot.volumeId,
  progress: snapshot.progress,
  keystone_project_id: snapshot.projectId,
  created_at: moment(snapshot.createdAt),
  updated_at: moment(snapshot.updatedAt),
})
