import { clash, type PortOfNode } from '@zhisuan/contract/cis/ports'

export type Wanted = PortOfNode
/** Who has ports of a node, by the name that may be told. */
export interface Holder {
  readonly name: string
  readonly ports: readonly PortOfNode[]
}

/** The first wanted port that somebody has, and who. */
export function conflict(wanted: readonly Wanted[], holders: readonly Holder[]): { port: number; name: string } | null {
  for (const one of wanted) {
    const holder = holders.find(({ ports }) => ports.some((port) => clash(port, one)))
    if (holder !== undefined) return { port: one.host_port, name: holder.name }
  }
  return null
}
