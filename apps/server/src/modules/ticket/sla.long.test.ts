import { expect, it } from 'vitest'
import { checkLogs, quietly } from './sla.logs.ts'

const [workers, each] = [5, 2_000]

it('what is stored of a work order’s time is what its log says, whatever happened to it: 10,000 of them', () =>
  quietly(async (platform) => {
    const seen = await Promise.all(
      Array.from({ length: workers }, (_, worker) => checkLogs(platform, { count: each, seed: 1_000 * (worker + 1), ticks: false })),
    )
    expect(seen.reduce((sum, { entries }) => sum + entries, 0)).toBeGreaterThan(30_000)
  }))
