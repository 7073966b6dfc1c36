import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { NodeMetrics } from '@zhisuan/contract/agent/node'

export const sampleEveryMs = 10_000
export const minuteMs = 60_000
/** So long samples are kept as they came. */
export const recentMinutes = 15
/** Averages of so many minutes are handed over together. */
const handedMinutes = 5

/** Lists of alike samples are small when they are packed together; copied, because zlib's buffers are as large as they could have been. */
export const pack = (samples: readonly NodeMetrics[]): Buffer => Buffer.from(new Uint8Array(deflateRawSync(JSON.stringify(samples))).buffer)
/** Of what {@link pack} made. */
export const unpack = (data: Buffer): NodeMetrics[] => JSON.parse(inflateRawSync(data).toString('utf8')) as NodeMetrics[]

/** Averages of some minutes of a node, in order. */
export interface Minutes {
  readonly edgeId: string
  readonly averages: readonly NodeMetrics[]
}

interface Series {
  /** Since 1970. */
  minute: number
  /** Of that minute. */
  samples: NodeMetrics[]
  /** Of the minutes before, packed: thousands of nodes have them. */
  before: { readonly minute: number; readonly data: Buffer }[]
  /** Of minutes that were not handed over. */
  averages: NodeMetrics[]
}

/** The last samples of each node, in memory, and the averages of its minutes, for whoever keeps them. */
export function createMetricsRing(now: () => Date, hand: (minutes: Minutes) => void) {
  const nodes = new Map<string, Series>()
  const minuteNow = (): number => Math.floor(now().getTime() / minuteMs)

  const close = (series: Series): void => {
    if (series.samples.length === 0) return
    series.averages.push(averageOf(series.samples, series.minute * minuteMs))
    series.before.push({ minute: series.minute, data: pack(series.samples) })
    series.samples = []
    series.before = series.before.filter(({ minute }) => minute >= minuteNow() - recentMinutes)
  }
  const handOver = (edgeId: string, series: Series): void => {
    if (series.averages.length > 0) hand({ edgeId, averages: series.averages })
    series.averages = []
  }

  return {
    /** By our own clock: that of a node may be wrong. */
    record(edgeId: string, metrics: NodeMetrics): void {
      const minute = minuteNow()
      const series = nodes.get(edgeId) ?? { minute, samples: [], before: [], averages: [] }
      nodes.set(edgeId, series)
      if (series.minute !== minute) {
        close(series)
        series.minute = minute
        // Not all nodes in the same minute.
        if ((minute + turnOf(edgeId)) % handedMinutes === 0) handOver(edgeId, series)
      }
      series.samples.push({ ...metrics, at: now().toISOString() })
    },
    last: (edgeId: string): NodeMetrics | null => nodes.get(edgeId)?.samples.at(-1) ?? null,
    /** The samples of the last quarter of an hour. */
    recent(edgeId: string): NodeMetrics[] {
      const series = nodes.get(edgeId)
      if (series === undefined) return []
      const since = now().getTime() - recentMinutes * minuteMs
      return [...series.before.flatMap(({ data }) => unpack(data)), ...series.samples].filter(({ at }) => Date.parse(at) >= since)
    },
    /** Averages that were not handed over, and of the minute that goes on. */
    minutes(edgeId: string): NodeMetrics[] {
      const series = nodes.get(edgeId)
      if (series === undefined) return []
      return [...series.averages, ...(series.samples.length > 0 ? [averageOf(series.samples, series.minute * minuteMs)] : [])]
    },
    /** Hands over what nodes have left that do not speak any more. @param all of all others, too: the server stops */
    sweep(all = false): void {
      const minute = minuteNow()
      for (const [edgeId, series] of nodes) {
        if (!all && series.minute >= minute - 1) continue
        // Whoever looks at it still sees how it was last.
        if (all || series.minute < minute - recentMinutes) {
          close(series)
          nodes.delete(edgeId)
        }
        handOver(edgeId, series)
      }
    },
    forget: (edgeId: string): boolean => nodes.delete(edgeId),
  }
}

const turnOf = (edgeId: string): number => Number.parseInt(edgeId.slice(-4), 16) % handedMinutes

/**
 * One sample that stands for all of them: means of what goes up and down, the last of what only
 * grows. Of disks and cards it names those that were there last.
 * @param at in milliseconds since 1970
 */
export function averageOf(samples: readonly NodeMetrics[], at: number): NodeMetrics {
  const last = samples.at(-1)
  if (last === undefined) throw new Error('no samples')
  const cards = (uuid: string) => samples.flatMap(({ gpus }) => gpus.filter((gpu) => gpu.uuid === uuid))
  return {
    at: new Date(at).toISOString(),
    cpu_share: mean(samples.map(({ cpu_share }) => cpu_share)),
    load: [0, 1, 2].map((index) => mean(samples.map(({ load }) => load[index] ?? null)) ?? 0) as [number, number, number],
    memory: { total_bytes: last.memory.total_bytes, used_bytes: whole(samples.map(({ memory }) => memory.used_bytes)) ?? 0 },
    disks: last.disks.map(({ mount, total_bytes }) => ({
      mount,
      total_bytes,
      used_bytes: whole(samples.flatMap(({ disks }) => disks.filter((disk) => disk.mount === mount).map(({ used_bytes }) => used_bytes))) ?? 0,
    })),
    nics: last.nics,
    gpus: last.gpus.map(({ uuid }) => ({
      uuid,
      share: mean(cards(uuid).map(({ share }) => share)),
      memory_used_bytes: whole(cards(uuid).map(({ memory_used_bytes }) => memory_used_bytes)),
      temperature_celsius: mean(cards(uuid).map(({ temperature_celsius }) => temperature_celsius)),
      power_watts: mean(cards(uuid).map(({ power_watts }) => power_watts)),
    })),
  }
}

/** Of those that are known, as exact as a chart shows it. */
function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.round((known.reduce((sum, value) => sum + value, 0) / known.length) * 1_000) / 1_000
}
function whole(values: readonly (number | null)[]): number | null {
  const value = mean(values)
  return value === null ? null : Math.round(value)
}

/** So many minutes become one point each, in order; also a minute of which there are two parts, because a server was started anew in it. */
export function thinned(minutes: readonly NodeMetrics[], each: number): NodeMetrics[] {
  const groups = Map.groupBy(minutes, ({ at }) => Math.floor(Date.parse(at) / (each * minuteMs)))
  return [...groups].map(([group, samples]) => averageOf(samples, group * each * minuteMs))
}
