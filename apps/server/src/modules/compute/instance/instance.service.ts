import type { ComputeInstance, computeInstances, InstanceAction } from '@zhisuan/contract/compute/instance'
import { computeFloatingIps } from '@zhisuan/contract/compute/floating-ip'
import { computeVolumes } from '@zhisuan/contract/compute/volume'
import type { BodyOf, Call, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Server, SimpleAction } from '@zhisuan/engines/openstack/compute'
import type { Context } from '@zhisuan/contract/policy/pattern'
import type { Actor } from '../../../platform/auth/actor.ts'
import { asksAlso } from '../../../platform/auth/also.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { all } from '@zhisuan/engines/openstack/session'
import { meterBeforeEnd } from '../metering/metering.service.ts'
import { settled } from '../settled.ts'
import type { Tenancy } from '../tenancy/tenancy.service.ts'
import { mayMakeBeside, refusedAtField } from '../volume/storage.ts'
import { createAttachments } from './attachment.service.ts'
import { createInstanceMaker } from './instance.create.ts'
import { chosen, openedServer, type OpenedServer, type PublicKeys } from './instance.ground.ts'
import { createInstanceReading } from './instance.reading.ts'
import { shapeOf } from './instance.shape.ts'
import { createServerGroups } from './server-group.service.ts'

type Calls = typeof computeInstances

export type Instances = ReturnType<typeof createInstances>

/** Instances are Nova's; what lies in the recycle bin stands in our rows and is left alone here. */
export function createInstances(parts: Pick<Platform, 'db' | 'now' | 'log' | 'kinds'> & { tenancy: Tenancy; publicKeys: PublicKeys }) {
  const { tenancy } = parts

  const open = (actor: Actor, cloudId: string, id: string, action: InstanceAction): Promise<OpenedServer> => openedServer(parts, actor, cloudId, id, action)
  /** As it is now: mostly on its way already. */
  const now = async ({ view, cloud, one }: OpenedServer): Promise<ComputeInstance> =>
    shapeOf(await (view.everything ? view.administrator : cloud).compute.servers.get(one.id), view.everything)
  /** Whether something is done to it since it was opened; null where nothing is seen of it. */
  const begun = async ({ cloud, one }: OpenedServer): Promise<true | null> => {
    const server = await cloud.compute.servers.get(one.id)
    const same = server.state === one.state && server.taskState === one.taskState && server.updatedAt?.getTime() === one.updatedAt?.getTime()
    return same ? null : true
  }
  const changed = async (
    actor: Actor,
    cloudId: string,
    id: string,
    action: InstanceAction,
    change: (opened: OpenedServer) => Promise<unknown>,
  ): Promise<ComputeInstance> => {
    const opened = await open(actor, cloudId, id, action)
    await settled<unknown>(change(opened), () => begun(opened))
    return now(opened)
  }
  /** What the cloud's administrator alone may do. */
  const asAdministrator = ({ view }: OpenedServer) => {
    if (!view.everything) throw new Refusal('noPermission')
    return view.administrator.compute.servers
  }
  return {
    ...createInstanceReading(parts),
    create: createInstanceMaker(parts),
    attachments: createAttachments(parts),
    groups: createServerGroups(tenancy),

    update: (actor: Actor, cloudId: string, id: string, body: BodyOf<Calls['update']>) =>
      changed(actor, cloudId, id, 'update', ({ cloud }) => cloud.compute.servers.update(id, body)),

    /** What needs nothing more than its name. */
    act: (actor: Actor, cloudId: string, id: string, action: SimpleAction & InstanceAction) =>
      changed(actor, cloudId, id, action, ({ cloud }) => cloud.compute.servers.act(id, action)),

    reboot: (actor: Actor, cloudId: string, id: string, type: 'soft' | 'hard') =>
      changed(actor, cloudId, id, type === 'soft' ? 'rebootSoft' : 'rebootHard', ({ cloud }) => cloud.compute.servers.reboot(id, type)),

    resize: (actor: Actor, cloudId: string, id: string, flavorId: string) =>
      changed(actor, cloudId, id, 'resize', async (opened) => {
        const { one, cloud } = opened
        const flavor = await chosen('flavor_id', cloud.compute.flavors.get(flavorId))
        if (isMore(flavor, one.flavor)) await mayMakeBeside(tenancy, actor, cloudId, opened)
        await refusedAtField(cloud.compute.servers.resize(id, flavorId), { exhausted: ['nodeResourcesInsufficient', 'flavor_id'] })
      }),

    rebuild: (actor: Actor, cloudId: string, id: string, body: BodyOf<Calls['rebuild']>) =>
      changed(actor, cloudId, id, 'rebuild', async ({ cloud }) => {
        await chosen('image_id', cloud.images.get(body.image_id))
        await cloud.compute.servers.rebuild(id, body.image_id, {
          ...(body.password !== undefined && { adminPassword: body.password }),
          ...(body.user_data !== undefined && { userData: body.user_data }),
        })
      }),

    async rescue(actor: Actor, cloudId: string, id: string, body: BodyOf<Calls['rescue']>): Promise<ResponseOf<Calls['rescue']>> {
      const opened = await open(actor, cloudId, id, 'rescue')
      const { image_id } = body
      if (image_id !== null) await chosen('image_id', opened.cloud.images.get(image_id))
      const password = await opened.cloud.compute.servers.rescue(id, {
        ...(image_id !== null && { imageId: image_id }),
        ...(body.password !== undefined && { adminPassword: body.password }),
      })
      return { instance: await now(opened), password }
    },

    changePassword: (actor: Actor, cloudId: string, id: string, password: string) =>
      changed(actor, cloudId, id, 'changePassword', ({ cloud }) => cloud.compute.servers.changePassword(id, password)),
    migrate: (actor: Actor, cloudId: string, id: string, host: string | null) =>
      changed(actor, cloudId, id, 'migrate', (opened) => asAdministrator(opened).migrate(id, host)),
    liveMigrate: (actor: Actor, cloudId: string, id: string, host: string | null) =>
      changed(actor, cloudId, id, 'liveMigrate', (opened) => asAdministrator(opened).liveMigrate(id, host)),
    resetState: (actor: Actor, cloudId: string, id: string, state: 'active' | 'error') =>
      changed(actor, cloudId, id, 'resetState', (opened) => asAdministrator(opened).resetState(id, state)),

    /**
     * For good, whatever the cloud does with what is deleted. What is to go with it is refused before anything is done.
     * @throws Refusal noPermission, `computeVolumeHasSnapshots`, `computeReleaseUnsupported`
     */
    async delete(
      actor: Actor,
      cloudId: string,
      id: string,
      { release_floating_ips = false, release_volumes = false }: QueryOf<Calls['delete']>,
      context: Context,
    ): Promise<void> {
      const { view, cloud } = await open(actor, cloudId, id, 'delete')
      const { servers } = cloud.compute
      const asks = (call: Call, of: string) => asksAlso(parts.kinds, actor, call, { cloud_id: cloudId, id: of }, context)
      const ips = release_floating_ips ? await floatingIpsOf(cloud, id) : []
      for (const ip of ips) await asks(computeFloatingIps.release, ip)
      const volumes = release_volumes ? await goWith(cloud, id, (volume) => asks(computeVolumes.delete, volume)) : []
      await meterBeforeEnd(parts, cloudId, view.administrator, id)
      const gone = settled(servers.act(id, 'forceDelete'), async () => {
        try {
          const { state } = await servers.get(id)
          return state === 'deleting' || state === 'deleted' ? undefined : null
        } catch (error) {
          if (isEngineError(error, 'not_found')) return undefined
          throw error
        }
      })
      await gone.catch(async (error: unknown) => {
        // It stays, and so does what was its own.
        for (const volume of volumes)
          await servers.volumes
            .deleteWithServer(id, volume, false)
            .catch((err: unknown) => parts.log.warn({ err, volume }, 'a volume would still go with its instance'))
        throw error
      })
      for (const ip of ips) await cloud.network.floatingIps.delete(ip)
    },

    async console(actor: Actor, cloudId: string, id: string, type: 'novnc'): Promise<{ url: string }> {
      const { cloud } = await open(actor, cloudId, id, 'console')
      try {
        return { url: await cloud.compute.servers.console(id, type) }
      } catch (error) {
        // Nova says so of a kind that it was not set up for.
        if (isEngineError(error, 'invalid', 'unsupported')) throw new Refusal('consoleMissing', { field: 'type', cause: error })
        throw error
      }
    },

    setMetadata: (actor: Actor, cloudId: string, id: string, metadata: Record<string, string>) =>
      changed(actor, cloudId, id, 'setMetadata', ({ cloud }) => cloud.compute.servers.setMetadata(id, metadata)),
    setTags: (actor: Actor, cloudId: string, id: string, tags: readonly string[]) =>
      changed(actor, cloudId, id, 'setTags', ({ cloud }) => cloud.compute.servers.setTags(id, tags)),

    async snapshot(actor: Actor, cloudId: string, id: string, body: BodyOf<Calls['snapshot']>): Promise<{ image_id: string }> {
      const opened = await open(actor, cloudId, id, 'snapshot')
      const { cloud } = opened
      await mayMakeBeside(tenancy, actor, cloudId, opened)
      return { image_id: await cloud.compute.servers.createImage(id, body.name, body.description === '' ? {} : { description: body.description }) }
    },
  }
}

/** Whether it has more of anything than what is there, as far as that is known. */
const isMore = (flavor: Amounts, now: Amounts | null): boolean =>
  now === null || flavor.vcpus > now.vcpus || flavor.memoryMib > now.memoryMib || flavor.diskGib > now.diskGib
type Amounts = Pick<NonNullable<Server['flavor']>, 'vcpus' | 'memoryMib' | 'diskGib'>

/** The floating IPs that lead to an instance. */
async function floatingIpsOf({ network }: OpenStack, id: string): Promise<string[]> {
  const ports = await all(network.ports.list({ device_id: id }))
  const lists = await Promise.all(ports.map((port) => all(network.floatingIps.list({ port_id: port.id }))))
  return lists.flat().map((ip) => ip.id)
}

/**
 * Has the volumes of an instance go with it that would stay.
 * @param asks whether the asker may delete one
 * @returns which they are
 */
async function goWith({ compute: { servers }, volume }: OpenStack, id: string, asks: (volumeId: string) => Promise<void>): Promise<string[]> {
  const staying = (await servers.volumes.list(id)).filter(({ deleteWithServer }) => !deleteWithServer)
  for (const { volumeId } of staying) {
    await asks(volumeId)
    // Cinder would keep it, and nobody would be told.
    const { length: count } = await all(volume.snapshots.list({ volume_id: volumeId }))
    if (count > 0) throw new Refusal('computeVolumeHasSnapshots', { values: { count } })
  }
  for (const { volumeId } of staying)
    await servers.volumes.deleteWithServer(id, volumeId, true).catch((error: unknown) => {
      // Nova before 2.85 takes this to be another volume that is to stand in its place.
      throw isEngineError(error, 'invalid', 'unsupported') ? new Refusal('computeReleaseUnsupported', { cause: error }) : error
    })
  return staying.map(({ volumeId }) => volumeId)
}
