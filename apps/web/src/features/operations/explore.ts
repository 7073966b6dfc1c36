import type { QueryResult } from '@zhisuan/contract/omc/monitor'
import type { ChartSeries } from '../../kit/chartSeries.ts'
import { withGaps } from '../../kit/chartSeries.ts'

/** More lines cannot be told apart; the table has all. */
export const linesMost = 8

/** How far back, in minutes, and how far apart the points are then, in seconds. */
export const exploreRanges = [15, 60, 360, 1_440, 10_080, 43_200] as const
export const stepOf = (minutes: number): number => Math.max(15, Math.ceil((minutes * 60) / 300))

/** As Prometheus writes it: `up{job="node"}`. */
export function seriesName({ __name__: name = '', ...labels }: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`)
  return parts.length === 0 ? name || '{}' : `${name}{${parts.join(', ')}}`
}

/** The lines of a range, broken where nothing was sampled. */
export const linesOf = ({ series }: Pick<QueryResult, 'series'>, stepSeconds: number): ChartSeries[] =>
  series.slice(0, linesMost).map(({ labels, points }) => ({
    name: seriesName(labels),
    points: withGaps(
      points.map(([at, value]) => [at * 1_000, Number.isFinite(Number(value)) ? Number(value) : null] as const),
      stepSeconds * 1_000,
    ),
  }))
