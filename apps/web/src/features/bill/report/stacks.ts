import { toDecimal } from '@zhisuan/contract/bill/money'

/** Bars of one colour, one for each place of the axis, in minor units as sums of money are exact; null: none. */
export interface Stack {
  readonly name: string
  readonly values: readonly (bigint | null)[]
  /** Not certain: drawn lighter. */
  readonly expected?: boolean
}

/** Distinct, and each dark enough on white; they repeat beyond seven. */
export const stackColours = ['#1d4fb8', '#c2570c', '#0f7a52', '#7c3fb8', '#b3266b', '#0c7489', '#6b6b2a'] as const
export const expectedColour = '#a9b4c8'
export const colourOf = (stack: Stack, index: number): string =>
  stack.expected === true ? expectedColour : (stackColours[index % stackColours.length] ?? expectedColour)

/** The greatest by their sum, the rest of them as one. */
export function greatestOf(stacks: readonly Stack[], most: number, restName: string): readonly Stack[] {
  const sum = ({ values }: Stack): bigint => values.reduce<bigint>((total, value) => total + (value ?? 0n), 0n)
  const sorted = stacks
    .map((stack) => ({ stack, size: sum(stack) }))
    .toSorted((one, other) => (one.size === other.size ? 0 : one.size > other.size ? -1 : 1))
    .map(({ stack }) => stack)
  if (sorted.length <= most) return sorted
  const rest = sorted.slice(most - 1)
  const values = (rest[0]?.values ?? []).map((_, index) => rest.reduce((total, one) => total + (one.values[index] ?? 0n), 0n))
  return [...sorted.slice(0, most - 1), { name: restName, values }]
}

/** How high a bar is drawn, in yuan: only pixels come of it. */
export const heightOf = (minor: bigint): number => Number(toDecimal(minor))
