import {
  computeVolumeCan,
  computeVolumeStatuses,
  type ComputeVolume,
  type ComputeVolumeStatus,
  type ComputeVolumeType,
  type computeVolumes as calls,
} from '@zhisuan/contract/compute/volume'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import type { Volume, VolumeWish } from '@zhisuan/engines/openstack/volume'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal, refuseUnless } from '../../../platform/errors.ts'
import { linesOf, mapped, only } from '../../../platform/lines.ts'
import { isRecycled } from '../recycle/recycle.store.ts'
import { settled } from '../settled.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOf, namesOfPlaces, pagesOf, sharedPagesOf, type Changeable } from '../view.ts'
import { asNames, gib, isLasting, known, mayMakeBeside, messagesOf, moment, named, namesOf, refusedAtField } from './storage.ts'

export type FoundVolume = Changeable<Volume>

/** One volume through the asker's view. @throws Refusal notFound */
export const volumeIn = (view: View, id: string): Promise<FoundVolume> => changeableOf(view, (cloud) => cloud.volume.volumes.get(id))

/** Volumes of a cloud's Cinder, and the types that it has for them. */
export function createVolumes({ db, tenancy }: { db: Db; tenancy: Tenancy }) {
  const found = async (actor: Actor, cloudId: string, id: string, action?: keyof typeof computeVolumeCan): Promise<FoundVolume> => {
    const volume = await volumeIn(await tenancy.viewForChange(actor, cloudId), id)
    if (action !== undefined) refuseUnless(computeVolumeCan[action], { status: statusOf(volume.one) })
    return volume
  }
  /** An instance that a body names, in the volume's project. @throws Refusal `computeServerMissing`, `instanceRecycled` at `server_id` */
  const refuseUnlessUsable = async (cloudId: string, { cloud }: FoundVolume, serverId: string): Promise<void> => {
    const server = await refusedAtField(cloud.compute.servers.get(serverId), { not_found: ['computeServerMissing', 'server_id'] })
    if (server.state === 'soft_deleted' || (await isRecycled(db, cloudId, serverId))) throw new Refusal('instanceRecycled', { field: 'server_id' })
  }
  const now = async ({ one, cloud }: FoundVolume): Promise<ComputeVolume> => shape(await cloud.volume.volumes.get(one.id))

  return {
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const volumes = pagesOf(view, (cloud, allTenants) => cloud.volume.volumes.list(allTenants, signal))
      const servers = pagesOf(view, (cloud, allTenants) => cloud.compute.servers.names(allTenants, signal))
      yield* linesOf({ items: mapped(only(volumes, isLasting), shape), names: [namesOfPlaces(view), asNames(servers)], requestId })
    },

    async get(actor: Actor, cloudId: string, id: string): Promise<ResponseOf<typeof calls.get>> {
      const view = await tenancy.view(actor, cloudId)
      const { one, cloud } = await volumeIn(view, id)
      const { volume, compute } = cloud
      const [messages, names] = await Promise.all([
        messagesOf(cloud, id),
        namesOf([
          ...one.attachments.map(({ serverId }) => compute.servers.get(serverId)),
          ...(one.snapshotId === null ? [] : [volume.snapshots.get(one.snapshotId)]),
          ...(one.sourceVolumeId === null ? [] : [volume.volumes.get(one.sourceVolumeId)]),
        ]),
      ])
      return { ...shape(one), messages, names: { ...namesOfPlaces(view), ...names } }
    },

    async zones(actor: Actor, cloudId: string): Promise<ResponseOf<typeof calls.zones>> {
      const view = await tenancy.view(actor, cloudId)
      return { items: await view.administrator.volume.zones() }
    },

    async *types(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const types = sharedPagesOf(
        view,
        (cloud) => cloud.volume.types.list(view.everything ? { is_public: 'None' } : {}, signal),
        (type) => type.public,
      )
      yield* linesOf({
        items: mapped(types, (type): ComputeVolumeType => ({
          id: type.id,
          name: type.name,
          description: type.description,
          public: type.public,
          multiattach: type.multiattach,
        })),
        requestId,
      })
    },

    /** @throws Refusal `computeStorageExhausted` and those of what it is made of, each at its field */
    async create(actor: Actor, cloudId: string, body: BodyOf<typeof calls.create>): Promise<ComputeVolume> {
      const { cloud, from } = await sourceOf(tenancy, actor, cloudId, body)
      const wish: VolumeWish = {
        name: body.name,
        description: body.description,
        sizeGib: body.size_bytes / gib,
        ...(body.type !== null && { type: body.type }),
        ...(body.zone !== null && { zone: body.zone }),
        ...(from !== null && { from }),
      }
      const made = await inZone(
        body.zone,
        refusedAtField(cloud.volume.volumes.create(wish), {
          exhausted: ['computeStorageExhausted', 'size_bytes'],
          not_found: ['computeVolumeTypeMissing', 'type'],
        }),
      )
      if (!body.bootable) return shape(made)
      await cloud.volume.volumes.setBootable(made.id, true)
      return shape(await cloud.volume.volumes.get(made.id))
    },

    async update(actor: Actor, cloudId: string, id: string, { name, description }: BodyOf<typeof calls.update>): Promise<ComputeVolume> {
      const volume = await found(actor, cloudId, id, 'update')
      return shape(await volume.cloud.volume.volumes.update(id, { name, description }))
    },

    /** @throws Refusal 90010, 94152, 94188, `computeStorageExhausted` */
    async grow(actor: Actor, cloudId: string, id: string, { size_bytes }: BodyOf<typeof calls.grow>): Promise<ComputeVolume> {
      const volume = await found(actor, cloudId, id, 'grow')
      const sizeGib = size_bytes / gib
      if (sizeGib < volume.one.sizeGib) throw new Refusal('volumeShrink', { field: 'size_bytes' })
      if (sizeGib === volume.one.sizeGib) throw new Refusal('volumeSizeUnchanged', { field: 'size_bytes' })
      await mayMakeBeside(tenancy, actor, cloudId, volume)
      await refusedAtField(volume.cloud.volume.volumes.extend(id, sizeGib), { exhausted: ['computeStorageExhausted', 'size_bytes'] })
      return now(volume)
    },

    /** Through Nova, from within the volume's own project: servers of others do not exist there. */
    async attach(actor: Actor, cloudId: string, id: string, { server_id }: BodyOf<typeof calls.attach>): Promise<ComputeVolume> {
      const volume = await found(actor, cloudId, id)
      refuseUnlessAttachable(volume.one)
      await refuseUnlessUsable(cloudId, volume, server_id)
      const { volumes } = volume.cloud.compute.servers
      const attached = settled(volumes.attach(server_id, id), async () => (await volumes.list(server_id)).find(({ volumeId }) => volumeId === id) ?? null)
      await refusedAtField(attached, { not_found: ['computeServerMissing', 'server_id'] })
      return now(volume)
    },

    async detach(actor: Actor, cloudId: string, id: string, { server_id }: BodyOf<typeof calls.detach>): Promise<ComputeVolume> {
      const volume = await found(actor, cloudId, id, 'detach')
      if (!volume.one.attachments.some(({ serverId }) => serverId === server_id)) throw new Refusal('computeServerMissing', { field: 'server_id' })
      await refuseUnlessUsable(cloudId, volume, server_id)
      const { volumes } = volume.cloud.compute.servers
      const detached = settled(unlessRoot(volumes.detach(server_id, id)), async () =>
        (await volumes.list(server_id)).some(({ volumeId }) => volumeId === id) ? null : undefined,
      )
      await refusedAtField(detached, { not_found: ['computeServerMissing', 'server_id'] })
      return now(volume)
    },

    async setBootable(actor: Actor, cloudId: string, id: string, { bootable }: BodyOf<typeof calls.setBootable>): Promise<ComputeVolume> {
      const volume = await found(actor, cloudId, id, 'setBootable')
      await volume.cloud.volume.volumes.setBootable(id, bootable)
      return now(volume)
    },

    async retype(actor: Actor, cloudId: string, id: string, { type, migrate }: BodyOf<typeof calls.retype>): Promise<ComputeVolume> {
      const volume = await found(actor, cloudId, id, 'retype')
      await mayMakeBeside(tenancy, actor, cloudId, volume)
      // Asked for by name, but only types that this project may have.
      const known = await all(volume.cloud.volume.types.list())
      if (!known.some(({ name }) => name === type)) throw new Refusal('computeVolumeTypeMissing', { field: 'type' })
      await refusedAtField(volume.cloud.volume.volumes.retype(id, type, migrate), {
        exhausted: ['computeStorageExhausted', 'type'],
        invalid: ['engineRefused', 'type'],
      })
      return now(volume)
    },

    async toImage(actor: Actor, cloudId: string, id: string, { name, format, force }: BodyOf<typeof calls.toImage>): Promise<ResponseOf<typeof calls.toImage>> {
      const volume = await found(actor, cloudId, id, 'toImage')
      if (volume.one.status === 'in-use' && !force) throw new Refusal('computeVolumeInUse', { field: 'force' })
      await mayMakeBeside(tenancy, actor, cloudId, volume)
      return { image_id: await volume.cloud.volume.volumes.toImage(id, { name, diskFormat: format, force }) }
    },

    /** For the platform's administrators: what Cinder says of it, not what it is. */
    async resetStatus(actor: Actor, cloudId: string, id: string, { status }: BodyOf<typeof calls.resetStatus>): Promise<ComputeVolume> {
      const view = await tenancy.viewForChange(actor, cloudId)
      if (!view.everything) throw new Refusal('noPermission')
      const volume = await volumeIn(view, id)
      await view.administrator.volume.volumes.resetStatus(id, status)
      return now(volume)
    },

    /** @throws Refusal 90010, `computeVolumeHasSnapshots` where they are not to go with it */
    async delete(actor: Actor, cloudId: string, id: string, cascade: boolean): Promise<ComputeVolume> {
      const volume = await found(actor, cloudId, id, 'delete')
      if (!cascade) {
        const { length: count } = await all(volume.cloud.volume.snapshots.list({ volume_id: id, ...(volume.place === null && { all_tenants: 1 }) }))
        if (count > 0) throw new Refusal('computeVolumeHasSnapshots', { values: { count } })
      }
      await volume.cloud.volume.volumes.delete(id, cascade)
      // It may be gone already.
      return shape({ ...volume.one, status: 'deleting' })
    },
  }
}
export type Volumes = ReturnType<typeof createVolumes>

/**
 * Where a volume is made, and what of: what is made of a snapshot, volume or backup lies beside it.
 * @throws Refusal at the field of what it is to be made of
 */
async function sourceOf(
  tenancy: Tenancy,
  actor: Actor,
  cloudId: string,
  body: BodyOf<typeof calls.create>,
): Promise<{ cloud: OpenStack; from: NonNullable<VolumeWish['from']> | null }> {
  const leastGib = (sizeGib: number): void => {
    if (body.size_bytes / gib < sizeGib) throw new Refusal('computeVolumeTooSmall', { field: 'size_bytes', values: { size: sizeGib } })
  }
  const beside = async <T extends { sizeGib: number }>(
    asked: (view: View) => Promise<Changeable<T>>,
    missing: 'computeSnapshotMissing' | 'computeVolumeMissing' | 'computeBackupMissing',
    field: string,
  ): Promise<OpenStack> => {
    const source = await named(asked(await tenancy.viewForChange(actor, cloudId)), missing, field)
    await mayMakeBeside(tenancy, actor, cloudId, source)
    leastGib(source.one.sizeGib)
    return source.cloud
  }
  const { snapshot_id, volume_id, backup_id, image_id } = body
  if (snapshot_id !== null) {
    const cloud = await beside((view) => changeableOf(view, (one) => one.volume.snapshots.get(snapshot_id)), 'computeSnapshotMissing', 'snapshot_id')
    return { cloud, from: { snapshotId: snapshot_id } }
  }
  if (volume_id !== null)
    return { cloud: await beside((view) => volumeIn(view, volume_id), 'computeVolumeMissing', 'volume_id'), from: { volumeId: volume_id } }
  if (backup_id !== null) {
    const cloud = await beside((view) => changeableOf(view, (one) => one.volume.backups.get(backup_id)), 'computeBackupMissing', 'backup_id')
    return { cloud, from: { backupId: backup_id } }
  }
  const { cloud } = await tenancy.placeForMaking(actor, cloudId, body.project_id)
  if (image_id === null) return { cloud, from: null }
  const image = await named(cloud.images.get(image_id), 'computeImageUnready', 'image_id')
  if (image.status !== 'active') throw new Refusal('computeImageUnready', { field: 'image_id' })
  leastGib(Math.max(image.minDiskGib, Math.ceil((image.virtualSizeBytes ?? image.sizeBytes ?? 0) / gib)))
  return { cloud, from: { imageId: image_id } }
}

/** Cinder names no field; its words do. */
async function inZone<T>(zone: string | null, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (zone !== null && isEngineError(error, 'invalid') && /availability zone/i.test(error.message))
      return await refusedAtField(Promise.reject(error), { invalid: ['engineRefused', 'zone'] })
    throw error
  }
}

/** @throws Refusal 90010: in use only one that several instances may have */
export function refuseUnlessAttachable(volume: Pick<Volume, 'status' | 'multiattach'>, field?: string): void {
  refuseUnless(computeVolumeCan.attach, { status: statusOf(volume) }, field)
  if (volume.status === 'in-use' && !volume.multiattach) throw new Refusal('stateForbids', field === undefined ? {} : { field })
}

/** What takes a volume out of an instance. @throws Refusal `computeRootVolume`, which Nova says by the status of a right that is missing */
export async function unlessRoot(asked: Promise<void>): Promise<void> {
  try {
    await asked
  } catch (error) {
    if (isEngineError(error, 'unauthorized', 'invalid') && /root device/i.test(error.message)) throw new Refusal('computeRootVolume', { cause: error })
    throw error
  }
}

export const statusOf = ({ status }: Pick<Volume, 'status'>): ComputeVolumeStatus => known(computeVolumeStatuses, status)

const shape = (volume: Volume): ComputeVolume => ({
  id: volume.id,
  name: volume.name,
  description: volume.description,
  status: statusOf(volume),
  cloud_status: volume.status,
  size_bytes: volume.sizeGib * gib,
  type: volume.type,
  bootable: volume.bootable,
  multiattach: volume.multiattach,
  encrypted: volume.encrypted,
  zone: volume.zone,
  image_id: volume.imageId,
  image_name: volume.imageName,
  snapshot_id: volume.snapshotId,
  source_volume_id: volume.sourceVolumeId,
  attachments: volume.attachments.map(({ serverId, device, attachedAt }) => ({ server_id: serverId, device, attached_at: moment(attachedAt) })),
  keystone_project_id: volume.projectId,
  created_at: moment(volume.createdAt),
  updated_at: moment(volume.updatedAt),
})
