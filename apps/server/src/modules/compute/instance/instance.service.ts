import {
  instanceCan,
  type ComputeInstance,
  type ComputeInstanceDetail,
  type computeInstances,
  type InstanceAction,
  type serverGroups,
  type ServerGroup,
} from '@zhisuan/contract/compute/instance'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { InterfaceAttachment, Server, ServerGroup as EngineGroup, SimpleAction } from '@zhisuan/engines/openstack/compute'
import { all } from '@zhisuan/engines/openstack/session'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { isoOrNull, type Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { linesOf, mapped, type Pages } from '../../../platform/lines.ts'
import { read } from '../network/network.refusals.ts'
import { isRecycled, recycledIds } from '../recycle/recycle.store.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOf, namesIn, namesOfPlaces, pagesOf, readOne, sharedPagesOf } from '../view.ts'
import { mayMakeBeside } from '../volume/storage.ts'
import { refuseUnlessAttachable, unlessRoot } from '../volume/volume.service.ts'
import { createInstanceMaker, keyNameOf } from './instance.create.ts'
import { besides, chosen, connectable, connectionReadings, openedServer, type OpenedServer, type PublicKeys } from './instance.ground.ts'
import { shapeOf } from './instance.shape.ts'

type Calls = typeof computeInstances
const gib = 2 ** 30

export type Instances = ReturnType<typeof createInstances>

/** Instances are Nova's; what lies in the recycle bin stands in our rows and is left alone here. */
export function createInstances(parts: { db: Db; tenancy: Tenancy; publicKeys: PublicKeys }) {
  const { db, tenancy, publicKeys } = parts

  const open = (actor: Actor, cloudId: string, id: string, action: InstanceAction): Promise<OpenedServer> => openedServer(parts, actor, cloudId, id, action)
  /** As it is now: mostly on its way already. */
  const now = async ({ view, cloud, one }: OpenedServer): Promise<ComputeInstance> =>
    shapeOf(await (view.everything ? view.administrator : cloud).compute.servers.get(one.id), view.everything)
  const changed = async (
    actor: Actor,
    cloudId: string,
    id: string,
    action: InstanceAction,
    change: (opened: OpenedServer) => Promise<unknown>,
  ): Promise<ComputeInstance> => {
    const opened = await open(actor, cloudId, id, action)
    await change(opened)
    return now(opened)
  }
  /** What the cloud's administrator alone may do. */
  const asAdministrator = ({ view }: OpenedServer) => {
    if (!view.everything) throw new Refusal('noPermission')
    return view.administrator.compute.servers
  }
  /** To be read: in its own project's name, of platform-level people the administrator's. */
  const seen = async (actor: Actor, cloudId: string, id: string): Promise<{ view: View; one: Server; cloud: OpenStack }> => {
    const view = await tenancy.view(actor, cloudId)
    const one = await readOne(view, (from) => from.compute.servers.get(id))
    const place = view.everything ? undefined : view.places.find(({ keystoneId }) => keystoneId === one.projectId)
    return { view, one, cloud: place?.cloud ?? (view.everything ? view.administrator : refuse()) }
  }
  const namesOfKeys = async (scope: Scope): Promise<Record<string, string>> =>
    Object.fromEntries((await publicKeys.names(scope)).map(({ id, name }) => [keyNameOf(id), name]))

  return {
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const [view, hidden, keys] = await Promise.all([tenancy.view(actor, cloudId), recycledIds(db, cloudId), namesOfKeys(scopeOf(actor))])
      const shown = async function* (pages: Pages<Server>): AsyncGenerator<ComputeInstance[]> {
        for await (const page of pages)
          yield page.filter(({ id, state }) => !hidden.has(id) && state !== 'soft_deleted' && state !== 'deleted').map((one) => shapeOf(one, view.everything))
      }
      const images = sharedPagesOf(
        view,
        ({ images: of }) => of.list({}, signal),
        ({ visibility }) => visibility === 'public',
      )
      yield* linesOf({
        items: shown(pagesOf(view, ({ compute }, allTenants) => compute.servers.list(allTenants, signal))),
        names: [{ ...namesOfPlaces(view), ...keys }, namesIn(images)],
        requestId,
      })
    },

    async get(actor: Actor, cloudId: string, id: string, requestId: string): Promise<ComputeInstanceDetail> {
      const { view, one, cloud } = await seen(actor, cloudId, id)
      const { beside, failed } = besides(requestId)
      const [interfaces, attached, recycled, keys, image] = await Promise.all([
        beside<InterfaceAttachment[]>(cloud.compute.servers.interfaces.list(id), []),
        cloud.compute.servers.volumes.list(id),
        isRecycled(db, cloudId, id),
        namesOfKeys(scopeOf(actor)),
        one.imageId === null ? null : beside(cloud.images.get(one.imageId), null),
      ])
      const [volumes, networks] = await Promise.all([
        Promise.all(attached.map(({ volumeId }) => beside(cloud.volume.volumes.get(volumeId), null))),
        interfaces.length === 0 ? [] : beside(all(cloud.network.networks.list({ id: [...new Set(interfaces.map(({ networkId }) => networkId))] })), []),
      ])
      return {
        ...shapeOf(one, view.everything, recycled || one.state === 'soft_deleted'),
        interfaces: interfaces.map(interfaceShape),
        volumes: attached.map(({ volumeId, device, deleteWithServer }, at) => {
          const volume = volumes[at] ?? null
          return {
            volume_id: volumeId,
            name: volume?.name ?? '',
            size_bytes: volume && volume.sizeGib * gib,
            volume_type: volume?.type ?? null,
            bootable: volume && volume.bootable,
            device,
            delete_on_termination: deleteWithServer,
          }
        }),
        names: {
          ...namesOfPlaces(view),
          ...keys,
          ...(image !== null && { [image.id]: image.name }),
          ...Object.fromEntries(networks.map((network) => [network.id, network.name])),
        },
        failed: [...failed.values()],
      }
    },

    create: createInstanceMaker(parts),

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
        await cloud.compute.servers.resize(id, flavorId)
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
      const { cloud } = await open(actor, cloudId, id, 'delete')
      await cloud.compute.servers.act(id, 'forceDelete')
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

    async consoleLog(actor: Actor, cloudId: string, id: string, lines: number): Promise<{ text: string }> {
      const { one, cloud } = await seen(actor, cloudId, id)
      const allowed: readonly string[] = instanceCan.consoleLog
      if (!allowed.includes(one.state)) throw new Refusal('instanceNotNow')
      return { text: await cloud.compute.servers.consoleLog(id, lines) }
    },

    async *actions(actor: Actor, cloudId: string, id: string, requestId: string, signal: AbortSignal) {
      const { cloud } = await seen(actor, cloudId, id)
      yield* linesOf({
        items: mapped(cloud.compute.servers.actions(id, signal), ({ requestId: request_id, action, startedAt, message }) => ({
          request_id,
          action,
          started_at: isoOrNull(startedAt),
          message,
        })),
        requestId,
      })
    },

    setMetadata: (actor: Actor, cloudId: string, id: string, metadata: Record<string, string>) =>
      changed(actor, cloudId, id, 'setMetadata', ({ cloud }) => cloud.compute.servers.setMetadata(id, metadata)),
    setTags: (actor: Actor, cloudId: string, id: string, tags: readonly string[]) =>
      changed(actor, cloudId, id, 'setTags', ({ cloud }) => cloud.compute.servers.setTags(id, tags)),

    async attachInterface(actor: Actor, cloudId: string, id: string, body: BodyOf<Calls['attachInterface']>): Promise<ResponseOf<Calls['attachInterface']>> {
      const { cloud } = await open(actor, cloudId, id, 'attachInterface')
      const { network_id, port_id, address } = body
      await connectable(cloud, body, '')
      const to = network_id === undefined ? { portId: port_id ?? '' } : { networkId: network_id, ...(address !== undefined && { address }) }
      return interfaceShape(await read(cloud.compute.servers.interfaces.attach(id, to), connectionReadings(body, '')))
    },
    async detachInterface(actor: Actor, cloudId: string, id: string, portId: string): Promise<void> {
      const { cloud } = await open(actor, cloudId, id, 'detachInterface')
      // Nova takes any port, and finds out later that it is none of the instance's.
      if (!(await cloud.compute.servers.interfaces.list(id)).some((one) => one.portId === portId)) throw new Refusal('notFound')
      await cloud.compute.servers.interfaces.detach(id, portId)
    },
    async attachVolume(actor: Actor, cloudId: string, id: string, volumeId: string): Promise<{ volume_id: string; device: string }> {
      const { cloud } = await open(actor, cloudId, id, 'attachVolume')
      refuseUnlessAttachable(await chosen('volume_id', cloud.volume.volumes.get(volumeId)), 'volume_id')
      const { device } = await cloud.compute.servers.volumes.attach(id, volumeId)
      return { volume_id: volumeId, device }
    },
    async detachVolume(actor: Actor, cloudId: string, id: string, volumeId: string): Promise<void> {
      const { cloud } = await open(actor, cloudId, id, 'detachVolume')
      await unlessRoot(cloud.compute.servers.volumes.detach(id, volumeId))
    },

    async snapshot(actor: Actor, cloudId: string, id: string, body: BodyOf<Calls['snapshot']>): Promise<{ image_id: string }> {
      const opened = await open(actor, cloudId, id, 'snapshot')
      const { cloud } = opened
      await mayMakeBeside(tenancy, actor, cloudId, opened)
      return { image_id: await cloud.compute.servers.createImage(id, body.name, body.description === '' ? {} : { description: body.description }) }
    },

    groups: {
      async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
        const view = await tenancy.view(actor, cloudId)
        const pages = pagesOf(view, async function* ({ compute }) {
          yield await compute.serverGroups.list('all_tenants' in view.allTenants ? 'all' : 'mine', signal)
        })
        yield* linesOf({ items: mapped(pages, groupShape), names: [namesOfPlaces(view)], requestId })
      },
      async create(actor: Actor, cloudId: string, body: BodyOf<typeof serverGroups.create>): Promise<ServerGroup> {
        const { cloud } = await tenancy.placeForMaking(actor, cloudId, body.project_id)
        return groupShape(await cloud.compute.serverGroups.create({ name: body.name, policy: body.policy }))
      },
      async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
        const view = await tenancy.viewForChange(actor, cloudId)
        const { cloud } = await changeableOf(view, ({ compute }) => compute.serverGroups.get(id))
        await cloud.compute.serverGroups.delete(id)
      },
    },

    /** Of the cloud as a whole: nobody's in particular. */
    async zones(actor: Actor, cloudId: string): Promise<{ items: { name: string; available: boolean }[] }> {
      const { administrator } = await tenancy.view(actor, cloudId)
      return { items: await administrator.compute.zones() }
    },
  }
}

/** Whether it has more of anything than what is there, as far as that is known. */
const isMore = (flavor: Amounts, now: Amounts | null): boolean =>
  now === null || flavor.vcpus > now.vcpus || flavor.memoryMib > now.memoryMib || flavor.diskGib > now.diskGib
type Amounts = Pick<NonNullable<Server['flavor']>, 'vcpus' | 'memoryMib' | 'diskGib'>

const refuse = (): never => {
  throw new Refusal('notFound')
}

const interfaceShape = ({ portId, networkId, mac, status, addresses }: InterfaceAttachment) => ({
  port_id: portId,
  network_id: networkId,
  mac,
  status,
  addresses: addresses.map(({ address, subnetId }) => ({ address, subnet_id: subnetId })),
})

const groupShape = ({ id, name, policy, memberIds, projectId }: EngineGroup): ServerGroup => ({
  id,
  name,
  policy,
  member_ids: memberIds,
  keystone_project_id: projectId,
})
