import { agentPaths, nodeSelfTest, type NodeSelfTest } from '@zhisuan/contract/agent/node'
import type { QueryOf } from '@zhisuan/contract/define'
import { fillText } from '@zhisuan/contract/errors'
import { messageTexts } from '@zhisuan/contract/texts'
import { nodeChecks, type MarketNode, type marketNodes, type NodeCheck } from '@zhisuan/contract/market/card'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { LeavingNode } from '../../../platform/module.ts'
import type { Platform } from '../../../platform/platform.ts'
import { isAgentError } from '../../../platform/tunnel/tunnel.ts'
import type { EdgeReach } from '../../ecrm/edge/edge.reach.ts'
import type { RentedContainers } from '../../cis/container/rented.containers.ts'
import type { RefusedByNode } from '../../ecrm/edge/edge.refusals.ts'
import type { CardRow, Check } from '../market.tables.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import { providerOf } from '../provider/provider.store.ts'
import { countMachinesOn, machinesOf, openRentalsOn } from '../rental/rental.store.ts'
import { diskName } from '../rental/rental.machine.ts'
import * as store from './card.store.ts'

type Calls = typeof marketNodes

/** A disk has written its file, and a driver that does not answer has been given up, by then. */
const testMs = 50_000
const mib = 2 ** 20
/** A data set is not read from less. */
const leastDiskBytesPerSecond = 50 * mib

export type NodeService = ReturnType<typeof createNodes>

/** Nodes with cards: tested, and put into the market or taken out. */
export function createNodes(
  { db, now }: Pick<Platform, 'db' | 'now'>,
  parts: {
    edges: Pick<EdgeReach, 'reach'>
    refusedByNode: RefusedByNode
    usesCards: (tx: Tx, edgeId: string) => Promise<boolean>
    rented: Pick<RentedContainers, 'clear'>
    tell: Tell
  },
) {
  const get = async (scope: Scope, id: string): Promise<MarketNode> => shape(found(await store.getNode(db, scope, id)))

  const askNode = async (scope: Scope, node: { id: string; name: string }): Promise<NodeSelfTest> => {
    const { tunnel, row } = await parts.edges.reach(scope, node.id)
    try {
      return await tunnel.json(nodeSelfTest, { method: 'POST', path: agentPaths.selfTest, timeoutMs: testMs })
    } catch (error) {
      if (isAgentError(error) && error.status === 404) throw new Refusal('agentTooOld', { values: { node: node.name } })
      throw parts.refusedByNode(error, row)
    }
  }

  return {
    /** Checks that a node does not pass with a card which the driver told faults of before. */
    async failedWith(scope: Scope, id: string, card: CardRow): Promise<NodeCheck[]> {
      const said = await askNode(scope, found(await store.getNode(db, scope, id)))
      return checksOf(said, [{ ...card, health: 'healthy' }]).flatMap(({ check, passed }) => (passed || check === 'disk' ? [] : [check]))
    },
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listNodes(db, scopeOf(actor), query), shape),

    async test(actor: Actor, id: string): Promise<MarketNode> {
      const scope = scopeOf(actor)
      const node = found(await store.getNode(db, scope, id))
      // What is left from before it was sent away still has cards, and the disk of whose it was.
      await parts.rented
        .clear(id, async (ids) =>
          (await machinesOf(db, id, ids)).map(({ container_id, rental_id, bp_id, has_disk }) => ({
            id: container_id,
            disk: has_disk ? null : { name: diskName(rental_id), bp_id },
          })),
        )
        .catch((error: unknown) => {
          throw parts.refusedByNode(error, node)
        })
      const said = await askNode(scope, node)
      await db.transaction().execute(async (tx) => {
        await store.keepCards(tx, id, said.gpus)
        const checks = checksOf(said, await store.cardsOn(tx, id))
        await store.keepTest(tx, node, { tested_at: now(), test_passed: checks.every(({ passed }) => passed), checks })
      })
      return get(scope, id)
    },

    async enlist(actor: Actor, id: string): Promise<MarketNode> {
      const scope = scopeOf(actor)
      await db.transaction().execute(async (tx) => {
        const node = found(await store.getNode(tx, scope, id))
        if ((await providerOf(tx, node.bp_id)) === undefined) throw new Refusal('providerMissing')
        if ((await store.lockNode(tx, id))?.test_passed !== true) throw new Refusal('nodeTestMissing', { values: { node: node.name } })
        await store.setListed(tx, id, true)
        // Asked once it is said: who makes a container with cards meanwhile waits for this, or is seen here.
        if (await parts.usesCards(tx, id)) throw new Refusal('nodeCardsUsed', { values: { node: node.name } })
      })
      return get(scope, id)
    },

    /** What is rented there would be had by nobody, and its cards by somebody else: only of one that is gone who runs the platform sends it away all the same. */
    async leaves(tx: Tx, { id, name, online, byPlatform }: LeavingNode): Promise<void> {
      await store.lockNode(tx, id)
      const count = byPlatform && !online ? 0 : await countMachinesOn(tx, id)
      if (count > 0) throw new Refusal('nodeHasRentals', { values: { node: name, count } })
      await store.forgetNode(tx, id)
    },

    async withdraw(actor: Actor, id: string): Promise<MarketNode> {
      const scope = scopeOf(actor)
      await db.transaction().execute(async (tx) => {
        found(await store.getNode(tx, scope, id))
        const node = await store.lockNode(tx, id)
        if (node?.listed !== true) return
        await store.setListed(tx, id, false)
        for (const rental of await openRentalsOn(tx, id))
          await parts.tell(tx, {
            kind: 'market.nodeWithdrawn',
            bp_id: rental.bp_id,
            text: fillText(messageTexts.nodeWithdrawn, rental),
            about: { kind: 'market.rental', id: rental.id, name: rental.name },
            key: `${rental.id} ${now().toISOString()}`,
          })
      })
      return get(scope, id)
    },
  }
}

/** What is asked of a node, and what it answered. */
function checksOf(said: NodeSelfTest, known: readonly CardRow[]): Check[] {
  const drivers = [...new Set(said.gpus.map(({ driver }) => driver))]
  const missing = known.filter(({ uuid }) => !said.gpus.some((gpu) => gpu.uuid === uuid))
  const sick = known.filter(({ health }) => health === 'sick')
  const found: Readonly<Record<NodeCheck, Omit<Check, 'check'>>> = {
    driver: { passed: drivers.length === 1, value: drivers.join(' ') || (said.gpu_error ?? '') },
    cards: { passed: said.gpus.length > 0 && missing.length === 0 && sick.length === 0, value: `${said.gpus.length - sick.length}/${known.length}` },
    memory: { passed: said.gpus.every(({ memory_bytes }) => memory_bytes > 0), value: `${Math.round(said.memory_bytes / 2 ** 30)} GiB` },
    disk: { passed: said.disk_bytes_per_second >= leastDiskBytesPerSecond, value: `${Math.round(said.disk_bytes_per_second / mib)} MiB/s` },
    runtime: { passed: said.gpu_runtime, value: '' },
  }
  return nodeChecks.map((check) => ({ check, ...found[check] }))
}

const shape = (row: store.ShownNode): MarketNode => ({
  id: row.id,
  name: row.name,
  provider: row.provider_id === null ? null : { id: row.provider_id, name: row.provider_name ?? '' },
  online: row.online,
  listed: row.listed,
  region: row.region_id === null ? null : { id: row.region_id, name: row.region_name ?? '' },
  cards: { total: row.card_count, healthy: row.healthy, rented: row.rented },
  test: row.tested_at === null ? null : { at: iso(row.tested_at), passed: row.test_passed, checks: row.checks },
})
