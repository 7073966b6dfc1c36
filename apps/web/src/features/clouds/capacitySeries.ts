import { capacitySteps, type CapacityRange, type CapacitySample } from '@zhisuan/contract/cmp/cloud'
import { withGaps, type ChartSeries } from '../../kit/chartSeries.ts'

/** The lines of a cloud's history, broken where it did not answer. */
export function capacitySeries(items: readonly CapacitySample[], range: CapacityRange, names: { used: string; total: string; instances: string }) {
  const line = (name: string, value: (sample: CapacitySample) => number): ChartSeries => ({
    name,
    points: withGaps(
      items.map((sample) => [Date.parse(sample.at), value(sample)] as const),
      capacitySteps[range].stepMs,
    ),
  })
  const both = (of: 'cpu_cores' | 'memory_bytes' | 'disk_bytes'): ChartSeries[] => [
    line(names.used, (sample) => sample[of].used),
    line(names.total, (sample) => sample[of].total),
  ]
  return { cpu: both('cpu_cores'), memory: both('memory_bytes'), disk: both('disk_bytes'), instances: [line(names.instances, ({ instances }) => instances)] }
}
