import { createHash } from 'node:crypto'
import { computeImageCan, type ComputeImage, type ComputeImageDetail, type computeImages } from '@zhisuan/contract/compute/image'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Image, ImageMember } from '@zhisuan/engines/openstack/image'
import type { OutboundGuard } from '../../../platform/outbound/guard.ts'
import { finalAddress } from '../../../platform/outbound/follow.ts'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { Downloads } from '../../../platform/downloads.ts'
import { Refusal, refuseUnless } from '../../../platform/errors.ts'
import { linesOf, mapped, merged, type Pages } from '../../../platform/lines.ts'
import type { WholeTenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOne, namesOfPlaces, readOne, sharedPagesOf, type Changeable } from '../view.ts'
import { imageDownloads } from './image.download.ts'

type Calls = typeof computeImages
type Offer = ComputeImage['offer']

const mib = 2 ** 20
const gib = 2 ** 30

/** Where the file of an announced image goes. */
export const uploadPath = (cloudId: string, id: string): string => `/api/compute/v1/clouds/${cloudId}/images/${id}/file`

export function createImages(platform: { downloads: Downloads }, parts: { tenancy: WholeTenancy; guard: OutboundGuard }) {
  const { tenancy, guard } = parts
  const linkTo = imageDownloads(platform.downloads, tenancy)

  const seen = (view: View, id: string): Promise<Changeable<Image>> => changeableOne(view, (cloud) => cloud.images.get(id), projectOf)
  /** To be changed: what others let the asker use is not theirs to change. @throws Refusal notFound, 3000, 90010 */
  const own = async (actor: Actor, cloudId: string, id: string, action: keyof typeof computeImageCan): Promise<Changeable<Image> & { view: View }> => {
    const view = await tenancy.viewForChange(actor, cloudId)
    if (!view.everything && view.places.length === 0) {
      await readOne(view, (cloud) => cloud.images.get(id), isPublic)
      throw new Refusal('noPermission')
    }
    const found = await seen(view, id)
    if (!isMine(view, found.one)) throw new Refusal('noPermission')
    refuseUnless(computeImageCan[action], found.one)
    // Only the cloud's administrator may touch what is everybody's.
    return { ...found, view, cloud: found.one.visibility === 'public' && view.everything ? view.administrator : found.cloud }
  }
  const detail = async (cloudId: string, view: View, image: Image, cloud: OpenStack, offer: Offer): Promise<ComputeImageDetail> => {
    const shown = shape(view, { ...image, offer })
    const members = shown.mine && image.visibility === 'shared' ? await cloud.images.members.list(image.id) : []
    const names = members.length === 0 ? new Map<string, string>() : await tenancy.namesOfAll(cloudId)
    return {
      ...shown,
      virtual_size_bytes: image.virtualSizeBytes,
      digest: image.digest,
      members: members.map((member) => memberShape(view, image.id, member, names)),
    }
  }

  return {
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const pages = (cloud: OpenStack): Pages<Image & { offer?: Offer }> =>
        merged<readonly (Image & { offer?: Offer })[]>([
          cloud.images.list({}, signal),
          // Glance leaves both out unless they are asked for.
          cloud.images.list({ visibility: 'community' }, signal),
          mapped(cloud.images.list({ visibility: 'shared', member_status: 'pending' }, signal), (image) => ({ ...image, offer: 'pending' as const })),
        ])
      yield* linesOf({ items: mapped(sharedPagesOf(view, pages, isPublic), (image) => shape(view, image)), names: [namesOfPlaces(view)], requestId })
    },

    async get(actor: Actor, cloudId: string, id: string): Promise<ComputeImageDetail> {
      const view = await tenancy.view(actor, cloudId)
      if (!view.everything && view.places.length === 0)
        return detail(cloudId, view, await readOne(view, (cloud) => cloud.images.get(id), isPublic), view.administrator, null)
      const { one, cloud, place } = await seen(view, id)
      const offered = one.visibility === 'shared' && !isMine(view, one) && place !== null
      // A member sees themselves only.
      const member = offered ? (await cloud.images.members.list(id)).find(({ projectId }) => projectId === place.keystoneId) : undefined
      return detail(cloudId, view, one, cloud, member?.status ?? null)
    },

    async importWays(actor: Actor, cloudId: string): Promise<{ address: boolean }> {
      const { administrator } = await tenancy.view(actor, cloudId)
      return { address: (await administrator.images.importMethods()).includes('web-download') }
    },

    async create(actor: Actor, cloudId: string, body: BodyOf<Calls['create']>): Promise<ResponseOf<Calls['create']>> {
      refuseUnlessPlatform(actor, body.visibility)
      const { cloud, keystoneId } = await tenancy.placeForMaking(actor, cloudId, body.project_id)
      const view = await tenancy.view(actor, cloudId)
      // Of an administrator with an organisation of their own it stays its project's.
      const properties = { ...(body.distribution !== null && { os_distro: body.distribution }), ...(body.os_type !== null && { os_type: body.os_type }) }
      const wish = {
        name: body.name,
        diskFormat: body.disk_format,
        minDiskGib: Math.ceil(body.min_disk_bytes / gib),
        minMemoryMib: Math.ceil(body.min_memory_bytes / mib),
        properties,
      }
      const image =
        body.visibility === 'public'
          ? await view.administrator.images.create({ ...wish, visibility: 'public', properties: { ...properties, owner: keystoneId } })
          : await cloud.images.create({ ...wish, visibility: body.visibility })
      const made = body.protected ? await (body.visibility === 'public' ? view.administrator : cloud).images.update(image.id, { protected: true }) : image
      return { image: shape(view, made), upload_path: uploadPath(cloudId, image.id) }
    },

    /** What its file goes to, for who may send it. @throws Refusal notFound, 3000, 90010 */
    forUpload: (actor: Actor, cloudId: string, id: string) => own(actor, cloudId, id, 'upload'),

    async import(actor: Actor, cloudId: string, id: string, url: string): Promise<ComputeImage> {
      const { cloud, view } = await own(actor, cloudId, id, 'import')
      await guard.check(new URL(url))
      if (!(await cloud.images.importMethods()).includes('web-download')) throw new Refusal('computeImportUnsupported')
      // Glance resolves the name once more, by itself: what that may come to is for its own filters (docs/operations.md).
      await cloud.images.import(id, { url: await finalAddress(url, guard) })
      return shape(view, await cloud.images.get(id))
    },

    async update(actor: Actor, cloudId: string, id: string, body: BodyOf<Calls['update']>): Promise<ComputeImage> {
      const { one, cloud, view } = await own(actor, cloudId, id, 'update')
      if (body.visibility !== one.visibility) refuseUnlessPlatform(actor, body.visibility)
      const { name, visibility, min_disk_bytes, min_memory_bytes } = body
      const changed = await (visibility === 'public' ? view.administrator : cloud).images.update(id, {
        ...(name !== undefined && { name }),
        ...(visibility !== undefined && visibility !== one.visibility && { visibility }),
        ...(body.protected !== undefined && { protected: body.protected }),
        ...(min_disk_bytes !== undefined && { minDiskGib: Math.ceil(min_disk_bytes / gib) }),
        ...(min_memory_bytes !== undefined && { minMemoryMib: Math.ceil(min_memory_bytes / mib) }),
        properties: { ...property('os_distro', one.distribution, body.distribution), ...property('os_type', one.osType, body.os_type) },
      })
      return shape(view, changed)
    },

    async setActive(actor: Actor, cloudId: string, id: string, active: boolean): Promise<ComputeImage> {
      const { cloud, view } = await own(actor, cloudId, id, active ? 'reactivate' : 'deactivate')
      await cloud.images.setActive(id, active)
      return shape(view, await cloud.images.get(id))
    },

    async offer(actor: Actor, cloudId: string, id: string, body: BodyOf<Calls['offer']>): Promise<ComputeImageDetail> {
      const { one, cloud, view } = await own(actor, cloudId, id, 'share')
      const keystoneId = await tenancy.projectOfNamed(actor, cloudId, view, body)
      if (keystoneId === one.projectId) throw new Refusal('computeOfferToOwner', { field: 'organisation' })
      // Only a shared one has members.
      const shared = one.visibility === 'shared' ? one : await cloud.images.update(id, { visibility: 'shared' })
      const there = await cloud.images.members.list(id)
      if (!there.some(({ projectId }) => projectId === keystoneId)) await cloud.images.members.add(id, keystoneId)
      return detail(cloudId, view, shared, cloud, null)
    },

    async withdraw(actor: Actor, cloudId: string, id: string, memberId: string): Promise<ComputeImageDetail> {
      const { one, cloud, view } = await own(actor, cloudId, id, 'share')
      // Of an image that is not shared Glance refuses the question itself.
      const members = one.visibility === 'shared' ? await cloud.images.members.list(id) : []
      const member = members.find(({ projectId }) => memberIdOf(id, projectId) === memberId)
      if (member === undefined) throw new Refusal('notFound')
      await cloud.images.members.remove(id, member.projectId)
      return detail(cloudId, view, one, cloud, null)
    },

    /** By all projects of the asker that it was offered to. */
    async answer(actor: Actor, cloudId: string, id: string, accept: boolean): Promise<ComputeImage> {
      const view = await tenancy.viewForChange(actor, cloudId)
      const { one } = await seen(view, id)
      const status = accept ? 'accepted' : 'rejected'
      const places = view.everything ? [] : view.places.filter(({ keystoneId }) => keystoneId !== one.projectId)
      const offered = await Promise.all(
        places.map(async ({ cloud, keystoneId }) => {
          const members = await cloud.images.members.list(id).catch(noneWhereUnseen)
          if (!members.some(({ projectId }) => projectId === keystoneId)) return false
          await cloud.images.members.answer(id, keystoneId, status)
          return true
        }),
      )
      if (!offered.includes(true)) throw new Refusal('computeNoOffer')
      return shape(view, { ...one, offer: status })
    },

    async download(actor: Actor, cloudId: string, id: string): Promise<ResponseOf<Calls['download']>> {
      const view = await tenancy.view(actor, cloudId)
      if (!view.everything && view.places.length === 0) {
        refuseUnless(computeImageCan.download, await readOne(view, (cloud) => cloud.images.get(id), isPublic))
        return linkTo({ cloud: cloudId, project: null, image: id }, actor)
      }
      const { one, place } = await seen(view, id)
      refuseUnless(computeImageCan.download, one)
      return linkTo({ cloud: cloudId, project: place?.keystoneId ?? null, image: id }, actor)
    },

    async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
      const { one, cloud } = await own(actor, cloudId, id, 'delete')
      if (one.protected) throw new Refusal('computeImageProtected')
      await cloud.images.delete(id)
    },
  }
}
export type Images = ReturnType<typeof createImages>

/** A project that the image was not offered to does not see it. */
const noneWhereUnseen = (error: unknown): ImageMember[] => {
  if (isEngineError(error, 'not_found')) return []
  throw error
}

const projectOf = (image: Image): string | null => image.projectId
const isPublic = (image: Image): boolean => image.visibility === 'public'
const isMine = (view: View, image: Image): boolean => view.everything || view.places.some(({ keystoneId }) => keystoneId === image.projectId)

const refuseUnlessPlatform = (actor: Actor, visibility: ComputeImage['visibility'] | undefined): void => {
  if (visibility === 'public' && !('everything' in scopeOf(actor))) throw new Refusal('computePlatformOnly', { field: 'visibility' })
}

/** Of a field that may be missing: undefined leaves it, null takes it away. */
const property = (field: string, now: string | null, wish: string | null | undefined): Record<string, string | null> =>
  wish === undefined || wish === now ? {} : { [field]: wish }

const shape = (view: View, image: Image & { offer?: Offer }): ComputeImage => {
  const mine = isMine(view, image)
  return {
    id: image.id,
    name: image.name,
    status: image.status,
    visibility: image.visibility,
    disk_format: image.diskFormat,
    size_bytes: image.sizeBytes,
    min_disk_bytes: image.minDiskGib * gib,
    min_memory_bytes: image.minMemoryMib * mib,
    distribution: image.distribution,
    os_type: image.osType,
    protected: image.protected,
    mine,
    // What a list shows without having asked for offers was accepted.
    offer: mine || image.visibility !== 'shared' ? null : (image.offer ?? 'accepted'),
    snapshot: image.snapshot,
    instance_id: image.instanceId,
    tags: [...image.tags],
    keystone_project_id: mine ? image.projectId : null,
    created_at: image.createdAt.toISOString(),
    updated_at: image.updatedAt.toISOString(),
  }
}

const memberIdOf = (imageId: string, projectId: string): string => createHash('sha256').update(`${imageId} ${projectId}`).digest('hex').slice(0, 32)

const memberShape = (
  view: View,
  imageId: string,
  { projectId, status, updatedAt }: ImageMember,
  names: ReadonlyMap<string, string>,
): ComputeImageDetail['members'][number] => ({
  id: memberIdOf(imageId, projectId),
  keystone_project_id: view.everything ? projectId : null,
  name: names.get(projectId) ?? null,
  status,
  updated_at: updatedAt.toISOString(),
})
