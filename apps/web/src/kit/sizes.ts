/** Units that sizes are typed in. */
export const sizeUnits = { MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 } as const
export type SizeUnit = keyof typeof sizeUnits

/** The largest unit that a size is a whole number of; GB where there is none. */
export function unitOf(bytes: number | null | undefined): SizeUnit {
  if (bytes === null || bytes === undefined || bytes === 0) return 'GB'
  const whole = (['TB', 'GB', 'MB'] as const).find((unit) => bytes % sizeUnits[unit] === 0)
  return whole ?? 'GB'
}

/** What was typed, as bytes; null for nothing. */
export const bytesOf = (typed: number | null, unit: SizeUnit): number | null => (typed === null ? null : Math.round(typed * sizeUnits[unit]))
