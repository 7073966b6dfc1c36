import type { ContainerSpec } from '@zhisuan/contract/cis/container'

export type Wanted = Pick<ContainerSpec['ports'][number], 'host_port' | 'protocol'>
/** Who has ports of a node, by the name that may be told. */
export interface Holder {
  readonly name: string
  readonly ports: readonly { readonly host_port: number; readonly protocol: string }[]
}

/** The first wanted port that somebody has, and who. */
export function conflict(wanted: readonly Wanted[], holders: readonly Holder[]): { port: number; name: string } | null {
  for (const { host_port, protocol } of wanted) {
    const holder = holders.find(({ ports }) => ports.some((port) => port.host_port === host_port && port.protocol === protocol))
    if (holder !== undefined) return { port: host_port, name: holder.name }
  }
  return null
}
