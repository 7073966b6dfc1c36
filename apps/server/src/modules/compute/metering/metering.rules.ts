import type { Meter } from '@zhisuan/contract/bill/meter'
import { gpusOf } from '@zhisuan/contract/compute/flavor'
import type { Kind } from '@zhisuan/contract/kind'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Server } from '@zhisuan/engines/openstack/compute'
import type { Image } from '@zhisuan/engines/openstack/image'
import type { FloatingIp } from '@zhisuan/engines/openstack/network'
import type { Backup, Volume, VolumeSnapshot } from '@zhisuan/engines/openstack/volume'
import { mapped, only, type Pages } from '../../../platform/lines.ts'
import { isLasting } from '../volume/storage.ts'

/** Quantities in base units by `meter` or `meter/variant`; empty: it is there and uses nothing that has a price. */
export type Usage = Readonly<Partial<Record<Meter | `${Meter}/${string}`, number>>>

/** Something of a cloud that may cost, as a look saw it. */
export interface Seen {
  readonly id: string
  readonly name: string
  /** Whose it is on the cloud. */
  readonly keystone_id: string | null
  readonly usage: Usage
  /** What the cloud says of when it was made, and last changed; null where it does not say. */
  readonly made: Date | null
  readonly changed: Date | null
  /** Of what has a size that may be changed: what that is while it runs, and while it does not. */
  readonly sizes?: { readonly running: Usage; readonly stopped: Usage }
}

const gib = 2 ** 30
const mib = 2 ** 20

/**
 * Nova's `vm_state`, not what is being done meanwhile: what is being stopped runs until it has stopped. Of one that
 * failed Nova does not know whether it runs; nobody can use it, so nobody pays for it.
 */
const runs: ReadonlySet<string | null> = new Set(['active', 'paused', 'rescued', 'resized'])

/** Processors and memory while it runs, the disk of its flavor as long as hosts keep one for it, and its cards as long as it has a host. */
export function usedByServer({ vmState, imageId, flavor, launchedAt }: Pick<Server, 'vmState' | 'imageId' | 'flavor' | 'launchedAt'>): Usage {
  // What was never spawned is not there yet, or has failed to be.
  if (flavor === null || launchedAt === null || vmState === 'building' || vmState === 'deleted') return {}
  // What was started from a volume has its disk there, what is shelved in an image.
  const ownDisk = imageId !== null && vmState?.startsWith('shelved') !== true && flavor.diskGib > 0
  return {
    ...(runs.has(vmState) && { 'vm.vcpu': flavor.vcpus, 'vm.memory': flavor.memoryMib * mib }),
    ...(ownDisk && { 'vm.disk': flavor.diskGib * gib }),
    ...(vmState !== 'shelved_offloaded' && Object.fromEntries(gpusOf(flavor.extraSpecs).map(({ model, count }) => [`vm.gpu/${model}`, count]))),
  }
}

/** Cinder's words for what is not made yet, and for what never was. */
const unmade: ReadonlySet<string> = new Set(['creating', 'downloading', 'error', 'error_managing', 'managing', 'deleted'])

/** By its type, as storage pools of the first family. */
export const usedByVolume = ({ status, sizeGib, type }: Pick<Volume, 'status' | 'sizeGib' | 'type'>): Usage =>
  unmade.has(status) ? {} : { [`volume.size${type === null ? '' : `/${type}`}` as const]: sizeGib * gib }

/** Of either Cinder says no other size than that of the volume. */
const sized = (meter: 'snapshot.size' | 'backup.size', { status, sizeGib }: Pick<VolumeSnapshot, 'status' | 'sizeGib'>): Usage =>
  unmade.has(status) || sizeGib === 0 ? {} : { [meter]: sizeGib * gib }
export const usedBySnapshot = (snapshot: Pick<VolumeSnapshot, 'status' | 'sizeGib'>): Usage => sized('snapshot.size', snapshot)
export const usedByBackup = (backup: Pick<Backup, 'status' | 'sizeGib'>): Usage => sized('backup.size', backup)

/** Those of everybody cost nobody; what is offered to others is paid by whose it is. */
export const usedByImage = ({ status, visibility, sizeBytes }: Pick<Image, 'status' | 'visibility' | 'sizeBytes'>): Usage =>
  visibility !== 'public' && (status === 'active' || status === 'deactivated') && sizeBytes !== null && sizeBytes > 0 ? { 'image.size': sizeBytes } : {}

const date = (text: string | null): Date | null => (text === null || Number.isNaN(Date.parse(text)) ? null : new Date(text))
const times = ({ createdAt, updatedAt }: Pick<Volume, 'createdAt' | 'updatedAt'>) => ({ made: createdAt, changed: updatedAt })
const named = ({ id, name, projectId }: { id: string; name: string; projectId: string | null }) => ({ id, name, keystone_id: projectId })

/** An instance, as its cloud's administrator sees it: others are not told of its cards by each cloud. */
export const seenServer = (one: Server): Seen => ({
  ...named(one),
  usage: usedByServer(one),
  made: one.launchedAt,
  changed: one.updatedAt,
  sizes: { running: usedByServer({ ...one, vmState: 'active' }), stopped: usedByServer({ ...one, vmState: 'stopped' }) },
})

/** All that there is of a kind. */
export type MeteredList = (cloud: OpenStack, signal: AbortSignal) => Pages<Seen>

/** What costs on a cloud: each kind is one list of one service, of all projects, as its administrator reads it. */
export const meteredKinds: Readonly<Record<string, MeteredList>> = {
  // With those that Nova keeps after they were deleted: their disks are there until it forgets them.
  'compute.instance': ({ compute }, signal) => mapped(compute.servers.list({ all_tenants: 1, soft_deleted: true }, signal), seenServer),
  'compute.volume': ({ volume }, signal) =>
    mapped(only(volume.volumes.list({ all_tenants: 1 }, signal), isLasting), (one) => ({ ...named(one), usage: usedByVolume(one), ...times(one) })),
  'compute.volumeSnapshot': ({ volume }, signal) =>
    mapped(only(volume.snapshots.list({ all_tenants: 1 }, signal), isLasting), (one) => ({ ...named(one), usage: usedBySnapshot(one), ...times(one) })),
  'compute.volumeBackup': ({ volume }, signal) =>
    mapped(volume.backups.list({ all_tenants: 1 }, signal), (one) => ({ ...named(one), usage: usedByBackup(one), ...times(one) })),
  // From the moment it is allocated, whether it leads anywhere or not.
  'compute.floatingIp': ({ network }, signal) =>
    mapped(network.floatingIps.list({}, signal), (one: FloatingIp) => ({
      ...named({ ...one, name: one.address }),
      usage: { 'eip.address': 1 },
      made: date(one.createdAt),
      changed: date(one.updatedAt),
    })),
  'compute.image': async function* ({ images }, signal) {
    // An entry is there before its content is: it was made when that had come. Glance leaves those of the community out unless it is asked for them.
    for (const query of [{}, { visibility: 'community' }])
      yield* mapped(images.list(query, signal), (one) => ({ ...named(one), usage: usedByImage(one), made: one.updatedAt, changed: one.updatedAt }))
  },
} satisfies Partial<Record<Kind, MeteredList>>
