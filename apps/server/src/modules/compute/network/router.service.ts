import type { ComputeRouter, computeRouters } from '@zhisuan/contract/compute/router'
import type { BodyOf } from '@zhisuan/contract/define'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { OpenStackError } from '@zhisuan/engines/openstack/errors'
import type { Port, Router } from '@zhisuan/engines/openstack/network'
import { all } from '@zhisuan/engines/openstack/session'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { known, linesOf, madeWith } from '../../../platform/lines.ts'
import { defined } from '../defined.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOf, namesIn, namesOfPlaces, pagesOf, readOne, type Changeable, type Named } from '../view.ts'
import { read, someOf, unlessUsed, type Reading } from './network.refusals.ts'
import { networksOf, portsOf, subnetNames } from './network.views.ts'
import { interfaceOwners, ownedBy, routerShape } from './network.shapes.ts'

type Joined = BodyOf<typeof computeRouters.addInterface>

const interfacesOf = (cloud: OpenStack, id: string): Promise<Port[]> => all(cloud.network.ports.list({ device_id: id, device_owner: interfaceOwners }))

export function createRouters(tenancy: Tenancy) {
  async function toChange(actor: Actor, cloudId: string, id: string): Promise<Changeable<Router> & { view: View }> {
    const view = await tenancy.viewForChange(actor, cloudId)
    const changeable = await changeableOf(view, (cloud) => cloud.network.routers.get(id))
    if (!ownedBy(view, changeable.one.projectId)) throw new Refusal('notFound')
    return { ...changeable, view }
  }
  const now = async (view: View, cloud: OpenStack, id: string): Promise<ComputeRouter> => {
    const [router, interfaces] = await Promise.all([cloud.network.routers.get(id), interfacesOf(cloud, id)])
    return routerShape(view, router, interfaces)
  }

  return {
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const items = madeWith(
        pagesOf(view, (cloud) => cloud.network.routers.list({}, signal)),
        known(portsOf(view, { device_owner: interfaceOwners }, signal)),
        (page, ports) => {
          const interfaces = Map.groupBy(ports, ({ deviceId }) => deviceId)
          return page.map((router) => routerShape(view, router, interfaces.get(router.id) ?? []))
        },
      )
      const subnets = pagesOf(view, (cloud) => cloud.network.subnets.list({}, signal))
      yield* linesOf({ items, names: [namesOfPlaces(view), namesIn(networksOf(view, signal)), subnetNames(subnets)], requestId })
    },

    async get(actor: Actor, cloudId: string, id: string): Promise<ComputeRouter & Named> {
      const view = await tenancy.view(actor, cloudId)
      const router = await readOne(view, (cloud) => cloud.network.routers.get(id))
      const cloud = view.places.find(({ keystoneId }) => keystoneId === router.projectId)?.cloud ?? view.administrator
      const interfaces = await interfacesOf(cloud, id)
      const networkIds = [...new Set([...interfaces.map(({ networkId }) => networkId), ...(router.gateway === null ? [] : [router.gateway.networkId])])]
      const subnetIds = [...new Set(interfaces.flatMap(({ addresses }) => addresses.flatMap(({ subnetId }) => (subnetId === null ? [] : [subnetId]))))]
      const [networks, subnets] = await Promise.all([
        networkIds.length === 0 ? [] : all(cloud.network.networks.list({ id: networkIds })),
        subnetIds.length === 0 ? [] : all(cloud.network.subnets.list({ id: subnetIds })),
      ])
      return {
        ...routerShape(view, router, interfaces),
        names: {
          ...namesOfPlaces(view),
          ...Object.fromEntries(networks.map((one) => [one.id, one.name])),
          ...Object.fromEntries(subnets.map((one) => [one.id, one.name === '' ? one.cidr : one.name])),
        },
      }
    },

    /** With its gateway and all that it joins, or not at all. */
    async create(actor: Actor, cloudId: string, body: BodyOf<typeof computeRouters.create>): Promise<ComputeRouter> {
      const { everything, administrator } = await tenancy.viewForChange(actor, cloudId)
      if (!everything && body.gateway?.snat !== undefined) throw new Refusal('computePlatformOnly', { field: 'gateway.snat' })
      const place = await tenancy.placeForMaking(actor, cloudId, body.project_id, 'free')
      const special = body.gateway?.snat !== undefined
      const router = await read(
        (special ? administrator : place.cloud).network.routers.create({
          name: body.name,
          description: body.description,
          ...(special && { projectId: place.keystoneId }),
          ...(body.gateway !== null && { gateway: gatewayOf(body.gateway) }),
        }),
        gatewayReadings('gateway.network_id'),
      )
      const joined: string[] = []
      try {
        for (const [index, subnet_id] of body.subnet_ids.entries()) {
          await join(place.cloud, router.id, { subnet_id }, `subnet_ids.${index}`)
          joined.push(subnet_id)
        }
        return await now(await tenancy.view(actor, cloudId), place.cloud, router.id)
      } catch (error) {
        for (const subnetId of joined) await place.cloud.network.routers.removeInterface(router.id, { subnetId }).catch(() => undefined)
        await place.cloud.network.routers.delete(router.id).catch(() => undefined)
        throw error
      }
    },

    async update(actor: Actor, cloudId: string, id: string, { name, description, enabled }: BodyOf<typeof computeRouters.update>): Promise<ComputeRouter> {
      const { cloud, view } = await toChange(actor, cloudId, id)
      await cloud.network.routers.update(id, defined({ name, description, enabled }))
      return now(view, cloud, id)
    },

    async setGateway(actor: Actor, cloudId: string, id: string, body: BodyOf<typeof computeRouters.setGateway>): Promise<ComputeRouter> {
      const { cloud, view } = await toChange(actor, cloudId, id)
      if (!view.everything && body.snat !== undefined) throw new Refusal('computePlatformOnly', { field: 'snat' })
      // Neutron lets only administrators say how addresses are shared.
      await read((body.snat === undefined ? cloud : view.administrator).network.routers.update(id, { gateway: gatewayOf(body) }), gatewayReadings('network_id'))
      return now(view, cloud, id)
    },

    async clearGateway(actor: Actor, cloudId: string, id: string): Promise<ComputeRouter> {
      const { cloud, view } = await toChange(actor, cloudId, id)
      await read(cloud.network.routers.update(id, { gateway: null }), [{ kind: 'busy', refusal: 'computeRouterNeeded' }])
      return now(view, cloud, id)
    },

    async addInterface(actor: Actor, cloudId: string, id: string, body: Joined): Promise<ComputeRouter> {
      const { cloud, view } = await toChange(actor, cloudId, id)
      await join(cloud, id, body, body.port_id === undefined ? 'subnet_id' : 'port_id')
      return now(view, cloud, id)
    },

    async removeInterface(actor: Actor, cloudId: string, id: string, body: Joined): Promise<ComputeRouter> {
      const { cloud, view } = await toChange(actor, cloudId, id)
      const byPort = body.port_id !== undefined
      const field = byPort ? 'port_id' : 'subnet_id'
      await read(cloud.network.routers.removeInterface(id, wayOf(body)), [
        { kind: 'not_found', refusal: byPort ? 'computePortMissing' : 'computeSubnetMissing', field },
        { kind: 'busy', refusal: 'computeRouterNeeded', field },
        { kind: 'conflict', refusal: 'computeRouterNeeded', field },
      ])
      return now(view, cloud, id)
    },

    async setRoutes(actor: Actor, cloudId: string, id: string, { routes }: BodyOf<typeof computeRouters.setRoutes>): Promise<ComputeRouter> {
      const { cloud, view } = await toChange(actor, cloudId, id)
      await read(cloud.network.routers.update(id, { routes: routes.map(({ destination, next_hop }) => ({ destination, nexthop: next_hop })) }), [
        { kind: 'invalid', says: /'nexthop': '([^']+)'/, refusal: 'computeNextHopOutside', field: 'routes', values: async ([, address = '']) => ({ address }) },
      ])
      return now(view, cloud, id)
    },

    async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
      const { cloud } = await toChange(actor, cloudId, id)
      await unlessUsed(cloud.network.routers.delete(id), async () => {
        const interfaces = await interfacesOf(cloud, id)
        const ids = interfaces.flatMap(({ addresses }) => addresses.flatMap(({ subnetId }) => (subnetId === null ? [] : [subnetId])))
        if (interfaces.length === 0) return null
        const subnets = ids.length === 0 ? [] : await all(cloud.network.subnets.list({ id: ids }))
        return new Refusal('computeRouterInUse', {
          values: { count: interfaces.length, names: someOf(subnets.map(({ name, cidr }) => (name === '' ? cidr : name))) },
        })
      })
    },
  }
}
export type Routers = ReturnType<typeof createRouters>

const gatewayOf = ({ network_id: networkId, snat }: BodyOf<typeof computeRouters.setGateway>) => ({ networkId, ...(snat !== undefined && { snat }) })
const gatewayReadings = (field: string): readonly Reading[] => [
  { kind: 'not_found', says: /network/i, refusal: 'computeNetworkMissing', field },
  { kind: 'invalid', says: /not an external network/i, refusal: 'computeNetworkNotExternal', field },
  { kind: 'exhausted', says: /No more IP|IpAddressGeneration/i, refusal: 'computeAddressesExhausted', field },
  { kind: 'busy', says: /floating/i, refusal: 'computeRouterNeeded', field },
]
/** The declaration takes one of them and no less. */
const wayOf = ({ subnet_id, port_id }: Joined) => (port_id === undefined ? { subnetId: subnet_id ?? '' } : { portId: port_id })

async function join(cloud: OpenStack, routerId: string, body: Joined, field: string): Promise<void> {
  const taken = { kind: 'busy', says: /already allocated in subnet/i, field } as const
  const own = async (): Promise<boolean> =>
    (await interfacesOf(cloud, routerId)).some(({ addresses }) => addresses.some(({ subnetId }) => subnetId === body.subnet_id))
  const asked = cloud.network.routers.addInterface(routerId, wayOf(body)).catch(async (error: unknown) => {
    // Asked for twice at once, the second finds the address taken by the first.
    if (error instanceof OpenStackError && taken.says.test(error.message) && (await own())) throw new Refusal('computeRouterJoined', { cause: error, field })
    throw error
  })
  await read(asked, [
    { ...taken, refusal: 'computeGatewayTaken' },
    { kind: 'not_found', says: /\bport\b/i, refusal: 'computePortMissing', field },
    { kind: 'not_found', refusal: 'computeSubnetMissing', field },
    { kind: 'invalid', says: /already has a port on subnet/i, refusal: 'computeRouterJoined', field },
    { kind: 'invalid', says: /must have a gateway/i, refusal: 'computeSubnetNoGateway', field },
    {
      kind: 'invalid',
      says: /overlaps with cidr (\S+) of subnet ([\w-]+)/i,
      refusal: 'computeRouterOverlap',
      field,
      values: async ([, cidr = '', id = '']) => {
        const name = await cloud.network.subnets.get(id).then(
          (subnet) => subnet.name,
          () => '',
        )
        return { name: name === '' ? cidr : name }
      },
    },
    { kind: 'busy', says: /attached device/i, refusal: 'computePortInUse', field },
  ])
}
