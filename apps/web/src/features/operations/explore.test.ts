import { describe, expect, it } from 'vitest'
import { linesOf, seriesName, stepOf } from './explore.ts'

describe('what a question is answered', () => {
  it('is named as Prometheus names it', () => {
    expect(seriesName({ __name__: 'up', job: 'node', instance: 'a "b"' })).toBe('up{job="node", instance="a \\"b\\""}')
    expect([seriesName({ __name__: 'up' }), seriesName({}), seriesName({ job: 'x' })]).toEqual(['up', '{}', '{job="x"}'])
  })

  it('is drawn with gaps where nothing was sampled, and without what is no number', () => {
    const lines = linesOf(
      {
        series: [
          {
            labels: { __name__: 'up' },
            points: [
              [0, '1'],
              [15, 'NaN'],
              [90, '0'],
            ],
          },
        ],
      },
      15,
    )
    expect(lines).toEqual([
      {
        name: 'up',
        points: [
          [0, 1],
          [15_000, null],
          [30_000, null],
          [90_000, 0],
        ],
      },
    ])
  })

  it('has no more points than a chart shows', () => {
    expect([stepOf(15), stepOf(1_440)]).toEqual([15, 288])
  })
})
