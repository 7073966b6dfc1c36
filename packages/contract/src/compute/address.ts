import ipaddr from 'ipaddr.js'

/** Addresses and ranges of both versions, for the rules of networks that server and console share. */
export interface Address {
  readonly version: 4 | 6
  readonly number: bigint
}
export interface Range {
  readonly version: 4 | 6
  readonly first: bigint
  readonly last: bigint
  readonly prefix: number
}

/** Null where it is none; of IPv4 in four decimal parts only, since other readings differ between programs. */
export function readAddress(text: string): Address | null {
  const v4 = ipaddr.IPv4.isValidFourPartDecimal(text)
  if (!v4 && (!ipaddr.IPv6.isValid(text) || text.includes('%'))) return null
  const bytes = ipaddr.parse(text).toByteArray()
  return { version: v4 ? 4 : 6, number: bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n) }
}

/** The range that `10.1.0.5/24` or `2001:db8::1/64` lies in; null where it is none. */
export function readRange(text: string): Range | null {
  const [address = '', length = '', more] = text.split('/')
  const read = readAddress(address)
  if (read === null || more !== undefined || !/^(0|[1-9]\d{0,2})$/.test(length)) return null
  const bits = read.version === 4 ? 32 : 128
  const prefix = Number(length)
  if (prefix > bits) return null
  const size = 1n << BigInt(bits - prefix)
  const first = (read.number / size) * size
  return { version: read.version, first, last: first + size - 1n, prefix }
}

/** Whether a range is written as its network address: 10.1.0.0/24, not 10.1.0.5/24. */
export const isNetworkAddress = (text: string): boolean => readRange(text)?.first === readAddress(text.split('/')[0] ?? '')?.number

export const holds = (range: Range, address: Address): boolean =>
  range.version === address.version && range.first <= address.number && address.number <= range.last
export const overlapping = (left: Range, right: Range): boolean => left.version === right.version && left.first <= right.last && right.first <= left.last
