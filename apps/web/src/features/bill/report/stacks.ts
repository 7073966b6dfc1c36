/** Bars of one colour, one for each place of the axis; null: none. */
export interface Stack {
  readonly name: string
  readonly values: readonly (number | null)[]
  /** Not certain: drawn lighter. */
  readonly expected?: boolean
}

/** Distinct, and each dark enough on white; they repeat beyond seven. */
export const stackColours = ['#1d4fb8', '#c2570c', '#0f7a52', '#7c3fb8', '#b3266b', '#0c7489', '#6b6b2a'] as const
export const expectedColour = '#a9b4c8'
export const colourOf = (stack: Stack, index: number): string => (stack.expected === true ? expectedColour : (stackColours[index % stackColours.length] ?? expectedColour))

/** The greatest by their sum, the rest of them as one. */
export function greatestOf(stacks: readonly Stack[], most: number, restName: string): readonly Stack[] {
  const sum = ({ values }: Stack): number => values.reduce<number>((total, value) => total + (value ?? 0), 0)
  const sorted = stacks.toSorted((one, other) => sum(other) - sum(one))
  if (sorted.length <= most) return sorted
  const rest = sorted.slice(most - 1)
  const values = (rest[0]?.values ?? []).map((_, index) => rest.reduce((total, one) => total + (one.values[index] ?? 0), 0))
  return [...sorted.slice(0, most - 1), { name: restName, values }]
}
