/** The names of the log's files from the first to the last: timeline, and a number in two parts. */
export function* segments(first: string, last: string, segmentBytes: number): Generator<string> {
  const perPart = BigInt(2 ** 32 / segmentBytes)
  const number = (name: string) => BigInt(`0x${name.slice(8, 16)}`) * perPart + BigInt(`0x${name.slice(16)}`)
  const hex = (value: bigint) => value.toString(16).toUpperCase().padStart(8, '0')
  if (first.slice(0, 8) !== last.slice(0, 8)) throw new Error(`The timeline changed during the backup: ${first}, ${last}`)
  for (let at = number(first); at <= number(last); at++) yield `${first.slice(0, 8)}${hex(at / perPart)}${hex(at % perPart)}`
}
