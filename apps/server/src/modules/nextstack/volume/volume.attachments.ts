import type { BodyOf } from '@zhisuan/contract/define'
import { volumeTransitional, volumeVmStatuses, type volumes } from '@zhisuan/contract/nextstack/volume'
import { platformScope, type Scope } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { Refusal, refuseUnless } from '../../../platform/errors.ts'
import { holdVm } from '../vpc/address.store.ts'
import type { VpcMembers } from '../vpc/vpc.members.ts'
import * as store from './volume.store.ts'
import type { VolumeRow } from './volume.store.ts'

type Wish = BodyOf<typeof volumes.attach>

/**
 * The instance that a volume is to be attached to, held so that it is not deleted meanwhile, and
 * where in it. Before the volume's row. `field` leads to the wish in the request.
 * @throws Refusal 90006, 90010, 94157, 94158, 94189, 94190
 */
export async function placeFor(
  tx: Tx,
  scope: Scope,
  volume: Pick<VolumeRow, 'cloud_id' | 'bp_id' | 'content' | 'node'>,
  wish: Wish,
  field: string,
): Promise<{ vm_id: string; path: string | null }> {
  const seen = await store.getVmOf(tx, scope, wish.vm_id)
  if (seen === undefined || seen.cloud_id !== volume.cloud_id || seen.bp_id !== volume.bp_id) throw new Refusal('notFound', { field: `${field}vm_id` })
  await holdVm(tx, wish.vm_id)
  // Once more, now that nobody begins to delete it.
  const vm = await store.getVmOf(tx, platformScope, wish.vm_id)
  if (vm === undefined) throw new Refusal('notFound', { field: `${field}vm_id` })
  refuseUnless(volumeVmStatuses.attach, vm, `${field}vm_id`)
  if (volume.node !== null && vm.node !== null && volume.node !== vm.node) {
    throw new Refusal('volumeElsewhere', { field: `${field}vm_id`, values: { volume: volume.node, vm: vm.node } })
  }
  if (volume.content === 'block') {
    if (vm.type === 'container') throw new Refusal('volumeContentUnfit', { field: `${field}vm_id` })
    if (wish.path !== null) throw new Refusal('volumePathUnfit', { field: `${field}path` })
  } else if (wish.path === null) throw new Refusal('volumePathRequired', { field: `${field}path` })
  return { vm_id: vm.id, path: wish.path }
}

/** @throws Refusal 90010 where something is being done to the instance that has it */
export async function refuseUnlessReleased(tx: Tx, volume: Pick<VolumeRow, 'vm_id'>): Promise<void> {
  const vm = volume.vm_id === null ? undefined : await store.getVmOf(tx, platformScope, volume.vm_id)
  if (vm !== undefined) refuseUnless(volumeVmStatuses.detach, vm)
}

type Leaving = Pick<VpcMembers, 'leaving' | 'stays' | 'gone'>

/** Begins to delete a volume that nothing has any more, and that nothing is made of. Its row is held. */
export type Release = (tx: Tx, volume: VolumeRow, by: { user_id: string; name: string }) => Promise<void>

const volumesOfVms = (release: Release): Leaving => ({
  async leaving(tx, vmId) {
    for (const { id, name, status } of await store.lockVolumesOf(tx, vmId)) {
      if (volumeTransitional.includes(status)) throw new Refusal('vmVolumeBusy', { values: { name } })
      // The engine detaches it with the instance's end.
      await store.updateVolume(tx, id, { status: 'detaching', error_text: null })
    }
  },
  async stays(tx, vmId) {
    for (const { id, status, observed } of await store.lockVolumesOf(tx, vmId)) {
      await store.updateVolume(tx, id, { release_by: null, ...(status === 'detaching' && { status: observed ?? 'error' }) })
    }
  },
  async gone(tx, vmId) {
    for (const volume of await store.lockVolumesOf(tx, vmId)) {
      const { id, status, observed, release_by } = volume
      await store.updateVolume(tx, id, {
        release_by: null,
        vm_id: null,
        path: null,
        ...(observed === 'in_use' && { observed: 'available' }),
        ...((status === 'detaching' || status === 'in_use') && { status: 'available' }),
      })
      if (release_by !== null && (status === 'detaching' || status === 'in_use')) await release(tx, volume, release_by)
    }
  },
})

/**
 * What instances ask of networks, with what that is to volumes: an instance that leaves lets go of
 * its volumes, which stay; 94185 where something is being done to one.
 */
export function withVolumes<Members extends Leaving>(members: Members, release: Release): Members {
  const volumes = volumesOfVms(release)
  const both =
    (name: keyof Leaving): Leaving['gone'] =>
    async (tx, vmId) => {
      await volumes[name](tx, vmId)
      await members[name](tx, vmId)
    }
  return { ...members, leaving: both('leaving'), stays: both('stays'), gone: both('gone') }
}
