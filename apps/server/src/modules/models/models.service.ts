import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { modelCan, type Model, type ModelFile, modelFiles, type ModelRevision, modelRevisions, models, type StagedFile } from '@zhisuan/contract/models/model'
import type { BodyOf, Call, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { ExportLink } from '@zhisuan/contract/exports'
import { z } from 'zod'
import type { FastifyRequest } from 'fastify'
import { authoredBy, refuseOwnerless, scopeOf, type Actor } from '../../platform/auth/actor.ts'
import { decideCall } from '../../platform/auth/rules.ts'
import type { Bytes } from '../../platform/bytes/bytes.ts'
import type { UploadRow } from '../../platform/bytes/bytes.store.ts'
import { iso, type Sql, type Tx } from '../../platform/db/database.ts'
import { shapedPage } from '../../platform/db/page.ts'
import { refusing } from '../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../platform/errors.ts'
import { contextOf } from '../../platform/http/bind.ts'
import { uuidv7 } from '../../platform/ids.ts'
import { tagsOf } from '../../platform/kinds.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Told, Transfers } from '../files/transfers.ts'
import { lockImports } from './imports.store.ts'
import { importTexts } from './models.texts.ts'
import * as store from './models.store.ts'
import type { FileRow, ModelAbout, ModelRow, RevisionRow, SeenModel } from './models.store.ts'

type Models = typeof models
type Files = typeof modelFiles
type Revisions = typeof modelRevisions

const taker = 'models'
const wish = z.object({ model_id: z.string(), path: z.string().nullable().default(null) })
/** Of one model: what one revision lists, and one transaction writes. */
const filesMost = 2_000
/** Of a README that much is its card. */
const cardBytes = 256 * 1024
/** What came in and no commit took goes after that. */
const stagedMs = 86_400_000

/** Sealed in a link to a file. */
const ticket = z.object({
  model: z.string(),
  revision: z.string(),
  path: z.string(),
  /** Whose it is: who has signed out, or may not any more, has none. Null: nobody's who is known. */
  session: z.string().nullable(),
  /** What the request for it said of itself. */
  ip: z.string(),
  agent: z.string().nullable(),
})
/** What it is announced for. */
export const modelOf = (upload: UploadRow): string => wish.parse(upload.wish).model_id
export const modelUploadPath = (id: string): string => `/api/models/v1/uploads/${id}/content`

export interface FileChange {
  readonly message: string
  readonly parent?: string | undefined
  readonly add: readonly { readonly path: string; readonly sha256: string; readonly size_bytes: number }[]
  readonly remove: readonly string[]
}

/** Bytes, by their digest. */
interface Content {
  readonly sha256: string
  readonly size_bytes: number
}
const keyOf = ({ sha256, size_bytes }: { readonly sha256: string | null; readonly size_bytes: number }): string => `${sha256} ${size_bytes}`
/** What becomes of bytes that somebody has: they come in by an upload, or the model has them (null), or they may not. */
interface Announcement extends Content {
  readonly upload_id: string | null
  readonly refused: Refusal | null
}
/** Who asks, and from where. */
type Asker = Pick<FastifyRequest, 'actor' | 'ip'> & { readonly headers: Pick<FastifyRequest['headers'], 'user-agent'> }
/** A model as somebody sees it. */
export interface View {
  readonly row: ModelRow
  /** Whether they see all of it; else what is published. */
  readonly inside: boolean
}
/** A commit as tools make it: of contents that came before, and of others that come with it. */
export interface ContentChange extends Omit<FileChange, 'add'> {
  readonly add: readonly ({ readonly path: string; readonly content: Buffer } | ({ readonly path: string } & Content))[]
  readonly removeFolders: readonly string[]
}

export type ModelService = ReturnType<typeof createModels>

/** Models: a card, files in revisions that never change, published after a review. Bytes are the storage core's. */
export function createModels(
  platform: Pick<Platform, 'db' | 'downloads' | 'kinds' | 'log' | 'now'>,
  {
    bytes,
    transfers,
    actorOf,
  }: {
    bytes: Bytes
    transfers: Pick<Transfers, 'told' | 'toldAll' | 'ended' | 'follow'>
    /** Whom a session is of, or an access key, by now; null where it has ended. */
    actorOf: (sessionId: string) => Promise<Actor | null>
  },
) {
  const { db, downloads, log, now } = platform

  const seen = async (actor: Actor | null, id: string, on: Sql = db): Promise<SeenModel> => found(await store.seenModel(on, actor, id))
  /** One's own. @throws Refusal noPermission of another's that is published */
  const own = async (actor: Actor, id: string): Promise<ModelRow> => {
    const row = await seen(actor, id)
    if (!row.mine) throw new Refusal('noPermission')
    return row
  }
  /** A record of something of a model that goes in or out. @param path of a file of it */
  const record = (
    kind: Told['kind'],
    row: Pick<ModelRow, 'namespace' | 'name'>,
    ip: string,
    of: { path?: string | null } & Pick<Told, 'size_bytes'> & Partial<Told>,
  ): Told => {
    const { path = null, ...more } = of
    return { kind, name: [row.namespace, row.name, ...(path === null ? [] : [path])].join('/'), space_kind: 'model', ip, ...more }
  }
  /** One's own upload, for where its bytes come in. */
  const uploadOf = async (actor: Actor, uploadId: string, modelId?: string): Promise<UploadRow> => {
    const upload = await bytes.upload(db, uploadId)
    const mine = upload?.taker === taker && upload.user_id === actor.user_id && (modelId === undefined || modelOf(upload) === modelId)
    return found(mine ? upload : undefined)
  }
  /** One's own, held against other changes. */
  const held = async (tx: Tx, actor: Actor, id: string): Promise<ModelRow> => {
    // Another's that is published is there, and not theirs to change.
    if (!(await seen(actor, id, tx)).mine) throw new Refusal('noPermission')
    return found(await store.lockModel(tx, actor, id))
  }
  const isPublic = ({ published_revision_id }: ModelRow): boolean => published_revision_id !== null
  /** Of what is not published policies say whether somebody may, though the call is open to everybody. @param id undefined: of all of them */
  const decided = async (actor: Actor, { ip, headers }: Asker, call: Call, id?: string) =>
    decideCall(actor, call, { params: { id } }, contextOf(actor, { ip, headers }), (kind, of) => tagsOf(platform.kinds(), scopeOf(actor), kind, of))
  const refusedBy = ({ action, outcome, by }: Awaited<ReturnType<typeof decided>>): Refusal =>
    new Refusal('noPermission', outcome === 'allowed' ? {} : { refused: { action, outcome, by } })
  /** What is published is there for whoever may not see the rest. @throws Refusal noPermission where nothing is */
  const viewOf = async (asker: Asker, call: Call, row: SeenModel): Promise<View> => {
    const { actor } = asker
    if (actor === null || !row.mine) return { row, inside: false }
    const decision = await decided(actor, asker, call, row.id)
    if (decision.outcome !== 'allowed' && !isPublic(row)) throw refusedBy(decision)
    return { row, inside: decision.outcome === 'allowed' }
  }
  const view = async (asker: Asker, call: Call, id: string): Promise<View> => viewOf(asker, call, await seen(asker.actor, id))
  const shown = async (actor: Actor | null, id: string): Promise<Model> => {
    const row = await seen(actor, id)
    return shapeModel(row, row.mine)
  }

  /** What the model keeps counts, each content once. @param counted bytes that count already, such as of an upload that has come */
  const settle = async (tx: Tx, row: Pick<ModelRow, 'id' | 'bp_id' | 'project_id' | 'kept_bytes'>, counted = 0): Promise<void> => {
    const kept = (await store.contentsOf(tx, row.id)).reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    const more = kept - row.kept_bytes - counted
    if (more > 0) await bytes.take(tx, row, more)
    if (more < 0) await bytes.give(tx, row, -more)
    await store.updateModel(tx, row.id, { kept_bytes: kept }, false)
  }

  bytes.receive(taker, {
    take: async (tx: Tx, upload: UploadRow, content) => {
      const model = await store.lockAnyModel(tx, wish.parse(upload.wish).model_id)
      // Deleted meanwhile.
      if (model === undefined) throw new Refusal('fileParentGone')
      await store.insertStaged(tx, { upload_id: upload.id, model_id: model.id, user_id: upload.user_id, path: wish.parse(upload.wish).path, ...content })
      await settle(tx, model, upload.size_bytes)
      await transfers.ended(tx, { upload_id: upload.id }, { outcome: 'done', bytes: content.size_bytes, sha256: content.sha256 })
    },
    ended: (tx, upload, outcome, reason) => transfers.ended(tx, { upload_id: upload.id }, { outcome, reason, bytes: upload.offset_bytes }),
  })

  /** Whether they may have its files. @throws Refusal modelGated */
  const refuseGated = async (actor: Actor | null, { row, inside }: View): Promise<void> => {
    if (row.terms === null || inside) return
    if (actor === null || !(await store.hasAccepted(db, row.id, actor.user_id, row.terms))) throw new Refusal('modelGated')
  }
  /** A revision by its id or as the newest, of those that they see; null where there is none yet. */
  const revisionOf = async ({ row, inside }: View, revision: string): Promise<RevisionRow | null> => {
    // What tools ask for that name none.
    const main = inside ? row.revision_id : row.published_revision_id
    if (revision === 'main' || revision === 'HEAD') return main === null ? null : found(await store.getRevision(db, row.id, main))
    const at = found(await store.getRevision(db, row.id, revision))
    return found(inside || at.accepted_at !== null ? at : undefined)
  }

  /** Writes down what of a file of a model goes out. */
  const follow = async (
    stream: Readable,
    {
      model,
      by,
      ip,
      file,
      range,
    }: {
      readonly model: Pick<ModelRow, 'namespace' | 'name' | 'bp_id'>
      readonly by: Pick<Actor, 'user_id' | 'name' | 'bp_id'> | null
      readonly ip: string
      readonly file: Pick<FileRow, 'path' | 'sha256' | 'size_bytes'>
      readonly range?: { readonly start: number; readonly end: number } | undefined
    },
  ): Promise<Readable> => {
    const { path, sha256, size_bytes } = file
    return transfers.follow(
      stream,
      by ?? { bp_id: model.bp_id },
      record('download', model, ip, { path, sha256, size_bytes: range === undefined ? size_bytes : range.end - range.start + 1 }),
    )
  }
  const downloadKind = 'models.file'
  downloads.offer(downloadKind, async (text) => {
    const { data: asked } = ticket.safeParse(JSON.parse(text))
    if (asked === undefined) return null
    const { path, session, ip, agent } = asked
    // As they may by now: what was taken back, or has other terms, is not theirs by a link of before.
    const by = session === null ? null : await actorOf(session)
    if (by === null && session !== null) return null
    const model = await store.seenModel(db, by, asked.model)
    if (model === undefined) return null
    const headers = agent === null ? {} : { 'user-agent': agent }
    const seenSo = await viewOf({ actor: by, ip, headers }, modelFiles.download, model)
    await refuseGated(by, seenSo)
    const at = await revisionOf(seenSo, asked.revision)
    const file = at === null ? undefined : await store.fileAt(db, at.id, path)
    if (file === undefined) return null
    return {
      name: path.slice(path.lastIndexOf('/') + 1),
      size: file.size_bytes,
      etag: file.sha256,
      open: async (range) => follow(await bytes.read(file.sha256, range), { model, by, ip, file, range }),
    }
  })

  /** Puts a commit upon the newest revision. The caller holds the model. @throws Refusal modelRevisionStale, modelPathTaken, modelUnchanged, modelTooManyFiles */
  const commit = async (tx: Tx, actor: Pick<Actor, 'user_id' | 'name'>, model: ModelRow, change: FileChange): Promise<RevisionRow> => {
    if (change.parent !== undefined && change.parent !== model.revision_id) throw new Refusal('modelRevisionStale')
    const before = model.revision_id === null ? [] : await store.filesOf(tx, model.revision_id)
    const files = new Map(before.map(({ path, sha256, size_bytes }) => [path, { path, sha256, size_bytes }]))
    for (const path of change.remove) files.delete(path)
    for (const file of change.add) files.set(file.path, file)
    if (files.size > filesMost) throw new Refusal('modelTooManyFiles', { values: { limit: filesMost } })
    const folders = new Set<string>()
    for (const path of files.keys())
      // From the deepest up: above one that was looked at already, all were.
      for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
        const folder = path.slice(0, slash)
        if (folders.has(folder)) break
        if (files.has(folder)) throw new Refusal('modelPathTaken', { values: { path: folder } })
        folders.add(folder)
      }
    const all = [...files.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1))
    if (before.length === all.length && all.every((file, index) => file.path === before[index]?.path && file.sha256 === before[index]?.sha256))
      throw new Refusal('modelUnchanged')
    const parent = model.revision_id === null ? null : found(await store.getRevision(tx, model.id, model.revision_id))
    const row = {
      id: createHash('sha1')
        .update(JSON.stringify([model.id, model.revision_id, change.message, actor.user_id, all]))
        .digest('hex'),
      model_id: model.id,
      number: (parent?.number ?? 0) + 1,
      message: change.message,
      file_count: all.length,
      size_bytes: all.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
      ...authoredBy(actor),
    }
    await store.insertRevision(tx, row, all)
    const readme = files.get('README.md')
    await store.updateModel(tx, model.id, {
      revision_id: row.id,
      size_bytes: row.size_bytes,
      file_count: row.file_count,
      card: readme === undefined ? '' : await cardOf(readme),
      // What was looked at is another now; what was accepted stays what everybody sees.
      ...((model.status === 'review' || model.status === 'published') && { status: 'draft' }),
    })
    await settle(tx, model)
    return { ...row, created_at: now(), accepted_at: null }
  }
  const cardOf = async ({ sha256, size_bytes }: Pick<FileRow, 'sha256' | 'size_bytes'>): Promise<string> => {
    if (size_bytes === 0) return ''
    const text = (await buffer(await bytes.read(sha256, { start: 0, end: Math.min(size_bytes, cardBytes) - 1 }))).toString('utf8')
    // Its head is for programs.
    return text.replace(/^---\r?\n[\s\S]*?\n---\r?\n/, '').replaceAll('\0', '')
  }

  return {
    follow,
    record,
    viewOf,
    refuseGated,
    revisionOf,
    async list(asker: Asker, query: QueryOf<Models['list']>) {
      const { actor } = asker
      if (actor !== null && store.asksForOwn(query)) {
        const decision = await decided(actor, asker, models.list)
        if (decision.outcome !== 'allowed') throw refusedBy(decision)
      }
      const all = store.asksForOwn(query)
      return shapedPage(store.listModels(db, actor, query), (row) => ({ ...shapeModel(row, all), mine: row.mine }))
    },
    facets: async (query: QueryOf<Models['facets']>) => ({ items: await store.facetsOf(db, query) }),

    async get(asker: Asker, id: string): Promise<ResponseOf<Models['get']>> {
      const { actor } = asker
      const { row, inside } = await view(asker, models.get, id)
      const accepted = row.terms !== null && actor !== null && (await store.hasAccepted(db, id, actor.user_id, row.terms))
      return {
        ...shapeModel(row, inside),
        card: inside ? row.card : row.published_card,
        terms: inside ? latest(row).terms : row.terms,
        accepted,
        rejected_reason: inside ? row.rejected_reason : null,
      }
    },

    async create(actor: Actor, { namespace, name, project_id, ...about }: BodyOf<Models['create']>): Promise<Model> {
      refuseOwnerless(scopeOf(actor))
      const id = uuidv7()
      await refusing({ models_name: ['modelNameTaken', 'name'] }, () =>
        db.transaction().execute(async (tx) => {
          if ((await store.takeNamespace(tx, namespace, actor.bp_id)) !== actor.bp_id)
            throw new Refusal('modelNamespaceTaken', { field: 'namespace', values: { name: namespace } })
          if (project_id !== null && !(await store.worksInProject(tx, actor, project_id))) throw new Refusal('projectMissing', { field: 'project_id' })
          await store.insertModel(tx, {
            id,
            bp_id: actor.bp_id,
            project_id,
            namespace,
            name,
            ...about,
            rejected_reason: null,
            pending_about: null,
            revision_id: null,
            published_at: null,
            ...authoredBy(actor),
          })
        }),
      )
      return shown(actor, id)
    },

    async update(actor: Actor, id: string, about: BodyOf<Models['update']>): Promise<Model> {
      await db.transaction().execute(async (tx) => {
        const model = await held(tx, actor, id)
        if (isDeepStrictEqual(aboutOf(latest(model)), about)) return
        // What was looked at, or accepted, is another now; what was accepted stays what everybody sees.
        const asAccepted = isDeepStrictEqual(aboutOf(model), about)
        const back = model.status === 'review' || model.status === 'published' ? ({ status: 'draft' } as const) : {}
        if (!isPublic(model)) return store.updateModel(tx, id, { ...about, ...back })
        if (!asAccepted) return store.updateModel(tx, id, { pending_about: JSON.stringify(about), ...back })
        const status = model.revision_id === model.published_revision_id ? ({ status: 'published', rejected_reason: null } as const) : back
        return store.updateModel(tx, id, { pending_about: null, ...status })
      })
      return shown(actor, id)
    },

    async delete(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        if (!(await seen(actor, id, tx)).mine) throw new Refusal('noPermission')
        // Before the model is held: whoever takes an upload does it in this order too.
        const uploads = await bytes.holdFor(tx, taker, { model_id: id })
        const model = await held(tx, actor, id)
        const contents = await store.contentsOf(tx, id)
        const imports = await lockImports(tx, id)
        for (const { transfer_id } of imports)
          if (transfer_id !== null) await transfers.ended(tx, { id: transfer_id }, { outcome: 'cancelled', reason: importTexts.modelGone })
        await bytes.leave(tx, uploads, 'placeGone')
        await store.deleteModel(tx, id)
        await bytes.give(tx, model, model.kept_bytes + imports.reduce((sum, { reserved_bytes }) => sum + reserved_bytes, 0))
        await bytes.release(
          tx,
          contents.map(({ sha256 }) => sha256),
        )
      })
    },

    async submit(actor: Actor, id: string): Promise<Model> {
      await db.transaction().execute(async (tx) => {
        const model = await held(tx, actor, id)
        refuseUnless(modelCan.submit, model)
        if (model.file_count === 0) throw new Refusal('modelEmpty')
        await store.updateModel(tx, id, { status: 'review', rejected_reason: null })
      })
      return shown(actor, id)
    },
    async withdraw(actor: Actor, id: string): Promise<Model> {
      await db.transaction().execute(async (tx) => {
        const model = await held(tx, actor, id)
        if (!isPublic(model)) refuseUnless(modelCan.withdraw, model)
        await store.takeBackRevisions(tx, id)
        await store.updateModel(tx, id, {
          ...aboutOf(latest(model)),
          pending_about: null,
          status: 'draft',
          published_at: null,
          published_revision_id: null,
          published_card: '',
          published_size_bytes: 0,
          published_file_count: 0,
        })
      })
      return shown(actor, id)
    },
    async review(actor: Actor, id: string, body: BodyOf<Models['review']>, ip: string): Promise<Model> {
      await db.transaction().execute(async (tx) => {
        const model = await held(tx, actor, id)
        // Newer files have taken it back from the review: that says more than that it waits no longer.
        if (model.revision_id !== body.revision) throw new Refusal('modelReviewStale', { field: 'revision' })
        refuseUnless(modelCan.review, model)
        if (iso(model.updated_at) !== iso(new Date(body.updated_at))) throw new Refusal('modelReviewStale', { field: 'updated_at' })
        if (!body.accept) return store.updateModel(tx, id, { status: 'rejected', rejected_reason: body.reason })
        await store.acceptRevision(tx, body.revision, now())
        await store.updateModel(tx, id, {
          ...aboutOf(latest(model)),
          pending_about: null,
          status: 'published',
          published_at: now(),
          published_revision_id: body.revision,
          published_card: model.card,
          published_size_bytes: model.size_bytes,
          published_file_count: model.file_count,
        })
        await transfers.told(tx, actor, record('publish', model, ip, { size_bytes: model.size_bytes }))
      })
      return shown(actor, id)
    },
    async accept(actor: Actor, id: string, read: BodyOf<Models['accept']>): Promise<void> {
      const { terms } = await seen(actor, id)
      if (terms !== read.terms) throw new Refusal('modelTermsChanged', { field: 'terms' })
      await store.recordAcceptance(db, { model_id: id, user_id: actor.user_id, user_name: actor.name, terms })
    },

    async files(asker: Asker, id: string, { revision }: QueryOf<Files['list']>): Promise<ResponseOf<Files['list']>> {
      const at = await revisionOf(await view(asker, modelFiles.list, id), revision)
      return { revision: at?.id ?? null, items: at === null ? [] : (await store.filesOf(db, at.id)).map(shapeFile) }
    },
    async revisions(asker: Asker, id: string, query: QueryOf<Revisions['list']>) {
      const { inside } = await view(asker, modelRevisions.list, id)
      return shapedPage(store.listRevisions(db, id, inside, query), shapeRevision)
    },

    async announce(actor: Actor, id: string, body: BodyOf<Files['upload']>, ip: string): Promise<ResponseOf<Files['upload']>> {
      const upload = await db.transaction().execute(async (tx) => {
        const model = await held(tx, actor, id)
        const { size_bytes, sha256 = null, path = null } = body
        const announced = { taker, bp_id: model.bp_id, project_id: model.project_id, user_id: actor.user_id, size_bytes, sha256, wish: { model_id: id, path } }
        const upload_id = await bytes.announce(tx, announced)
        await transfers.told(tx, actor, record('upload', model, ip, { path, size_bytes, upload_id }))
        return upload_id
      })
      if (body.size_bytes === 0) await bytes.begun(upload)
      return shapeUpload(found(await bytes.upload(db, upload)))
    },
    upload: uploadOf,
    /** One's own on their way to a model, and what of one's own waits there for a commit. */
    async unfinished(actor: Actor, id: string): Promise<ResponseOf<Files['unfinished']>> {
      await own(actor, id)
      const uploads = await bytes.uploadsOf(db, taker, actor.user_id, { model_id: id })
      return { items: [...uploads.map(shapeUpload), ...(await store.stagedBy(db, id, actor.user_id)).map(shapeStaged)] }
    },
    /** Gives one of them up. */
    async discard(actor: Actor, id: string, uploadId: string): Promise<void> {
      const waited = await db.transaction().execute(async (tx) => {
        const model = await held(tx, actor, id)
        const [staged] = await store.stagedOf(tx, id, [uploadId])
        if (staged === undefined || staged.user_id !== actor.user_id) return false
        await store.dropStaged(tx, [uploadId])
        await settle(tx, model)
        await bytes.release(tx, [staged.sha256])
        return true
      })
      if (waited) return
      await uploadOf(actor, uploadId, id)
      await bytes.discard(uploadId)
    },
    /** The same, into a model that is still theirs to change. */
    async sent(actor: Actor, uploadId: string): Promise<UploadRow> {
      const upload = await uploadOf(actor, uploadId)
      await own(actor, modelOf(upload))
      return upload
    },

    async createRevision(actor: Actor, id: string, body: BodyOf<Revisions['create']>): Promise<ModelRevision> {
      const row = await db.transaction().execute(async (tx) => {
        const model = await held(tx, actor, id)
        const ids = body.add.map(({ upload_id }) => upload_id)
        const staged = new Map((await store.stagedOf(tx, id, ids)).map((one) => [one.upload_id, one]))
        const add = body.add.map(({ path, upload_id }) => {
          const file = staged.get(upload_id)
          if (file === undefined) throw new Refusal('modelUploadUnready', { values: { path } })
          return { path, sha256: file.sha256, size_bytes: file.size_bytes }
        })
        const made = await commit(tx, actor, model, { message: body.message, parent: body.parent, add, remove: body.remove })
        await store.dropStaged(tx, ids)
        return made
      })
      return shapeRevision(row)
    },

    /**
     * By their digests, as tools announce them: what of these the model has not, and where it comes in. What was announced
     * before and has not come counts once; as far as there is room, all of them or none.
     */
    async announceAll(actor: Actor, id: string, objects: readonly Content[], ip: string): Promise<Announcement[]> {
      const wished = { model_id: id } satisfies z.input<typeof wish>
      return db.transaction().execute(async (tx) => {
        const model = await held(tx, actor, id)
        const kept = new Set((await store.contentsOf(tx, id)).map(keyOf))
        const waiting = new Map((await bytes.waiting(tx, { taker, user_id: actor.user_id, wish: wished })).map((upload) => [keyOf(upload), upload.id]))
        const fresh = new Map<string, Content>()
        for (const object of objects) {
          const key = keyOf(object)
          if (!kept.has(key) && !waiting.has(key)) fresh.set(key, object)
        }
        const missing = [...fresh.values()]
        let refused: Refusal | null = null
        try {
          const announced = await bytes.announceAll(
            tx,
            model,
            missing.map((object) => ({ taker, user_id: actor.user_id, ...object, wish: wished })),
          )
          const told = missing.map((object, at) => {
            const upload_id = found(announced[at])
            waiting.set(keyOf(object), upload_id)
            return record('upload', model, ip, { size_bytes: object.size_bytes, upload_id })
          })
          await transfers.toldAll(tx, actor, told)
        } catch (error) {
          // Nothing was changed.
          if (!(error instanceof Refusal)) throw error
          refused = error
        }
        return objects.map((object) => {
          const upload_id = kept.has(keyOf(object)) ? null : (waiting.get(keyOf(object)) ?? null)
          return { ...object, upload_id, refused: upload_id === null && !kept.has(keyOf(object)) ? refused : null }
        })
      })
    },
    /** A commit of what the model has, by its digest, and of what is at hand. @throws Refusal modelUploadUnready, and as commit does */
    async commitContents(actor: Actor, id: string, change: ContentChange, ip: string): Promise<RevisionRow> {
      // Before any of them is written.
      if (change.add.length > filesMost) throw new Refusal('modelTooManyFiles', { values: { limit: filesMost } })
      const small = change.add.flatMap((file) => ('content' in file ? [file.content] : []))
      return bytes.keep(small, async (tx, kept) => {
        // Before the model is held: whoever takes an upload does it in this order too.
        const model = await held(tx, actor, id)
        const here = new Set((await store.contentsOf(tx, id)).map(keyOf))
        let next = 0
        const told: Told[] = []
        const add = change.add.map((file) => {
          if ('content' in file) {
            const came = { path: file.path, ...found(kept[next++]) }
            told.push(record('upload', model, ip, { ...came, outcome: 'done' }))
            return came
          }
          if (!here.has(keyOf(file))) throw new Refusal('modelUploadUnready', { values: { path: file.path } })
          return file
        })
        const folders = change.removeFolders.map((folder) => `${folder}/`)
        const before = folders.length === 0 || model.revision_id === null ? [] : await store.filesOf(tx, model.revision_id)
        const within = before.filter(({ path }) => folders.some((folder) => path.startsWith(folder))).map(({ path }) => path)
        // What it adds has left the waiting room by then: it counts once.
        await store.dropStagedContents(
          tx,
          id,
          add.map(({ sha256 }) => sha256),
        )
        await transfers.toldAll(tx, actor, told)
        return commit(tx, actor, model, { message: change.message, parent: change.parent, add, remove: [...change.remove, ...within] })
      })
    },

    async download(asker: Asker, id: string, { path, revision }: BodyOf<Files['download']>): Promise<ExportLink> {
      const { actor } = asker
      const seenSo = await view(asker, modelFiles.download, id)
      await refuseGated(actor, seenSo)
      const at = found(await revisionOf(seenSo, revision))
      found(await store.fileAt(db, at.id, path))
      await store.countDownload(db, id)
      const asked = {
        model: id,
        revision: at.id,
        path,
        session: actor?.session_id ?? null,
        ip: asker.ip,
        agent: asker.headers['user-agent'] ?? null,
      } satisfies z.input<typeof ticket>
      return downloads.link(downloadKind, JSON.stringify(asked), actor)
    },

    own,
    /**
     * A verified file of ours becomes one that waits for a commit.
     * @param counted how much of it counts already, said while the model is held
     * @throws Refusal fileQuotaExceeded, notFound
     */
    async stageFile(id: string, path: string, content: Content, counted: (tx: Tx) => Promise<number>): Promise<void> {
      await bytes.adopt(path, content, async (tx) => {
        const model = found(await store.lockAnyModel(tx, id))
        const before = await counted(tx)
        await store.insertStaged(tx, { upload_id: uuidv7(), model_id: id, user_id: null, path: null, ...content })
        await settle(tx, model, before)
      })
    },
    /** A commit of what was staged, for somebody who asked for it before. Nothing where the model is just so already. */
    async commitImported(by: Pick<Actor, 'user_id' | 'name'>, id: string, { message, add }: Pick<FileChange, 'message' | 'add'>): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const model = found(await store.lockAnyModel(tx, id))
        const here = new Set((await store.contentsOf(tx, id)).map(keyOf))
        for (const file of add) if (!here.has(keyOf(file))) throw new Refusal('modelUploadUnready', { values: { path: file.path } })
        await store.dropStagedContents(
          tx,
          id,
          add.map(({ sha256 }) => sha256),
        )
        const before = model.revision_id === null ? [] : await store.filesOf(tx, model.revision_id)
        const fresh = add.some(({ path, sha256 }) => !before.some((one) => one.path === path && one.sha256 === sha256))
        if (fresh) await commit(tx, by, model, { message, add, remove: [] })
        else await settle(tx, model)
      })
    },

    /** What came in and no commit took goes. */
    async dropForgotten(): Promise<void> {
      for (const { upload_id, model_id, sha256 } of await store.forgottenStaged(db, new Date(now().getTime() - stagedMs))) {
        await db
          .transaction()
          .execute(async (tx) => {
            const model = await store.lockAnyModel(tx, model_id)
            if (model === undefined) return
            await store.dropStaged(tx, [upload_id])
            await settle(tx, model)
            await bytes.release(tx, [sha256])
          })
          // One that cannot go keeps no other.
          .catch((error: unknown) => log.warn({ err: error, upload: upload_id }, 'what nobody committed is left for the next time'))
      }
    },
  }
}

export const shapeUpload = (upload: UploadRow): StagedFile => ({
  id: upload.id,
  path: wish.parse(upload.wish).path,
  status: upload.status,
  error: upload.error,
  offset_bytes: upload.offset_bytes,
  size_bytes: upload.size_bytes,
  upload_path: modelUploadPath(upload.id),
  expires_at: iso(upload.expires_at),
})
const shapeStaged = (row: Awaited<ReturnType<typeof store.stagedBy>>[number]): StagedFile => ({
  id: row.upload_id,
  path: row.path,
  status: 'done',
  error: null,
  offset_bytes: row.size_bytes,
  size_bytes: row.size_bytes,
  upload_path: modelUploadPath(row.upload_id),
  expires_at: iso(new Date(row.created_at.getTime() + stagedMs)),
})
const shapeFile = ({ path, size_bytes, sha256 }: FileRow): ModelFile => ({ path, size_bytes, sha256 })
const shapeRevision = (row: RevisionRow): ModelRevision => ({
  id: row.id,
  number: row.number,
  message: row.message,
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  file_count: row.file_count,
  size_bytes: row.size_bytes,
})
const aboutOf = ({ title, summary, task, framework, licence, quantisation, languages, tags, parameters, memory_bytes, terms }: ModelAbout): ModelAbout => ({
  title,
  summary,
  task,
  framework,
  licence,
  quantisation,
  languages,
  tags,
  parameters,
  memory_bytes,
  terms,
})
/** With what is said of it last, whether that was accepted or not. */
const latest = (row: ModelRow): ModelRow => ({ ...row, ...row.pending_about })
/** @param inside else as everybody sees it */
const shapeModel = (row: ModelRow, inside: boolean): Model => {
  const { terms, ...about } = aboutOf(inside ? latest(row) : row)
  return { ...about, gated: terms !== null, ...shapeState(row, inside) }
}
const shapeState = (row: ModelRow, inside: boolean): Omit<Model, keyof ModelAbout | 'gated'> => ({
  id: row.id,
  repository: `${row.namespace}/${row.name}`,
  namespace: row.namespace,
  name: row.name,
  about_unreviewed: inside && row.pending_about !== null,
  status: inside ? row.status : 'published',
  size_bytes: inside ? row.size_bytes : row.published_size_bytes,
  file_count: inside ? row.file_count : row.published_file_count,
  download_count: row.download_count,
  revision: inside ? row.revision_id : row.published_revision_id,
  published_revision: row.published_revision_id,
  mine: inside,
  published_at: row.published_at === null ? null : iso(row.published_at),
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
})
