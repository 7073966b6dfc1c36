import type { ComputeFloatingIp, computeFloatingIps } from '@zhisuan/contract/compute/floating-ip'
import { portCan } from '@zhisuan/contract/compute/network'
import type { BodyOf } from '@zhisuan/contract/define'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { OpenStackError } from '@zhisuan/engines/openstack/errors'
import type { FloatingIp, Port } from '@zhisuan/engines/openstack/network'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { createOneAtATimeEverywhere } from '../../../platform/oneAtATime.ts'
import { known, linesOf, madeWith } from '../../../platform/lines.ts'
import { read, type Reading } from '../network/network.refusals.ts'
import { deviceNames, networksOf, portsOf } from '../network/network.views.ts'
import { ownedBy, project, statusOf, useOf } from '../network/network.shapes.ts'
import { isRecycled } from '../recycle/recycle.store.ts'
import { refuseBeyondQuota } from '../tenancy/quota.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { asNames, mayMakeBeside } from '../volume/storage.ts'
import { changeableOf, namesIn, namesOfPlaces, pagesOf, readOne, type Changeable, type Named } from '../view.ts'

type Target = Pick<BodyOf<typeof computeFloatingIps.bind>, 'port_id' | 'fixed_address'>
/** How often a change that came between is looked at again, where it was not about the binding. */
const attempts = 4

export function createFloatingIps({ db, tenancy }: { db: Db; tenancy: Tenancy }) {
  const oneAtATime = createOneAtATimeEverywhere(db)
  async function toChange(actor: Actor, cloudId: string, id: string): Promise<Changeable<FloatingIp> & { view: View }> {
    const view = await tenancy.viewForChange(actor, cloudId)
    const changeable = await changeableOf(view, (cloud) => cloud.network.floatingIps.get(id))
    if (!ownedBy(view, changeable.one.projectId)) throw new Refusal('notFound')
    return { ...changeable, view }
  }

  /** As it is now, with what it leads to. */
  const shown = async (view: View, cloud: OpenStack, ip: FloatingIp): Promise<ComputeFloatingIp> => {
    const port = ip.portId === null ? undefined : await cloud.network.ports.get(ip.portId).catch(unlessGone)
    return shape(view, ip, port)
  }

  /** @throws Refusal at `port_id` where it may not lead outside */
  async function refuseUnlessTarget(cloudId: string, port: Port): Promise<void> {
    const use = useOf(port)
    const allowed: readonly string[] = portCan.update
    if (!allowed.includes(use)) throw new Refusal('computePortInUse', { field: 'port_id' })
    if (use === 'instance' && port.deviceId !== null && (await isRecycled(db, cloudId, port.deviceId)))
      throw new Refusal('instanceRecycled', { field: 'port_id' })
  }

  /** Where addresses are made: beside the port that one is to lead to, in its project, else where the asker's are. */
  async function placeFor(
    actor: Actor,
    cloudId: string,
    view: View,
    { port_id, project_id }: BodyOf<typeof computeFloatingIps.allocate>,
  ): Promise<{ cloud: OpenStack; projectId: string | null }> {
    if (port_id === undefined) {
      const { cloud, keystoneId: projectId } = await tenancy.placeForMaking(actor, cloudId, project_id)
      return { cloud, projectId }
    }
    const port = await changeableOf(view, (cloud) => cloud.network.ports.get(port_id)).catch((error: unknown) => {
      throw error instanceof Refusal && error.refusal === 'notFound' ? new Refusal('computePortMissing', { field: 'port_id', cause: error }) : error
    })
    if (!ownedBy(view, port.one.projectId)) throw new Refusal('computePortMissing', { field: 'port_id' })
    await refuseUnlessTarget(cloudId, port.one)
    await mayMakeBeside(tenancy, actor, cloudId, port)
    return { cloud: port.cloud, projectId: port.one.projectId }
  }

  /** Changes where it leads, unless somebody else did so since the asker looked. */
  async function lead(actor: Actor, cloudId: string, id: string, from: string | null, to: Target | null): Promise<ComputeFloatingIp> {
    const { one, cloud, view } = await toChange(actor, cloudId, id)
    if (one.portId !== from) throw new Refusal('computeFloatingIpChanged')
    if (to !== null) {
      const port = await read(cloud.network.ports.get(to.port_id), [{ kind: 'not_found', refusal: 'computePortMissing', field: 'port_id' }])
      if (port.projectId !== one.projectId) throw new Refusal('computePortMissing', { field: 'port_id' })
      await refuseUnlessTarget(cloudId, port)
    }
    const changes = to === null ? { portId: null } : { portId: to.port_id, ...(to.fixed_address !== undefined && { fixedAddress: to.fixed_address }) }
    // Of those who ask at once with one revision Neutron lets all through.
    const changed = await oneAtATime(`floating ip ${cloudId} ${id}`, async () => {
      for (let attempt = 1; ; attempt += 1) {
        const { portId, revision } = await read(cloud.network.floatingIps.get(id), [{ kind: 'not_found', refusal: 'notFound' }])
        if (portId !== from) throw new Refusal('computeFloatingIpChanged')
        try {
          return await read(cloud.network.floatingIps.updateSeen(id, revision, changes), targetReadings)
        } catch (error) {
          // Neutron counts its own changes too, such as those of the status: only another binding is in the way.
          if (!(error instanceof OpenStackError && constrained.test(error.message)) || attempt === attempts) throw error
        }
      }
    })
    return shown(view, cloud, changed)
  }

  return {
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const items = madeWith(
        pagesOf(view, (cloud) => cloud.network.floatingIps.list({}, signal)),
        known(portsOf(view, {}, signal)),
        (page, ports) => {
          const byId = new Map(ports.map((port) => [port.id, port]))
          return page.map((ip) => shape(view, ip, byId.get(ip.portId ?? '')))
        },
      )
      const servers = asNames(pagesOf(view, (cloud, allTenants) => cloud.compute.servers.names(allTenants, signal)))
      const routers = namesIn(pagesOf(view, (cloud) => cloud.network.routers.list({ fields: ['id', 'name'] }, signal)))
      yield* linesOf({ items, names: [namesOfPlaces(view), namesIn(networksOf(view, signal)), servers, routers], requestId })
    },

    async get(actor: Actor, cloudId: string, id: string): Promise<ComputeFloatingIp & Named> {
      const view = await tenancy.view(actor, cloudId)
      const ip = await readOne(view, (cloud) => cloud.network.floatingIps.get(id))
      if (!ownedBy(view, ip.projectId)) throw new Refusal('notFound')
      const cloud = view.places.find(({ keystoneId }) => keystoneId === ip.projectId)?.cloud ?? view.administrator
      const [network, port, router] = await Promise.all([
        cloud.network.networks.get(ip.networkId).catch(unlessGone),
        ip.portId === null ? undefined : cloud.network.ports.get(ip.portId).catch(unlessGone),
        // A router of another's, into whose network one is plugged, is called nothing here.
        ip.routerId === null ? undefined : cloud.network.routers.get(ip.routerId).catch(unlessGone),
      ])
      const named = [network, router].flatMap((one) => (one === undefined ? [] : [[one.id, one.name] as const]))
      return {
        ...shape(view, ip, port),
        names: { ...namesOfPlaces(view), ...Object.fromEntries(named), ...(port !== undefined && (await deviceNames(cloud, [port]))) },
      }
    },

    /** All that are asked for, or none. */
    async allocate(actor: Actor, cloudId: string, body: BodyOf<typeof computeFloatingIps.allocate>): Promise<{ items: ComputeFloatingIp[] }> {
      const view = await tenancy.viewForChange(actor, cloudId)
      const { network_id: networkId, count, address, description, port_id: portId, fixed_address: fixedAddress } = body
      if (!view.everything && address !== undefined) throw new Refusal('computePlatformOnly', { field: 'address' })
      const place = await placeFor(actor, cloudId, view, body)
      // Neutron lets only administrators say which address it is to be, and then for whom.
      const cloud = address === undefined ? place.cloud : view.administrator
      const owner = cloud === view.administrator && place.projectId !== null ? { projectId: place.projectId } : {}
      const wish = {
        networkId,
        description,
        ...owner,
        ...(address !== undefined && { address }),
        ...(portId !== undefined && { portId, ...(fixedAddress !== undefined && { fixedAddress }) }),
      }
      const made: FloatingIp[] = []
      try {
        // One after the other: of several at once Neutron lets more through than a quota allows.
        while (made.length < count) made.push(await read(cloud.network.floatingIps.create(wish), allocationReadings))
      } catch (error) {
        await Promise.allSettled(made.map(({ id }) => place.cloud.network.floatingIps.delete(id)))
        // Neutron says which quota it is, and not how much of it there is.
        if (error instanceof Refusal && error.refusal === 'computeFloatingIpQuota' && place.projectId !== null)
          await refuseBeyondQuota(view.administrator, place.projectId, { floating_ips: count }, () => 'count')
        throw error
      }
      // Read as whoever asked sees it: their projects may be one more by now.
      const now = await tenancy.view(actor, cloudId)
      return { items: await Promise.all(made.map((ip) => shown(now, place.cloud, ip))) }
    },

    async update(actor: Actor, cloudId: string, id: string, { description }: BodyOf<typeof computeFloatingIps.update>): Promise<ComputeFloatingIp> {
      const { cloud, view } = await toChange(actor, cloudId, id)
      return shown(view, cloud, await cloud.network.floatingIps.update(id, { description }))
    },

    bind: (actor: Actor, cloudId: string, id: string, { from_port_id, ...target }: BodyOf<typeof computeFloatingIps.bind>): Promise<ComputeFloatingIp> =>
      lead(actor, cloudId, id, from_port_id, target),

    unbind: (actor: Actor, cloudId: string, id: string, { from_port_id }: BodyOf<typeof computeFloatingIps.unbind>): Promise<ComputeFloatingIp> =>
      lead(actor, cloudId, id, from_port_id, null),

    async release(actor: Actor, cloudId: string, id: string): Promise<void> {
      const { cloud } = await toChange(actor, cloudId, id)
      await cloud.network.floatingIps.delete(id)
    },
  }
}
export type FloatingIps = ReturnType<typeof createFloatingIps>

const unlessGone = (error: unknown): undefined => {
  if (error instanceof OpenStackError && error.kind === 'not_found') return undefined
  throw error
}

/** Of what was changed since it was seen (neutron/services/revisions). */
const constrained = /Constrained to \d+, but current revision/i

const targetReadings: readonly Reading[] = [
  { kind: 'not_found', says: /not reachable from subnet/i, refusal: 'computePortUnreachable', field: 'port_id' },
  { kind: 'not_found', says: /\bport\b/i, refusal: 'computePortMissing', field: 'port_id' },
  { kind: 'busy', says: /already has a floating IP/i, refusal: 'computeFixedAddressTaken', field: 'port_id' },
  { kind: 'conflict', says: /already has a floating IP/i, refusal: 'computeFixedAddressTaken', field: 'port_id' },
  { kind: 'invalid', says: /fixed IP/i, refusal: 'computeFixedAddressMissing', field: 'fixed_address' },
]
const allocationReadings: readonly Reading[] = [
  ...targetReadings,
  { kind: 'not_found', says: /network/i, refusal: 'computeNetworkMissing', field: 'network_id' },
  { kind: 'invalid', says: /not a valid external network/i, refusal: 'computeNetworkNotExternal', field: 'network_id' },
  { kind: 'invalid', says: /does not contain any IPv4 subnet/i, refusal: 'computeAddressesExhausted', field: 'network_id' },
  { kind: 'invalid', says: /floating_network_id/i, refusal: 'computeNetworkMissing', field: 'network_id' },
  { kind: 'exhausted', says: /quota/i, refusal: 'computeFloatingIpQuota', field: 'count' },
  { kind: 'exhausted', says: /No more IP|IpAddressGeneration/i, refusal: 'computeAddressesExhausted', field: 'network_id' },
  { kind: 'invalid', says: /Unable to find any IP address/i, refusal: 'computeAddressesExhausted', field: 'network_id' },
  { kind: 'busy', says: /already allocated/i, refusal: 'computeAddressTaken', field: 'address' },
  { kind: 'conflict', says: /already allocated|in use/i, refusal: 'computeAddressTaken', field: 'address' },
  { kind: 'invalid', says: /not a valid IP/i, refusal: 'computeAddressTaken', field: 'address' },
]

/** @param port where it leads to, as far as the asker sees that */
function shape(view: View, ip: FloatingIp, port: Port | undefined): ComputeFloatingIp {
  return {
    id: ip.id,
    address: ip.address,
    status: statusOf(ip.status),
    network_id: ip.networkId,
    bound_to:
      ip.portId === null
        ? null
        : {
            port_id: ip.portId,
            port_name: port?.name ?? '',
            instance_id: port !== undefined && useOf(port) === 'instance' ? port.deviceId : null,
            fixed_address: ip.fixedAddress ?? '',
            router_id: ip.routerId,
          },
    description: ip.description,
    keystone_project_id: project(ip.projectId),
    changeable: ownedBy(view, ip.projectId),
    created_at: ip.createdAt,
    updated_at: ip.updatedAt,
  }
}
