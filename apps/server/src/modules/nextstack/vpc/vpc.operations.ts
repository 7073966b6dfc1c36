import { errors, fillText } from '@zhisuan/contract/errors'
import { overlaps, parseCidr } from '@zhisuan/contract/ip'
import type { ComputeEngine, Nic } from '@zhisuan/engines/compute'
import { isEngineError } from '@zhisuan/engines/errors'
import { z } from 'zod'
import { platformScope, type Actor } from '../../../platform/auth/actor.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { OperationDefinition, Operations, OperationStep, Reached, StepContext } from '../../../platform/operations.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import * as pools from '../eip/eip-pool.store.ts'
import * as eips from '../eip/eip.store.ts'
import * as nats from '../nat/nat.store.ts'
import { refusedAs } from '../refusedAs.ts'
import * as addresses from './address.store.ts'
import { factsOf, nicOf } from './facts.store.ts'
import { planOf, tagsOf, type VpcFacts, type VpcPlan } from './vpc.plan.ts'
import * as store from './vpc.store.ts'
import type { VpcRow } from './vpc.store.ts'

const nothing = z.object({})
/** Where an instance's NIC is. */
type Place = Pick<VpcFacts, 'id' | 'engine_name' | 'cloud_id'>

/**
 * Whatever changes what is wanted of a network says so here, in the transaction that changes it,
 * holding the network's row: it is applied as a whole. Resolves to the number of the change. While
 * an apply runs nothing is begun: when that ends it sees that more is wanted, and begins the next.
 */
export type Want = (tx: Tx, vpc: VpcRow, actor: Pick<Actor, 'user_id' | 'name'> | null) => Promise<number>

/** The one way from rows to the engine. Each step computes the plan anew and changes only what differs. */
export function createVpcOperations(parts: { db: Db; clouds: Pick<CloudService, 'engine'>; operations: Pick<Operations, 'begin'> }) {
  const { db, clouds, operations } = parts

  interface Work {
    plan: VpcPlan
    engine: ComputeEngine
    signal: AbortSignal
  }
  const work = async <T>({ resource_id, signal }: StepContext<object>, act: (vpc: VpcFacts, work: Work) => Promise<T>): Promise<T> => {
    const vpc = await factsOf(db, resource_id)
    // Its cloud was removed by force while the operation waited.
    if (vpc === undefined) throw new Refusal('vpcMissing')
    return act(vpc, { plan: planOf(vpc), engine: await clouds.engine(vpc.cloud_id), signal })
  }
  const step = (
    name: string,
    reached: Exclude<Reached<object>, Function> | ((vpc: VpcFacts, work: Work) => Promise<boolean>),
    act: (vpc: VpcFacts, work: Work) => Promise<void>,
  ): OperationStep<object> => ({
    name,
    reached: typeof reached === 'string' ? reached : (context) => work(context, reached),
    run: (context) => work(context, act),
  })

  /** Whether the engine has none of ours under that name. */
  const isGone =
    (get: (vpc: VpcFacts, work: Work) => Promise<{ tags: Readonly<Record<string, string>> } | null>) =>
    async (vpc: VpcFacts, work: Work): Promise<boolean> => {
      const there = await get(vpc, work)
      return there === null || !isOurs(there, vpc.id)
    }

  const apply: OperationDefinition<object> = {
    kind: 'nextstack.vpc.apply',
    input: nothing,
    steps: [
      {
        name: 'acl',
        reached: 'partly',
        run: async (context) => {
          // Before the plan is read: it may hold more than this, never less.
          await store.noteApplying(db, context.resource_id)
          await work(context, (_, { plan, engine, signal }) =>
            refusedAs({ invalid: 'vpcRulesRefused' }, () => engine.networks.acls.apply(plan.acl, { signal })),
          )
        },
      },
      step('network', 'partly', async (_, { plan, engine, signal }) => {
        try {
          await refusedAs({ invalid: 'vpcRefused' }, () => engine.networks.apply(plan.network, { signal }))
        } catch (error) {
          throw isEngineError(error, 'conflict') ? await explainConflict(error, plan, engine, signal) : error
        }
      }),
      step('forwards', 'partly', async (vpc, { plan, engine, signal }) => {
        const failed = new Map<string, string>()
        for (const { eip_id, forward } of plan.forwards) {
          try {
            await engine.networks.forwards.apply(plan.network.name, forward, { signal })
          } catch (error) {
            // One address that cannot lead there keeps no other from it.
            if (!isEngineError(error, 'conflict', 'invalid')) throw error
            failed.set(eip_id, fillText(errors.eipAddressTaken.text, { address: forward.address }))
          }
        }
        await db.transaction().execute(async (tx) => {
          await store.lockVpc(tx, platformScope, vpc.id)
          await eips.noteOutcome(
            tx,
            plan.forwards.map(({ eip_id }) => eip_id),
            failed,
          )
        })
      }),
      step('obsolete', 'partly', async (_, { plan, engine, signal }) => {
        const wanted = new Set(plan.forwards.map(({ forward }) => forward.address))
        for (const { address } of await engine.networks.forwards.list(plan.network.name, { signal })) {
          if (!wanted.has(address)) await engine.networks.forwards.delete(plan.network.name, address, { signal })
        }
      }),
      // Last: what cannot be limited keeps nothing from being taken away.
      step('bandwidth', 'partly', async (vpc, { engine, signal }) => {
        const failed: unknown[] = []
        for (const nic of await eips.limitsToChange(db, vpc.id)) await setLimit(vpc, engine, nic, signal).catch((error: unknown) => failed.push(error))
        if (failed.length > 0) throw failed[0]
      }),
    ],
    ended: async (tx, { resource_id }, refusal) => {
      const vpc = await store.lockVpc(tx, platformScope, resource_id)
      if (vpc === undefined) return
      if (refusal === null) await settle(tx, vpc, vpc.applying)
      else await eips.failEips(tx, vpc.id, refusal.message)
      if (vpc.wanted > vpc.applying) await begin(tx, vpc, vpc.wanted, null)
      else await store.updateVpc(tx, vpc.id, refusal === null ? { status: 'active', error_text: null } : { status: 'error', error_text: refusal.message })
    },
  }

  const remove: OperationDefinition<object> = {
    kind: 'nextstack.vpc.delete',
    input: nothing,
    steps: [
      step(
        'network',
        isGone((vpc, { engine, signal }) => engine.networks.get(vpc.engine_name, { signal })),
        async (vpc, { engine, signal }) => {
          const network = await engine.networks.get(vpc.engine_name, { signal })
          if (network === null || !isOurs(network, vpc.id)) return
          // Nobody of ours is on it: somebody put them there by hand.
          if (network.usedBy.length > 0) throw new Refusal('vpcInUse', { values: { count: network.usedBy.length } })
          await engine.networks.delete(vpc.engine_name, { signal })
        },
      ),
      step(
        'acl',
        isGone((vpc, { engine, signal }) => engine.networks.acls.get(vpc.engine_name, { signal })),
        async (vpc, { engine, signal }) => {
          const acl = await engine.networks.acls.get(vpc.engine_name, { signal })
          if (acl !== null && isOurs(acl, vpc.id)) await engine.networks.acls.delete(vpc.engine_name, { signal })
        },
      ),
    ],
    ended: async (tx, { resource_id }, refusal) => {
      const vpc = await store.lockVpc(tx, platformScope, resource_id)
      if (vpc === undefined) return
      if (refusal === null) {
        await eips.settleEips(tx, vpc.id, vpc.wanted)
        await store.deleteVpc(tx, vpc.id)
        return
      }
      await eips.failEips(tx, vpc.id, refusal.message)
      await store.updateVpc(tx, vpc.id, { status: 'error', error_text: refusal.message })
    },
  }

  /** What only waited for the engine to have a network's changes up to this one. */
  const settle = async (tx: Tx, vpc: VpcRow, applied: number): Promise<void> => {
    await store.updateVpc(tx, vpc.id, { applied })
    await eips.settleEips(tx, vpc.id, applied)
    await nats.deleteLeftNats(tx, vpc.id, applied)
    await addresses.freeLeft(tx, vpc.id, applied)
  }

  const begin = async (tx: Tx, vpc: VpcRow, wanted: number, actor: Parameters<Want>[2]): Promise<void> => {
    await operations.begin(tx, apply, { resource_id: vpc.id, bp_id: vpc.bp_id, actor, input: {} })
    await store.updateVpc(tx, vpc.id, { status: 'applying', error_text: null, wanted, applying: wanted })
    await eips.retryEips(tx, vpc.id)
  }

  const want: Want = async (tx, vpc, actor) => {
    const wanted = vpc.wanted + 1
    if (vpc.status === 'applying' || vpc.status === 'deleting') await store.updateVpc(tx, vpc.id, { wanted })
    else await begin(tx, vpc, wanted, actor)
    return wanted
  }

  /** Begins to remove a network that nobody is on; its outside addresses are let go of with it. */
  const wantGone: Want = async (tx, vpc, actor) => {
    const wanted = vpc.wanted + 1
    await operations.begin(tx, remove, { resource_id: vpc.id, bp_id: vpc.bp_id, actor, input: {} })
    await store.updateVpc(tx, vpc.id, { status: 'deleting', error_text: null, wanted, applying: wanted })
    await eips.unbindEips(tx, { vpc_id: vpc.id }, wanted)
    return wanted
  }

  const setLimit = async (vpc: Place, engine: ComputeEngine, { id, wanted, given }: eips.NicLimit, signal: AbortSignal): Promise<void> => {
    if (given !== null && given.vm_id !== wanted?.vm_id) {
      await limit(vpc, engine, given.vm_id, null, signal)
      await eips.updateEip(db, id, { limit_vm_id: null, limit_mbps: null })
    }
    if (wanted === null) return
    const outcome = await limit(vpc, engine, wanted.vm_id, wanted.mbps, signal)
    if (outcome === 'gone') return
    const limits_bandwidth = outcome === 'limited'
    await pools.setLimitsBandwidth(db, vpc.cloud_id, limits_bandwidth)
    // Else it leads there all the same, and what goes through it is not charged for.
    const told = limits_bandwidth ? { limit_vm_id: wanted.vm_id, limit_mbps: wanted.mbps } : { error_text: errors.bandwidthUnsupported.text }
    await eips.updateEip(db, id, { ...told, limits_bandwidth })
  }
  /** @returns `gone` where there is no such instance on the engine, or it is in the network no longer */
  const limit = async (
    vpc: Place,
    engine: ComputeEngine,
    vmId: string,
    mbps: number | null,
    signal: AbortSignal,
  ): Promise<'limited' | 'unsupported' | 'gone'> => {
    const known = await nicOf(db, vpc.id, vmId)
    if (known === undefined) return 'gone'
    const bits = mbps === null ? null : mbps * 1_000_000
    const nic: Nic = { network: vpc.engine_name, address: known.address, guarded: true, ingressBitsPerSecond: bits, egressBitsPerSecond: bits }
    try {
      await engine.instances.connect(known.engine_name, nic, { signal })
      return 'limited'
    } catch (error) {
      if (isEngineError(error, 'not_found')) return 'gone'
      if (isEngineError(error, 'unsupported')) return 'unsupported'
      throw error
    }
  }

  return { apply, remove, want, wantGone }
}

export const isOurs = ({ tags }: { tags: Readonly<Record<string, string>> }, vpcId: string): boolean => tags['vpc_id'] === tagsOf(vpcId)['vpc_id']

/** A range that something on the host has, which is none of our networks; else the name is another's. */
async function explainConflict(error: unknown, plan: VpcPlan, engine: ComputeEngine, signal: AbortSignal): Promise<unknown> {
  const range = parseCidr(plan.network.ipv4)
  const others = await engine.networks.list({ signal })
  const other = others.find(({ name, ipv4 }) => {
    const theirs = ipv4 === null ? null : parseCidr(ipv4)
    return name !== plan.network.name && range !== null && theirs !== null && overlaps(range, theirs)
  })
  return other === undefined ? error : new Refusal('cidrTaken', { values: { name: other.name }, cause: error })
}
