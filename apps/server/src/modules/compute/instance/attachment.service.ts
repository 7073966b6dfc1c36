import type { computeInstances } from '@zhisuan/contract/compute/instance'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { read } from '../network/network.refusals.ts'
import { settled } from '../settled.ts'
import type { Tenancy } from '../tenancy/tenancy.service.ts'
import { refuseUnlessAttachable, unlessRoot } from '../volume/volume.service.ts'
import { chosen, connectable, connectionReadings, openedServer } from './instance.ground.ts'
import { interfaceShape } from './instance.shape.ts'

type Calls = typeof computeInstances

/** What is connected to an instance: interfaces to networks, and volumes. */
export function createAttachments(parts: { db: Db; tenancy: Tenancy }) {
  return {
    async attachInterface(actor: Actor, cloudId: string, id: string, body: BodyOf<Calls['attachInterface']>): Promise<ResponseOf<Calls['attachInterface']>> {
      const { cloud } = await openedServer(parts, actor, cloudId, id, 'attachInterface')
      const { network_id, port_id, address } = body
      await connectable(cloud, body, '')
      const to = network_id === undefined ? { portId: port_id ?? '' } : { networkId: network_id, ...(address !== undefined && { address }) }
      const { interfaces } = cloud.compute.servers
      const before = new Set((await interfaces.list(id)).map(({ portId }) => portId))
      const made = settled(
        interfaces.attach(id, to),
        async () =>
          (await interfaces.list(id)).find(
            (one) => !before.has(one.portId) && (port_id === undefined ? one.networkId === network_id : one.portId === port_id),
          ) ?? null,
      )
      return interfaceShape(await read(made, connectionReadings(body, '')))
    },
    async detachInterface(actor: Actor, cloudId: string, id: string, portId: string): Promise<void> {
      const { cloud } = await openedServer(parts, actor, cloudId, id, 'detachInterface')
      // Nova takes any port, and finds out later that it is none of the instance's.
      if (!(await cloud.compute.servers.interfaces.list(id)).some((one) => one.portId === portId)) throw new Refusal('notFound')
      const { interfaces } = cloud.compute.servers
      await settled(interfaces.detach(id, portId), async () => ((await interfaces.list(id)).some((one) => one.portId === portId) ? null : undefined))
    },
    async attachVolume(actor: Actor, cloudId: string, id: string, volumeId: string): Promise<{ volume_id: string; device: string }> {
      const { cloud } = await openedServer(parts, actor, cloudId, id, 'attachVolume')
      refuseUnlessAttachable(await chosen('volume_id', cloud.volume.volumes.get(volumeId)), 'volume_id')
      const { volumes } = cloud.compute.servers
      const { device } = await settled(volumes.attach(id, volumeId), async () => (await volumes.list(id)).find((one) => one.volumeId === volumeId) ?? null)
      return { volume_id: volumeId, device }
    },
    async detachVolume(actor: Actor, cloudId: string, id: string, volumeId: string): Promise<void> {
      const { cloud } = await openedServer(parts, actor, cloudId, id, 'detachVolume')
      const { volumes } = cloud.compute.servers
      await settled(unlessRoot(volumes.detach(id, volumeId)), async () =>
        (await volumes.list(id)).some((one) => one.volumeId === volumeId) ? null : undefined,
      )
    },
  }
}
