import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { wholeParts, type SplitTerms } from '@zhisuan/contract/split/contract'
import { adjustments, planMonth, takenBack, type Version } from './month.ts'

/** What happened to a contract: months are numbers here, from 0. */
export interface History {
  readonly versions: readonly Version[]
  /** How many have use; it is split for so many more that all has come and was taken back. */
  readonly months: number
  readonly ended_after: number | null
  readonly uses: readonly HistoryUse[]
}
interface HistoryUse {
  readonly id: number
  readonly month: number
  readonly meter: string
  readonly model: string
  readonly amount: bigint
  /** The split that meets it first: its own month's, or a later one. */
  readonly came: number
  /** The first split that it is no use for any more. */
  readonly voided: number | null
}
/** What each party has of each month: by month and place. */
export type Totals = Map<string, bigint>

/** So many months after the last everything has come. */
const after = 4
const meters = ['market.card', 'market.disk', 'market.stoppedDisk'] as const
const models = ['A100', 'H200', 'L40S'] as const
const periodOf = (month: number): string => `20${String(20 + Math.floor(month / 12)).padStart(2, '0')}-${String((month % 12) + 1).padStart(2, '0')}`
const monthOf = (period: string): number => (Number(period.slice(2, 4)) - 20) * 12 + Number(period.slice(5)) - 1

/** The same numbers each time, of one seed. */
export function numbersFrom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}
const some = <T>(random: (below: number) => number, of: readonly T[]): T[] => {
  const chosen = of.filter(() => random(2) === 0)
  return chosen.length === 0 ? [...of] : chosen
}
const shuffled = <T>(random: (below: number) => number, of: readonly T[]): T[] =>
  of
    .map((one) => ({ one, at: random(2 ** 31) }))
    .toSorted((left, right) => left.at - right.at)
    .map(({ one }) => one)

/** 2 to 20 parties, versions that change on the way, steps, floors, caps, late use, use that is given back in whole or in part. */
export function someHistory(random: (below: number) => number): History {
  const count = 2 + random(19)
  const parties: SplitTerms['parties'] = Array.from({ length: count }, (_, place) => ({
    kind: place === 0 ? 'platform' : place === 1 ? 'provider' : 'agent',
    name: `p${place}`,
  }))
  const partsAnew = (): number[] => {
    const cuts = Array.from({ length: count - 1 }, () => random(wholeParts + 1)).toSorted((one, other) => one - other)
    return [...cuts, wholeParts].map((cut, index) => cut - (cuts[index - 1] ?? 0))
  }
  const months = 2 + random(5)
  const amount = (): bigint => {
    const size = random(10)
    if (size === 0) return BigInt(random(3))
    return BigInt(1 + random(2 ** 31)) * BigInt(1 + random(size < 6 ? 100 : 1_000_000))
  }
  const cents = (): string => toDecimal((amount() / 1_000_000n) * 1_000_000n)
  const versions = Array.from({ length: 1 + random(3) }, (_, index): Version => {
    const steps = Array.from({ length: 1 + random(4) }, () => toMinor(cents())).toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0))
    const floor = random(3) === 0 ? cents() : null
    const cap = random(3) === 0 ? toDecimal(toMinor(floor ?? '0') + toMinor(cents())) : null
    return {
      number: index + 1,
      from_period: periodOf(index === 0 ? 0 : random(months + 1)),
      signed_at: new Date(0),
      terms: {
        parties,
        steps: steps.map((above, step) => ({ above: step === 0 ? '0' : toDecimal(above + BigInt(step) * 1_000_000n), parts: partsAnew() })),
        meters: some(random, meters),
        models: random(2) === 0 ? [] : some(random, models),
        floor,
        cap,
        confirm_days: 7,
      },
    }
  })
  const uses: HistoryUse[] = []
  for (let left = random(16); left > 0; left--) {
    const month = random(months)
    const came = random(4) === 0 ? month + 1 + random(3) : month
    const voided = random(4) === 0 ? came + random(4) : null
    const use = { month, meter: meters[random(3)] ?? '', model: models[random(3)] ?? '', amount: amount() }
    uses.push({ id: uses.length, ...use, came, voided })
    // Rated anew, and less than it was: the rest is given back.
    if (voided !== null && random(2) === 0) uses.push({ id: uses.length, ...use, amount: use.amount / BigInt(2 + random(9)), came: voided, voided: null })
  }
  return { versions, months, ended_after: random(4) === 0 ? random(months) : null, uses }
}

/** The same use, that came in another order: what was late comes some other time, and so does what is given back. */
export function otherwise(random: (below: number) => number, history: History): History {
  const uses = history.uses.map((use): HistoryUse => {
    const isLate = use.came > use.month
    const came = isLate ? use.month + 1 + random(5) : use.came
    // What was no use at its own month's split never was: the step follows from it.
    const voided = use.voided === null || (!isLate && use.voided === use.month) ? use.voided : Math.max(came, use.month + 1) + random(3)
    return { ...use, came, voided }
  })
  const ids = shuffled(
    random,
    uses.map(({ id }) => id),
  )
  return { ...history, uses: uses.map((use, index) => ({ ...use, id: ids[index] ?? 0 })) }
}

/** The same, with all of it given back in the end. */
export const givenBack = (history: History): History => ({
  ...history,
  uses: history.uses.map((use) => ({ ...use, voided: use.voided ?? lastOf(history) })),
})
/** Everything has come by then. */
const lastOf = ({ months }: History): number => months + after + 6

interface Line {
  readonly use: number | null
  readonly period: string
  readonly kind: 'use' | 'late' | 'refund' | 'adjustment'
  readonly version_number: number
  readonly base: string
  readonly amounts: readonly string[]
  isBack: boolean
}

/**
 * Splits month after month as the split centre does, with lines in memory.
 * @throws Error where shares are not their base
 */
export function played(history: History): { totals: Totals; moved: Totals } {
  const lines: Line[] = []
  const stated: { period: string; version_number: number; step: number }[] = []
  const ended_after = history.ended_after === null ? null : periodOf(history.ended_after)
  const inOrder = history.uses.toSorted((one, other) => one.id - other.id)
  for (let month = 0; month <= lastOf(history); month++) {
    const period = periodOf(month)
    const begun = lines.length
    const taken = inOrder
      .filter(({ id, came, voided }) => came <= month && (voided === null || voided > month) && !lines.some(({ use, kind }) => use === id && kind !== 'refund'))
      .map(({ amount, ...use }) => ({ ...use, period: periodOf(use.month), amount: String(amount) }))
      .filter((use) => use.period <= period)
    const plan = planMonth({ period, versions: history.versions, stated, ended_after }, taken)
    if (plan === undefined) throw new Error('nothing is signed')
    for (const use of taken) {
      const share = plan.share(use)
      if (share !== undefined) lines.push({ ...share, use: use.id, period: use.period, base: use.amount, amounts: share.amounts.map(String), isBack: false })
    }
    for (const line of lines.filter(({ kind, isBack }) => (kind === 'use' || kind === 'late') && !isBack)) {
      const voided = history.uses.find(({ id }) => id === line.use)?.voided ?? null
      if (voided === null || voided > month) continue
      line.isBack = true
      lines.push({ ...line, kind: 'refund', ...takenBack(line) })
    }
    const earned = new Map<string, { period: string; version_number: number; earned: bigint; moved: bigint }>()
    for (const line of lines) {
      const of = earned.get(line.period) ?? { period: line.period, version_number: line.version_number, earned: 0n, moved: 0n }
      of[line.kind === 'adjustment' ? 'moved' : 'earned'] += BigInt(line.amounts[1] ?? 0)
      earned.set(line.period, of)
    }
    const months = [...earned.values()].map((of) => ({ ...of, earned: String(of.earned), moved: String(of.moved) }))
    for (const { moved: _, amounts, ...of } of adjustments({ versions: history.versions, plan, period }, months))
      lines.push({ ...of, use: null, kind: 'adjustment', base: '0', amounts: amounts.map(String), isBack: false })
    for (const { base, amounts } of lines.slice(begun))
      if (amounts.reduce((sum, amount) => sum + BigInt(amount), 0n) !== BigInt(base)) throw new Error(`shares of ${base} are ${amounts.join(', ')}`)
    stated.push({ period, version_number: plan.version.number, step: plan.step })
  }
  const [totals, moved]: [Totals, Totals] = [new Map(), new Map()]
  for (const { period, kind, amounts } of lines)
    for (const [place, amount] of amounts.entries()) {
      const key = `${monthOf(period)} ${place}`
      const of = kind === 'adjustment' ? moved : totals
      of.set(key, (of.get(key) ?? 0n) + BigInt(amount))
    }
  return { totals, moved }
}

/**
 * What each has in the end, by what a contract says and nothing of how it is kept: only what is use in the end is looked at, each unit of
 * an amount goes to who is furthest from what is theirs, and floor and cap are held once.
 */
export function naively({ versions, months, ended_after, uses }: History): { totals: Totals; moved: Totals } {
  const [totals, moved]: [Totals, Totals] = [new Map(), new Map()]
  const last = lastOf({ versions, months, ended_after, uses })
  for (let month = 0; month <= last; month++) {
    if (ended_after !== null && month > ended_after) break
    let version = versions[0]
    for (const one of versions) if (monthOf(one.from_period) <= month) version = one
    if (version === undefined) throw new Error('nothing is signed')
    const { terms } = version
    const isOf = (use: HistoryUse): boolean =>
      use.month === month && terms.meters.some((meter) => meter === use.meter) && (terms.models.length === 0 || terms.models.includes(use.model))
    let base = 0n
    for (const use of uses) if (isOf(use) && use.came === month && use.voided !== month) base += use.amount
    let parts = terms.steps[0]?.parts ?? []
    for (const step of terms.steps) if (base > toMinor(step.above)) ({ parts } = step)
    const sums = parts.map(() => 0n)
    for (const use of uses) {
      if (!isOf(use) || use.voided !== null) continue
      const given = parts.map((part) => (use.amount * BigInt(part)) / BigInt(wholeParts))
      while (given.reduce((sum, one) => sum + one, 0n) < use.amount) {
        const missing = parts.map((part, place) => use.amount * BigInt(part) - (given[place] ?? 0n) * BigInt(wholeParts))
        const most = missing.reduce((best, one, place) => (one > (missing[best] ?? 0n) ? place : best), 0)
        given[most] = (given[most] ?? 0n) + 1n
      }
      for (const [place, one] of given.entries()) sums[place] = (sums[place] ?? 0n) + one
    }
    const earned = sums[1] ?? 0n
    const [floor, cap] = [terms.floor === null ? earned : toMinor(terms.floor), terms.cap === null ? null : toMinor(terms.cap)]
    const due = earned < floor ? floor : cap !== null && earned > cap ? cap : earned
    for (const [place, sum] of sums.entries()) totals.set(`${month} ${place}`, sum)
    moved.set(`${month} 0`, earned - due)
    moved.set(`${month} 1`, due - earned)
  }
  return { totals, moved }
}

/** Undefined where they say the same; a place that is not there has nothing. */
export function differing(one: Totals, other: Totals): string | undefined {
  for (const key of [...one.keys(), ...other.keys()])
    if ((one.get(key) ?? 0n) !== (other.get(key) ?? 0n)) return `${key}: ${one.get(key)} and ${other.get(key)}`
  return undefined
}

/** @throws Error with its seed, where one of so many histories does not come to what it has to */
export function checkHistories(from: number, count: number): { uses: number; adjusted: number; late: number; back: number } {
  const seen = { uses: 0, adjusted: 0, late: 0, back: 0 }
  for (let seed = from; seed < from + count; seed++) {
    const random = numbersFrom(seed)
    const history = someHistory(random)
    const same = (what: string, left: { totals: Totals; moved: Totals }, right: { totals: Totals; moved: Totals }): void => {
      const difference = differing(left.totals, right.totals) ?? differing(left.moved, right.moved)
      if (difference !== undefined) throw new Error(`seed ${seed}: ${what} differ at ${difference}`)
    }
    const result = played(history)
    same('a second computation and this', result, naively(history))
    same('another order and this', result, played(otherwise(random, history)))
    const nothing = played(givenBack(history))
    same('all given back and nothing', nothing, naively(givenBack(history)))
    const left = [...nothing.totals.values()].find((one) => one !== 0n)
    if (left !== undefined) throw new Error(`seed ${seed}: ${left} is left`)
    seen.uses += history.uses.length
    seen.late += history.uses.filter(({ came, month }) => came > month).length
    seen.back += history.uses.filter(({ voided }) => voided !== null).length
    seen.adjusted += [...result.moved.values()].some((one) => one !== 0n) ? 1 : 0
  }
  return seen
}
