import { agentPaths, gatewayState } from '@zhisuan/contract/agent/node'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { gatewayCan, type Gateway, type gateways } from '@zhisuan/contract/ecrm/edge'
import { platformScope } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tunnel } from '../../../platform/tunnel/tunnel.ts'
import type { EdgeReach } from '../edge/edge.reach.ts'
import { refusedByNode } from '../edge/edge.refusals.ts'
import { getEdge } from '../edge/edge.store.ts'
import { gathered } from '../gathered.ts'
import { keepSite } from '../site/site.store.ts'
import * as store from './gateway.store.ts'

type Calls = typeof gateways

export type GatewayService = ReturnType<typeof createGateways>

/** Nodes that let the agents of their site through to the platform. What is wanted is told to a node whenever it comes. */
export function createGateways({ db, log }: Pick<Platform, 'db' | 'log'>, reach: EdgeReach) {
  const tell = (tunnel: Tunnel, port: number | null) => tunnel.json(gatewayState, { method: 'PUT', path: agentPaths.gateway, body: { port } })

  /** Brings the node to what its row wants, and writes down how that went. */
  const apply = async (tunnel: Tunnel, row: store.GatewayRow): Promise<void> => {
    let error: string | null = null
    try {
      if (row.rebooting) await tell(tunnel, null)
      await tell(tunnel, row.wanted === 'active' ? row.port : null)
    } catch (cause) {
      const refusal = refusedByNode(cause, { name: (await getEdge(db, platformScope, row.edge_id))?.name ?? '' })
      // Whoever goes comes again, and is told again.
      if (!(refusal instanceof Refusal) || refusal.refusal === 'edgeOffline') throw cause
      error = refusal.message
    }
    await store.updateGateway(db, row.id, { error, rebooting: false })
  }
  const gatewayOf = gathered((ids: readonly string[]) => store.gatewaysOfEdges(db, ids))
  /** Of one node one after the other: what is told last is what the row said last. */
  const turns = new Map<string, Promise<void>>()
  /** As far as the node is there. */
  const bring = (edgeId: string): Promise<void> => {
    const turn = (turns.get(edgeId) ?? Promise.resolve())
      .then(async () => {
        const tunnel = reach.connected(edgeId)
        if (tunnel === null) return
        const row = await gatewayOf(edgeId)
        // It may be one still that was deleted while its node was away.
        await (row === undefined ? tell(tunnel, null) : apply(tunnel, row))
      })
      .catch((error: unknown) => log.debug({ err: error, edge: edgeId }, 'a gateway'))
      .finally(() => {
        if (turns.get(edgeId) === turn) turns.delete(edgeId)
      })
    turns.set(edgeId, turn)
    return turn
  }
  const brought = async (id: string): Promise<Gateway> => {
    await bring(found(await store.getGateway(db, id)).edge_id)
    return shape(found(await store.getGateway(db, id)))
  }
  reach.onUp((tunnel) => void bring(tunnel.edgeId))

  const shape = async (row: store.ShownGateway): Promise<Gateway> => {
    const tunnel = row.status === 'active' ? reach.connected(row.edge_id) : null
    // One that does not answer has let nobody through that we know of.
    const state = tunnel === null ? null : await tunnel.json(gatewayState, { path: agentPaths.gateway, timeoutMs: 2_000 }).catch(() => null)
    return {
      id: row.id,
      name: row.name,
      description: row.description,
      site: { id: row.site_id, name: row.site_name },
      edge: { id: row.edge_id, name: row.edge_name },
      status: row.status,
      address: row.address,
      port: row.port,
      agent_count: state?.connections ?? 0,
      error: row.error,
      created_at: iso(row.created_at),
    }
  }

  return {
    async list(query: QueryOf<Calls['list']>): Promise<ResponseOf<Calls['list']>> {
      const { total, rows } = await store.listGateways(db, query)
      return { total, items: await Promise.all(rows.map(shape)) }
    },

    async create({ name, description, edge_id, address, port }: BodyOf<Calls['create']>): Promise<Gateway> {
      const id = uuidv7()
      await refusing({ edge_gateways_name: ['gatewayNameTaken', 'name'], edge_gateways_edge: ['gatewayEdgeTaken', 'edge_id'] }, () =>
        db.transaction().execute(async (tx) => {
          const edge = await getEdge(tx, platformScope, edge_id)
          if (edge === undefined || edge.binding !== 'bound') throw new Refusal('edgeUnknown', { field: 'edge_id' })
          const { site_id } = edge
          if (site_id === null || !(await keepSite(tx, site_id))) throw new Refusal('gatewayEdgeSiteless', { field: 'edge_id' })
          await store.insertGateway(tx, { id, edge_id, site_id, name, description, address, port, wanted: 'active', error: null })
        }),
      )
      return brought(id)
    },

    /** One whose node is offline does so when it comes. */
    async act(id: string, action: 'active' | 'deactive' | 'reboot'): Promise<Gateway> {
      await db.transaction().execute(async (tx) => {
        await store.lockGateway(tx, id)
        const row = found(await store.getGateway(tx, id))
        refuseUnless(gatewayCan[action], row)
        await store.updateGateway(tx, id, action === 'reboot' ? { rebooting: true } : { wanted: action, error: null })
      })
      return brought(id)
    },

    /** Its node has closed it, or is told to when it comes. */
    async delete(id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        await store.lockGateway(tx, id)
        const row = found(await store.getGateway(tx, id))
        refuseUnless(gatewayCan.delete, row)
        await store.deleteGateway(tx, id)
      })
    },
  }
}
