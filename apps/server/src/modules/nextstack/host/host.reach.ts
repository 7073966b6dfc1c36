import type { Flavor, FlavorBeyond } from '@zhisuan/contract/nextstack/flavor'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import * as store from './host.store.ts'
import type { HostReach } from './host.store.ts'

type Size = Pick<Flavor, 'cpu_cores' | 'memory_bytes' | 'gpu'>

const lacks = (host: HostReach, { cpu_cores, memory_bytes, gpu }: Size): FlavorBeyond | null => {
  if (cpu_cores > host.threads) return 'cpu_cores'
  if (memory_bytes > host.memory_bytes) return 'memory_bytes'
  return gpu !== null && (host.gpus[gpu.model] ?? 0) < gpu.count ? 'gpus' : null
}

/** What of a size no host has, however empty it was; null where one has it all, or none is known. */
export function beyondHosts(hosts: readonly HostReach[], size: Size): FlavorBeyond | null {
  // One that never answered has told nothing of what it has.
  if (hosts.length === 0 || hosts.some(({ threads, memory_bytes }) => threads === 0 || memory_bytes === 0)) return null
  const lacking = hosts.map((host) => lacks(host, size))
  return lacking.includes(null) ? null : (lacking[0] ?? null)
}

/** Where something may be put: on any host of a cloud, or, of an instance that is there, on its own. */
export type Where = { readonly cloud_id: string; readonly node: string | null }

export const reachOf = (on: Sql, { cloud_id, node }: Where): Promise<HostReach[]> => store.reachOfHosts(on, cloud_id, node)

/** Hosts that an instance may be on, for who sees it; of a cloud, all of them. */
export async function reachFor(
  on: Sql,
  scope: Scope,
  { cloud_id, vm_id }: { cloud_id?: string | undefined; vm_id?: string | undefined },
): Promise<HostReach[]> {
  const where = vm_id === undefined ? (cloud_id === undefined ? undefined : { cloud_id, node: null }) : await store.placeOfVm(on, scope, vm_id)
  return where === undefined ? [] : reachOf(on, where)
}

/** What cards it wants is refused in words of their own. @throws Refusal `flavorBeyondHosts` */
export async function mustFit(on: Sql, where: Where, { cpu_cores, memory_bytes }: Pick<Size, 'cpu_cores' | 'memory_bytes'>): Promise<void> {
  if (beyondHosts(await reachOf(on, where), { cpu_cores, memory_bytes, gpu: null }) !== null) throw new Refusal('flavorBeyondHosts', { field: 'flavor_id' })
}
