import type { containerStats } from '@zhisuan/contract/cis/container'
import type { z } from 'zod'
import { withGaps, type ChartSeries } from '../../kit/chartSeries.ts'

export type StatsSample = z.output<typeof containerStats>

/** How often a container is asked, and how long what it said is kept. */
export const statsIntervalMs = 3_000
export const statsKeptMs = 10 * 60_000

/** With the newest sample; one that is there already, and those that are too old, are left out. */
export function withStats(samples: readonly StatsSample[], next: StatsSample): readonly StatsSample[] {
  const at = Date.parse(next.at)
  const last = samples.at(-1)
  if (last !== undefined && Date.parse(last.at) >= at) return samples
  return [...samples.filter((sample) => at - Date.parse(sample.at) < statsKeptMs), next]
}

type Counter = 'received_bytes' | 'sent_bytes' | 'read_bytes' | 'written_bytes'

/** Bytes per second since the sample before; null for the first, and where a counter began anew. */
function rateOf(samples: readonly StatsSample[], index: number, counter: Counter): number | null {
  const [before, now] = [samples[index - 1], samples[index]]
  if (before === undefined || now === undefined) return null
  const seconds = (Date.parse(now.at) - Date.parse(before.at)) / 1_000
  const more = now[counter] - before[counter]
  return seconds <= 0 || more < 0 ? null : more / seconds
}

/** The lines of a container's charts, broken where samples are missing. */
export function statsSeries(
  samples: readonly StatsSample[],
  names: { cpu: string; memory: string; pids: string; received: string; sent: string; read: string; written: string },
) {
  const line = (name: string, value: (sample: StatsSample, index: number) => number | null): ChartSeries => ({
    name,
    points: withGaps(
      samples.map((sample, index) => [Date.parse(sample.at), value(sample, index)] as const),
      statsIntervalMs,
    ),
  })
  const rate = (name: string, counter: Counter): ChartSeries => line(name, (_, index) => rateOf(samples, index, counter))
  return {
    cpu: [line(names.cpu, ({ cpu }) => cpu)],
    memory: [line(names.memory, ({ memory_bytes }) => memory_bytes)],
    pids: [line(names.pids, ({ pids }) => pids)],
    network: [rate(names.received, 'received_bytes'), rate(names.sent, 'sent_bytes')],
    disk: [rate(names.read, 'read_bytes'), rate(names.written, 'written_bytes')],
  }
}
