import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Network, Port, Subnet } from '@zhisuan/engines/openstack/network'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { mapped, type Pages } from '../../../platform/lines.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOf, pagesOf, readOne, sharedPagesOf, type Changeable } from '../view.ts'
import { isOpen, networkChangeable, ownedBy, useOf } from './network.shapes.ts'

/** All networks that the asker may see. */
export const networksOf = (view: View, signal?: AbortSignal): Pages<Network> => sharedPagesOf(view, (cloud) => cloud.network.networks.list({}, signal), isOpen)
/** Of an external network of another's nobody sees the ranges. */
export const subnetSeen = (view: View, subnet: Subnet, network: Network | undefined): boolean =>
  view.everything || network?.shared === true || ownedBy(view, subnet.projectId)
/** As far as the cloud shows them: `subnetSeen` says which of them are told of. */
export const subnetsOf = (view: View, signal?: AbortSignal): Pages<Subnet> =>
  sharedPagesOf(
    view,
    (cloud) => cloud.network.subnets.list({}, signal),
    () => true,
  )
/** Whoever has a network also sees what others plugged into it; here nobody does. */
export async function* portsOf(view: View, query: Record<string, string | readonly string[]>, signal?: AbortSignal): AsyncGenerator<Port[]> {
  for await (const page of pagesOf(view, (cloud) => cloud.network.ports.list(query, signal))) yield page.filter(({ projectId }) => ownedBy(view, projectId))
}

/** What subnets are called for lists: those without a name by their range. */
export const subnetNames = (pages: Pages<Subnet>): Pages<readonly [string, string]> =>
  mapped(pages, ({ id, name, cidr }) => [id, name === '' ? cidr : name] as const)

/** @throws Refusal notFound of one that the asker may not see */
export const seenNetwork = (view: View, id: string): Promise<Network> => readOne(view, (cloud) => cloud.network.networks.get(id), isOpen)

/** @throws Refusal notFound, noPermission of what is everybody's or another's */
export async function networkToChange(tenancy: Tenancy, actor: Actor, cloudId: string, id: string): Promise<Changeable<Network> & { view: View }> {
  const view = await tenancy.viewForChange(actor, cloudId)
  const changeable = await changeableOf(view, (cloud) => cloud.network.networks.get(id))
  if (!networkChangeable(view, changeable.one)) throw new Refusal('noPermission')
  return { ...changeable, view }
}

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
