/** One line of a chart: milliseconds since 1970 and a value, null where nothing is known. */
export interface ChartSeries {
  readonly name: string
  readonly points: readonly (readonly [at: number, value: number | null])[]
}

export interface SeriesSummary {
  readonly name: string
  /** Null where the newest sample says nothing. */
  readonly latest: number | null
  readonly max: number | null
}

/** What a chart says in two numbers, for those who read it and for those who hear it. */
export function summarise(series: readonly ChartSeries[]): readonly SeriesSummary[] {
  return series.map(({ name, points }) => {
    const known = points.flatMap(([, value]) => (value === null ? [] : [value]))
    return { name, latest: points.at(-1)?.[1] ?? null, max: known.length === 0 ? null : known.reduce((one, other) => Math.max(one, other)) }
  })
}

/** A sample without a neighbour on either side: no line goes through it. */
export const isLone = (points: ChartSeries['points'], index: number): boolean =>
  points[index]?.[1] != null && points[index - 1]?.[1] == null && points[index + 1]?.[1] == null

/**
 * With a null where samples are missing, so that the line is broken there and not drawn through
 * what nobody measured.
 * @param intervalMs how often samples come
 */
export function withGaps(points: ChartSeries['points'], intervalMs: number): ChartSeries['points'] {
  const whole: (readonly [number, number | null])[] = []
  for (const point of points) {
    const last = whole.at(-1)
    if (last !== undefined && point[0] - last[0] > intervalMs * 2.5) whole.push([last[0] + intervalMs, null])
    whole.push(point)
  }
  return whole
}
