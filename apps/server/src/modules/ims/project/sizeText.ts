const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const

/** A size for a sentence: in the largest unit of which it is at least one, one decimal at most. */
export function sizeText(bytes: number): string {
  let [rest, unit] = [bytes, 0]
  for (; rest >= 1024 && unit < units.length - 1; unit++) rest /= 1024
  return `${Math.floor(rest * 10) / 10} ${units[unit]}`
}
