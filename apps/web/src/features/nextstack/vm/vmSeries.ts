import type { vms } from '@zhisuan/contract/nextstack/vm'
import type { ResponseOf } from '@zhisuan/contract/define'
import { withGaps, type ChartSeries } from '../../../kit/chartSeries.ts'

export type VmMetrics = ResponseOf<typeof vms.metrics>
type Sample = VmMetrics['items'][number]

/** The lines of an instance's charts, broken where samples are missing. */
export function vmSeries(metrics: VmMetrics | undefined, names: { cpu: string; memory: string; disk: string; received: string; sent: string }) {
  const intervalMs = (metrics?.interval_seconds ?? 5) * 1000
  const line = (name: string, value: (sample: Sample) => number | null): ChartSeries => ({
    name,
    points: withGaps(
      (metrics?.items ?? []).map((sample) => [Date.parse(sample.at), value(sample)] as const),
      intervalMs,
    ),
  })
  return {
    cpu: [line(names.cpu, (sample) => sample.cpu)],
    memory: [line(names.memory, (sample) => sample.memory_bytes)],
    disk: [line(names.disk, (sample) => sample.disk_bytes)],
    network: [line(names.received, (sample) => sample.received_bytes_per_second), line(names.sent, (sample) => sample.sent_bytes_per_second)],
  }
}
