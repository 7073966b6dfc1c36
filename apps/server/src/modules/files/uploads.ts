import { conflictWays, type FileUpload, type fileSpaces, type fileUploads } from '@zhisuan/contract/files/file'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { fileUploads as uploadCalls, filesPath } from '@zhisuan/contract/files/file'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Actor } from '../../platform/auth/actor.ts'
import type { Bytes } from '../../platform/bytes/bytes.ts'
import type { UploadRow } from '../../platform/bytes/bytes.store.ts'
import { serveUploads } from '../../platform/bytes/serveUploads.ts'
import { iso, type Tx } from '../../platform/db/database.ts'
import { found } from '../../platform/errors.ts'
import type { Authorising } from '../../platform/http/bind.ts'
import { uuidv7 } from '../../platform/ids.ts'
import type { Platform } from '../../platform/platform.ts'
import type { FileService } from './files.service.ts'
import * as store from './files.store.ts'
import * as tree from './files.tree.ts'
import type { Transfers } from './transfers.ts'

/** As the storage core knows whose uploads they are. */
const taker = 'files'
/** What is known of one that is on its way. */
const wish = z.object({
  space_id: z.string(),
  parent_id: z.string().nullable(),
  name: z.string(),
  folder: z.string(),
  conflict: z.enum(conflictWays),
  by: z.object({ user_id: z.string(), name: z.string() }),
  entry_id: z.string(),
})
export const uploadPath = (id: string): string => `${filesPath}/uploads/${id}/content`

export type FileUploads = ReturnType<typeof createFileUploads>

/** Files on their way into a space. */
export function createFileUploads({ db }: Pick<Platform, 'db'>, { bytes, files, transfers }: { bytes: Bytes; files: FileService; transfers: Transfers }) {
  const wishOf = (upload: UploadRow) => wish.parse(upload.wish)
  const mine = async (actor: Actor, id: string): Promise<UploadRow> => {
    const upload = await bytes.upload(db, id)
    return found(upload?.taker === taker && upload.user_id === actor.user_id ? upload : undefined)
  }

  /** It has come: where its folder went meanwhile, to the top, since who sent it would look in vain for nothing. */
  const take = async (tx: Tx, upload: UploadRow, content: { sha256: string; size_bytes: number }): Promise<void> => {
    const { space_id, by, ...wanted } = wishOf(upload)
    await store.lockSpace(tx, space_id)
    const space = found(await store.anySpace(tx, space_id))
    const parent = wanted.parent_id === null ? undefined : await store.folderIn(tx, space_id, wanted.parent_id)
    const at = { space_id, parent_id: parent?.id ?? null }
    // Its name was free when it was announced; who took it since has it.
    const name = await tree.nameAt(tx, by, at, { name: wanted.name, kind: 'file' }, wanted.conflict === 'refuse' ? 'keep_both' : wanted.conflict)
    await store.insertEntries(tx, tree.entryRow(by, space, { id: wanted.entry_id, parent_id: at.parent_id, kind: 'file', name, ...content }))
    await store.countIn(tx, space_id, { bytes: content.size_bytes, files: 1 })
    await transfers.ended(tx, { upload_id: upload.id }, { outcome: 'done', bytes: content.size_bytes, sha256: content.sha256 })
  }
  bytes.receive(taker, {
    take,
    ended: async (tx, upload, outcome, reason) => transfers.ended(tx, { upload_id: upload.id }, { outcome, reason, bytes: upload.offset_bytes }),
  })

  return {
    async create(actor: Actor, spaceId: string, body: BodyOf<(typeof fileSpaces)['upload']>, ip: string): Promise<FileUpload> {
      const id = await db.transaction().execute(async (tx) => {
        const space = await files.writable(tx, actor, spaceId)
        const parentId = await tree.foldersAt(tx, actor, space, body.parent_id, body.folders)
        if (body.conflict === 'refuse') await tree.nameAt(tx, actor, { space_id: spaceId, parent_id: parentId }, { name: body.name, kind: 'file' }, 'refuse')
        const path = parentId === null ? [] : [...(await store.pathOf(tx, parentId)), found(await store.anyEntry(tx, parentId))]
        const { user_id, name } = actor
        const announced = await bytes.announce(tx, {
          taker,
          bp_id: space.bp_id,
          user_id,
          size_bytes: body.size_bytes,
          sha256: body.sha256 ?? null,
          wish: {
            space_id: spaceId,
            parent_id: parentId,
            name: body.name,
            folder: `/${path.map((folder) => folder.name).join('/')}`,
            conflict: body.conflict,
            by: { user_id, name },
            entry_id: uuidv7(),
          } satisfies z.input<typeof wish>,
        })
        await transfers.told(tx, actor, { kind: 'upload', upload_id: announced, name: body.name, space_kind: space.kind, size_bytes: body.size_bytes, ip })
        return announced
      })
      if (body.size_bytes === 0) await bytes.begun(id)
      return shape(await mine(actor, id))
    },

    async list(actor: Actor): Promise<ResponseOf<(typeof fileUploads)['list']>> {
      return { items: (await bytes.uploadsOf(db, taker, actor.user_id)).map(shape) }
    },
    get: async (actor: Actor, id: string): Promise<FileUpload> => shape(await mine(actor, id)),
    async discard(actor: Actor, id: string): Promise<void> {
      await mine(actor, id)
      await bytes.discard(id)
    },

    /** Where their bytes come in, by tus 1.0.0. */
    serve: (http: FastifyInstance, authorising: Authorising): Promise<void> =>
      serveUploads(http, authorising, { path: uploadPath(':id'), call: uploadCalls.get, bytes, uploadOf: mine }),
  }

  function shape(upload: UploadRow): FileUpload {
    const { space_id, name, folder, entry_id } = wishOf(upload)
    return {
      id: upload.id,
      space_id,
      name,
      folder,
      size_bytes: upload.size_bytes,
      offset_bytes: upload.offset_bytes,
      status: upload.status,
      error: upload.error,
      upload_path: uploadPath(upload.id),
      entry_id: upload.status === 'done' ? entry_id : null,
      created_at: iso(upload.created_at),
      expires_at: iso(upload.expires_at),
    }
  }
}
