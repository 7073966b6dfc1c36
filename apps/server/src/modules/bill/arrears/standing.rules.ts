import type { StandingState } from '@zhisuan/contract/bill/arrears'
import type { PolicyRow, StandingRow } from './arrears.migrations.ts'

const hourMs = 3_600_000

export type Rules = Pick<PolicyRow, 'low_balance' | 'grace_hours' | 'warning_hours' | 'suspends'>
/** What of an account decides, in minor units. */
export interface Funds {
  /** Owed and not paid, at least 0. */
  readonly arrears: bigint
  readonly available: bigint
}
export type Next = Pick<StandingRow, 'state' | 'arrears_since' | 'grace_until' | 'warned' | 'due_at'>

/** The one place that says how an account stands. What is told once is told where `warned` turns true or the state changes. */
export function standingOf(before: Pick<StandingRow, 'state' | 'arrears_since' | 'warned'>, { arrears, available }: Funds, rules: Rules, now: Date): Next {
  if (arrears <= 0n) {
    const state: StandingState = available < BigInt(rules.low_balance) ? 'low' : 'normal'
    return { state, arrears_since: null, grace_until: null, warned: false, due_at: null }
  }
  const arrears_since = before.arrears_since ?? now
  if (!rules.suspends) return { state: 'arrears', arrears_since, grace_until: null, warned: false, due_at: null }
  const grace_until = new Date(arrears_since.getTime() + rules.grace_hours * hourMs)
  // A grace that is made longer does not bring back what was suspended: paying does.
  if (before.state === 'suspended' || grace_until <= now) return { state: 'suspended', arrears_since, grace_until, warned: before.warned, due_at: null }
  const warn_at = new Date(grace_until.getTime() - rules.warning_hours * hourMs)
  // One that begins with the arrears is told with them.
  const warned = before.warned || rules.warning_hours === 0 || warn_at <= now
  return { state: 'arrears', arrears_since, grace_until, warned, due_at: warned ? grace_until : warn_at }
}
