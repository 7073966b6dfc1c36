import { subnetProblems, type ComputeSubnet, type computeSubnets } from '@zhisuan/contract/compute/network'
import type { BodyOf } from '@zhisuan/contract/define'
import type { Network, Subnet } from '@zhisuan/engines/openstack/network'
import { all } from '@zhisuan/engines/openstack/session'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { known, linesOf, madeWith } from '../../../platform/lines.ts'
import { defined } from '../defined.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOf, namesOfPlaces, readOne, type Changeable, type Named } from '../view.ts'
import { read, someOf, unlessUsed } from './network.refusals.ts'
import { networkChangeable, ownedBy, subnetShape, useOf } from './network.shapes.ts'
import { networksOf, networkToChange, seenNetwork, subnetSeen, subnetsOf, usersNamed } from './network.views.ts'
import { makeSubnet } from './subnet.making.ts'

export type Subnets = ReturnType<typeof createSubnets>

/** Ranges of networks: whoever may change a network changes them. */
export function createSubnets(tenancy: Tenancy) {
  async function subnetToChange(actor: Actor, cloudId: string, id: string): Promise<Changeable<Subnet> & { view: View; network: Network }> {
    const view = await tenancy.viewForChange(actor, cloudId)
    const changeable = await changeableOf(view, (cloud) => cloud.network.subnets.get(id))
    const network = await changeable.cloud.network.networks.get(changeable.one.networkId)
    if (!subnetSeen(view, changeable.one, network)) throw new Refusal('notFound')
    if (!networkChangeable(view, network) || !ownedBy(view, changeable.one.projectId)) throw new Refusal('noPermission')
    return { ...changeable, view, network }
  }

  return {
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
      } = await networkToChange(tenancy, actor, cloudId, body.network_id).catch((error: unknown) => {
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
          field: [first === 'pools' && body.pools === undefined ? 'gateway' : first, ...(body.pools === undefined && first === 'pools' ? [] : rest)].join('.'),
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
  }
}
