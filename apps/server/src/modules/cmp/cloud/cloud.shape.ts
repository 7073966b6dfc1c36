import type { Cloud, CloudBasic, CloudProduct, CloudStatus } from '@zhisuan/contract/cmp/cloud'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import type { CloudRow, Observed } from './cloud.store.ts'

/** A cloud as other modules know it. */
export interface KnownCloud {
  id: string
  name: string
  product: CloudProduct
  status: CloudStatus
  sandbox: boolean
  /** On the server's own host. */
  local: boolean
}

export const known = (row: CloudRow): KnownCloud => ({
  id: row.id,
  name: row.name,
  product: row.product,
  status: row.status,
  sandbox: row.connection_type === 'sandbox',
  local: row.connection_type === 'lxd-socket',
})

const unknownType = { available: false, reason: null }

export function basic(row: CloudRow): CloudBasic {
  const types = row.observed?.instance_types ?? { vm: unknownType, container: unknownType }
  return {
    cloud_id: row.id,
    name: row.name,
    product: row.product,
    engine: row.observed?.engine ?? null,
    sandbox: row.connection_type === 'sandbox',
    status: row.status,
    health: row.health,
    usage: row.usage,
    labels: row.labels,
    instance_types: types,
  }
}

export const shape = (row: CloudRow, instances: number): Cloud => ({
  ...basic(row),
  description: row.description,
  connection: { type: row.connection_type, address: row.address },
  engine_version: row.observed?.engine_version ?? null,
  capacity: row.observed?.capacity ?? null,
  instance_count: instances,
  health_message: row.health_message,
  checked_at: isoOrNull(row.checked_at),
  created_at: iso(row.created_at),
})

/** What a tenant may not know: where the engine is, how big, whose else it is. */
export const withoutInternals = (cloud: Cloud): Cloud => ({
  ...cloud,
  description: '',
  connection: { type: cloud.connection.type, address: '' },
  engine_version: null,
  capacity: null,
  instance_count: 0,
  health_message: null,
})

/** What the licence counts of a cloud that has told nothing. */
export const nothing = { nodes: 0, cores: 0 }
/** What the licence counts: what hosts have, however much of it is promised. */
export const licensed = (observed: Observed | null): { nodes: number; cores: number } =>
  observed?.capacity == null ? nothing : { nodes: observed.capacity.nodes, cores: observed.capacity.cpu_cores.physical }

/** The fuller of processors, memory and disk, 0 to 1. Promising more than there is is full, not fuller. */
export function usageOf(capacity: Record<'cpu_cores' | 'memory_bytes' | 'disk_bytes', { total: number; used: number }>): number {
  const parts = [capacity.cpu_cores, capacity.memory_bytes, capacity.disk_bytes].map(({ total, used }) => (total > 0 ? used / total : 0))
  return Math.min(1, Math.max(0, ...parts))
}
