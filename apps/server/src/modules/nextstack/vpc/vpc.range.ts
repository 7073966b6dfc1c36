import { parseCidr } from '@zhisuan/contract/ip'

/** A network's range in parts, as numbers: all of it but its own name, the gateway and the broadcast is for instances. */
export function usable(cidr: string): { prefix: number; gateway: number; first: number; last: number; count: number } {
  const range = parseCidr(cidr)
  if (range === null) throw new Error(`no range: ${cidr}`)
  const [gateway, first, last] = [range.first + 1, range.first + 2, range.last - 1]
  return { prefix: range.prefix, gateway, first, last, count: last - first + 1 }
}
