import type { NodeMetrics } from '@zhisuan/contract/agent/node'
import type { Placement } from '@zhisuan/contract/cis/container'
import type { Label, Taint } from '@zhisuan/contract/ecrm/edge'
import { createDocker } from '@zhisuan/engines/docker/engine'
import type { Docker } from '@zhisuan/engines/docker/types'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { Tunnel } from '../../../platform/tunnel/tunnel.ts'
import type { Tunnels } from '../../../platform/tunnel/tunnels.ts'
import { dockerOver } from '../../../platform/tunnel/docker.ts'
import { edgesLabelled, getEdge, getEdges, getUsableEdges, type ShownEdge } from './edge.store.ts'

/** A node that is there, and the ways to it. */
export interface ReachedEdge {
  readonly row: ShownEdge
  readonly tunnel: Tunnel
  readonly docker: Docker
}

/** What other modules may do with nodes. */
export interface EdgeReach {
  /** @throws Refusal `notFound` where the scope does not show it, `edgeOffline` where it is not connected */
  reach(scope: Scope, id: string): Promise<ReachedEdge>
  /** The way to a node that is connected to this server, whoever asks; null where it is not. For what was allowed before. */
  connected(id: string): Tunnel | null
  /** Told at each connection of a confirmed or unconfirmed node, also of one that was here before. */
  onUp(told: (tunnel: Tunnel) => void): void
  /** Told how each node that is connected to this server is, every ten seconds. */
  onReport(told: (edgeId: string, metrics: NodeMetrics) => void): void
  /**
   * The nodes that fit, best first, as many as are wanted. Those that are named are taken as they
   * are, offline or tainted; those found by labels are online and their taints tolerated.
   * @param more `shared`: also of those that the platform shares with the scope
   * @throws Refusal `edgeUnknown`, `edgeDeactive`, `noNodeFits`, `nodesTooFew`
   */
  choose(scope: Scope, placement: Placement, more?: { readonly shared?: boolean }): Promise<ShownEdge[]>
}

export function createEdgeReach(parts: {
  db: Db
  tunnels: () => Tunnels | null
}): EdgeReach & { came(tunnel: Tunnel): void; reported(edgeId: string, metrics: NodeMetrics): void } {
  const { db, tunnels } = parts
  const listeners: ((tunnel: Tunnel) => void)[] = []
  const readers: Parameters<EdgeReach['onReport']>[0][] = []
  /** A client asks its Docker's version once; it goes with its tunnel. */
  const clients = new WeakMap<Tunnel, Docker>()
  const dockerOf = (tunnel: Tunnel): Docker => {
    const docker = clients.get(tunnel) ?? createDocker(dockerOver(tunnel))
    clients.set(tunnel, docker)
    return docker
  }
  const connected = (id: string): Tunnel | null => (tunnels()?.connected(id) === true ? (tunnels()?.to(id) ?? null) : null)

  return {
    connected,
    onUp: (told) => void listeners.push(told),
    came: (tunnel) => {
      for (const told of listeners) told(tunnel)
    },
    onReport: (told) => void readers.push(told),
    reported: (edgeId, metrics) => {
      for (const told of readers) told(edgeId, metrics)
    },
    async reach(scope, id) {
      const row = found(await getEdge(db, scope, id))
      const tunnel = row.binding === 'bound' ? connected(id) : null
      if (tunnel === null) throw new Refusal('edgeOffline', { values: { name: row.name } })
      return { row, tunnel, docker: dockerOf(tunnel) }
    },
    async choose(scope, { edge_ids, labels, tolerations, count }, { shared = false } = {}) {
      const wanted = [...new Set(edge_ids)]
      const fitting =
        wanted.length > 0 ? (await named(db, scope, wanted, shared)).filter((row) => hasLabels(row, labels)) : await edgesLabelled(db, scope, labels, shared)
      const tolerated = (taint: Taint): boolean => tolerations.some(({ key }) => key === taint.key)
      const avoided = (row: ShownEdge, effect: Taint['effect']): boolean => row.taints.some((taint) => taint.effect === effect && !tolerated(taint))
      const open = wanted.length > 0 ? fitting : fitting.filter((row) => !avoided(row, 'NoSchedule'))
      if (open.length === 0) throw new Refusal('noNodeFits', { field: 'placement' })
      if (count === null) return open
      if (open.length < count) throw new Refusal('nodesTooFew', { field: 'placement.count', values: { count: open.length } })
      return open.toSorted((one, other) => Number(avoided(one, 'PreferNoSchedule')) - Number(avoided(other, 'PreferNoSchedule'))).slice(0, count)
    },
  }
}

const hasLabels = (row: ShownEdge, labels: readonly Label[]): boolean =>
  labels.every((label) => row.labels.some(({ key, value }) => key === label.key && value === label.value))

/** In the order in which they are named. */
async function named(db: Db, scope: Scope, ids: readonly string[], shared: boolean): Promise<ShownEdge[]> {
  const rows = new Map((await (shared ? getUsableEdges : getEdges)(db, scope, ids)).map((row) => [row.id, row]))
  return ids.map((id) => {
    const row = rows.get(id)
    if (row === undefined || row.binding !== 'bound') throw new Refusal('edgeUnknown', { field: 'placement.edge_ids' })
    if (row.activation === 'deactive') throw new Refusal('edgeDeactive', { field: 'placement.edge_ids', values: { name: row.name } })
    return row
  })
}
