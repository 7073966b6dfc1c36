import { describe, expect, it } from 'vitest'
import { timeLeft } from './timeLeft.ts'

const now = Date.parse('2026-03-01T00:00:00Z')
const left = (until: string | null) => timeLeft(until, now)

describe('how long the recycle bin keeps something yet', () => {
  it('is told in the two largest units, floored: nobody is promised more than there is', () => {
    expect(left('2026-03-07T23:59:59Z')).toEqual({ unit: 'days', days: 6, hours: 23 })
    expect(left('2026-03-02T00:00:00Z')).toEqual({ unit: 'days', days: 1, hours: 0 })
    expect(left('2026-03-01T23:59:59Z')).toEqual({ unit: 'hours', hours: 23, minutes: 59 })
    expect(left('2026-03-01T00:59:59Z')).toEqual({ unit: 'minutes', minutes: 59 })
    expect(left('2026-03-01T00:00:59Z')).toEqual({ unit: 'soon' })
  })
  it("is over at its moment, and nobody's to say where the cloud decides", () => {
    expect(left('2026-03-01T00:00:00Z')).toEqual({ unit: 'over' })
    expect(left('2026-03-01T08:00:00+08:00')).toEqual({ unit: 'over' })
    expect(left(null)).toEqual({ unit: 'none' })
  })
})
