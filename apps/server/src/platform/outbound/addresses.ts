import { BlockList, isIP, isIPv6 } from 'node:net'

/** IPv4 that leads to no public machine: RFC 6890 and what came since. Metadata services are in 169.254/16 and 100.64/10. */
const inner4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const
/** Of IPv6 only this is public at all: loopback, local, mapped and translated (64:ff9b::) addresses are outside of it. */
const public6 = ['2000::', 3] as const
/** And of that not these: tunnels that lead to IPv4 addresses (Teredo, 6to4), documentation. */
const inner6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const listOf = (subnets: readonly (readonly [string, number])[]): BlockList => {
  const list = new BlockList()
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, isIPv6(address) ? 'ipv6' : 'ipv4')
  return list
}
const [forbidden4, forbidden6, possible6] = [listOf(inner4), listOf(inner6), listOf([public6])]

/** Addresses and networks that an operator named, as of {@link file://./config.ts}. */
export const allowListOf = (entries: readonly string[]): BlockList =>
  listOf(
    entries.map((entry) => {
      const [address = '', prefix] = entry.split('/')
      return [address, prefix === undefined ? (isIPv6(address) ? 128 : 32) : Number(prefix)] as const
    }),
  )

/** Whether an address is a public machine's. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !forbidden4.check(address, 'ipv4')
  return isIPv6(address) && possible6.check(address, 'ipv6') && !forbidden6.check(address, 'ipv6')
}

/** Without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
