import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { archiveEntriesMost, entryName, folderDepthMost } from '@zhisuan/contract/files/file'
import { machineCopiesMost, machineStallMinutes, type machineCopies, type MachineCopy, type MachineKind } from '@zhisuan/contract/files/machine'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { z } from 'zod'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { Bytes } from '../../../platform/bytes/bytes.ts'
import { iso, isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import { counted } from '../counted.ts'
import type { FileService } from '../files.service.ts'
import * as files from '../files.store.ts'
import type { EntryRow } from '../files.store.ts'
import { machineText, transferTexts } from '../files.texts.ts'
import * as tree from '../files.tree.ts'
import type { Machine, MachineItem, Machines, SentItem } from './machine.ts'
import * as store from './machine.store.ts'
import type { CopyRow, PartRow } from './machine.store.ts'
import type { Transfers } from '../transfers.ts'
import { refuseReplacing, refuseWithin, type Asked } from '../within.ts'

type Calls = typeof machineCopies

/** As the storage core knows whose uploads they are. */
const taker = 'files.machine'
const dayMs = 86_400_000
/** How often one that goes on says so; a server that has not for the longer time is believed to be gone. */
const tellEveryMs = 1_000
const claimMs = 10_000
const lookEveryMs = 3_000
/** What goes wrong for reasons that nobody knows is tried again for so long. */
const triedMs = dayMs
/** So many of one organisation are worked at at once, so that another's do not wait behind all of them. */
const atOnce = 2
const stallMs = machineStallMinutes * 60_000
/** Tries before of which something may be left on a machine. */
const triesBefore = 20
/** Names that are tried where one is taken. */
const numbersMost = 100

const wish = z.object({ copy_id: z.string(), path: z.string(), claim: z.number().default(0) })
const copyJob = defineJob({ name: 'files.machine.copy', input: z.object({ id: z.uuid() }), concurrency: 3 })
/** Clears what ended: exported for tests, which do not wait for the clock. */
export const clearJob = defineJob({ name: 'files.machine.clear', input: z.object({}), concurrency: 1, schedule: '* * * * *' })

/** Whoever asked for it said so by now. */
class Cancelled extends Error {}
/** This server is about to stop; another goes on. */
class Stopping extends Error {}
/** Another took it up, or it has ended. */
class Overtaken extends Error {}

export type MachineCopies = ReturnType<typeof createMachineCopies>

/**
 * Files between spaces and machines. What goes to a machine flows from the storage core; what comes from one is received like
 * an upload, each file verified, and waits as parts until all of it can show at once.
 */
export function createMachineCopies(
  { db, jobs, log, now }: Pick<Platform, 'db' | 'jobs' | 'log' | 'now'>,
  parts: { bytes: Bytes; files: FileService; transfers: Transfers; machines: Readonly<Record<MachineKind, Machines>> },
) {
  const { bytes, transfers, machines } = parts
  const running = new Map<string, AbortController>()
  let looking: NodeJS.Timeout | undefined

  bytes.receive(taker, {
    async take(tx, upload, content) {
      const { copy_id, path, claim } = wish.parse(upload.wish)
      if (!(await store.holdClaimed(tx, { id: copy_id, claim }))) throw new Refusal('machineCopyOver')
      await store.insertPart(tx, { copy_id, path, ...content })
    },
    ended: async () => undefined,
  })

  /** A change that counts only as long as nobody else took it up. @throws Overtaken */
  const claimed = <T>(row: store.Claimed, act: (tx: Tx) => Promise<T>): Promise<T> =>
    db.transaction().execute(async (tx) => {
      if (!(await store.holdClaimed(tx, row))) throw new Overtaken()
      return act(tx)
    })

  /** What has come and does not show is given back: of one that has ended all, else what tries before left. @throws Overtaken */
  const clear = async (row: Pick<CopyRow, 'id' | 'claim' | 'user_id' | 'bp_id' | 'project_id'>, ended: boolean): Promise<void> => {
    const held = <T>(act: (tx: Tx) => Promise<T>): Promise<T> => (ended ? db.transaction().execute(act) : claimed(row, act))
    for (const upload of await bytes.waiting(db, { taker, user_id: row.user_id, wish: { copy_id: row.id } })) {
      if (!ended && wish.parse(upload.wish).claim > row.claim) throw new Overtaken()
      await bytes.discard(upload.id).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error
      })
    }
    await held(async (tx) => {
      const gone = await store.deleteParts(tx, row.id)
      if (gone.length === 0) return
      await bytes.give(tx, row, sum(gone))
      await bytes.release(tx, digestsOf(gone))
    })
  }

  /** The name that something gets in a directory of a machine. @throws Refusal fileNameTaken */
  const nameThere = async (machine: Machine, directory: string, entry: Pick<EntryRow, 'name' | 'kind'>, conflict: CopyRow['conflict']): Promise<string> => {
    const there = await machine.stat(posix.join(directory, entry.name))
    if (there === null) return entry.name
    if (conflict === 'replace' && there.kind === 'file' && entry.kind === 'file') return entry.name
    if (conflict === 'keep_both') {
      for (let number = 1; number <= numbersMost; number++) {
        const name = tree.numbered(entry.name, number)
        if ((await machine.stat(posix.join(directory, name))) === null) return name
      }
    }
    throw new Refusal('fileNameTaken', { values: { name: entry.name }, field: 'path' })
  }
  const directoryAt = async (machine: Machine, path: string): Promise<string> => {
    const place = await machine.stat(path)
    if (place?.kind !== 'folder') throw new Refusal('machineFileMissing', { field: 'path', values: { path } })
    return place.path
  }
  /** What is sent of a space, as it is now. */
  const sent = async (row: CopyRow, went: (stream: Readable) => Readable): Promise<{ entry: EntryRow; items: SentItem[]; size: number }> => {
    const id = row.entry_id ?? ''
    const [entry] = await files.entriesOf(db, row, [id])
    if (entry === undefined || entry.bin_id !== null) throw new Refusal('notFound')
    const all = await files.treeOf(db, [id], null, archiveEntriesMost + 1)
    if (all.length > archiveEntriesMost) throw new Refusal('fileTooMany', { values: { limit: archiveEntriesMost } })
    const paths = new Map([[id, '']])
    const items = all.map(({ id: one, parent_id, name, sha256, size_bytes }): SentItem => {
      const path = one === id ? '' : posix.join(paths.get(parent_id ?? '') ?? '', name)
      paths.set(one, path)
      return { path, file: sha256 === null ? null : { size_bytes: size_bytes ?? 0, open: async () => went(await bytes.read(sha256)) } }
    })
    return { entry, items, size: all.reduce((all_, { size_bytes }) => all_ + (size_bytes ?? 0), 0) }
  }

  const told = async (row: CopyRow, changes: { total_bytes: number } | { name: string }): Promise<void> => {
    if (!(await store.updateCopy(db, row, changes))) throw new Overtaken()
  }
  const toMachine = async (row: CopyRow, progress: Progress, signal: AbortSignal): Promise<Ended> => {
    const { entry, items, size } = await sent(row, (stream) => counted(stream, progress.went).stream)
    await told(row, { total_bytes: size })
    const name = await machines[row.machine_kind].work(row.machine_id, signal, async (machine) => {
      progress.begin()
      const directory = await directoryAt(machine, row.path)
      const settled = (await store.getCopy(db, row.id))?.name ?? (await nameThere(machine, directory, entry, row.conflict))
      await told(row, { name: settled })
      await machine.write({ directory, name: settled, part: partOf(row, row.claim), left: partsLeft(row) }, items, signal)
      return settled
    })
    return { name, size, sha256: entry.sha256, skipped: 0, settle: async () => undefined }
  }

  /** Receives one item, and says so as a part. */
  const receive = async (row: CopyRow, item: Extract<MachineItem, { kind: 'file' }>, path: string, progress: Progress): Promise<void> => {
    const id = await claimed(row, (tx) =>
      bytes.announce(tx, {
        taker,
        bp_id: row.bp_id,
        project_id: row.project_id,
        user_id: row.user_id,
        size_bytes: item.size_bytes,
        sha256: null,
        wish: { copy_id: row.id, path, claim: row.claim } satisfies z.input<typeof wish>,
        keptMs: dayMs,
      }),
    )
    const { stream } = counted(item.content, progress.went)
    // What is large is verified for a while: that is no fault of the machine's.
    stream.once('close', () => progress.ours(true))
    await bytes.put(id, stream).finally(() => progress.ours(false))
  }
  const receiveAll = async (row: CopyRow, machine: Machine, progress: Progress, signal: AbortSignal): Promise<number> => {
    const place = await machine.stat(row.path)
    if (place === null || place.kind === 'other') throw new Refusal('machineFileMissing', { field: 'path', values: { path: row.path } })
    if (place.kind === 'file') await told(row, { total_bytes: place.size_bytes })
    const seen = new Set<string>()
    let skipped = 0
    const part = async (path: string): Promise<void> => claimed(row, (tx) => store.insertPart(tx, { copy_id: row.id, path, sha256: null, size_bytes: 0 }))
    for await (const item of machine.read(place.path, signal)) {
      signal.throwIfAborted()
      progress.went(0)
      if (item.kind === 'other') {
        skipped++
        continue
      }
      const path = pathOf(item.path)
      // Not every machine names each folder.
      for (const above of foldersAbove(path).filter((folder) => !seen.has(folder))) {
        seen.add(above)
        await part(above)
      }
      if (seen.has(path)) throw new Refusal('machineFileName', { values: { name: item.path } })
      seen.add(path)
      if (seen.size > archiveEntriesMost) throw new Refusal('fileTooMany', { values: { limit: archiveEntriesMost } })
      if (item.kind === 'folder') await part(path)
      else if (item.kind === 'file') await receive(row, item, path, progress)
      else if (!(await again(row, path, pathOf(item.as)))) skipped++
    }
    return skipped
  }
  /** One more name of what has come: it counts like a copy. */
  const again = (row: CopyRow, path: string, as: string): Promise<boolean> =>
    claimed(row, async (tx) => {
      const same = (await store.partsOf(tx, row.id)).find((one) => one.path === as && one.sha256 !== null)
      if (same === undefined) return false
      await bytes.take(tx, row, same.size_bytes)
      await store.insertPart(tx, { ...same, path })
      return true
    })

  const fromMachine = async (row: CopyRow, progress: Progress, signal: AbortSignal): Promise<Ended> => {
    const skipped = await machines[row.machine_kind].work(row.machine_id, signal, async (machine) => {
      await clear(row, false)
      progress.begin()
      return receiveAll(row, machine, progress, signal)
    })
    const come = await store.partsOf(db, row.id)
    const [root] = come
    if (root === undefined) throw new Refusal('machineFileMissing', { field: 'path', values: { path: row.path } })
    return { name: null, size: sum(come), sha256: root.sha256, skipped, settle: (tx) => lay(tx, row, come) }
  }
  /** Lays down what has come, all at once. Where its folder went meanwhile, at the top. @returns its name there */
  const lay = async (tx: Tx, row: CopyRow, come: readonly PartRow[]): Promise<string> => {
    const space_id = row.space_id ?? ''
    const space = found(await files.anySpace(tx, space_id))
    await files.lockSpace(tx, space_id)
    const by = { user_id: row.user_id, name: row.user_name }
    const parent = row.parent_id === null ? undefined : await files.folderIn(tx, space_id, row.parent_id)
    const parent_id = parent?.id ?? null
    await tree.refuseTooDeep(tx, parent_id, Math.max(...come.map(({ path, sha256 }) => depthOf(path) + (sha256 === null ? 1 : 0))))
    const taken: tree.WhereTaken = row.conflict === 'replace' ? async ({ id }) => (id === row.replaces ? 'replace' : 'keep_both') : 'keep_both'
    const kind = come[0]?.sha256 === null ? ('folder' as const) : ('file' as const)
    const name = await tree.nameAt(tx, by, { space_id, parent_id }, { name: nameOf(row.path), kind }, taken)
    const ids = new Map<string, string>()
    const rows = come.map(({ path, sha256, size_bytes }) => {
      const id = uuidv7()
      ids.set(path, id)
      const at = path === '' ? { parent_id, name } : { parent_id: found(ids.get(folderOf(path))), name: posix.basename(path) }
      return tree.entryRow(by, space, { id, ...at, ...(sha256 === null ? { kind: 'folder' } : { kind: 'file', sha256, size_bytes }) })
    })
    // One statement takes some thousand values; a folder stands before what is in it.
    for (let at = 0; at < rows.length; at += 1_000) await files.insertEntries(tx, rows.slice(at, at + 1_000))
    await files.countIn(tx, space_id, { bytes: sum(come), files: digestsOf(come).length })
    await store.deleteParts(tx, row.id)
    return name
  }

  const end = async (row: CopyRow, ended: Ended): Promise<void> => {
    await db.transaction().execute(async (tx) => {
      const name = (await ended.settle(tx)) ?? ended.name
      const changed = await store.updateCopy(tx, row, {
        status: 'done',
        name,
        total_bytes: ended.size,
        done_bytes: ended.size,
        skipped_count: ended.skipped,
        claimed_until: null,
        ended_at: now(),
      })
      if (!changed) throw new Overtaken()
      const { sha256, size } = ended
      await transfers.ended(tx, { id: row.transfer_id }, { outcome: 'done', bytes: size, size_bytes: size, ...(sha256 !== null && { sha256 }) })
    })
  }
  /** @param of with its claim: only where nobody took it up since */
  const giveUp = async (
    row: CopyRow,
    of: Parameters<typeof store.updateCopy>[1],
    status: 'failed' | 'cancelled',
    reason: string | null,
    went?: number,
  ): Promise<boolean> =>
    db.transaction().execute(async (tx) => {
      if (!(await store.updateCopy(tx, of, { status, error: reason, claimed_until: null, ended_at: now() }))) return false
      await transfers.ended(tx, { id: row.transfer_id }, { outcome: status, reason, bytes: went ?? row.done_bytes })
      return true
    })

  const run = async (id: string): Promise<void> => {
    const until = (): Date => new Date(now().getTime() + claimMs)
    // Another server is at it, or it has ended, or waits for others.
    const row = running.has(id) ? undefined : await db.transaction().execute((tx) => store.claimCopy(tx, id, now(), until(), atOnce))
    if (row === undefined) return
    const ending = new AbortController()
    running.set(id, ending)
    let [done, movedAt, heldUntil, ours] = [0, now().getTime(), until().getTime(), false]
    const progress: Progress = {
      begin: () => (done = 0),
      went: (count) => {
        done += count
        movedAt = now().getTime()
      },
      ours: (so) => {
        ours = so
        movedAt = now().getTime()
      },
    }
    const telling = setInterval(() => {
      const at = now().getTime()
      if (!ours && at - movedAt > stallMs) return ending.abort(new Refusal('machineCopyStalled', { values: { minutes: machineStallMinutes } }))
      const held = until()
      store
        .updateCopy(db, row, { done_bytes: done, claimed_until: held })
        .then((mine) => {
          if (mine) heldUntil = held.getTime()
          else ending.abort(new Overtaken())
        })
        .catch((error: unknown) => {
          log.debug({ err: error, copy: id }, 'how far a copy is was not written down')
          // Nobody knows any more that we are at it: another may be by now.
          if (now().getTime() > heldUntil) ending.abort(new Stopping())
        })
    }, tellEveryMs)
    try {
      await end(row, await (row.direction === 'to_machine' ? toMachine : fromMachine)(row, progress, ending.signal))
    } catch (thrown) {
      const error: unknown = ending.signal.aborted ? ending.signal.reason : thrown
      if (error instanceof Stopping) return void (await store.updateCopy(db, row, { claimed_until: null }))
      if (error instanceof Refusal) await giveUp(row, row, 'failed', error.message, done)
      else if (!(error instanceof Cancelled) && !(error instanceof Overtaken)) {
        log.warn({ err: error, copy: id }, 'a copy from or to a machine broke off')
        if (now().getTime() - row.created_at.getTime() < triedMs) return
        await giveUp(row, row, 'failed', new Refusal('outcomeUnknown').message, done)
      }
      // Whoever took it up sees to what has come.
      if ((await store.getCopy(db, id))?.ended_at !== null) await clear(row, true)
    } finally {
      clearInterval(telling)
      running.delete(id)
      await next(row.bp_id).catch((error: unknown) => log.debug({ err: error }, 'the next copy is begun by the clock'))
    }
  }
  /** What waited for this one, behind what others wait for. */
  const next = async (bpId: string | null): Promise<void> => {
    const waiting = await store.nextCopy(db, bpId)
    if (waiting !== undefined) await db.transaction().execute((tx) => jobs.send(tx, copyJob, waiting))
  }

  const look = async (): Promise<void> => {
    for (const { id } of await store.leftCopies(db, new Date(now().getTime() - claimMs), atOnce))
      await db.transaction().execute((tx) => jobs.send(tx, copyJob, { id }))
  }

  const begin = async (
    actor: Actor,
    ip: string,
    about: Pick<
      CopyRow,
      | 'direction'
      | 'machine_kind'
      | 'machine_id'
      | 'machine_name'
      | 'path'
      | 'entry_id'
      | 'space_id'
      | 'parent_id'
      | 'conflict'
      | 'replaces'
      | 'bp_id'
      | 'project_id'
    >,
    told: { readonly name: string; readonly space: Pick<files.SpaceRow, 'kind'>; readonly size: number | null; readonly at: string },
  ): Promise<MachineCopy> => {
    const id = uuidv7()
    await db.transaction().execute(async (tx) => {
      const { user_id, name: user_name } = actor
      await store.lockCopiesOf(tx, about.bp_id)
      if ((await store.countOpenCopies(tx, about.bp_id)) >= machineCopiesMost)
        throw new Refusal('machineCopiesTooMany', { values: { limit: machineCopiesMost } })
      const transfer_id = await transfers.told(tx, actor, {
        kind: about.direction,
        name: told.name,
        space_kind: told.space.kind,
        size_bytes: told.size,
        machine: machineText(about.machine_name, told.at),
        ip,
      })
      await store.insertCopy(tx, {
        id,
        ...about,
        user_id,
        user_name,
        name: null,
        total_bytes: told.size,
        error: null,
        transfer_id,
        claimed_until: null,
        ended_at: null,
      })
      await jobs.send(tx, copyJob, { id })
    })
    return shape(found(await store.getCopy(db, id)))
  }

  return {
    async list(actor: Actor, kind: MachineKind, id: string): Promise<ResponseOf<Calls['list']>> {
      const rows = await store.copiesOf(db, actor, id, new Date(now().getTime() - dayMs))
      return { items: rows.filter(({ machine_kind }) => machine_kind === kind).map(shape) }
    },

    async toMachine(actor: Actor, { machine: of, path, entry_id, conflict }: BodyOf<Calls['toMachine']>, asked: Asked): Promise<MachineCopy> {
      const [entry] = await files.entriesOf(db, actor, [entry_id])
      if (entry === undefined || entry.bin_id !== null) throw new Refusal('notFound')
      await refuseWithin(db, actor, asked, ['files.entry.download'], [entry_id])
      const space = found(await files.getSpace(db, actor, entry.space_id))
      const machine = await machines[of.kind].reach(scopeOf(actor), of.id)
      const directory = await directoryAt(machine, posix.normalize(path))
      await nameThere(machine, directory, entry, conflict)
      const about = {
        ...identified(of, machine),
        path: posix.normalize(path),
        entry_id,
        space_id: null,
        parent_id: null,
        conflict,
        replaces: null,
        bp_id: actor.bp_id,
        project_id: null,
      }
      return begin(actor, asked.ip, { direction: 'to_machine', ...about }, { name: entry.name, space, size: entry.size_bytes, at: directory })
    },

    async fromMachine(actor: Actor, { machine: of, conflict, ...to }: BodyOf<Calls['fromMachine']>, asked: Asked): Promise<MachineCopy> {
      const path = posix.normalize(to.path)
      const name = nameOf(path)
      const machine = await machines[of.kind].reach(scopeOf(actor), of.id)
      const place = await machine.stat(path)
      if (place === null || place.kind === 'other') throw new Refusal('machineFileMissing', { field: 'path', values: { path } })
      if (!entryName.safeParse(name).success) throw new Refusal('machineFileName', { field: 'path', values: { name } })
      const { space, replaces } = await db.transaction().execute(async (tx) => {
        const writable = await parts.files.writable(tx, actor, to.space_id, 'space_id')
        await tree.folderAt(tx, to.space_id, to.parent_id)
        const there = await files.entryNamed(tx, to.space_id, to.parent_id, name)
        const replaced = conflict === 'replace' && there?.kind === 'file' && place.kind === 'file'
        if (there !== undefined && conflict !== 'keep_both' && !replaced) throw new Refusal('fileNameTaken', { values: { name }, field: 'path' })
        if (replaced) await refuseReplacing(tx, actor, asked, there)
        return { space: writable, replaces: replaced ? there.id : null }
      })
      const about = {
        ...identified(of, machine),
        path,
        entry_id: null,
        space_id: to.space_id,
        parent_id: to.parent_id,
        conflict,
        replaces,
        bp_id: space.bp_id,
        project_id: space.project_id,
      }
      return begin(actor, asked.ip, { direction: 'from_machine', ...about }, { name, space, size: place.kind === 'file' ? place.size_bytes : null, at: path })
    },

    async cancel(actor: Actor, id: string): Promise<void> {
      const row = found(await store.copyOf(db, actor, id))
      if (!(await giveUp(row, { id }, 'cancelled', transferTexts.cancelled))) throw new Refusal('machineCopyOver')
      running.get(id)?.abort(new Cancelled())
      await clear(row, true)
    },

    jobs: [copyJob, clearJob],
    /** Takes up what a killed server left, as long as this one runs. */
    start: (): void => {
      looking = setInterval(() => void look().catch((error: unknown) => log.debug({ err: error }, 'copies that were left were not looked for')), lookEveryMs)
    },
    stop: (): void => clearInterval(looking),
    jobHandlers: [
      handleJob(copyJob, ({ id }) => run(id)),
      handleJob(clearJob, async () => {
        for (const row of await store.endedWithParts(db)) await clear(row, true)
        await store.forgetCopies(db, new Date(now().getTime() - dayMs))
      }),
    ],
    /** Another server, or this one once it is back, goes on. */
    drain: (): void => {
      clearInterval(looking)
      for (const until of running.values()) until.abort(new Stopping())
    },
  }
}

interface Progress {
  /** Anew: what had gone before the line broke goes again. */
  readonly begin: () => void
  readonly went: (bytes: number) => void
  /** Whether what is waited for now is the platform's own work. */
  readonly ours: (so: boolean) => void
}
interface Ended {
  readonly name: string | null
  readonly size: number
  readonly sha256: string | null
  readonly skipped: number
  /** What is done in the transaction that says that it is done. @returns its name, where it is known only then */
  readonly settle: (tx: Tx) => Promise<string | undefined>
}

/** Of each try another, so that who was overtaken touches nothing of who came after. */
const partOf = ({ id }: Pick<CopyRow, 'id'>, claim: number): string => `.${id}.${claim}.part`
const partsLeft = (row: CopyRow): string[] => Array.from({ length: Math.min(triesBefore, row.claim) }, (_, index) => partOf(row, row.claim - index))

const identified = (of: { kind: MachineKind; id: string }, { name }: Machine) => ({ machine_kind: of.kind, machine_id: of.id, machine_name: name })
const sum = (parts: readonly PartRow[]): number => parts.reduce((all, { size_bytes }) => all + size_bytes, 0)
const digestsOf = (parts: readonly PartRow[]): string[] => parts.flatMap(({ sha256 }) => sha256 ?? [])
/** Of a machine's root, which has no name. */
const nameOf = (path: string): string => posix.basename(path).normalize('NFC') || 'root'
const folderOf = (path: string): string => (posix.dirname(path) === '.' ? '' : posix.dirname(path))
/** The outermost first. */
const foldersAbove = (path: string): string[] => (path === '' ? [] : path.split('/').map((_, index, names) => names.slice(0, index).join('/')))
const depthOf = (path: string): number => (path === '' ? 0 : path.split('/').length)

/** As the space calls it. @throws Refusal machineFileName, fileTooDeep */
function pathOf(path: string): string {
  if (path === '') return ''
  const names = path.split('/')
  if (names.length > folderDepthMost) throw new Refusal('fileTooDeep', { values: { limit: folderDepthMost } })
  return names
    .map((name) => {
      const parsed = entryName.safeParse(name)
      if (!parsed.success) throw new Refusal('machineFileName', { values: { name } })
      return parsed.data
    })
    .join('/')
}

const shape = (row: CopyRow): MachineCopy => ({
  id: row.id,
  direction: row.direction,
  machine: { kind: row.machine_kind, id: row.machine_id, name: row.machine_name },
  path: row.path,
  name: row.name,
  status: row.status,
  total_bytes: row.total_bytes,
  done_bytes: row.done_bytes,
  skipped_count: row.skipped_count,
  error: row.error,
  created_at: iso(row.created_at),
  ended_at: isoOrNull(row.ended_at),
})
