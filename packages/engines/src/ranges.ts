import { BlockList, isIP } from 'node:net'

/** An address and the range that it lies in, such as 10.88.0.1/24. */
export interface Cidr {
  family: 4 | 6
  address: string
  prefix: number
}

/** 4, 6, or null where it is no address. */
export function familyOf(address: string): 4 | 6 | null {
  const family = isIP(address)
  return family === 4 || family === 6 ? family : null
}

/** Null where it is none. */
export function parseCidr(text: string): Cidr | null {
  const [address = '', length = '', ...more] = text.split('/')
  const family = familyOf(address)
  if (family === null || more.length > 0 || !/^\d{1,3}$/.test(length)) return null
  const prefix = Number(length)
  return prefix <= (family === 4 ? 32 : 128) ? { family, address, prefix } : null
}

/** Whether the address lies in the range. */
export function contains(range: Cidr, address: string): boolean {
  if (familyOf(address) !== range.family) return false
  const list = new BlockList()
  list.addSubnet(range.address, range.prefix, range.family === 4 ? 'ipv4' : 'ipv6')
  return list.check(address, range.family === 4 ? 'ipv4' : 'ipv6')
}

/** Of two ranges that share an address, one holds the other. */
export const overlap = (left: Cidr, right: Cidr): boolean => contains(left, right.address) || contains(right, left.address)

/** An IPv4 address as a number. */
export const numberOf = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

export const addressOf = (number: number): string => [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')

/** First and last number of an IPv4 range: its network address and its broadcast address. */
export function bounds({ address, prefix }: Cidr): { first: number; last: number } {
  const size = 2 ** (32 - prefix)
  const first = Math.floor(numberOf(address) / size) * size
  return { first, last: first + size - 1 }
}
