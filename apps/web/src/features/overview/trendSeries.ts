import type { ResponseOf } from '@zhisuan/contract/define'
import { trendSteps, type overview, type TrendRange, type TrendSample } from '@zhisuan/contract/nextstack/overview'
import { withGaps, type ChartSeries } from '../../kit/chartSeries.ts'

export type Trends = ResponseOf<typeof overview.trends>

/** The lines of the trends, broken where nobody counted. They begin where there was something: what was before is no fall to nothing. */
export function trendSeries(trends: Trends | undefined, range: TrendRange, names: { all: string; running: string; cpu: string; memory: string }) {
  const counted = trends?.items ?? []
  const first = counted.findIndex(({ vms }) => vms > 0)
  const line = (name: string, value: (sample: TrendSample) => number): ChartSeries => ({
    name,
    points: withGaps(
      counted.slice(Math.max(0, first)).map((sample) => [Date.parse(sample.at), value(sample)] as const),
      trendSteps[range].stepMs,
    ),
  })
  return {
    vms: [line(names.all, ({ vms }) => vms), line(names.running, ({ running }) => running)],
    cpu: [line(names.cpu, ({ cpu_cores }) => cpu_cores)],
    memory: [line(names.memory, ({ memory_bytes }) => memory_bytes)],
  }
}

/** Of how much of the range there is a history: all, from a moment on, or hardly any yet. */
export function historyOf(trends: Trends, from: number): 'whole' | 'part' | 'young' {
  if (trends.items.length < 4) return 'young'
  return trends.since === null || Date.parse(trends.since) > from ? 'part' : 'whole'
}
