import type { ComputeNetwork, computeNetworks } from '@zhisuan/contract/compute/network'
import type { BodyOf } from '@zhisuan/contract/define'
import { all } from '@zhisuan/engines/openstack/session'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { known, linesOf, madeWith } from '../../../platform/lines.ts'
import { defined } from '../defined.ts'
import type { Tenancy } from '../tenancy/tenancy.service.ts'
import { namesOfPlaces, sharedPagesOf, type Named } from '../view.ts'
import { read, someOf, unlessUsed } from './network.refusals.ts'
import { networkShape, useOf } from './network.shapes.ts'
import { networksOf, networkToChange, seenNetwork, subnetSeen, subnetsOf, usersNamed } from './network.views.ts'
import { makeSubnet } from './subnet.making.ts'

export type Networks = ReturnType<typeof createNetworks>

/** Networks of a cloud's Neutron; one may be made with its first subnet. */
export const createNetworks = (tenancy: Tenancy) => ({
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
    const place = await tenancy.placeForMaking(actor, cloudId, body.project_id, 'free')
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
    const { cloud, view } = await networkToChange(tenancy, actor, cloudId, id)
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
    const { cloud, view } = await networkToChange(tenancy, actor, cloudId, id)
    await unlessUsed(cloud.network.networks.delete(id), async () => {
      const users = (await all(cloud.network.ports.list({ network_id: id }))).filter((port) => useOf(port) !== 'dhcp')
      return users.length === 0
        ? null
        : new Refusal('computeNetworkInUse', { values: { count: users.length, names: someOf(await usersNamed(view, cloud, users)) } })
    })
  },
})
