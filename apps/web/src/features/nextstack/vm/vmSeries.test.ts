import { expect, it } from 'vitest'
import { vmSeries } from './vmSeries.ts'

const names = { cpu: 'c', memory: 'm', disk: 'd', received: 'r', sent: 's' }
const sample = (at: string, cpu: number | null) => ({ at, cpu, memory_bytes: 1, disk_bytes: null, received_bytes_per_second: 2, sent_bytes_per_second: null })

it('makes lines of samples, broken where some are missing', () => {
  const series = vmSeries(
    { interval_seconds: 5, items: [sample('2026-01-01T00:00:00Z', null), sample('2026-01-01T00:00:05Z', 0.5), sample('2026-01-01T00:01:00Z', 1)] },
    names,
  )
  const start = Date.parse('2026-01-01T00:00:00Z')
  expect(series.cpu[0]?.points).toEqual([
    [start, null],
    [start + 5_000, 0.5],
    [start + 10_000, null],
    [start + 60_000, 1],
  ])
  expect(series.network.map(({ name }) => name)).toEqual(['r', 's'])
})

it('has its lines before there is anything to draw', () => {
  expect(vmSeries(undefined, names).network).toHaveLength(2)
})
