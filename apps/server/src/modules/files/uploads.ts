import { errors } from '@zhisuan/contract/errors'
import { conflictWays, type FileUpload, type fileSpaces, type fileUploads } from '@zhisuan/contract/files/file'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { fileSpaces as spaceCalls, fileUploads as uploadCalls, filesPath } from '@zhisuan/contract/files/file'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Actor } from '../../platform/auth/actor.ts'
import type { Announced, Bytes, Kept } from '../../platform/bytes/bytes.ts'
import type { UploadRow } from '../../platform/bytes/bytes.store.ts'
import { serveUploads } from '../../platform/bytes/serveUploads.ts'
import { iso, type Tx } from '../../platform/db/database.ts'
import { found, Refusal } from '../../platform/errors.ts'
import type { Authorising } from '../../platform/http/bind.ts'
import { uuidv7 } from '../../platform/ids.ts'
import type { Platform } from '../../platform/platform.ts'
import { mayWrite, type FileService } from './files.service.ts'
import * as store from './files.store.ts'
import * as tree from './files.tree.ts'
import type { Told, Transfers } from './transfers.ts'
import { refuseReplacing, whereTaken, type Asked } from './within.ts'

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
  /** What had the name when it was announced, where it is to be replaced: that they may was asked then, of this one and of no other. */
  replaces: z.string().nullable().default(null),
})
export const uploadPath = (id: string): string => `${filesPath}/uploads/${id}/content`

type Calls = typeof fileSpaces
const digestsOf = (kept: readonly Kept[]): string[] => kept.map(({ sha256 }) => sha256)

export type FileUploads = ReturnType<typeof createFileUploads>

/** Files on their way into a space. */
export function createFileUploads({ db }: Pick<Platform, 'db'>, { bytes, files, transfers }: { bytes: Bytes; files: FileService; transfers: Transfers }) {
  const wishOf = (upload: UploadRow) => wish.parse(upload.wish)
  const mine = async (actor: Actor, id: string): Promise<UploadRow> => {
    const upload = await bytes.upload(db, id)
    return found(upload?.taker === taker && upload.user_id === actor.user_id ? upload : undefined)
  }

  /** One's own, into a space that one may still change. */
  const sent = async (actor: Actor, id: string): Promise<UploadRow> => {
    const upload = await mine(actor, id)
    if (!mayWrite(actor, found(await store.getSpace(db, actor, wishOf(upload).space_id)))) throw new Refusal('fileSpaceReadOnly')
    return upload
  }

  /** It has come: where its folder went meanwhile, to the top, since who sent it would look in vain for nothing. */
  const take = async (tx: Tx, upload: UploadRow, content: { sha256: string; size_bytes: number }): Promise<void> => {
    const { space_id, by, ...wanted } = wishOf(upload)
    await store.lockSpace(tx, space_id)
    const space = found(await store.anySpace(tx, space_id))
    const parent = wanted.parent_id === null ? undefined : await store.folderIn(tx, space_id, wanted.parent_id)
    const at = { space_id, parent_id: parent?.id ?? null }
    // Who took its name since it was announced has it, a folder too.
    const there = wanted.conflict === 'replace' ? await store.entryNamed(tx, space_id, at.parent_id, wanted.name) : undefined
    const replaces = there?.kind === 'file' && there.id === wanted.replaces
    const name = await tree.nameAt(tx, by, at, { name: wanted.name, kind: 'file' }, replaces ? async () => 'replace' : 'keep_both')
    await store.insertEntries(tx, tree.entryRow(by, space, { id: wanted.entry_id, parent_id: at.parent_id, kind: 'file', name, ...content }))
    await store.countIn(tx, space_id, { bytes: content.size_bytes, files: 1 })
    await transfers.ended(tx, { upload_id: upload.id }, { outcome: 'done', bytes: content.size_bytes, sha256: content.sha256 })
  }
  bytes.receive(taker, {
    changeOf: (upload) => (act) => files.within(wishOf(upload).space_id, act),
    take,
    ended: async (tx, upload, outcome, reason) => transfers.ended(tx, { upload_id: upload.id }, { outcome, reason, bytes: upload.offset_bytes }),
  })

  interface Place {
    readonly space: store.SpaceRow
    readonly parentId: string | null
    /** As people read it. */
    readonly folder: string
  }
  const folderText = async (tx: Tx, parentId: string | null): Promise<string> => {
    const path = parentId === null ? [] : [...(await store.pathOf(tx, parentId)), found(await store.anyEntry(tx, parentId))]
    return `/${path.map(({ name }) => name).join('/')}`
  }
  type File = Omit<BodyOf<Calls['upload']>, 'parent_id' | 'folders'>
  /** What one is to be. The caller holds the space. */
  const wished = async (
    tx: Tx,
    actor: Actor,
    { space, parentId, folder }: Place,
    body: File,
    asked: Asked,
  ): Promise<Omit<Announced, 'bp_id' | 'project_id'>> => {
    if (body.conflict === 'refuse') await tree.nameAt(tx, actor, { space_id: space.id, parent_id: parentId }, { name: body.name, kind: 'file' }, 'refuse')
    const there = body.conflict === 'replace' ? await store.entryNamed(tx, space.id, parentId, body.name) : undefined
    if (there?.kind === 'folder') throw new Refusal('fileNameTaken', { values: { name: body.name }, field: 'name' })
    if (there !== undefined) await refuseReplacing(tx, actor, asked, there)
    const { user_id, name } = actor
    return {
      taker,
      user_id,
      size_bytes: body.size_bytes,
      sha256: body.sha256 ?? null,
      wish: {
        space_id: space.id,
        parent_id: parentId,
        name: body.name,
        folder,
        conflict: body.conflict,
        by: { user_id, name },
        entry_id: uuidv7(),
        replaces: there?.id ?? null,
      } satisfies z.input<typeof wish>,
    }
  }
  /** Announces them, all or none. @returns their ids */
  const announce = async (
    tx: Tx,
    actor: Actor,
    space: store.SpaceRow,
    all: readonly { readonly name: string; readonly wished: Omit<Announced, 'bp_id' | 'project_id'> }[],
    ip: string,
  ): Promise<string[]> => {
    const announced = await bytes.announceAll(
      tx,
      space,
      all.map((one) => one.wished),
    )
    const told = all.map(({ name, wished: { size_bytes } }, at): Told => {
      return { kind: 'upload', upload_id: found(announced[at]), name, space_kind: space.kind, size_bytes, ip }
    })
    await transfers.toldAll(tx, actor, told)
    return announced
  }
  /** One whose bytes are kept already. The caller holds the space, and counts. @returns its id */
  const add = async (tx: Tx, actor: Actor, { space, parentId }: Place, body: File, { size_bytes, sha256 }: Kept, asked: Asked): Promise<string> => {
    const at = { space_id: space.id, parent_id: parentId }
    const name = await tree.nameAt(tx, actor, at, { name: body.name, kind: 'file' }, whereTaken(tx, actor, asked, body.conflict))
    const id = uuidv7()
    await store.insertEntries(tx, tree.entryRow(actor, space, { id, parent_id: parentId, kind: 'file', name, sha256, size_bytes }))
    await transfers.told(tx, actor, { kind: 'upload', name: body.name, space_kind: space.kind, size_bytes, sha256, outcome: 'done', ip: asked.ip })
    return id
  }

  return {
    async create(actor: Actor, spaceId: string, body: BodyOf<(typeof fileSpaces)['upload']>, asked: Asked): Promise<FileUpload> {
      const id = await files.within(spaceId, async (tx) => {
        const space = await files.writable(tx, actor, spaceId)
        const parentId = await tree.foldersAt(tx, actor, space, body.parent_id, body.folders)
        const one = await wished(tx, actor, { space, parentId, folder: await folderText(tx, parentId) }, body, asked)
        return found((await announce(tx, actor, space, [{ name: body.name, wished: one }], asked.ip))[0])
      })
      if (body.size_bytes === 0) await bytes.begun(id)
      return shape(await mine(actor, id))
    },

    /** Many at once, in one transaction: what is small is there with it, of all else each is announced. */
    async createMany(
      actor: Actor,
      spaceId: string,
      { parent_id, files: many }: BodyOf<Calls['uploadMany']>,
      asked: Asked,
    ): Promise<ResponseOf<Calls['uploadMany']>> {
      const contents = many.flatMap(({ content }) => (content === undefined ? [] : [Buffer.from(content, 'base64')]))
      const act = async (tx: Tx, kept: readonly Kept[]) => {
        const space = await files.writable(tx, actor, spaceId)
        const places = new Map<string, Place>()
        const placeOf = async (folders: readonly string[]): Promise<Place> => {
          const key = folders.join('/')
          const known = places.get(key)
          if (known !== undefined) return known
          const parentId = await tree.foldersAt(tx, actor, space, parent_id, folders)
          const place = { space, parentId, folder: await folderText(tx, parentId) }
          places.set(key, place)
          return place
        }
        const [here, unwanted]: [Kept[], Kept[]] = [[], []]
        const coming: Parameters<typeof announce>[3][number][] = []
        let next = 0
        /** `coming`: the which of those that are announced. */
        const made: { coming: number | null; entry_id: string | null; refused: Refusal | null }[] = []
        for (const { content, folders, ...file } of many) {
          const came = content === undefined ? null : found(kept[next++])
          try {
            // Before a folder is made for it.
            if (came !== null && (came.size_bytes !== file.size_bytes || (file.sha256 !== undefined && file.sha256 !== came.sha256)))
              throw new Refusal('fileUploadWrong')
            const place = await placeOf(folders)
            if (came === null) {
              const one = { name: file.name, wished: await wished(tx, actor, place, file, asked) }
              made.push({ coming: coming.push(one) - 1, entry_id: null, refused: null })
            } else {
              const entry_id = await add(tx, actor, place, file, came, asked)
              here.push(came)
              made.push({ coming: null, entry_id, refused: null })
            }
          } catch (error) {
            if (!(error instanceof Refusal)) throw error
            if (came !== null) unwanted.push(came)
            made.push({ coming: null, entry_id: null, refused: error })
          }
        }
        const sum = here.reduce((all, { size_bytes }) => all + size_bytes, 0)
        await bytes.take(tx, space, sum)
        await store.countIn(tx, spaceId, { bytes: sum, files: here.length })
        await bytes.release(tx, digestsOf(unwanted))
        const announced = await announce(tx, actor, space, coming, asked.ip)
        return made.map(({ coming: at, ...one }) => ({ ...one, upload: at === null ? null : found(announced[at]) }))
      }
      const outcomes = await bytes.keep(contents, act, (work) => files.within(spaceId, work))
      return {
        items: await Promise.all(
          outcomes.map(async ({ upload, entry_id, refused }) => ({
            upload: upload === null ? null : shape(await mine(actor, upload)),
            entry_id,
            refused: refused === null ? null : { code: errors[refused.refusal].code, message: refused.message },
          })),
        ),
      }
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
      serveUploads(http, authorising, {
        path: uploadPath(':id'),
        call: uploadCalls.get,
        bytes,
        uploadOf: sent,
        within: (upload) => ({ call: spaceCalls.upload, id: wishOf(upload).space_id }),
      }),
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
