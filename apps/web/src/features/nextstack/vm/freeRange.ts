import { overlaps, parseCidr } from '@zhisuan/contract/ip'

/** Ranges for a network of one's own that overlap none of these, in no particular order: others' are not seen here, and the server knows them. */
export function freeRanges(taken: readonly (string | null)[], random: () => number = Math.random): string[] {
  const known = taken.flatMap((text) => (text === null ? [] : (parseCidr(text) ?? [])))
  return Array.from({ length: 240 }, (_, index) => `10.${index + 10}.0.0/24`)
    .filter((text) => {
      const range = parseCidr(text)
      return range !== null && known.every((other) => !overlaps(range, other))
    })
    .map((text) => ({ text, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ text }) => text)
}
