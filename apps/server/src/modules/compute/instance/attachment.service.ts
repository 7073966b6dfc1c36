import type { computeInstances } from '@zhisuan/contract/compute/instance'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { read } from '../network/network.refusals.ts'
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
      return interfaceShape(await read(cloud.compute.servers.interfaces.attach(id, to), connectionReadings(body, '')))
    },
    async detachInterface(actor: Actor, cloudId: string, id: string, portId: string): Promise<void> {
      const { cloud } = await openedServer(parts, actor, cloudId, id, 'detachInterface')
      // Nova takes any port, and finds out later that it is none of the instance's.
      if (!(await cloud.compute.servers.interfaces.list(id)).some((one) => one.portId === portId)) throw new Refusal('notFound')
      await cloud.compute.servers.interfaces.detach(id, portId)
    },
    async attachVolume(actor: Actor, cloudId: string, id: string, volumeId: string): Promise<{ volume_id: string; device: string }> {
      const { cloud } = await openedServer(parts, actor, cloudId, id, 'attachVolume')
      refuseUnlessAttachable(await chosen('volume_id', cloud.volume.volumes.get(volumeId)), 'volume_id')
      const { device } = await cloud.compute.servers.volumes.attach(id, volumeId)
      return { volume_id: volumeId, device }
    },
    async detachVolume(actor: Actor, cloudId: string, id: string, volumeId: string): Promise<void> {
      const { cloud } = await openedServer(parts, actor, cloudId, id, 'detachVolume')
      await unlessRoot(cloud.compute.servers.volumes.detach(id, volumeId))
    },
  }
}
