import {
  archiveEntriesMost,
  fileBinDays,
  type ConflictWay,
  type FileEntry,
  type fileEntries,
  type FileSpace,
  type fileSpaces,
} from '@zhisuan/contract/files/file'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import type { Actor } from '../../platform/auth/actor.ts'
import type { Bytes } from '../../platform/bytes/bytes.ts'
import { iso, type Sql, type Tx } from '../../platform/db/database.ts'
import { shapedPage } from '../../platform/db/page.ts'
import { found, Refusal } from '../../platform/errors.ts'
import { uuidv7 } from '../../platform/ids.ts'
import { createOneAtATime } from '../../platform/oneAtATime.ts'
import { workInTurn } from '../../platform/bytes/inTurn.ts'
import type { Platform } from '../../platform/platform.ts'
import * as store from './files.store.ts'
import type { EntryRow, SpaceRow } from './files.store.ts'
import { spaceTexts } from './files.texts.ts'
import type { Transfers } from './transfers.ts'
import * as tree from './files.tree.ts'
import { refuseAbove, refuseLeaving, refuseWithin, whereTaken, type Asked } from './within.ts'

type Spaces = typeof fileSpaces
type Entries = typeof fileEntries

const dayMs = 86_400_000
/** Changes of spaces at a server: fewer than it has connections to the database. */
const changesAtOnce = 4
/** Deletions whose days are over, in one look. */
const endedAtOnce = 500

export type FileService = ReturnType<typeof createFiles>

/** Public things are changed by whoever runs the platform; one's own and one's organisation's by oneself. */
export const mayWrite = (actor: Pick<Actor, 'kind'>, space: Pick<SpaceRow, 'kind'>): boolean => space.kind !== 'public' || isPlatformKind(actor.kind)

/** Spaces, and what is in them: the tree is ours, its bytes the storage core's. All changes of a space are one after the other. */
export function createFiles({ db, log, now }: Pick<Platform, 'db' | 'log' | 'now'>, { bytes, transfers }: { bytes: Bytes; transfers: Transfers }) {
  const oneAtATime = createOneAtATime()
  const few = workInTurn(changesAtOnce)
  /** A change of one space: who waits for others that change the same one, or for many that change others, holds no connection to the database. */
  const within = <T>(spaceId: string, act: (tx: Tx) => Promise<T>): Promise<T> => oneAtATime(spaceId, () => few(() => db.transaction().execute(act)))
  /** In the space of what was chosen. @throws Refusal notFound */
  const withinThat = async <T>(actor: Actor, ids: readonly string[], act: (tx: Tx) => Promise<T>): Promise<T> => {
    const [first] = await store.entriesOf(db, actor, ids.slice(0, 1))
    return within(found(first).space_id, act)
  }
  const spaceOf = async (on: Sql, actor: Actor, id: string, field?: string): Promise<SpaceRow> => {
    const space = await store.getSpace(on, actor, id)
    if (space === undefined && field !== undefined) throw new Refusal('fileParentGone', { field })
    return found(space)
  }
  /** One that the actor may change, held against other changes. */
  const writable = async (tx: Tx, actor: Actor, id: string, field?: string): Promise<SpaceRow> => {
    const space = await spaceOf(tx, actor, id, field)
    if (!mayWrite(actor, space)) throw new Refusal('fileSpaceReadOnly')
    await store.lockSpace(tx, id)
    return space
  }

  /** Those of these ids, all of one space that the actor may change; whatever is missing is not found. */
  const chosen = async (tx: Tx, actor: Actor, ids: readonly string[], binned: boolean): Promise<{ space: SpaceRow; entries: EntryRow[] }> => {
    const seen = await store.entriesOf(tx, actor, ids)
    const space = await writable(tx, actor, found(seen[0]).space_id)
    // Read again: what it was before it was held may have changed.
    const entries = await store.entriesOf(tx, actor, ids)
    if (entries.length !== new Set(ids).size || entries.some((entry) => entry.space_id !== space.id)) throw new Refusal('notFound')
    for (const entry of entries) {
      if (binned && entry.deleted_at === null) throw new Refusal('fileNotInBin', { values: { name: entry.name } })
      if (!binned && entry.bin_id !== null) throw new Refusal('notFound')
    }
    return { space, entries }
  }

  const shown = async (actor: Actor, id: string): Promise<FileEntry> => shapeEntry(found(await store.entryOf(db, actor, id)))

  /**
   * Copies into a place of another space, or of the same.
   * @param publishing into the public space, which is nobody's: what is copied counts for who does it
   */
  const copyInto = async (
    tx: Tx,
    actor: Actor,
    to: SpaceRow,
    publishing: boolean,
    wish: { readonly ids: readonly string[]; readonly parent_id: string | null; readonly conflict: ConflictWay },
    asked: Asked,
  ): Promise<EntryRow[]> => {
    const roots = await store.entriesOf(tx, actor, wish.ids)
    if (roots.length !== new Set(wish.ids).size || roots.some(({ bin_id }) => bin_id !== null)) throw new Refusal('notFound')
    const actions = ['files.entry.copy', 'files.entry.download', ...(publishing ? ['files.entry.publish'] : [])]
    await refuseWithin(tx, actor, asked, actions, wish.ids)
    const may = whereTaken(tx, actor, asked, wish.conflict)
    // What others published is not theirs who publish, though they may add to it.
    const theirs: tree.WhereTaken = async (there) => {
      if (there.counts_for !== actor.bp_id) throw new Refusal('fileReplaceDenied', { values: { name: there.name }, field: 'conflict' })
      return typeof may === 'string' ? 'keep_both' : may(there)
    }
    const taken = typeof may === 'string' || mayWrite(actor, to) ? may : theirs
    const counts_for = publishing ? actor.bp_id : null
    await tree.folderAt(tx, to.id, wish.parent_id)
    const all = await store.treeOf(tx, wish.ids, null, archiveEntriesMost + 1)
    if (all.length > archiveEntriesMost) throw new Refusal('fileTooMany', { values: { limit: archiveEntriesMost } })
    // A root's own folder is a level; of one that lies in another of them the copy is a copy of its own.
    await tree.refuseTooDeep(tx, wish.parent_id, Math.max(...all.map(({ depth, kind }) => depth + (kind === 'folder' ? 1 : 0))))
    // What is counted is what is copied: a copy may come into a tree that is copied after it.
    const trees = []
    for (const root of roots) trees.push({ root, entries: await store.treeOf(tx, [root.id], null, archiveEntriesMost) })
    const copied = trees.flatMap(({ entries }) => entries)
    const size = copied.reduce((sum, entry) => sum + (entry.size_bytes ?? 0), 0)
    if (counts_for === null) await bytes.take(tx, to, size)
    else await takePublished(tx, counts_for, size)
    for (const { root, entries } of trees) {
      const copies = new Map<string, string>()
      const rows = []
      for (const entry of entries) {
        const id = uuidv7()
        copies.set(entry.id, id)
        const isRoot = entry.id === root.id
        const name = isRoot ? await tree.nameAt(tx, actor, { space_id: to.id, parent_id: wish.parent_id }, entry, taken) : entry.name
        const parent_id = isRoot ? wish.parent_id : (copies.get(entry.parent_id ?? '') ?? null)
        rows.push(tree.entryRow(actor, to, { id, parent_id, kind: entry.kind, name, sha256: entry.sha256, size_bytes: entry.size_bytes, counts_for }))
      }
      // One statement takes some thousand values; a folder stands before what is in it.
      for (let at = 0; at < rows.length; at += 1_000) await store.insertEntries(tx, rows.slice(at, at + 1_000))
    }
    await store.countIn(tx, to.id, { bytes: size, files: copied.filter(({ kind }) => kind === 'file').length })
    return roots
  }

  /** What an organisation has in the public space. @param size below 0: so much of it is gone */
  const takePublished = async (tx: Tx, bpId: string, size: number): Promise<void> => {
    const account = { bp_id: bpId, project_id: null }
    if (size >= 0) await bytes.take(tx, account, size)
    else await bytes.give(tx, account, -size)
    await store.countPublished(tx, bpId, size)
  }

  /** Deletes for good what one deletion took. */
  const purge = async (tx: Tx, space: Pick<SpaceRow, 'id' | 'bp_id' | 'project_id'>, binId: string): Promise<void> => {
    const gone = await store.purgeTree(tx, binId)
    const size = gone.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    await store.countIn(tx, space.id, { bytes: -size, files: -gone.length })
    const published = new Map<string, number>()
    for (const { counts_for, size_bytes } of gone) if (counts_for !== null) published.set(counts_for, (published.get(counts_for) ?? 0) + size_bytes)
    await bytes.give(tx, space, size - [...published.values()].reduce((sum, of) => sum + of, 0))
    // In one order, so that no two wait for each other.
    for (const [bpId, of] of [...published].toSorted(([one], [other]) => (one < other ? -1 : 1))) await takePublished(tx, bpId, -of)
    await bytes.release(
      tx,
      gone.map(({ sha256 }) => sha256),
    )
  }

  return {
    /** What was a person's alone goes with them. */
    async personDeleted(tx: Tx, userId: string): Promise<void> {
      const uploads = await bytes.hold(tx, userId)
      const space = await store.deletePersonalSpace(tx, userId)
      await bytes.leave(tx, uploads, 'left')
      if (space === undefined) return
      await bytes.give(tx, space, space.used_bytes)
      await bytes.release(tx, space.sha256s)
    },

    async spaces(actor: Actor): Promise<ResponseOf<Spaces['list']>> {
      const spaces = await store.spacesOf(db, actor, uuidv7)
      const usage = await bytes.account(db, { bp_id: actor.bp_id, project_id: null })
      const items: FileSpace[] = []
      for (const space of spaces) items.push({ ...shapeSpace(actor, space), project: space.project_id === null ? null : await bytes.account(db, space) })
      return { items, usage }
    },

    async list(actor: Actor, id: string, query: QueryOf<Spaces['entries']>) {
      await spaceOf(db, actor, id)
      return shapedPage(store.listEntries(db, id, query), shapeEntry)
    },

    async get(actor: Actor, id: string, asked: Asked): Promise<ResponseOf<Entries['get']>> {
      const entry = found(await store.entryOf(db, actor, id))
      await refuseAbove(db, actor, asked, ['files.entry.get'], [id])
      return { ...shapeEntry(entry), path: await store.pathOf(db, id) }
    },

    async createFolder(actor: Actor, spaceId: string, body: BodyOf<Spaces['createFolder']>): Promise<FileEntry> {
      const id = uuidv7()
      await within(spaceId, async (tx) => {
        const space = await writable(tx, actor, spaceId)
        await tree.folderAt(tx, spaceId, body.parent_id)
        await tree.refuseTooDeep(tx, body.parent_id, 1)
        const name = await tree.nameAt(tx, actor, { space_id: spaceId, parent_id: body.parent_id }, { name: body.name, kind: 'folder' }, 'refuse')
        await store.insertEntries(tx, tree.entryRow(actor, space, { id, parent_id: body.parent_id, kind: 'folder', name }))
      })
      return shown(actor, id)
    },

    async rename(actor: Actor, id: string, { name }: BodyOf<Entries['rename']>, asked: Asked): Promise<FileEntry> {
      await withinThat(actor, [id], async (tx) => {
        const { entries } = await chosen(tx, actor, [id], false)
        const entry = found(entries[0])
        await refuseAbove(tx, actor, asked, ['files.entry.rename'], [id])
        if (entry.name === name) return
        await store.updateEntry(tx, id, { name: await tree.nameAt(tx, actor, entry, { name, kind: entry.kind }, 'refuse') })
      })
      return shown(actor, id)
    },

    async move(actor: Actor, body: BodyOf<Entries['move']>, asked: Asked): Promise<void> {
      await withinThat(actor, body.ids, async (tx) => {
        const { space, entries } = await chosen(tx, actor, body.ids, false)
        await refuseWithin(tx, actor, asked, ['files.entry.move'], body.ids)
        await refuseLeaving(tx, actor, asked, body.ids, body.parent_id)
        const taken = whereTaken(tx, actor, asked, body.conflict)
        const to = { space_id: space.id, parent_id: body.parent_id }
        await tree.folderAt(tx, space.id, body.parent_id)
        const above = body.parent_id === null ? [] : [body.parent_id, ...(await store.pathOf(tx, body.parent_id)).map((folder) => folder.id)]
        for (const entry of entries) {
          if (above.includes(entry.id)) throw new Refusal('fileIntoItself', { values: { name: entry.name }, field: 'parent_id' })
          if (entry.parent_id === body.parent_id) continue
          if (entry.kind === 'folder') await tree.refuseTooDeep(tx, body.parent_id, 1 + (await store.depthWithin(tx, entry.id)))
          await store.updateEntry(tx, entry.id, { name: await tree.nameAt(tx, actor, to, entry, taken), parent_id: body.parent_id })
        }
      })
    },

    async copy(actor: Actor, { space_id, ...wish }: BodyOf<Entries['copy']>, asked: Asked): Promise<void> {
      await within(space_id, async (tx) => {
        await copyInto(tx, actor, await writable(tx, actor, space_id, 'space_id'), false, wish, asked)
      })
    },

    /** Whether they may is said by a policy: the public space is else only the platform’s to change. */
    async publish(actor: Actor, body: BodyOf<Entries['publish']>, asked: Asked): Promise<void> {
      await store.spacesOf(db, actor, uuidv7)
      const space = await store.publicSpace(db)
      await within(space.id, async (tx) => {
        await store.lockSpace(tx, space.id)
        const roots = await copyInto(tx, actor, space, true, body, asked)
        for (const { name, size_bytes, sha256 } of roots)
          await transfers.told(tx, actor, { kind: 'publish', name, space_kind: 'public', size_bytes, sha256, ip: asked.ip })
      })
    },

    async delete(actor: Actor, { ids }: BodyOf<Entries['delete']>, asked: Asked): Promise<void> {
      await withinThat(actor, ids, async (tx) => {
        const { entries } = await chosen(tx, actor, ids, false)
        await refuseWithin(tx, actor, asked, ['files.entry.delete'], ids)
        const all = new Set(ids)
        for (const entry of entries) {
          // It goes with a folder of the same choice.
          if ((await store.pathOf(tx, entry.id)).some((folder) => all.has(folder.id))) continue
          await tree.intoBin(tx, actor, entry)
        }
      })
    },

    async restore(actor: Actor, body: BodyOf<Entries['restore']>, asked: Asked): Promise<void> {
      await withinThat(actor, body.ids, async (tx) => {
        const { space, entries } = await chosen(tx, actor, body.ids, true)
        await refuseWithin(tx, actor, asked, ['files.entry.restore'], body.ids, true)
        for (const entry of entries) {
          const parent = entry.parent_id === null ? undefined : await store.folderIn(tx, space.id, entry.parent_id)
          const to = { space_id: space.id, parent_id: parent?.id ?? null }
          await refuseLeaving(tx, actor, asked, [entry.id], to.parent_id)
          const name = await tree.nameAt(tx, actor, to, entry, body.conflict)
          // Named first: what is there has to be the only one of its name at every moment.
          await store.updateEntry(tx, entry.id, { name, parent_id: to.parent_id, deleted_at: null, deleted_by_name: null, deleted_from: null, lay_in: [] })
          await store.unbinTree(tx, entry.id)
        }
      })
    },

    async purge(actor: Actor, { ids }: BodyOf<Entries['purge']>, asked: Asked): Promise<void> {
      await withinThat(actor, ids, async (tx) => {
        const { space, entries } = await chosen(tx, actor, ids, true)
        await refuseWithin(tx, actor, asked, ['files.entry.purge', 'files.entry.delete'], ids, true)
        for (const entry of entries) await purge(tx, space, entry.id)
      })
    },

    /** What has been in the bin for its days goes, some at a time, until nothing is due. One that cannot be deleted keeps no other. */
    async purgeEnded(signal?: AbortSignal): Promise<void> {
      const before = new Date(now().getTime() - fileBinDays * dayMs)
      const isOver = (): boolean => signal?.aborted === true
      for (;;) {
        let gone = 0
        for (const { id, space_id } of await store.binnedBefore(db, before, endedAtOnce)) {
          if (isOver()) return
          await within(space_id, async (tx) => {
            await store.lockSpace(tx, space_id)
            const [space, entry] = [await store.anySpace(tx, space_id), await store.anyEntry(tx, id)]
            if (space !== undefined && entry !== undefined && entry.deleted_at !== null) await purge(tx, space, id)
            gone++
          }).catch((error: unknown) => log.warn({ err: error, entry: id }, 'what was in the bin is left for the next time'))
        }
        if (gone === 0) return
      }
    },
    /** A change of one space. Who waits for others holds no connection to the database. */
    within,
    writable,
  }
}

const shapeSpace = (actor: Actor, space: store.ShownSpace): Omit<FileSpace, 'project'> => ({
  id: space.id,
  kind: space.kind,
  name: space.project_name ?? spaceTexts[space.kind],
  writable: mayWrite(actor, space),
  file_count: space.file_count,
  used_bytes: space.used_bytes,
})

const shapeEntry = (row: EntryRow): FileEntry => ({
  id: row.id,
  space_id: row.space_id,
  parent_id: row.parent_id,
  kind: row.kind,
  name: row.name,
  size_bytes: row.size_bytes,
  sha256: row.sha256,
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
  deleted:
    row.deleted_at === null
      ? null
      : {
          at: iso(row.deleted_at),
          by: row.deleted_by_name ?? '',
          from: row.deleted_from ?? '/',
          ends_at: iso(new Date(row.deleted_at.getTime() + fileBinDays * dayMs)),
        },
})
