import type { ComputeInstance, computeInstances, InstanceAction } from '@zhisuan/contract/compute/instance'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { isEngineError } from '@zhisuan/engines/errors'
import type { Server, SimpleAction } from '@zhisuan/engines/openstack/compute'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
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
export function createInstances(parts: Pick<Platform, 'db' | 'now' | 'log'> & { tenancy: Tenancy; publicKeys: PublicKeys }) {
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

    /** For good, whatever the cloud does with what is deleted. */
    async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
      const { view, cloud } = await open(actor, cloudId, id, 'delete')
      const { servers } = cloud.compute
      await meterBeforeEnd(parts, cloudId, view.administrator, id)
      await settled(servers.act(id, 'forceDelete'), async () => {
        try {
          const { state } = await servers.get(id)
          return state === 'deleting' || state === 'deleted' ? undefined : null
        } catch (error) {
          if (isEngineError(error, 'not_found')) return undefined
          throw error
        }
      })
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
