import { describe, expect, it } from 'vitest'
import { adjustments, planMonth, versionFor, type Version } from './month.ts'
import { checkHistories } from './month.histories.ts'

const version = (number: number, from_period: string, more: Partial<Version['terms']> = {}, signed = true): Version => ({
  number,
  from_period,
  signed_at: signed ? new Date(0) : null,
  terms: {
    parties: [
      { kind: 'platform', name: 'a' },
      { kind: 'provider', name: 'b' },
    ],
    steps: [
      { above: '0', parts: [300_000, 700_000] },
      { above: '10', parts: [100_000, 900_000] },
    ],
    meters: ['market.card'],
    models: [],
    floor: null,
    cap: null,
    confirm_days: 7,
    ...more,
  },
})
const use = (period: string, yuan: number) => ({ period, meter: 'market.card', model: 'A100', amount: String(BigInt(yuan) * 100_000_000n) })

describe('how a month is split', () => {
  it('follows from the newest version that is signed and has begun', () => {
    const versions = [version(1, '2026-01'), version(2, '2026-03'), version(3, '2026-02', {}, false)]
    expect(versionFor(versions, '2026-02')?.number).toBe(1)
    expect(versionFor(versions, '2026-03')?.number).toBe(2)
    expect(versionFor(versions, '2025-12')).toBeUndefined()
  })

  it('takes the step from its own use, and of what is late that of its month', () => {
    const plan = planMonth(
      { period: '2026-02', versions: [version(1, '2026-01')], stated: [{ period: '2026-01', version_number: 1, step: 1 }], ended_after: null },
      [use('2026-02', 10), use('2026-01', 100)],
    )
    expect(plan).toMatchObject({ own_base: 1_000_000_000n, step: 0 })
    expect(plan?.share(use('2026-02', 10))).toEqual({ kind: 'use', version_number: 1, amounts: [300_000_000n, 700_000_000n] })
    expect(plan?.share(use('2026-01', 10))).toEqual({ kind: 'late', version_number: 1, amounts: [100_000_000n, 900_000_000n] })
    expect(plan?.share(use('2025-12', 10))).toBeUndefined()
  })

  it('owes no floor behind the end of its contract', () => {
    const versions = [version(1, '2026-01', { floor: '5' })]
    const moved = (period: string) => {
      const plan = planMonth({ period, versions, stated: [], ended_after: '2026-01' }, [])
      return plan === undefined ? [] : adjustments({ versions, plan, period }, []).map((one) => one.moved)
    }
    expect(moved('2026-01')).toEqual([500_000_000n])
    expect(moved('2026-02')).toEqual([])
  })

  it('comes to its base, to nothing when all is given back, to the same whenever late use and refunds come, and to what a second computation says: 1,000 histories', () => {
    const { uses, adjusted, late, back } = checkHistories(1, 1_000)
    expect(Math.min(uses / 5_000, adjusted / 300, late / 1_000, back / 1_000)).toBeGreaterThan(1)
  })
})
