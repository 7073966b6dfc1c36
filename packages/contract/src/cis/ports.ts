/** A port that somebody has on a node, or is to have. */
export interface PortOfNode {
  readonly host_port: number
  readonly protocol: string
  /** Of the node's addresses; left out: all of them. */
  readonly address?: string | undefined
}

const everywhere = new Set(['', '0.0.0.0', '::'])
/** Of one and the same address the one text: `::0:1` is `::1`. */
const plain = (address: string): string => {
  if (!address.includes(':')) return address
  try {
    return new URL(`http://[${address}]/`).hostname.slice(1, -1)
  } catch {
    return address
  }
}
const isSix = (address: string): boolean => address.includes(':')

/** Whether both cannot be had at once: the same port of one address, or of one address and of all. */
export function clash(one: PortOfNode, other: PortOfNode): boolean {
  if (one.host_port !== other.host_port || one.protocol !== other.protocol) return false
  const [first, second] = [plain(one.address ?? ''), plain(other.address ?? '')]
  if (first === '' || second === '' || first === second) return true
  return (everywhere.has(first) || everywhere.has(second)) && isSix(first) === isSix(second)
}
