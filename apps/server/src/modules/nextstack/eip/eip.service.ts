import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import type { Meter } from '@zhisuan/contract/bill/meter'
import { addressNumber, addressText } from '@zhisuan/contract/ip'
import { defaultBandwidthMbps, eipCan, type Eip, type eips } from '@zhisuan/contract/nextstack/eip'
import { vpcCan } from '@zhisuan/contract/nextstack/vpc'
import { authoredBy, platformScope, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { type Db, type Sql, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import * as nats from '../nat/nat.store.ts'
import type { QuotaService } from '../quota/quota.service.ts'
import { shapeOnEngine } from '../../../platform/resource.shape.ts'
import { holdVm, placeOf } from '../vpc/address.store.ts'
import type { Want } from '../vpc/vpc.operations.ts'
import * as vpcs from '../vpc/vpc.store.ts'
import type { VpcRow } from '../vpc/vpc.store.ts'
import * as pools from './eip-pool.store.ts'
import type { EipPoolRow } from './eip-pool.store.ts'
import * as store from './eip.store.ts'
import type { EipRow, ShownEip } from './eip.store.ts'

type Calls = typeof eips

export type EipService = ReturnType<typeof createEipService>

/** Whether a unit of a meter costs an organisation anything. */
export type IsPriced = (on: Sql, bpId: string | null, meter: Meter) => Promise<boolean>

export function createEipService(parts: { db: Db; clouds: CloudService; quotas: QuotaService; want: Want; isPriced: IsPriced }) {
  const { db, clouds, quotas, want, isPriced } = parts

  /** What is paid by its bandwidth has one: what is not limited would cost less than the smallest limit, and nobody is to pay for what they did not ask for. */
  const refuseFree = async (tx: Tx, bpId: string | null, bandwidth: number | null): Promise<void> => {
    if (bandwidth === null && (await isPriced(tx, bpId, 'eip.bandwidth'))) throw new Refusal('eipBandwidthUnlimited', { field: 'bandwidth_mbps' })
  }
  /** Without a wish: a small one where it costs something, all that the pool allows where not. */
  const bandwidthFor = async (tx: Tx, bpId: string | null, pool: Pick<EipPoolRow, 'max_bandwidth_mbps'>, wish: number | null): Promise<number | null> => {
    const limit = pool.max_bandwidth_mbps
    const small = wish === null && limit !== null && (await isPriced(tx, bpId, 'eip.bandwidth'))
    return small ? Math.min(limit, defaultBandwidthMbps) : bandwidthOf(pool, wish)
  }

  /** As it is now: once the transaction commits, the operation may end before anybody looks. */
  const shownNow = async (tx: Tx, actor: Actor, id: string): Promise<Eip> => shape(found(await store.getEip(tx, scopeOf(actor), id)))

  /** Changes an address in a state that allows it, with the network held that it leads into, if it does. */
  const change = (
    actor: Actor,
    id: string,
    action: keyof typeof eipCan | null,
    act: (tx: Tx, eip: EipRow, vpc: VpcRow | null) => Promise<void>,
  ): Promise<Eip> =>
    db.transaction().execute(async (tx) => {
      const before = found(await store.getEip(tx, scopeOf(actor), id))
      await clouds.forChange(tx, before.cloud_id)
      const vpc = before.vpc_id === null ? null : ((await vpcs.lockVpc(tx, platformScope, before.vpc_id)) ?? null)
      const eip = found(await store.lockEip(tx, scopeOf(actor), id))
      // Bound elsewhere in the moment before.
      if (eip.vpc_id !== (vpc?.id ?? null)) throw new Refusal('changedMeanwhile')
      if (action !== null) refuseUnless(eipCan[action], eip)
      await act(tx, eip, vpc)
      return shownNow(tx, actor, id)
    })

  /** The network of an instance or a gateway that the address may lead to, held. */
  const lockTarget = async (tx: Tx, actor: Actor, eip: EipRow, { kind, target_id }: BodyOf<Calls['bind']>): Promise<VpcRow> => {
    const target = kind === 'vm' ? await store.vmTarget(tx, scopeOf(actor), target_id) : await nats.getNatRow(tx, scopeOf(actor), target_id)
    if (target === undefined || target.bp_id !== eip.bp_id) throw new Refusal('notFound', { field: 'target_id' })
    if (target.vpc_id === null || target.cloud_id !== eip.cloud_id) throw new Refusal('eipTargetUnfit', { field: 'target_id' })
    if (kind === 'vm') await holdVm(tx, target_id)
    const vpc = found(await vpcs.lockVpc(tx, platformScope, target.vpc_id))
    refuseUnless(vpcCan.connect, vpc, 'target_id')
    await (kind === 'vm' ? refuseUnfitVm(tx, target_id) : refuseLeavingNat(tx, target_id))
    return vpc
  }
  const refuseUnfitVm = async (tx: Tx, id: string): Promise<void> => {
    const vm = await store.vmTarget(tx, platformScope, id)
    const place = await placeOf(tx, id)
    // On its way in or out, or not there at all.
    if (vm === undefined || place === undefined || place.left_at !== null || ['creating', 'deleting', 'lost'].includes(vm.status))
      throw new Refusal('stateForbids', { field: 'target_id' })
    const other = await store.eipOfVm(tx, id)
    if (other !== undefined) throw new Refusal('eipTargetTaken', { field: 'target_id', values: { address: addressText(other.number) } })
  }
  const refuseLeavingNat = async (tx: Tx, id: string): Promise<void> => {
    const nat = await nats.getNatRow(tx, platformScope, id)
    if (nat === undefined || nat.deleting_at !== null) throw new Refusal('stateForbids', { field: 'target_id' })
  }

  return {
    list: (scope: Scope, query: QueryOf<Calls['list']>) => shapedPage(store.listEips(db, scope, query), shape),

    async get(actor: Actor, id: string): Promise<Eip> {
      return shape(found(await store.getEip(db, scopeOf(actor), id)))
    },

    /** For the platform, in a transaction of its own. */
    async find(on: Sql, scope: Scope, id: string): Promise<Eip | undefined> {
      const row = await store.getEip(on, scope, id)
      return row === undefined ? undefined : shape(row)
    },

    /**
     * All of them, or none.
     * @param also in the same transaction: where it throws, none is taken
     */
    async allocate(
      actor: Actor,
      body: BodyOf<Calls['allocate']>,
      also: (tx: Tx, made: readonly Eip[]) => Promise<void> = async () => undefined,
    ): Promise<{ items: Eip[] }> {
      refuseOwnerless(scopeOf(actor))
      return db.transaction().execute(async (tx) => {
        const before = await pools.getPool(tx, scopeOf(actor), body.pool_id)
        if (before === undefined) throw new Refusal('notFound', { field: 'pool_id' })
        await clouds.forChange(tx, before.cloud_id)
        const owner = await quotas.ownerOf(tx, actor, body.project_id)
        await quotas.take(tx, owner, { eips: body.count })
        const pool = found(await pools.lockPool(tx, scopeOf(actor), body.pool_id))
        const bandwidth_mbps = await bandwidthFor(tx, owner.bp_id, pool, body.bandwidth_mbps)
        await refuseFree(tx, owner.bp_id, bandwidth_mbps)
        const free = await freeNumbers(tx, pool.id, body)
        await store.insertEips(
          tx,
          free.map((number) => ({
            id: uuidv7(),
            cloud_id: pool.cloud_id,
            number,
            pool_id: pool.id,
            ...owner,
            name: body.name ?? addressText(number),
            description: body.description,
            bandwidth_mbps,
            limits_bandwidth: pool.limits_bandwidth,
            status: 'available' as const,
            ...authoredBy(actor),
          })),
        )
        const items = (await store.eipsByNumber(tx, scopeOf(actor), body.pool_id, free)).map(shape)
        await also(tx, items)
        return { items }
      })
    },

    update: (actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<Eip> =>
      change(actor, id, null, async (tx, eip, vpc) => {
        const pool = found(await pools.getPool(tx, platformScope, eip.pool_id))
        const { bandwidth_mbps: wish = eip.bandwidth_mbps } = body
        const unchanged = wish === eip.bandwidth_mbps
        const bandwidth_mbps = unchanged ? eip.bandwidth_mbps : bandwidthOf(pool, wish)
        if (!unchanged) {
          refuseUnless(eipCan.setBandwidth, eip)
          await refuseFree(tx, eip.bp_id, wish)
        }
        if (isMore(bandwidth_mbps, eip.bandwidth_mbps)) await quotas.mayGrow(tx, eip)
        await store.updateEip(tx, id, { name: body.name, description: body.description, bandwidth_mbps })
        if (vpc !== null && !unchanged) await want(tx, vpc, actor)
      }),

    async bind(actor: Actor, id: string, body: BodyOf<Calls['bind']>): Promise<Eip> {
      return db.transaction().execute(async (tx) => {
        const before = found(await store.getEip(tx, scopeOf(actor), id))
        await clouds.forChange(tx, before.cloud_id)
        const vpc = await lockTarget(tx, actor, before, body)
        const eip = found(await store.lockEip(tx, scopeOf(actor), id))
        refuseUnless(eipCan.bind, eip)
        const changed = { vpc_id: vpc.id, changed_at_wanted: await want(tx, vpc, actor) }
        await store.bindEip(tx, id, { ...changed, ...(body.kind === 'vm' ? { vm_id: body.target_id } : { nat_id: body.target_id }) })
        return shownNow(tx, actor, id)
      })
    },

    unbind: (actor: Actor, id: string): Promise<Eip> =>
      change(actor, id, 'unbind', async (tx, _, vpc) => {
        if (await nats.hasRules(tx, { eip_id: id })) throw new Refusal('eipHasRules')
        if (vpc === null) throw new Refusal('stateForbids')
        await nats.dropSnatEip(tx, id)
        await store.unbindEips(tx, { id }, await want(tx, vpc, actor))
      }),

    async release(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const { cloud_id } = found(await store.getEip(tx, scopeOf(actor), id))
        await clouds.forChange(tx, cloud_id)
        refuseUnless(eipCan.release, found(await store.lockEip(tx, scopeOf(actor), id)))
        await store.deleteEip(tx, id)
      })
    },
  }
}

/** What the pool allows; where nothing is asked for, all that it does. */
function bandwidthOf({ max_bandwidth_mbps: limit }: Pick<EipPoolRow, 'max_bandwidth_mbps'>, wish: number | null): number | null {
  if (limit !== null && wish !== null && wish > limit) throw new Refusal('eipBandwidthAbovePool', { field: 'bandwidth_mbps', values: { limit } })
  return wish ?? limit
}

/** Null is as much as there is. */
const isMore = (wish: number | null, has: number | null): boolean => has !== null && (wish === null || wish > has)

/** The address that is asked for, or the lowest ones. Under the pool's lock. */
async function freeNumbers(tx: Tx, poolId: string, { address, count }: { address?: string | undefined; count: number }): Promise<number[]> {
  if (address !== undefined) {
    const number = addressNumber(address)
    if (number === null || !(await pools.isFree(tx, poolId, number))) throw new Refusal('eipAddressTaken', { field: 'address', values: { address } })
    return [number]
  }
  const numbers: number[] = []
  for (const { first, last } of await pools.freeRanges(tx, poolId, count)) {
    for (let number = first; number <= last && numbers.length < count; number++) numbers.push(number)
  }
  if (numbers.length < count) throw new Refusal('eipPoolExhausted', { field: 'pool_id' })
  return numbers
}

function boundTo({ vm, nat, vpc }: Pick<ShownEip, 'vm' | 'nat' | 'vpc'>): Eip['bound_to'] {
  const target = vm ?? nat
  return target === null || vpc === null ? null : { kind: vm === null ? 'nat' : 'vm', ...target, vpc }
}

const shape = (row: ShownEip): Eip => ({
  ...shapeOnEngine(row),
  status: row.status,
  address: addressText(row.number),
  pool: row.pool,
  bandwidth_mbps: row.bandwidth_mbps,
  limits_bandwidth: row.limits_bandwidth,
  bound_to: boundTo(row),
})
