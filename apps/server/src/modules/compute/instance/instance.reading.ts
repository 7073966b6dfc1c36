import { instanceCan, type ComputeInstance, type ComputeInstanceDetail } from '@zhisuan/contract/compute/instance'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { InterfaceAttachment, Server } from '@zhisuan/engines/openstack/compute'
import { all } from '@zhisuan/engines/openstack/session'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { isoOrNull, type Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { linesOf, mapped, type Pages } from '../../../platform/lines.ts'
import { isRecycled, recycledIds } from '../recycle/recycle.store.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { namesIn, namesOfPlaces, pagesOf, readOne, sharedPagesOf } from '../view.ts'
import { keyNameOf } from './instance.keys.ts'
import { besides, type PublicKeys } from './instance.ground.ts'
import { interfaceShape, shapeOf } from './instance.shape.ts'

const gib = 2 ** 30

/** What there is of instances to be seen, of each as whoever asks may see it. */
export function createInstanceReading({ db, tenancy, publicKeys }: { db: Db; tenancy: Tenancy; publicKeys: PublicKeys }) {
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

    /** Of the cloud as a whole: nobody's in particular. */
    async zones(actor: Actor, cloudId: string): Promise<{ items: { name: string; available: boolean }[] }> {
      const { administrator } = await tenancy.view(actor, cloudId)
      return { items: await administrator.compute.zones() }
    },
  }
}

const refuse = (): never => {
  throw new Refusal('notFound')
}
