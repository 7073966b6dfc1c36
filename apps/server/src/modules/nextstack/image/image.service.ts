import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { imageCan, type Image, type imageLibrary } from '@zhisuan/contract/nextstack/image'
import { snapshotCan } from '@zhisuan/contract/nextstack/snapshot'
import { authoredBy, refuseOwnerless, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Sql, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { openOperation } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import type { QuotaService } from '../quota/quota.service.ts'
import type { OutboundGuard } from '../../../platform/outbound/guard.ts'
import { imageDownloads } from './image.download.ts'
import type { ImageFiles } from './image.files.ts'
import type { ImageOperations } from './image.operations.ts'
import * as store from './image.store.ts'
import type { ImageRow, ShownImage } from './image.store.ts'

type Calls = typeof imageLibrary

export type ImageService = ReturnType<typeof createImageService>

/** Where the file of an announced image goes. */
export const uploadPath = (id: string): string => `/api/nextstack/v1/image-library/${id}/file`

export function createImageService(
  platform: Pick<Platform, 'db' | 'operations' | 'downloads'>,
  parts: {
    clouds: CloudService
    quotas: QuotaService
    operations: ImageOperations
    files: ImageFiles
    guard: OutboundGuard
    uploadEnded: (id: string) => void
  },
) {
  const { db, downloads } = platform
  const { clouds, quotas, operations, files, guard } = parts
  imageDownloads(platform, clouds)

  const get = async (on: Sql, actor: Actor, id: string): Promise<Image> => shape(found(await store.getImage(on, scopeOf(actor), id)))
  /** To be changed: what others let the actor use is not theirs to change. */
  const lockOwn = async (tx: Tx, actor: Actor, id: string): Promise<ImageRow> => {
    found(await store.getImage(tx, scopeOf(actor), id))
    const image = await store.lockImage(tx, scopeOf(actor), id)
    if (image === undefined) throw new Refusal('noPermission')
    return image
  }
  const runsPlatform = (actor: Actor): boolean => 'everything' in scopeOf(actor)
  const named = <T>(act: () => Promise<T>): Promise<T> => refusing({ [store.imageNameIndex]: ['imageNameTaken', 'name'] }, act)

  type About = Pick<
    BodyOf<Calls['fromVm']>,
    'name' | 'description' | 'os' | 'release' | 'cloud_init' | 'min_cpu_cores' | 'min_memory_bytes' | 'min_disk_bytes' | 'visibility'
  >
  /** The one way to new images: records one, and what is then done with it. */
  const add = (
    actor: Actor,
    about: About,
    wish: Pick<ImageRow, 'cloud_id' | 'bp_id' | 'type' | 'status' | 'source' | 'size_bytes' | 'sha256'>,
    then: (tx: Tx, image: { id: string; bp_id: string | null }) => Promise<unknown>,
  ): Promise<Image> => {
    refuseOwnerless(scopeOf(actor))
    if (about.visibility === 'public' && !runsPlatform(actor)) throw new Refusal('noPermission')
    const id = uuidv7()
    const { name, description, os, release, cloud_init, min_cpu_cores, min_memory_bytes, min_disk_bytes, visibility } = about
    const columns = { name, description, os, release, cloud_init, min_cpu_cores, min_memory_bytes, min_disk_bytes, visibility }
    return named(() =>
      db.transaction().execute(async (tx) => {
        const { product } = await clouds.forChange(tx, wish.cloud_id)
        if (product !== 'nextstack') throw new Refusal('cloudProductUnsupported', { field: 'cloud_id' })
        await quotas.take(tx, { bp_id: wish.bp_id, project_id: null }, { images: 1, image_bytes: wish.size_bytes ?? 1 })
        await store.insertImage(tx, {
          id,
          ...wish,
          ...columns,
          ...authoredBy(actor),
        })
        await then(tx, { id, bp_id: wish.bp_id })
        return get(tx, actor, id)
      }),
    )
  }

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listImages(db, scopeOf(actor), query), shape),

    get: (actor: Actor, id: string) => get(db, actor, id),

    async upload(actor: Actor, body: BodyOf<Calls['upload']>): Promise<ResponseOf<Calls['upload']>> {
      if ((await files.room()) < body.size_bytes) throw new Refusal('filesExhausted', { field: 'size_bytes' })
      const { cloud_id, type, size_bytes, sha256 = null } = body
      const image = await add(
        actor,
        body,
        { cloud_id, bp_id: actor.bp_id, type, status: 'uploading', source: 'upload', size_bytes, sha256 },
        async () => undefined,
      )
      return { image, upload_path: uploadPath(image.id) }
    },

    async fetch(actor: Actor, body: BodyOf<Calls['fetch']>): Promise<Image> {
      await guard.check(new URL(body.url))
      const { cloud_id, type, url, sha256 = null } = body
      return add(actor, body, { cloud_id, bp_id: actor.bp_id, type, status: 'fetching', source: 'url', size_bytes: null, sha256 }, (tx, { id, bp_id }) =>
        platform.operations.begin(tx, operations.fetch, { resource_id: id, bp_id, actor, input: { url } }),
      )
    },

    /** Belongs to whom the instance belongs to; a public one to who made it. */
    async fromVm(actor: Actor, body: BodyOf<Calls['fromVm']>): Promise<Image> {
      const vm = found(await store.vmFor(db, scopeOf(actor), body.vm_id))
      const snapshot = body.snapshot_id === null ? null : found(await store.snapshotFor(db, vm.id, body.snapshot_id))
      if (snapshot !== null) refuseUnless(snapshotCan.clone, snapshot)
      const bp_id = body.visibility === 'public' ? actor.bp_id : vm.bp_id
      return add(
        actor,
        body,
        { cloud_id: vm.cloud_id, bp_id, type: vm.type, status: 'publishing', source: 'vm', size_bytes: null, sha256: null },
        async (tx, { id }) => {
          if (snapshot === null && found(await store.vmFor(tx, scopeOf(actor), vm.id)).status !== 'stopped') throw new Refusal('stateForbids')
          const input = { instance: vm.engine_name, snapshot: snapshot?.engine_name ?? null }
          await platform.operations.begin(tx, operations.fromVm, { resource_id: id, bp_id, actor, input })
        },
      )
    },

    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<Image> {
      return named(() =>
        db.transaction().execute(async (tx) => {
          const image = await lockOwn(tx, actor, id)
          refuseUnless(imageCan.update, image)
          const { visibility = image.visibility, ...about } = body
          if (visibility !== image.visibility && !runsPlatform(actor)) throw new Refusal('noPermission')
          await store.updateImage(tx, id, { ...about, visibility })
          return get(tx, actor, id)
        }),
      )
    },

    async share(actor: Actor, id: string, names: readonly string[]): Promise<Image> {
      return db.transaction().execute(async (tx) => {
        const image = await lockOwn(tx, actor, id)
        refuseUnless(imageCan.share, image)
        const known = await store.organisationsNamed(tx, names)
        const missing = names.find((name) => !known.has(name))
        if (missing !== undefined) throw new Refusal('organisationMissing', { field: 'organisations', values: { name: missing } })
        // Its owner needs no share.
        await store.setShares(
          tx,
          id,
          [...new Set(known.values())].filter((bpId) => bpId !== image.bp_id),
        )
        await store.updateImage(tx, id, {})
        return get(tx, actor, id)
      })
    },

    async download(actor: Actor, id: string): Promise<ResponseOf<Calls['download']>> {
      const image = found(await store.getImage(db, scopeOf(actor), id))
      if (!image.mine) throw new Refusal('noPermission')
      refuseUnless(imageCan.download, image)
      return downloads.link('image', id, actor)
    },

    /** What is not on the engine yet goes at once, with what came of it. */
    async delete(actor: Actor, id: string): Promise<Image> {
      const { image, gone } = await db.transaction().execute(async (tx) => {
        const { cloud_id } = found(await store.getImage(tx, scopeOf(actor), id))
        // The cloud before the image, as its removal does: in the other order the two would wait for each other.
        await clouds.forChange(tx, cloud_id)
        const row = await lockOwn(tx, actor, id)
        refuseUnless(imageCan.delete, row)
        const before = await get(tx, actor, id)
        const running = await openOperation(tx, id)
        if (running === undefined && row.fingerprint === null) {
          await store.deleteImage(tx, id)
          return { image: { ...before, status: 'deleting' as const }, gone: true }
        }
        if (running === undefined) await platform.operations.begin(tx, operations.delete, { resource_id: id, bp_id: row.bp_id, actor, input: {} })
        else await platform.operations.cancel(tx, running)
        await store.updateImage(tx, id, { status: 'deleting', error_text: null })
        return { image: await get(tx, actor, id), gone: false }
      })
      if (gone) {
        parts.uploadEnded(id)
        await files.remove(id)
      }
      return image
    },
  }
}

const shape = (row: ShownImage): Image => ({
  id: row.id,
  name: row.name,
  description: row.description,
  // Another organisation is known by its name.
  bp_id: row.mine ? row.bp_id : null,
  bp_name: row.bp_name,
  cloud_id: row.cloud_id,
  status: row.status,
  error: row.error_text,
  operation_id: row.operation_id,
  visibility: row.visibility,
  source: row.source,
  fingerprint: row.status === 'importing' || row.status === 'publishing' ? null : row.fingerprint,
  type: row.type,
  os: row.os,
  release: row.release,
  architecture: row.architecture,
  cloud_init: row.cloud_init,
  size_bytes: row.size_bytes,
  received_bytes: row.received_bytes,
  min_cpu_cores: row.min_cpu_cores,
  min_memory_bytes: row.min_memory_bytes,
  min_disk_bytes: row.min_disk_bytes,
  mine: row.mine,
  shared_with: row.mine ? row.shared_with : [],
  vm_count: row.vm_count,
  created_by: row.mine ? row.created_by_name : '',
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
})
