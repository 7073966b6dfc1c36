import { agentPaths, nodeSelfTest, type NodeSelfTest } from '@zhisuan/contract/agent/node'
import type { QueryOf } from '@zhisuan/contract/define'
import { fillText } from '@zhisuan/contract/errors'
import { messageTexts } from '@zhisuan/contract/texts'
import { nodeChecks, type MarketNode, type marketNodes, type NodeCheck } from '@zhisuan/contract/market/card'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { isAgentError } from '../../../platform/tunnel/tunnel.ts'
import type { EdgeReach } from '../../ecrm/edge/edge.reach.ts'
import type { RefusedByNode } from '../../ecrm/edge/edge.refusals.ts'
import type { CardRow, Check } from '../market.tables.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import { providerOf } from '../provider/provider.store.ts'
import { openRentalsOn } from '../rental/rental.store.ts'
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
  parts: { edges: Pick<EdgeReach, 'reach'>; refusedByNode: RefusedByNode; usesCards: (tx: Tx, edgeId: string) => Promise<boolean>; tell: Tell },
) {
  const get = async (scope: Scope, id: string): Promise<MarketNode> => shape(found(await store.getNode(db, scope, id)))

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listNodes(db, scopeOf(actor), query), shape),

    async test(actor: Actor, id: string): Promise<MarketNode> {
      const scope = scopeOf(actor)
      const node = found(await store.getNode(db, scope, id))
      const { tunnel, row } = await parts.edges.reach(scope, id)
      let said: NodeSelfTest
      try {
        said = await tunnel.json(nodeSelfTest, { method: 'POST', path: agentPaths.selfTest, timeoutMs: testMs })
      } catch (error) {
        if (isAgentError(error) && error.status === 404) throw new Refusal('agentTooOld', { values: { node: node.name } })
        throw parts.refusedByNode(error, row)
      }
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
