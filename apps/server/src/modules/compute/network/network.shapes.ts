import type { ComputeNetwork, ComputePort, ComputeSubnet, NetworkStatus, PortUse } from '@zhisuan/contract/compute/network'
import type { ComputeRouter } from '@zhisuan/contract/compute/router'
import type { Network, Port, Router, Subnet } from '@zhisuan/engines/openstack/network'
import type { View } from '../tenancy/tenancy.service.ts'

const statuses: Readonly<Record<string, NetworkStatus>> = {
  ACTIVE: 'active',
  BUILD: 'building',
  ALLOCATING: 'building',
  DOWN: 'down',
  'N/A': 'down',
  ERROR: 'error',
}
export const statusOf = (status: string): NetworkStatus => statuses[status] ?? 'unknown'

/** The owners by which routers are in networks; a gateway is none of them. */
export const interfaceOwners = ['network:router_interface', 'network:router_interface_distributed', 'network:ha_router_replicated_interface'] as const

const uses: Readonly<Record<string, PortUse>> = {
  ...Object.fromEntries(interfaceOwners.map((owner) => [owner, 'router' as const])),
  'network:router_centralized_snat': 'router',
  'network:router_ha_interface': 'router',
  'network:router_gateway': 'gateway',
  'network:dhcp': 'dhcp',
  'network:floatingip': 'floating_ip',
}
export function useOf({ deviceOwner, deviceId }: Pick<Port, 'deviceOwner' | 'deviceId'>): PortUse {
  if (deviceOwner === null) return deviceId === null ? 'free' : 'other'
  return deviceOwner.startsWith('compute:') ? 'instance' : (uses[deviceOwner] ?? 'other')
}

/** Whether something of a project may be changed by the asker: platform-level people may all. */
export const ownedBy = (view: View, projectId: string | null): boolean => view.everything || view.places.some(({ keystoneId }) => keystoneId === projectId)
/** What everybody uses is changed by platform-level people only, whosever project it is in. */
export const isOpen = (network: Network): boolean => network.shared || network.external
export const networkChangeable = (view: View, network: Network): boolean => view.everything || (!isOpen(network) && ownedBy(view, network.projectId))

// Neutron writes the project of what is nobody's as an empty text.
export const project = (projectId: string | null): string | null => (projectId === '' ? null : projectId)
const versionOf = ({ version }: Subnet): 4 | 6 => (version === 6 ? 6 : 4)
const routes = (list: Subnet['hostRoutes']) => list.map(({ destination, nexthop }) => ({ destination, next_hop: nexthop }))

export const networkShape = (view: View, network: Network, subnets: readonly Subnet[]): ComputeNetwork => ({
  id: network.id,
  name: network.name,
  description: network.description,
  status: statusOf(network.status),
  enabled: network.enabled,
  shared: network.shared,
  external: network.external,
  mtu: network.mtu,
  port_security: network.portSecurity,
  provider:
    view.everything && network.provider !== null
      ? { type: network.provider.type, physical_network: network.provider.physicalNetwork, segmentation_id: network.provider.segmentation }
      : null,
  subnets: subnets.map((subnet) => ({
    id: subnet.id,
    name: subnet.name,
    cidr: subnet.cidr,
    version: versionOf(subnet),
    gateway: subnet.gateway,
    dhcp: subnet.dhcp,
  })),
  keystone_project_id: project(network.projectId),
  changeable: networkChangeable(view, network),
})

export const subnetShape = (view: View, subnet: Subnet, network: Network | undefined): ComputeSubnet => ({
  id: subnet.id,
  name: subnet.name,
  description: subnet.description,
  network_id: subnet.networkId,
  cidr: subnet.cidr,
  version: versionOf(subnet),
  gateway: subnet.gateway,
  dhcp: subnet.dhcp,
  nameservers: subnet.nameservers,
  pools: subnet.pools,
  host_routes: routes(subnet.hostRoutes),
  keystone_project_id: project(subnet.projectId),
  changeable: view.everything || (network !== undefined && networkChangeable(view, network) && ownedBy(view, subnet.projectId)),
})

export function portShape(view: View, port: Port): ComputePort {
  const use = useOf(port)
  return {
    id: port.id,
    name: port.name,
    description: port.description,
    status: statusOf(port.status),
    enabled: port.enabled,
    mac: port.mac,
    network_id: port.networkId,
    addresses: port.addresses.map(({ address, subnetId }) => ({ address, subnet_id: subnetId })),
    use,
    device_id: use === 'instance' || use === 'router' || use === 'gateway' ? port.deviceId : null,
    device_owner: port.deviceOwner,
    security_group_ids: port.securityGroupIds,
    port_security: port.portSecurity,
    allowed_addresses: port.allowedAddresses,
    keystone_project_id: project(port.projectId),
    changeable: ownedBy(view, port.projectId),
  }
}

export const routerShape = (view: View, router: Router, interfaces: readonly Port[]): ComputeRouter => ({
  id: router.id,
  name: router.name,
  description: router.description,
  status: statusOf(router.status),
  enabled: router.enabled,
  gateway: router.gateway === null ? null : { network_id: router.gateway.networkId, snat: router.gateway.snat, addresses: router.gateway.addresses },
  interfaces: interfaces.map((port) => ({
    port_id: port.id,
    network_id: port.networkId,
    addresses: port.addresses.map(({ address, subnetId }) => ({ address, subnet_id: subnetId })),
  })),
  routes: routes(router.routes),
  keystone_project_id: project(router.projectId),
  changeable: ownedBy(view, router.projectId),
})
