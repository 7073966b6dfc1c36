import type { ChartSeries } from '../../../kit/chartSeries.ts'

/** The box that a curve is drawn into; it is stretched to the room there is. */
export const curveBox = { width: 100, height: 32 } as const

/** A line as an SVG path in {@link curveBox}, broken where nothing is known. Of a constant zero it lies on the ground. */
export function curvePath(points: ChartSeries['points'], { from, until, max }: { from: number; until: number; max: number }): string {
  const parts: string[] = []
  let drawn = false
  for (const [at, value] of points) {
    if (value === null || at < from) {
      drawn = false
      continue
    }
    const x = ((at - from) / (until - from)) * curveBox.width
    const y = curveBox.height * (1 - Math.min(1, max === 0 ? 0 : value / max))
    parts.push(`${drawn ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`)
    drawn = true
  }
  return parts.join('')
}
