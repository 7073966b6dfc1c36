import { portCan, type ComputePort, type computePorts } from '@zhisuan/contract/compute/network'
import type { BodyOf } from '@zhisuan/contract/define'
import type { Port } from '@zhisuan/engines/openstack/network'
import { all } from '@zhisuan/engines/openstack/session'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { linesOf, mapped, type Pages } from '../../../platform/lines.ts'
import { defined } from '../defined.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { asNames } from '../volume/storage.ts'
import { changeableOf, namesIn, namesOfPlaces, pagesOf, readOne, type Changeable, type Named } from '../view.ts'
import { read, type Reading } from './network.refusals.ts'
import { ownedBy, portShape, useOf } from './network.shapes.ts'
import { deviceNames, networksOf, portsOf, seenNetwork } from './network.views.ts'

export type Ports = ReturnType<typeof createPorts>

/** What is plugged into networks; of others' nobody sees any. */
export function createPorts(tenancy: Tenancy) {
  async function portToChange(actor: Actor, cloudId: string, id: string, action: 'update' | 'delete'): Promise<Changeable<Port> & { view: View }> {
    const view = await tenancy.viewForChange(actor, cloudId)
    const changeable = await changeableOf(view, (cloud) => cloud.network.ports.get(id))
    if (!ownedBy(view, changeable.one.projectId)) throw new Refusal('notFound')
    const allowed: readonly string[] = portCan[action]
    if (!allowed.includes(useOf(changeable.one))) throw new Refusal('computePortInUse')
    return { ...changeable, view }
  }

  return {
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const servers = asNames(pagesOf(view, (cloud, allTenants) => cloud.compute.servers.names(allTenants, signal)))
      const routers = namesIn(pagesOf(view, (cloud) => cloud.network.routers.list({}, signal)))
      const groups = namesIn(pagesOf(view, (cloud) => cloud.network.securityGroups.list({ fields: ['id', 'name'] }, signal)))
      yield* linesOf({
        items: mapped(distinct(portsOf(view, {}, signal)), (port) => portShape(view, port)),
        names: [namesOfPlaces(view), namesIn(networksOf(view, signal)), servers, routers, groups],
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
      const place = await tenancy.placeForMaking(actor, cloudId, body.project_id, 'free')
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
  }
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

/** Each of it once, though several projects may see it. */
async function* distinct<T extends { readonly id: string }>(pages: Pages<T>): AsyncGenerator<T[]> {
  const told = new Set<string>()
  for await (const page of pages) {
    const fresh = page.filter(({ id }) => !told.has(id))
    for (const { id } of fresh) told.add(id)
    yield fresh
  }
}
