import {
  subnetProblems,
  portCan,
  type ComputeNetwork,
  type ComputePort,
  type ComputeSubnet,
  type computeNetworks,
  type computePorts,
  type computeSubnets,
  type newSubnet,
} from '@zhisuan/contract/compute/network'
import { overlapping, readRange } from '@zhisuan/contract/compute/address'
import type { BodyOf } from '@zhisuan/contract/define'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Network, Port, Subnet } from '@zhisuan/engines/openstack/network'
import { all } from '@zhisuan/engines/openstack/session'
import type { z } from 'zod'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { known, linesOf, madeWith, mapped, type Pages } from '../../../platform/lines.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { asNames } from '../volume/storage.ts'
import { changeableOne, namesOfPlaces, pagesOf, readOne, sharedPagesOf, type Changeable } from '../view.ts'
import { read, someOf, unlessUsed, type Reading } from './network.refusals.ts'
import { isOpen, networkChangeable, networkShape, ownedBy, portShape, subnetShape, useOf } from './network.shapes.ts'

type Named = { names: Record<string, string> }
type NewSubnet = z.output<typeof newSubnet>

/** All networks that the asker may see. */
export const networksOf = (view: View, signal?: AbortSignal): Pages<Network> => sharedPagesOf(view, (cloud) => cloud.network.networks.list({}, signal), isOpen)
/** Of an external network of another's nobody sees the ranges. */
const subnetSeen = (view: View, subnet: Subnet, network: Network | undefined): boolean =>
  view.everything || network?.shared === true || ownedBy(view, subnet.projectId)
const subnetsOf = (view: View, signal?: AbortSignal): Pages<Subnet> =>
  sharedPagesOf(
    view,
    (cloud) => cloud.network.subnets.list({}, signal),
    () => true,
  )
/** Whoever has a network also sees what others plugged into it; here nobody does. */
export async function* portsOf(view: View, query: Record<string, string | readonly string[]>, signal?: AbortSignal): AsyncGenerator<Port[]> {
  for await (const page of pagesOf(view, (cloud) => cloud.network.ports.list(query, signal))) yield page.filter(({ projectId }) => ownedBy(view, projectId))
}

export const networkNames = (pages: Pages<Network>): Pages<readonly [string, string]> => mapped(pages, ({ id, name }) => [id, name] as const)
export const subnetNames = (pages: Pages<Subnet>): Pages<readonly [string, string]> =>
  mapped(pages, ({ id, name, cidr }) => [id, name === '' ? cidr : name] as const)

export function createNetworkKinds(tenancy: Tenancy) {
  const seenNetwork = (view: View, id: string): Promise<Network> => readOne(view, (cloud) => cloud.network.networks.get(id), isOpen)

  /** @throws Refusal notFound, noPermission of what is everybody's or another's */
  async function networkToChange(actor: Actor, cloudId: string, id: string): Promise<Changeable<Network> & { view: View }> {
    const view = await tenancy.viewForChange(actor, cloudId)
    const changeable = await changeableOne(
      view,
      (cloud) => cloud.network.networks.get(id),
      ({ projectId }) => projectId,
    )
    if (!networkChangeable(view, changeable.one)) throw new Refusal('noPermission')
    return { ...changeable, view }
  }

  async function subnetToChange(actor: Actor, cloudId: string, id: string): Promise<Changeable<Subnet> & { view: View; network: Network }> {
    const view = await tenancy.viewForChange(actor, cloudId)
    const changeable = await changeableOne(
      view,
      (cloud) => cloud.network.subnets.get(id),
      ({ projectId }) => projectId,
    )
    const network = await changeable.cloud.network.networks.get(changeable.one.networkId)
    if (!subnetSeen(view, changeable.one, network)) throw new Refusal('notFound')
    if (!networkChangeable(view, network) || !ownedBy(view, changeable.one.projectId)) throw new Refusal('noPermission')
    return { ...changeable, view, network }
  }

  async function portToChange(actor: Actor, cloudId: string, id: string, action: 'update' | 'delete'): Promise<Changeable<Port> & { view: View }> {
    const view = await tenancy.viewForChange(actor, cloudId)
    const changeable = await changeableOne(
      view,
      (cloud) => cloud.network.ports.get(id),
      ({ projectId }) => projectId,
    )
    if (!ownedBy(view, changeable.one.projectId)) throw new Refusal('notFound')
    const allowed: readonly string[] = portCan[action]
    if (!allowed.includes(useOf(changeable.one))) throw new Refusal('computePortInUse')
    return { ...changeable, view }
  }

  return {
    networks: {
      async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
        const view = await tenancy.view(actor, cloudId)
        const items = madeWith(networksOf(view, signal), known(subnetsOf(view, signal)), (page, subnets) => {
          const byNetwork = Map.groupBy(subnets, ({ networkId }) => networkId)
          return page.map((network) =>
            networkShape(
              view,
              network,
              (byNetwork.get(network.id) ?? []).filter((subnet) => subnetSeen(view, subnet, network)),
            ),
          )
        })
        yield* linesOf({ items, names: [namesOfPlaces(view)], requestId })
      },

      async get(actor: Actor, cloudId: string, id: string): Promise<ComputeNetwork & Named> {
        const view = await tenancy.view(actor, cloudId)
        const network = await seenNetwork(view, id)
        const subnets = await all(
          sharedPagesOf(
            view,
            (cloud) => cloud.network.subnets.list({ network_id: id }),
            () => true,
          ),
        )
        return {
          ...networkShape(
            view,
            network,
            subnets.filter((subnet) => subnetSeen(view, subnet, network)),
          ),
          names: namesOfPlaces(view),
        }
      },

      /** With its first subnet, or not at all. */
      async create(actor: Actor, cloudId: string, body: BodyOf<typeof computeNetworks.create>): Promise<ComputeNetwork> {
        const { everything, administrator } = await tenancy.viewForChange(actor, cloudId)
        const { provider } = body
        for (const field of ['shared', 'external', 'provider'] as const)
          if (!everything && body[field] !== false && body[field] !== null) throw new Refusal('computePlatformOnly', { field })
        const place = await tenancy.placeForMaking(actor, cloudId, body.project_id)
        const special = body.shared || body.external || provider !== null
        const wish = {
          name: body.name,
          description: body.description,
          portSecurity: body.port_security,
          ...(body.mtu !== null && { mtu: body.mtu }),
          ...(special && {
            projectId: place.keystoneId,
            shared: body.shared,
            external: body.external,
            ...(provider !== null && {
              providerType: provider.type,
              ...(provider.physical_network !== null && { physicalNetwork: provider.physical_network }),
              ...(provider.segmentation_id !== null && { segmentation: provider.segmentation_id }),
            }),
          }),
        }
        const network = await read((special ? administrator : place.cloud).network.networks.create(wish), [
          { kind: 'invalid', says: /mtu/i, refusal: 'engineRefused', field: 'mtu' },
          { kind: 'invalid', says: /physical_network|segmentation|network_type|provider/i, refusal: 'engineRefused', field: 'provider' },
          { kind: 'busy', says: /segment|physical network|vlan/i, refusal: 'engineRefused', field: 'provider' },
        ])
        try {
          const subnets = body.subnet === null ? [] : [await makeSubnet(place.cloud, network, body.subnet, 'subnet.', {})]
          // Read as whoever asked sees it: their projects may be one more by now.
          return networkShape(await tenancy.view(actor, cloudId), network, subnets)
        } catch (error) {
          await place.cloud.network.networks.delete(network.id).catch(() => undefined)
          throw error
        }
      },

      async update(actor: Actor, cloudId: string, id: string, body: BodyOf<typeof computeNetworks.update>): Promise<ComputeNetwork> {
        const { cloud, view } = await networkToChange(actor, cloudId, id)
        for (const field of ['shared', 'external'] as const) if (!view.everything && body[field] === true) throw new Refusal('computePlatformOnly', { field })
        const { name, description, enabled, port_security: portSecurity, mtu, shared, external } = body
        const asked = view.everything && (shared !== undefined || external !== undefined)
        const changes = defined({ name, description, enabled, portSecurity, mtu, ...(asked && { shared, external }) })
        const network = await read((asked ? view.administrator : cloud).network.networks.update(id, changes), [
          { kind: 'invalid', says: /mtu/i, refusal: 'engineRefused', field: 'mtu' },
          { kind: 'busy', says: /shared|tenants/i, refusal: 'engineRefused', field: 'shared' },
          { kind: 'busy', says: /external|floating|gateway/i, refusal: 'engineRefused', field: 'external' },
        ])
        return networkShape(view, network, await all(cloud.network.subnets.list({ network_id: id })))
      },

      async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
        const { cloud, view } = await networkToChange(actor, cloudId, id)
        await unlessUsed(cloud.network.networks.delete(id), async () => {
          const users = (await all(cloud.network.ports.list({ network_id: id }))).filter((port) => useOf(port) !== 'dhcp')
          return users.length === 0
            ? null
            : new Refusal('computeNetworkInUse', { values: { count: users.length, names: someOf(await usersNamed(view, cloud, users)) } })
        })
      },
    },

    subnets: {
      async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
        const view = await tenancy.view(actor, cloudId)
        const networks = known(networksOf(view, signal))
        const items = madeWith(subnetsOf(view, signal), networks, (page, rows) => {
          const byId = new Map(rows.map((network) => [network.id, network]))
          return page
            .filter((subnet) => subnetSeen(view, subnet, byId.get(subnet.networkId)))
            .map((subnet) => subnetShape(view, subnet, byId.get(subnet.networkId)))
        })
        async function* names(): AsyncGenerator<(readonly [string, string])[]> {
          yield (await networks).rows.map(({ id, name }) => [id, name] as const)
        }
        yield* linesOf({ items, names: [namesOfPlaces(view), names()], requestId })
      },

      async get(actor: Actor, cloudId: string, id: string): Promise<ComputeSubnet & Named> {
        const view = await tenancy.view(actor, cloudId)
        const subnet = await readOne(
          view,
          (cloud) => cloud.network.subnets.get(id),
          () => true,
        )
        const network = await seenNetwork(view, subnet.networkId)
        if (!subnetSeen(view, subnet, network)) throw new Refusal('notFound')
        return { ...subnetShape(view, subnet, network), names: { ...namesOfPlaces(view), [network.id]: network.name } }
      },

      async create(actor: Actor, cloudId: string, body: BodyOf<typeof computeSubnets.create>): Promise<ComputeSubnet> {
        const {
          one: network,
          cloud,
          view,
        } = await networkToChange(actor, cloudId, body.network_id).catch((error: unknown) => {
          throw error instanceof Refusal && error.refusal === 'notFound' ? new Refusal('computeNetworkMissing', { field: 'network_id', cause: error }) : error
        })
        // The administrator makes it of whom the network is, not of themselves.
        const owner = cloud === view.administrator && network.projectId !== null ? { projectId: network.projectId } : {}
        return subnetShape(view, await makeSubnet(cloud, network, body, '', owner), network)
      },

      async update(actor: Actor, cloudId: string, id: string, body: BodyOf<typeof computeSubnets.update>): Promise<ComputeSubnet> {
        const { one, cloud, view, network } = await subnetToChange(actor, cloudId, id)
        // What stays counts as well: a gateway may not come to lie in pools that were there before.
        const fields = subnetProblems(one.cidr, { ...body, gateway: body.gateway === undefined ? one.gateway : body.gateway, pools: body.pools ?? one.pools })
          .filter(({ path: [first] }) => body[first as keyof typeof body] !== undefined || (first === 'pools' && body.gateway !== undefined))
          .map(({ path: [first, ...rest], message }) => ({
            field: [first === 'pools' && body.pools === undefined ? 'gateway' : first, ...(body.pools === undefined && first === 'pools' ? [] : rest)].join(
              '.',
            ),
            message,
          }))
        if (fields.length > 0) throw new Refusal('fieldsInvalid', { fields })
        const { name, description, gateway, dhcp, nameservers, pools } = body
        const changes = defined({
          name,
          description,
          gateway,
          dhcp,
          nameservers,
          pools,
          hostRoutes: body.host_routes?.map(({ destination, next_hop }) => ({ destination, nexthop: next_hop })),
        })
        const subnet = await read(cloud.network.subnets.update(id, changes), [
          { kind: 'conflict', says: /gateway/i, refusal: 'computePortInUse', field: 'gateway' },
          { kind: 'busy', says: /gateway/i, refusal: 'computePortInUse', field: 'gateway' },
          { kind: 'invalid', says: /pool/i, refusal: 'engineRefused', field: 'pools' },
        ])
        return subnetShape(view, subnet, network)
      },

      async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
        const { one, cloud, view } = await subnetToChange(actor, cloudId, id)
        await unlessUsed(cloud.network.subnets.delete(id), async () => {
          const users = (await all(cloud.network.ports.list({ network_id: one.networkId }))).filter(
            (port) => useOf(port) !== 'dhcp' && port.addresses.some(({ subnetId }) => subnetId === id),
          )
          return users.length === 0
            ? null
            : new Refusal('computeSubnetInUse', { values: { count: users.length, names: someOf(await usersNamed(view, cloud, users)) } })
        })
      },
    },

    ports: {
      async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
        const view = await tenancy.view(actor, cloudId)
        const servers = asNames(pagesOf(view, (cloud, allTenants) => cloud.compute.servers.names(allTenants, signal)))
        const routers = mapped(
          pagesOf(view, (cloud) => cloud.network.routers.list({}, signal)),
          ({ id, name }) => [id, name] as const,
        )
        const groups = mapped(
          pagesOf(view, (cloud) => cloud.network.securityGroups.list({ fields: ['id', 'name'] }, signal)),
          ({ id, name }) => [id, name] as const,
        )
        yield* linesOf({
          items: mapped(distinct(portsOf(view, {}, signal)), (port) => portShape(view, port)),
          names: [namesOfPlaces(view), networkNames(networksOf(view, signal)), servers, routers, groups],
          requestId,
        })
      },

      async get(actor: Actor, cloudId: string, id: string): Promise<ComputePort & Named> {
        const view = await tenancy.view(actor, cloudId)
        const port = await readOne(view, (cloud) => cloud.network.ports.get(id))
        if (!ownedBy(view, port.projectId)) throw new Refusal('notFound')
        const cloud = view.places.find(({ keystoneId }) => keystoneId === port.projectId)?.cloud ?? view.administrator
        const [network, devices, groups] = await Promise.all([
          seenNetwork(view, port.networkId),
          deviceNames(cloud, [port]),
          port.securityGroupIds.length === 0 ? [] : all(cloud.network.securityGroups.list({ id: port.securityGroupIds, fields: ['id', 'name'] })),
        ])
        return {
          ...portShape(view, port),
          names: { ...namesOfPlaces(view), [network.id]: network.name, ...devices, ...Object.fromEntries(groups.map((group) => [group.id, group.name])) },
        }
      },

      async create(actor: Actor, cloudId: string, body: BodyOf<typeof computePorts.create>): Promise<ComputePort> {
        const place = await tenancy.placeForMaking(actor, cloudId, body.project_id)
        const network = await read(place.cloud.network.networks.get(body.network_id), [
          { kind: 'not_found', refusal: 'computeNetworkMissing', field: 'network_id' },
        ])
        const view = await tenancy.view(actor, cloudId)
        // External networks give addresses to routers and floating IPs, not to whoever asks.
        if (network.external && !network.shared && !view.everything) throw new Refusal('computeNetworkMissing', { field: 'network_id' })
        const port = await read(place.cloud.network.ports.create({ networkId: body.network_id, name: body.name, ...portWish(body) }), portReadings)
        return portShape(view, port)
      },

      async update(actor: Actor, cloudId: string, id: string, body: BodyOf<typeof computePorts.update>): Promise<ComputePort> {
        const { cloud, view } = await portToChange(actor, cloudId, id, 'update')
        // Without the guard there can be neither groups nor exceptions to it.
        const unguarded = body.port_security === false ? { securityGroupIds: [], allowedAddresses: [] } : {}
        const port = await read(
          cloud.network.ports.update(id, { ...portWish(body), ...unguarded, ...(body.name !== undefined && { name: body.name }) }),
          portReadings,
        )
        return portShape(view, port)
      },

      async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
        const { cloud } = await portToChange(actor, cloudId, id, 'delete')
        await read(cloud.network.ports.delete(id), [{ kind: 'busy', refusal: 'computePortInUse' }])
      },
    },
  }
}
export type NetworkKinds = ReturnType<typeof createNetworkKinds>

/** Without what is undefined. */
const defined = <T extends object>(changes: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  // What is left has none of the values that the type takes out.
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> }

/** @param at where the subnet stands in the request, with a dot behind */
async function makeSubnet(cloud: OpenStack, network: Network, body: NewSubnet, at: string, owner: { projectId?: string }): Promise<Subnet> {
  const { name = '', description, cidr, gateway, dhcp, nameservers, pools, host_routes } = body
  const wish = {
    networkId: network.id,
    cidr,
    version: cidr.includes(':') ? (6 as const) : (4 as const),
    name,
    description,
    ...owner,
    ...defined({ gateway, dhcp, nameservers, pools, hostRoutes: host_routes?.map(({ destination, next_hop }) => ({ destination, nexthop: next_hop })) }),
  }
  return read(cloud.network.subnets.create(wish), [
    {
      kind: 'invalid',
      says: /overlaps with another subnet/i,
      refusal: 'computeRangeTaken',
      field: `${at}cidr`,
      values: async () => {
        const own = readRange(cidr)
        const other = (await all(cloud.network.subnets.list({ network_id: network.id }))).find((one) => {
          const range = readRange(one.cidr)
          return own !== null && range !== null && overlapping(own, range)
        })
        return { name: other?.name ?? '', cidr: other?.cidr ?? cidr }
      },
    },
    { kind: 'invalid', says: /pool/i, refusal: 'engineRefused', field: `${at}pools` },
    { kind: 'invalid', says: /cidr|prefix/i, refusal: 'engineRefused', field: `${at}cidr` },
  ])
}

const portWish = ({
  description,
  enabled,
  addresses,
  security_group_ids: securityGroupIds,
  port_security: portSecurity,
  allowed_addresses: allowedAddresses,
}: Omit<BodyOf<typeof computePorts.update>, 'name'>) =>
  defined({
    description,
    enabled,
    securityGroupIds,
    portSecurity,
    allowedAddresses,
    addresses: addresses?.map(({ subnet_id: subnetId, address }) => ({ subnetId, ...(address !== undefined && { address }) })),
  })

const portReadings: readonly Reading[] = [
  { kind: 'not_found', says: /security group/i, refusal: 'computeGroupMissing', field: 'security_group_ids' },
  { kind: 'not_found', says: /subnet/i, refusal: 'computeSubnetMissing', field: 'addresses' },
  { kind: 'not_found', says: /network/i, refusal: 'computeNetworkMissing', field: 'network_id' },
  { kind: 'exhausted', says: /No more IP|IpAddressGeneration/i, refusal: 'computeAddressesExhausted', field: 'network_id' },
  { kind: 'busy', says: /already allocated|in use/i, refusal: 'computeAddressTaken', field: 'addresses' },
  { kind: 'conflict', says: /already allocated|in use/i, refusal: 'computeAddressTaken', field: 'addresses' },
  { kind: 'invalid', says: /not a valid IP|IP address|fixed_ip|subnet/i, refusal: 'computeAddressTaken', field: 'addresses' },
  // Neutron's policies keep addresses and guards of others' networks to their owners.
  { kind: 'unauthorized', refusal: 'noPermission' },
]

/** What ports are plugged into, by its name. Of a few ports only: instances have to be asked for one by one. */
export async function deviceNames(cloud: OpenStack, ports: readonly Port[]): Promise<Record<string, string>> {
  const named = await Promise.all(
    ports.map(async (port) => {
      const use = useOf(port)
      if (port.deviceId === null) return null
      // What is called so is only said beside; without it the id stands there.
      if (use === 'instance')
        return cloud.compute.servers.get(port.deviceId).then(
          ({ id, name }) => [id, name] as const,
          () => null,
        )
      if (use === 'router' || use === 'gateway')
        return cloud.network.routers.get(port.deviceId).then(
          ({ id, name }) => [id, name] as const,
          () => null,
        )
      return null
    }),
  )
  return Object.fromEntries(named.filter((one) => one !== null))
}

/** What keeps a network, subnet or security group from going, as far as it is the asker's. */
export async function usersNamed(view: View, cloud: OpenStack, users: readonly Port[]): Promise<string[]> {
  const own = users.filter(({ projectId }) => ownedBy(view, projectId))
  const names = await deviceNames(cloud, own.slice(0, 3))
  return own.map((port) => names[port.deviceId ?? ''] ?? (port.name === '' ? (port.addresses[0]?.address ?? port.id) : port.name))
}

/** Each of it once, though several projects may see it. */
async function* distinct<T extends { readonly id: string }>(pages: Pages<T>): AsyncGenerator<T[]> {
  const told = new Set<string>()
  for await (const page of pages) {
    const fresh = page.filter(({ id }) => !told.has(id))
    for (const { id } of fresh) told.add(id)
    yield fresh
  }
}
