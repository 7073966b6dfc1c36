import { constants } from '@zhisuan/contract/constants'
import type { ResponseOf } from '@zhisuan/contract/define'
import type { vms } from '@zhisuan/contract/nextstack/vm'
import type { InstanceUsage } from '@zhisuan/engines/compute'
import type { VmRow } from './vm.store.ts'

/**
 * The last hour of each running instance's usage, in memory: sampled from the engine, one call
 * for all instances of a cloud. Long-term series are Prometheus' business.
 */
export interface Metrics {
  record(cloudId: string, usages: readonly InstanceUsage[]): void
  of(vm: Pick<VmRow, 'cloud_id' | 'engine_name' | 'cpu_cores'>, minutes: number): ResponseOf<typeof vms.metrics>
  /** The newest of each instance of each cloud, by the cloud's id. Who asks watches them all. */
  newest(): ReadonlyMap<string, readonly InstanceUsage[]>
  /** Whether this many instances are few enough to remember them all, or somebody watches one. */
  watches(cloudId: string): boolean
  forget(cloudId: string): void
}

export const sampleEveryMs = constants.timeIntervalMs
const keptMs = 60 * 60_000
const keptSamples = keptMs / sampleEveryMs

export function createMetrics(now: () => Date): Metrics {
  const clouds = new Map<string, Map<string, InstanceUsage[]>>()
  /** When each cloud's charts were last looked at. */
  const looked = new Map<string, number>()
  return {
    record(cloudId, usages) {
      const before = clouds.get(cloudId)
      const after = new Map<string, InstanceUsage[]>()
      for (const usage of usages) {
        const series = before?.get(usage.name) ?? []
        const last = series.at(-1)
        // A counter that fell: it was started anew.
        if (last !== undefined && last.cpuSeconds > usage.cpuSeconds) series.length = 0
        series.push(usage)
        if (series.length > keptSamples) series.shift()
        after.set(usage.name, series)
      }
      clouds.set(cloudId, after)
    },
    of(vm, minutes) {
      looked.set(vm.cloud_id, now().getTime())
      const since = now().getTime() - minutes * 60_000
      const series = clouds.get(vm.cloud_id)?.get(vm.engine_name) ?? []
      const items = series
        .map((usage, index) => sample(usage, series[index - 1], vm.cpu_cores))
        .filter((_, index) => (series[index]?.takenAt.getTime() ?? 0) >= since)
      return { interval_seconds: sampleEveryMs / 1000, items }
    },
    newest() {
      for (const cloudId of clouds.keys()) looked.set(cloudId, now().getTime())
      return new Map([...clouds].map(([cloudId, series]) => [cloudId, [...series.values()].flatMap((usages) => usages.at(-1) ?? [])]))
    },
    watches: (cloudId) => (looked.get(cloudId) ?? 0) > now().getTime() - keptMs,
    forget(cloudId) {
      clouds.delete(cloudId)
    },
  }
}

/** One sample with rates against the one before it. */
function sample(usage: InstanceUsage, before: InstanceUsage | undefined, cores: number): ResponseOf<typeof vms.metrics>['items'][number] {
  const seconds = before === undefined ? 0 : (usage.takenAt.getTime() - before.takenAt.getTime()) / 1000
  const rate = (counter: (of: InstanceUsage) => number): number | null =>
    before === undefined || seconds <= 0 ? null : Math.max(0, (counter(usage) - counter(before)) / seconds)
  const cpu = rate((of) => of.cpuSeconds)
  return {
    at: usage.takenAt.toISOString(),
    cpu: cpu === null ? null : Math.min(1, cpu / Math.max(1, cores)),
    memory_bytes: usage.memoryBytes,
    disk_bytes: usage.diskBytes,
    received_bytes_per_second: rate((of) => of.networkReceivedBytes),
    sent_bytes_per_second: rate((of) => of.networkSentBytes),
  }
}
