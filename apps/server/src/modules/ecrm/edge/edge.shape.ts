import { addressesOf, type NodeFacts, type NodeMetrics } from '@zhisuan/contract/agent/node'
import type { Edge } from '@zhisuan/contract/ecrm/edge'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import type { ShownEdge } from './edge.store.ts'

function gpusOf(facts: NodeFacts): { model: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { model } of facts.gpus) counts.set(model, (counts.get(model) ?? 0) + 1)
  return [...counts].map(([model, count]) => ({ model, count }))
}

const loadOf = ({ cpu_share, memory, gpus }: NodeMetrics): Edge['load'] => {
  const shares = gpus.flatMap(({ share }) => (share === null ? [] : [share]))
  return {
    cpu: cpu_share,
    memory: memory.total_bytes === 0 ? 0 : memory.used_bytes / memory.total_bytes,
    gpu: shares.length === 0 ? null : shares.reduce((sum, share) => sum + share, 0) / shares.length,
  }
}

export const shapeEdge = (
  row: ShownEdge,
  more: { containers: number; metrics: NodeMetrics | null; upgrade: Edge['upgrade']; now: Date; everything: boolean },
): Edge => ({
  id: row.id,
  name: row.name,
  description: row.description,
  bp_id: row.bp_id,
  bp_name: row.bp_name,
  shared_with: row.shared_with,
  shared_bp_ids: more.everything ? row.shared_bp_ids : [],
  share_limits: row.share_limits,
  status: row.status,
  activation: row.activation,
  site: row.site_id === null ? null : { id: row.site_id, name: row.site_name ?? '' },
  region: row.region_id === null ? null : { id: row.region_id, name: row.region_name ?? '' },
  labels: row.labels,
  taints: row.taints,
  host_name: row.facts?.host_name ?? null,
  addresses: row.facts === null ? [] : addressesOf(row.facts),
  architecture: row.facts?.architecture ?? null,
  os: row.facts?.os ?? null,
  cpu_cores: row.facts?.cpu.threads ?? null,
  memory_bytes: row.facts?.memory_bytes ?? null,
  gpus: row.facts === null ? [] : gpusOf(row.facts),
  docker_version: row.facts?.docker?.version ?? null,
  docker_trouble: row.status === 'online' && row.docker_away ? (row.docker_trouble ?? 'stopped') : null,
  agent_version: row.agent_version,
  load: row.status === 'online' && more.metrics !== null ? loadOf(more.metrics) : null,
  upgrade: more.upgrade,
  container_count: more.containers,
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  seen_at: row.server_id === null ? isoOrNull(row.seen_at) : iso(more.now),
})
