import type { ComputeEngine } from '@zhisuan/engines/compute'
import type { Acl, AclRule, Forward, Network } from '@zhisuan/engines/network'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { failedEips } from '../eip/eip.store.ts'
import type { FollowedCloud, Observer } from '../follow/follow.ts'
import { factsOf } from './facts.store.ts'
import { isOurs, type Want } from './vpc.operations.ts'
import { planOf, type VpcPlan } from './vpc.plan.ts'
import * as store from './vpc.store.ts'
import type { VpcRow } from './vpc.store.ts'

/** How many networks are looked at at once. */
const atOnce = 8
/** Of more than these, a look at everything sees only which are gone; what changes is told by events. */
const lookedThrough = 2_000
/** What differs again so soon after it was made as wanted waits for the next full look: somebody insists. */
const patienceMs = 30_000

type Row = Pick<VpcRow, 'id' | 'cloud_id' | 'engine_name' | 'status' | 'wanted'>

/**
 * Finds networks at rest that the engine no longer has as they are wanted, whoever changed it: has
 * them applied again, and marks those `lost` that are gone. It never writes to the engine itself.
 */
export function createVpcObserver(parts: { db: Db; clouds: Pick<CloudService, 'forChange'>; want: Want }): Observer {
  const { db, clouds, want } = parts
  const mended = new Map<string, number>()

  /** Changes a row that nobody has touched since it was read. */
  const ifUntouched = (row: Row, act: (tx: Tx, vpc: VpcRow) => Promise<unknown>): Promise<void> =>
    db
      .transaction()
      .execute(async (tx) => {
        // An administrator at work on the cloud is not to be worked against.
        await clouds.forChange(tx, row.cloud_id)
        const vpc = await store.lockVpc(tx, platformScope, row.id)
        if (vpc !== undefined && vpc.status === row.status && vpc.wanted === row.wanted) await act(tx, vpc)
      })
      .catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error
      })

  const lose = async (row: Row): Promise<void> => {
    if (row.status === 'active') await ifUntouched(row, (tx) => store.updateVpc(tx, row.id, { status: 'lost' }))
  }

  const lookAt = async ({ engine, signal }: FollowedCloud, row: Row, network: Network | null, closely: boolean): Promise<void> => {
    if (!isThere(network, row)) return lose(row)
    if (row.status !== 'lost') {
      const facts = closely ? await factsOf(db, row.id) : undefined
      if (facts === undefined || (await isAs(engine, planOf(facts), await failedEips(db, row.id), signal))) return
      // It may have gone while it was looked at: what is gone is lost, not made again.
      if (!isThere(await engine.networks.get(row.engine_name, { signal }), row)) return lose(row)
    }
    if (Date.now() - (mended.get(row.id) ?? 0) < patienceMs) return
    await ifUntouched(row, async (tx, vpc) => {
      await want(tx, vpc, null)
      mended.set(row.id, Date.now())
    })
  }

  return {
    name: 'vpc',
    concerns(event) {
      if (event.type !== 'object') return null
      if (event.kind === 'network' || event.kind === 'acl') return event.name
      return event.kind === 'forward' ? event.within : null
    },
    async look(cloud, names) {
      // Rows first: whatever changes after this is another's to look at.
      const rows = await store.restingOfCloud(db, cloud.id, names)
      if (rows.length === 0) return
      const { networks } = cloud.engine
      const all = names === null ? new Map((await networks.list({ signal: cloud.signal })).map((network) => [network.name, network])) : null
      const one = async (row: Row): Promise<void> => {
        const network = all === null ? await networks.get(row.engine_name, { signal: cloud.signal }) : (all.get(row.engine_name) ?? null)
        await lookAt(cloud, row, network, all === null || rows.length <= lookedThrough)
      }
      const failed: unknown[] = []
      for (let from = 0; from < rows.length; from += atOnce) {
        const looks = await Promise.allSettled(rows.slice(from, from + atOnce).map(one))
        failed.push(...looks.flatMap((look) => (look.status === 'rejected' ? [look.reason] : [])))
      }
      // One that cannot be looked at keeps no other from it.
      if (failed.length > 0) throw failed[0]
      for (const [id, at] of mended) if (Date.now() - at >= patienceMs) mended.delete(id)
    },
  }
}

const isThere = (network: Network | null, row: Row): boolean => network !== null && isOurs(network, row.id)

/** Whether the engine has a network as planned, its filters and forwards too, but for addresses of which it is known that they could not be led there. */
async function isAs(engine: ComputeEngine, plan: VpcPlan, failed: ReadonlySet<string>, signal: AbortSignal): Promise<boolean> {
  if (!(await engine.networks.isAs(plan.network, { signal }))) return false
  const acl = await engine.networks.acls.get(plan.acl.name, { signal })
  if (acl === null || !same(comparableAcl(acl), comparableAcl(plan.acl))) return false
  const there = await engine.networks.forwards.list(plan.network.name, { signal })
  const [have, wanted] = [there, plan.forwards.map(({ forward }) => forward)].map((forwards) =>
    forwards
      .filter(({ address }) => !failed.has(address))
      .map(comparableForward)
      .sort(),
  )
  return same(have, wanted)
}

const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right)

/** The order of rules says nothing, nor do twice the same. */
const comparableAcl = ({ description, ingress, egress }: Acl) => [description, ...[ingress, egress].map((rules) => [...new Set(rules.map(ruleText))].sort())]
const ruleText = ({ action, protocol, source, destination, destinationPorts, description }: AclRule): string =>
  JSON.stringify([action, protocol, [...source].sort(), [...destination].sort(), [...destinationPorts].sort(), description])
/** The order of ports says nothing. */
const comparableForward = ({ address, description, target, ports }: Forward): string =>
  JSON.stringify([
    address,
    description,
    target,
    ...ports
      .map(({ protocol, listenPorts, targetAddress, targetPorts, description }) => [protocol, listenPorts, targetAddress, targetPorts, description].join(' '))
      .sort(),
  ])
