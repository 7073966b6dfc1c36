import { toMinor } from '@zhisuan/contract/bill/money'
import type { SplitLine, SplitTerms } from '@zhisuan/contract/split/contract'
import { adjustmentFor, shared, stepReached } from './shares.ts'

/** A version of a contract, as far as a split depends on it. */
export interface Version {
  readonly number: number
  readonly from_period: string
  readonly signed_at: Date | null
  readonly terms: SplitTerms
}
/** By what a month was shared out. */
export interface Stated {
  readonly period: string
  readonly version_number: number
  readonly step: number
}
/** What of use decides whether it is shared out, and by what. */
export interface Used {
  readonly period: string
  readonly meter: string
  readonly model: string | null
  /** Minor units. */
  readonly amount: string
}
/** What of use is shared out, with who has what of it. */
export interface Share {
  readonly kind: Extract<SplitLine['kind'], 'use' | 'late'>
  readonly version_number: number
  readonly amounts: bigint[]
}
/** What a provider had of a month so far, and what floor and cap have moved of it. */
export interface Earned {
  readonly period: string
  readonly version_number: number
  readonly earned: string
  readonly moved: string
}

/** Of signed versions, the one that counts in a month. */
export const versionFor = <V extends Version>(versions: readonly V[], period: string): V | undefined =>
  versions.filter(({ signed_at, from_period }) => signed_at !== null && from_period <= period).toSorted((one, other) => other.number - one.number)[0]
/** The first month of a contract. */
export const firstPeriod = (versions: readonly Version[]): string | undefined =>
  versions
    .filter(({ signed_at }) => signed_at !== null)
    .map(({ from_period }) => from_period)
    .toSorted()[0]
/** A contract, as far as another of the same provider may stand beside it. */
export interface Beside {
  readonly ended_after: string | null
  readonly versions: readonly Version[]
}
/** Whether some use of some month from `from` on would be of terms and of another contract, too. */
export function overlaps(
  { from, terms }: { readonly from: string; readonly terms: Pick<SplitTerms, 'meters' | 'models'> },
  { ended_after: end, versions }: Beside,
): boolean {
  const signed = versions.filter(({ signed_at }) => signed_at !== null)
  return signed.some((version) => {
    // It counts until one that was signed later does.
    const until = signed
      .filter(({ number, from_period }) => number > version.number && from_period >= version.from_period)
      .map(({ from_period }) => from_period)
      .toSorted()[0]
    const isOver = (until !== undefined && until <= from) || (end !== null && (end < from || end < version.from_period))
    const meters = version.terms.meters.some((meter) => terms.meters.includes(meter))
    const models = version.terms.models.length === 0 || terms.models.length === 0 || version.terms.models.some((model) => terms.models.includes(model))
    return !isOver && meters && models
  })
}
/** Whether terms are of such use. */
export const covers = ({ meters, models }: Pick<SplitTerms, 'meters' | 'models'>, { meter, model }: Pick<Used, 'meter' | 'model'>): boolean =>
  (meters as readonly string[]).includes(meter) && (models.length === 0 || (model !== null && models.includes(model)))
/** Which step of them a base of a month has reached, from 0. */
export const stepOf = ({ steps }: Pick<SplitTerms, 'steps'>, base: bigint): number =>
  stepReached(
    base,
    steps.map(({ above }) => toMinor(above)),
  )
export const partsOf = ({ steps }: Pick<SplitTerms, 'steps'>, step: number): readonly number[] => steps[step]?.parts ?? []

const minorOrNull = (amount: string | null): bigint | null => (amount === null ? null : toMinor(amount))
/** What floor and cap of terms move from the platform to the provider, where that has had so much of a month. */
export const adjustmentOf = ({ floor, cap }: Pick<SplitTerms, 'floor' | 'cap'>, earned: bigint): bigint =>
  adjustmentFor(earned, minorOrNull(floor), minorOrNull(cap))
/** From the platform to the provider. */
export const moved = (sums: readonly bigint[], amount: bigint): bigint[] =>
  sums.map((sum, index) => (index === 0 ? sum - amount : index === 1 ? sum + amount : sum))
export const added = (sums: readonly bigint[], more: readonly bigint[]): bigint[] => more.map((one, index) => (sums[index] ?? 0n) + one)

/** What is taken back goes by the very shares of its line, whatever counts now. */
export const takenBack = ({ base, amounts }: { readonly base: string; readonly amounts: readonly string[] }): { base: string; amounts: string[] } => ({
  base: String(-BigInt(base)),
  amounts: amounts.map((amount) => String(-BigInt(amount))),
})

/** How a month is split: all that decides about it, and nothing that is kept. */
export interface MonthPlan<V extends Version> {
  readonly version: V
  /** Of the month's own use, from which its step follows. */
  readonly own_base: bigint
  readonly step: number
  /** Whether it is behind the contract's end: then only what came late to its months is shared out. */
  readonly is_over: boolean
  /** Undefined where it is not of the contract: then it is left. */
  share(use: Used): Share | undefined
}

/**
 * What is of an earlier month is shared out by that month's version and step, whenever it comes; so what is late comes to the same
 * in whichever order it does. The step follows from what there is of the month's own, and is moved by nothing that is late.
 * @param versions of the contract
 * @param stated its months that were split
 * @param sums of what there is to take, by month, meter and model
 * @returns undefined where nothing is signed for that month
 */
export function planMonth<V extends Version>(
  { period, versions, stated, ended_after: end }: { period: string; versions: readonly V[]; stated: readonly Stated[]; ended_after: string | null },
  sums: readonly Used[],
): MonthPlan<V> | undefined {
  const version = versionFor(versions, period)
  if (version === undefined) return undefined
  const isOver = (month: string): boolean => end !== null && month > end
  const own = isOver(period) ? [] : sums.filter((sum) => sum.period === period && covers(version.terms, sum))
  const own_base = own.reduce((base, { amount }) => base + BigInt(amount), 0n)
  const step = stepOf(version.terms, own_base)
  const ways = new Map<string, { version: V; parts: readonly number[] }>()
  for (const month of [...stated, { period, version_number: version.number, step }]) {
    const of = versions.find(({ number }) => number === month.version_number)
    if (of !== undefined && !isOver(month.period)) ways.set(month.period, { version: of, parts: partsOf(of.terms, month.step) })
  }
  return {
    version,
    own_base,
    step,
    is_over: isOver(period),
    share: (use) => {
      const way = ways.get(use.period)
      if (way === undefined || !covers(way.version.terms, use)) return undefined
      return { kind: use.period === period ? 'use' : 'late', version_number: way.version.number, amounts: shared(BigInt(use.amount), way.parts) }
    },
  }
}

/**
 * What has to move so that floors and caps hold in each month, also in one that something came late to.
 * @param earned of the contract's months, this split's lines among them
 */
export function adjustments(
  { versions, plan, period }: { versions: readonly Version[]; plan: Pick<MonthPlan<Version>, 'version' | 'is_over'>; period: string },
  earned: readonly Earned[],
): { period: string; version_number: number; moved: bigint; amounts: bigint[] }[] {
  // Its floor is due to a month that nothing was used in, and to none behind the contract's end.
  const own = plan.is_over || earned.some((month) => month.period === period) ? [] : [{ period, version_number: plan.version.number, earned: '0', moved: '0' }]
  return [...earned, ...own].flatMap((month) => {
    const of = versions.find(({ number }) => number === month.version_number)
    if (of === undefined) return []
    const wanted = adjustmentOf(of.terms, BigInt(month.earned)) - BigInt(month.moved)
    if (wanted === 0n) return []
    const nobody = of.terms.parties.map(() => 0n)
    return [{ period: month.period, version_number: of.number, moved: wanted, amounts: moved(nobody, wanted) }]
  })
}
