/** IPv4 addresses and ranges (RFC 791, RFC 4632), for rules that server and console share. */

/** `10.1.0.5` as a number; null where it is none. Leading zeros are refused: some read them as octal. */
export function addressNumber(text: string): number | null {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return null
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0)
}

export const isAddress = (text: string): boolean => addressNumber(text) !== null

export const addressText = (number: number): string => [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')

/** Negative where the left comes first. Both have to be addresses. */
export const compareAddresses = (left: string, right: string): number => (addressNumber(left) ?? 0) - (addressNumber(right) ?? 0)

export interface Cidr {
  /** First and last address, as numbers. */
  first: number
  last: number
  prefix: number
}

/** The range that `10.1.0.5/24` lies in; null where it is none. */
export function parseCidr(text: string): Cidr | null {
  const [address = '', length = '', more] = text.split('/')
  const number = addressNumber(address)
  if (number === null || more !== undefined || !/^\d{1,2}$/.test(length)) return null
  const prefix = Number(length)
  if (prefix > 32) return null
  const size = 2 ** (32 - prefix)
  const first = Math.floor(number / size) * size
  return { first, last: first + size - 1, prefix }
}

/** Whether a CIDR is written as its network address: 10.1.0.0/24, not 10.1.0.5/24. */
export function isNetwork(text: string): boolean {
  const cidr = parseCidr(text)
  return cidr !== null && addressText(cidr.first) === text.split('/')[0]
}

export const overlaps = (left: Pick<Cidr, 'first' | 'last'>, right: Pick<Cidr, 'first' | 'last'>): boolean =>
  left.first <= right.last && right.first <= left.last
