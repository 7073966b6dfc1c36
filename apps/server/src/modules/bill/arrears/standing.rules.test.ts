import { describe, expect, it } from 'vitest'
import { standingOf, type Rules } from './standing.rules.ts'

const hour = 3_600_000
const now = new Date('2026-11-22T00:00:00Z')
const later = (hours: number): Date => new Date(now.getTime() + hours * hour)
const rules: Rules = { low_balance: '100', grace_hours: 72, warning_hours: 24, suspends: true }
const normal = { state: 'normal', arrears_since: null, warned: false } as const
const inArrears = { state: 'arrears', arrears_since: now, warned: false } as const
const paid = { arrears: 0n, available: 100n }
const owing = { arrears: 1n, available: 0n }

describe('how an account stands', () => {
  it('is low below the line, not on it, and never where the line is 0', () => {
    expect(standingOf(normal, paid, rules, now).state).toBe('normal')
    expect(standingOf(normal, { arrears: 0n, available: 99n }, rules, now).state).toBe('low')
    expect(standingOf(normal, { arrears: 0n, available: 0n }, { ...rules, low_balance: '0' }, now).state).toBe('normal')
  })

  it('is in arrears from the first minor unit, is warned once, and is suspended at the end of the grace', () => {
    expect(standingOf(normal, owing, rules, now)).toEqual({ state: 'arrears', arrears_since: now, grace_until: later(72), warned: false, due_at: later(48) })
    expect(standingOf(inArrears, owing, rules, later(47.9))).toMatchObject({ state: 'arrears', warned: false, due_at: later(48) })
    expect(standingOf(inArrears, owing, rules, later(48))).toMatchObject({ state: 'arrears', warned: true, due_at: later(72) })
    expect(standingOf({ ...inArrears, warned: true }, owing, rules, later(71.9))).toMatchObject({ state: 'arrears', warned: true, due_at: later(72) })
    expect(standingOf({ ...inArrears, warned: true }, owing, rules, later(72))).toMatchObject({ state: 'suspended', due_at: null })
  })

  it('is not warned of what is told with the beginning, or not wanted', () => {
    expect(standingOf(normal, owing, { ...rules, grace_hours: 24 }, now)).toMatchObject({ state: 'arrears', warned: true, due_at: later(24) })
    expect(standingOf(normal, owing, { ...rules, warning_hours: 0 }, now)).toMatchObject({ state: 'arrears', warned: true, due_at: later(72) })
    expect(standingOf(normal, owing, { ...rules, grace_hours: 0 }, now).state).toBe('suspended')
  })

  it('stays suspended until everything is paid, however long the grace becomes', () => {
    const suspended = { state: 'suspended', arrears_since: now, warned: true } as const
    expect(standingOf(suspended, owing, { ...rules, grace_hours: 8_760 }, later(73)).state).toBe('suspended')
    expect(standingOf(suspended, paid, rules, later(73))).toEqual({ state: 'normal', arrears_since: null, grace_until: null, warned: false, due_at: null })
    expect(standingOf(suspended, { arrears: 0n, available: 1n }, rules, later(73)).state).toBe('low')
  })

  it('is only in arrears where nobody is suspended, also for who was', () => {
    const never = { ...rules, suspends: false }
    expect(standingOf(inArrears, owing, never, later(1000))).toEqual({ state: 'arrears', arrears_since: now, grace_until: null, warned: false, due_at: null })
    expect(standingOf({ state: 'suspended', arrears_since: now, warned: true }, owing, never, later(1000)).state).toBe('arrears')
  })
})
