import { innerNic, type NodeFacts, type NodeMetrics } from '@zhisuan/contract/agent/node'
import { withGaps, type ChartSeries } from '../../kit/chartSeries.ts'

/** How often nodes are asked how they are. */
export const sampleMs = 10_000

/** More lines than these cannot be told apart. */
const linesMax = 4

interface Names {
  readonly cpu: string
  readonly memory: string
  readonly received: string
  readonly sent: string
  /** Of the averages over 1, 5 and 15 minutes. */
  readonly load: (minutes: number) => string
}

/**
 * The lines of a node's charts, broken where samples are missing. Counters become rates: none for
 * the first sample, and none where a counter went back because the node was started anew.
 * @param intervalMs between samples
 * @param facts by which cards are called; null leaves out the GPUs
 */
export function nodeSeries(samples: readonly NodeMetrics[], intervalMs: number, facts: Pick<NodeFacts, 'gpus'> | null, names: Names) {
  const line = (name: string, value: (sample: NodeMetrics, before: NodeMetrics | undefined) => number | null): ChartSeries => ({
    name,
    points: withGaps(
      samples.map((sample, index) => [Date.parse(sample.at), value(sample, samples[index - 1])] as const),
      intervalMs,
    ),
  })
  const mounts = (samples.at(-1)?.disks ?? []).toSorted((one, other) => other.total_bytes - one.total_bytes).slice(0, linesMax)
  const cards = (facts?.gpus ?? []).slice(0, linesMax)
  const ofCard = (sample: NodeMetrics, uuid: string) => sample.gpus.find((gpu) => gpu.uuid === uuid)
  const perCard = (value: (gpu: NodeMetrics['gpus'][number]) => number | null): ChartSeries[] =>
    cards.map(({ uuid, index, model }) =>
      line(`${index} ${model}`, (sample) => {
        const gpu = ofCard(sample, uuid)
        return gpu === undefined ? null : value(gpu)
      }),
    )
  return {
    cpu: [line(names.cpu, (sample) => sample.cpu_share)],
    memory: [line(names.memory, (sample) => sample.memory.used_bytes)],
    load: [line(names.load(1), ({ load }) => load[0]), line(names.load(5), ({ load }) => load[1]), line(names.load(15), ({ load }) => load[2])],
    network: [line(names.received, rateOf('received_bytes')), line(names.sent, rateOf('sent_bytes'))],
    disks: mounts.map(({ mount }) =>
      line(mount, ({ disks }) => {
        const disk = disks.find((one) => one.mount === mount)
        return disk === undefined || disk.total_bytes === 0 ? null : disk.used_bytes / disk.total_bytes
      }),
    ),
    gpuShare: perCard((gpu) => gpu.share),
    gpuMemory: perCard((gpu) => gpu.memory_used_bytes),
    gpuTemperature: perCard((gpu) => gpu.temperature_celsius),
  }
}

/** Bytes in a second over all interfaces that lead out of the node. */
const rateOf =
  (counter: 'received_bytes' | 'sent_bytes') =>
  (sample: NodeMetrics, before: NodeMetrics | undefined): number | null => {
    if (before === undefined) return null
    const seconds = (Date.parse(sample.at) - Date.parse(before.at)) / 1000
    if (seconds <= 0) return null
    let bytes = 0
    for (const nic of sample.nics) {
      if (innerNic.test(nic.name)) continue
      const former = before.nics.find(({ name }) => name === nic.name)
      if (former === undefined) continue
      if (nic[counter] < former[counter]) return null
      bytes += nic[counter] - former[counter]
    }
    return bytes / seconds
  }
