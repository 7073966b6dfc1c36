import { addressNumber, addressText } from '@zhisuan/contract/ip'
import { vpcCan } from '@zhisuan/contract/nextstack/vpc'
import { EngineError } from '@zhisuan/engines/errors'
import { platformScope, type Actor } from '../../../platform/auth/actor.ts'
import type { Db, Sql, Tx } from '../../../platform/db/database.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as eips from '../eip/eip.store.ts'
import * as nats from '../nat/nat.store.ts'
import * as groups from '../security-group/security-group.store.ts'
import * as addresses from './address.store.ts'
import { placesOf, type Place } from './facts.store.ts'
import type { Want } from './vpc.operations.ts'
import { usable } from './vpc.range.ts'
import * as store from './vpc.store.ts'
import type { VpcRow } from './vpc.store.ts'

/** How often, and how long at a time, it is looked whether a network is there. */
export const lookEveryMs = 200
const lookForMs = 10_000

export interface Member {
  id: string
  cloud_id: string
  bp_id: string | null
}

export type VpcMembers = ReturnType<typeof createVpcMembers>

/**
 * What instances ask of private networks. Whoever calls inside a transaction holds the cloud
 * (`clouds.forChange`) and the instance's row before, never a network: those come last.
 *
 * An instance joins with the record of its creation and waits for the network before it is made on
 * the engine. Before it is deleted there it leaves, so that nothing leads to it any more; once it is
 * gone its address is let go of, which is free as soon as the engine has nothing left of it.
 */
export function createVpcMembers(parts: Pick<Platform, 'pause'> & { db: Db; want: Want }) {
  const { db, want, pause } = parts

  /** The network of an instance, held; undefined where it is in none. */
  const lockVpcOf = async (tx: Tx, vmId: string): Promise<VpcRow | undefined> => {
    const place = await addresses.placeOf(tx, vmId)
    return place === undefined ? undefined : store.lockVpc(tx, platformScope, place.vpc_id)
  }
  /** Whether something of the network's plan is about this instance. */
  const isInPlan = async (tx: Tx, vmId: string): Promise<boolean> =>
    (await groups.isGuarded(tx, vmId)) || (await nats.hasRules(tx, { vm_id: vmId })) || (await eips.eipOfVm(tx, vmId)) !== undefined
  const shareGroups = async (tx: Tx, of: Member, ids: readonly string[]): Promise<string[]> => {
    const wished = [...new Set(ids)]
    const shared = await groups.shareGroups(tx, of, wished)
    if (shared.length < wished.length) throw new Refusal('securityGroupMissing', { field: 'security_group_ids' })
    return shared
  }
  const addressFor = async (tx: Tx, vpc: VpcRow, wish: string | undefined): Promise<number> => {
    const { first, last } = usable(vpc.cidr)
    if (wish === undefined) {
      const free = await addresses.lowestFree(tx, vpc.id, last)
      if (free === undefined) throw new Refusal('vpcAddressesExhausted', { field: 'vpc_id', values: { name: vpc.name } })
      return free
    }
    const number = addressNumber(wish)
    if (number === null || number < first || number > last || (await addresses.isTaken(tx, vpc.id, number))) {
      throw new Refusal('vpcAddressTaken', { field: 'address', values: { address: wish } })
    }
    return number
  }

  const leaving = async (tx: Tx, vmId: string): Promise<void> => {
    const vpc = await lockVpcOf(tx, vmId)
    if (vpc === undefined) return
    const changed = (await isInPlan(tx, vmId)) ? await want(tx, vpc, null) : vpc.wanted
    await eips.unbindEips(tx, { vm_id: vmId }, changed)
    await addresses.setLeaving(tx, vmId, changed)
  }

  return {
    /**
     * Takes an address for an instance whose row is there, the lowest where none is wished for, and
     * puts groups before it.
     * @throws Refusal 94104, 94105, 94106, 94113, 90010 where the network takes nobody now
     */
    async join(
      tx: Tx,
      vm: Member,
      wish: { vpc_id: string; address?: string | undefined; security_group_ids: readonly string[] },
    ): Promise<{ network: string; address: string; guarded: true }> {
      const groupIds = await shareGroups(tx, vm, wish.security_group_ids)
      const vpc = await store.lockVpc(tx, platformScope, wish.vpc_id)
      if (vpc === undefined || vpc.cloud_id !== vm.cloud_id || vpc.bp_id !== vm.bp_id) throw new Refusal('vpcMissing', { field: 'vpc_id' })
      refuseUnless(vpcCan.connect, vpc, 'vpc_id')
      const number = await addressFor(tx, vpc, wish.address)
      await addresses.insertAddress(tx, { vpc_id: vpc.id, number, vm_id: vm.id })
      await groups.setGroupsOfVm(tx, vm.id, groupIds)
      // One whom no group guards changes nothing on the engine; who looks at the network is told.
      if (groupIds.length > 0) await want(tx, vpc, null)
      else await store.updateVpc(tx, vpc.id, {})
      return { network: vpc.engine_name, address: addressText(number), guarded: true }
    },

    /** The groups of an instance: exactly these. @throws Refusal 94113, 94114 */
    async setGroups(tx: Tx, actor: Pick<Actor, 'user_id' | 'name'>, vm: Member, ids: readonly string[]): Promise<void> {
      const groupIds = await shareGroups(tx, vm, ids)
      const vpc = await lockVpcOf(tx, vm.id)
      if (vpc === undefined) throw new Refusal('securityGroupNeedsVpc', { field: 'security_group_ids' })
      await groups.setGroupsOfVm(tx, vm.id, groupIds)
      await want(tx, vpc, actor)
    },

    /**
     * Resolves once the network is on the engine, for a step of an operation.
     * @throws EngineError `busy` where it is not there in some seconds: the step is tried again
     * @throws Refusal 94106 where there is none, 94108 where it could not be made, or is lost
     */
    async whenReady(vpcId: string, signal: AbortSignal): Promise<void> {
      for (let left = lookForMs; ; left -= lookEveryMs) {
        const vpc = await store.progressOf(db, vpcId)
        if (vpc === undefined) throw new Refusal('vpcMissing')
        if (vpc.status === 'lost' || (vpc.status === 'error' && vpc.applied === 0)) throw new Refusal('vpcNotMade', { values: { name: vpc.name } })
        if (vpc.applied > 0) return
        if (left <= 0) throw new EngineError('busy', `the network ${vpc.engine_name} is not there yet`)
        await pause(lookEveryMs, signal)
      }
    },

    /**
     * Before an instance is deleted on the engine: its outside address is unbound, and nothing is to
     * lead to it any more. Nothing where it is in no private network.
     */
    leaving,

    /** It was not deleted after all: it is guarded and reached as before, but for its outside address. */
    async stays(tx: Tx, vmId: string): Promise<void> {
      await eips.keepReleased(tx, vmId)
      const vpc = await lockVpcOf(tx, vmId)
      if (vpc === undefined) return
      await addresses.setLeaving(tx, vmId, null)
      if (await isInPlan(tx, vmId)) await want(tx, vpc, null)
    },

    /** The engine has it no longer: before its row goes. One that did not leave before does now. */
    async gone(tx: Tx, vmId: string): Promise<void> {
      const place = await addresses.placeOf(tx, vmId)
      if (place === undefined) return
      if (place.left_at === null) await leaving(tx, vmId)
      const { id, applied } = found(await store.lockVpc(tx, platformScope, place.vpc_id))
      await nats.deleteRulesOfVm(tx, vmId)
      await groups.setGroupsOfVm(tx, vmId, [])
      await eips.detachEips(tx, vmId)
      await eips.releaseGone(tx, vmId)
      await addresses.detach(tx, vmId)
      await addresses.freeLeft(tx, id, applied)
      await store.updateVpc(tx, id, {})
    },

    /** Where instances are and what guards them, for lists: one query for all. Those in no private network are missing. */
    async shownOf(on: Sql, vmIds: readonly string[]): Promise<ReadonlyMap<string, Place>> {
      return new Map((await placesOf(on, vmIds)).map((place) => [place.vm_id, place]))
    },
  }
}
