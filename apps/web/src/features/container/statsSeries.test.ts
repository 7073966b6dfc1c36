import { expect, it } from 'vitest'
import { statsKeptMs, statsSeries, withStats, type StatsSample } from './statsSeries.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const sample = (seconds: number, received = 0): StatsSample => ({
  at: new Date(start + seconds * 1_000).toISOString(),
  cpu: 0.5,
  memory_bytes: 1,
  memory_limit_bytes: 2,
  received_bytes: received,
  sent_bytes: 0,
  read_bytes: 0,
  written_bytes: 0,
  pids: 3,
})
const names = { cpu: 'c', memory: 'm', pids: 'p', received: 'r', sent: 's', read: 'rd', written: 'w' }

it('keeps each sample once, and none that is too old', () => {
  const two = withStats(withStats([], sample(0)), sample(3))
  expect(withStats(two, sample(3))).toBe(two)
  expect(withStats(two, sample(1))).toBe(two)
  expect(withStats(two, sample(statsKeptMs / 1_000 + 1))).toHaveLength(2)
})

it('makes rates of counters, and none where a container began anew', () => {
  const { network, cpu } = statsSeries([sample(0, 1_000), sample(3, 4_000), sample(6, 100)], names)
  expect(network[0]?.points.map(([, value]) => value)).toEqual([null, 1_000, null])
  expect(cpu[0]?.points).toHaveLength(3)
})

it('breaks lines where nobody asked for a while', () => {
  const { memory } = statsSeries([sample(0), sample(60)], names)
  expect(memory[0]?.points.map(([, value]) => value)).toEqual([1, null, 1])
})
