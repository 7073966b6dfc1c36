import { z } from 'zod'
import { isEngineError } from '../errors.ts'
import type { Inventories, Inventory } from './placement.ts'
import type { Session } from './session.ts'
import { below, versionHeaders, type Version } from './versions.ts'

/** `physical`: what the hosts have; `total`: what may be promised of it; `used`: what is promised. */
export interface Amount {
  readonly total: number
  readonly used: number
  readonly physical: number
}

/** What the enabled hosts have together. */
export interface HostsCapacity {
  readonly cpuCores: Amount
  readonly memoryBytes: Amount
  /** Of the hosts' own disks. */
  readonly diskBytes: Amount
  readonly nodes: number
  readonly runningInstances: number
}

const statistics = z.object({
  hypervisor_statistics: z.object({
    count: z.number(),
    vcpus: z.number(),
    vcpus_used: z.number(),
    memory_mb: z.number(),
    memory_mb_used: z.number(),
    local_gb: z.number(),
    local_gb_used: z.number(),
    running_vms: z.number(),
  }),
})
/** Compute API, "Show Hypervisor Statistics": of all enabled hosts in one answer. */
export type HypervisorStatistics = z.output<typeof statistics>['hypervisor_statistics']

/** The last that tells the statistics: later ones leave them to whoever adds up. */
const lastWithStatistics: Version = [2, 87]

/** For administrators. */
export async function hypervisorStatistics(session: Session, signal?: AbortSignal): Promise<HypervisorStatistics> {
  const spoken = await session.version('compute', signal)
  const version = below(lastWithStatistics, spoken) ? lastWithStatistics : spoken
  return (await session.json('compute', statistics, { path: '/os-hypervisors/statistics', headers: versionHeaders('compute', version), signal }))
    .hypervisor_statistics
}

// Drivers that cannot tell say `infinite` or `unknown`.
const gib = z.union([z.number(), z.string().transform(() => null)]).nullish()
const pool = z.object({ name: z.string(), capabilities: z.object({ total_capacity_gb: gib, free_capacity_gb: gib }) })

/** Of all of Cinder's pools that can tell; null where none can. What is free is free on the store itself, whoever else fills it. */
export async function volumePools(session: Session, signal?: AbortSignal): Promise<Amount | null> {
  const { pools } = await session.json('volume', z.object({ pools: z.array(pool) }), { path: '/scheduler-stats/get_pools', query: { detail: true }, signal })
  const known = pools.flatMap(({ capabilities: { total_capacity_gb: total, free_capacity_gb: free } }) =>
    typeof total === 'number' && typeof free === 'number' ? [{ total, free }] : [],
  )
  if (known.length === 0) return null
  const total = known.reduce((sum, one) => sum + one.total, 0) * 2 ** 30
  const free = known.reduce((sum, one) => sum + one.free, 0) * 2 ** 30
  return { total, used: Math.max(0, total - free), physical: total }
}

/** @param inventories of each provider of enabled hosts; null where Placement does not tell: then no more is promised than there is */
export function hostsCapacity(told: HypervisorStatistics, inventories: Iterable<Inventories> | null): HostsCapacity {
  const all = inventories === null ? null : [...inventories]
  const of = (...classes: readonly string[]) => {
    const own = all?.flatMap((one) => classes.flatMap((name): Inventory[] => (one[name] === undefined ? [] : [one[name]]))) ?? []
    const sum = (value: (one: Inventory) => number): number => own.reduce((total, one) => total + value(one), 0)
    return own.length === 0 ? null : { total: sum((one) => Math.floor((one.total - one.reserved) * one.allocationRatio)), reserved: sum((one) => one.reserved) }
  }
  const amount = (physical: number, used: number, placed: ReturnType<typeof of>, unit: number): Amount => ({
    total: (placed?.total ?? physical) * unit,
    // Nova counts what hosts keep for themselves as used; it cannot be promised either.
    used: Math.max(0, used - (placed?.reserved ?? 0)) * unit,
    physical: physical * unit,
  })
  const cores = of('VCPU', 'PCPU')
  return {
    // Of processors Nova counts only what instances have.
    cpuCores: amount(told.vcpus, told.vcpus_used, cores === null ? null : { ...cores, reserved: 0 }, 1),
    memoryBytes: amount(told.memory_mb, told.memory_mb_used, of('MEMORY_MB'), 2 ** 20),
    diskBytes: amount(told.local_gb, told.local_gb_used, of('DISK_GB'), 2 ** 30),
    nodes: told.count,
    runningInstances: told.running_vms,
  }
}

/** Null where only administrators may ask, and we are none. */
export const ifAllowed = <T>(asked: Promise<T>): Promise<T | null> =>
  asked.catch((error: unknown) => {
    if (isEngineError(error, 'unauthorized') && error.status === 403) return null
    throw error
  })
