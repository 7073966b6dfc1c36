import { expect, it } from 'vitest'
import { checkLogs, quietly } from './sla.logs.ts'

it('what is stored of a work order’s time is what its log says, whatever happened to it: 300 of them', () =>
  quietly(async (platform) => {
    // The clock's own work is about all that there are: some have it alone, and some many at once without it.
    const seen = [
      await checkLogs(platform, { count: 60, seed: 1, ticks: true }),
      ...(await Promise.all([2, 3, 4].map((seed) => checkLogs(platform, { count: 80, seed, ticks: false })))),
    ]
    const all = (of: 'entries' | 'late' | 'answered'): number => seen.reduce((sum, one) => sum + one[of], 0)
    expect(all('entries')).toBeGreaterThan(900)
    expect(Math.min(all('late'), all('answered'))).toBeGreaterThan(20)
  }))
