import { computeFloatingIps, type ComputeFloatingIp } from '@zhisuan/contract/compute/floating-ip'
import { readAddress } from '@zhisuan/contract/compute/address'
import { portCan, type ComputeNetwork, type ComputePort } from '@zhisuan/contract/compute/network'
import type { ComputeRouter } from '@zhisuan/contract/compute/router'
import type { Call } from '@zhisuan/contract/define'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { invalidatedByInstance } from '../instance/instanceRules.ts'
import { invalidatedByNetwork } from '../network/networkText.ts'

/** What a change to one makes untrue: addresses of instances too, and which addresses of networks are in use. */
export const invalidatedByFloatingIp: readonly Call[] = [computeFloatingIps.list, computeFloatingIps.get, ...invalidatedByNetwork, ...invalidatedByInstance]

/** How one looks: one that leads nowhere is `down` to the cloud, and at rest to people. */
export const toneOfIp = ({ bound_to, status }: ComputeFloatingIp): StatusTone =>
  bound_to === null ? 'rest' : status === 'active' ? 'good' : status === 'building' ? 'busy' : status === 'error' ? 'bad' : 'warning'

/** An address inside that one can lead to, or why it cannot. */
export interface Target {
  readonly port: ComputePort
  readonly address: string
  readonly why: { readonly kind: 'here' | 'unreached' } | { readonly kind: 'taken'; readonly by: string } | null
}

/** What a cloud has, as far as it counts here. */
export interface Ground {
  readonly ports: readonly ComputePort[]
  readonly routers: readonly ComputeRouter[]
  readonly networks: readonly ComputeNetwork[]
  readonly ips: readonly ComputeFloatingIp[]
}

/**
 * Whether a router leads from a subnet to an external network. Of networks of others not all routers are seen here:
 * there the cloud judges.
 */
export function isReached(
  { routers, networks }: Pick<Ground, 'routers' | 'networks'>,
  port: Pick<ComputePort, 'network_id'>,
  subnetId: string | null,
  externalId: string,
): boolean {
  if (networks.find(({ id }) => id === port.network_id)?.changeable === false) return true
  return routers.some(
    ({ gateway, interfaces }) =>
      gateway?.network_id === externalId && interfaces.some(({ addresses }) => addresses.some(({ subnet_id }) => subnet_id === subnetId)),
  )
}

const isIPv4 = (address: string): boolean => readAddress(address)?.version === 4
/** Addresses of a port that one can lead to at all. */
export const fixedOf = <T extends { readonly address: string }>({ addresses }: { readonly addresses: readonly T[] }): T[] =>
  addresses.filter(({ address }) => isIPv4(address))

/** Ports of a project that one can lead to: not those of routers and DHCP. */
export const isTarget =
  (projectId: string | null) =>
  ({ use, keystone_project_id: owner }: ComputePort): boolean =>
    (portCan.update as readonly string[]).includes(use) && (projectId === null || owner === null || owner === projectId)

/**
 * Where a floating IP of a network could lead, and why it could not: those that it can stand first.
 * @param ip null: one that is yet to be allocated
 */
export function targetsOf(
  ground: Ground,
  of: { readonly networkId: string; readonly projectId: string | null; readonly ip: ComputeFloatingIp | null },
): Target[] {
  const taken = new Map(
    ground.ips.flatMap((one) =>
      one.network_id === of.networkId && one.bound_to !== null ? [[`${one.bound_to.port_id} ${one.bound_to.fixed_address}`, one] as const] : [],
    ),
  )
  const targets = ground.ports.filter(isTarget(of.projectId)).flatMap((port) =>
    fixedOf(port).map(({ address, subnet_id }): Target => {
      const by = taken.get(`${port.id} ${address}`)
      if (by !== undefined) return { port, address, why: by.id === of.ip?.id ? { kind: 'here' } : { kind: 'taken', by: by.address } }
      return { port, address, why: isReached(ground, port, subnet_id, of.networkId) ? null : { kind: 'unreached' } }
    }),
  )
  return [...targets.filter(({ why }) => why === null), ...targets.filter(({ why }) => why !== null)]
}

/** What can be bound to an address of an instance: what is free, and networks that a new one can come from. */
export function sourcesOf(
  ground: Ground,
  port: ComputePort,
  address: string,
): {
  readonly free: readonly { readonly ip: ComputeFloatingIp; readonly reached: boolean }[]
  readonly fresh: readonly { readonly network: ComputeNetwork; readonly reached: boolean }[]
} {
  const subnetId = port.addresses.find((one) => one.address === address)?.subnet_id ?? null
  // One address leads to it from each external network at most.
  const had = new Set(
    ground.ips.flatMap(({ network_id, bound_to }) => (bound_to?.port_id === port.id && bound_to.fixed_address === address ? [network_id] : [])),
  )
  const reached = (externalId: string): boolean => isReached(ground, port, subnetId, externalId)
  return {
    free: ground.ips
      .filter(
        ({ bound_to, network_id, keystone_project_id: owner }) =>
          bound_to === null && !had.has(network_id) && (owner === port.keystone_project_id || owner === null || port.keystone_project_id === null),
      )
      .map((ip) => ({ ip, reached: reached(ip.network_id) }))
      .toSorted((a, b) => Number(b.reached) - Number(a.reached)),
    fresh: ground.networks
      .filter(({ external, id }) => external && !had.has(id))
      .map((network) => ({ network, reached: reached(network.id) }))
      .toSorted((a, b) => Number(b.reached) - Number(a.reached)),
  }
}
