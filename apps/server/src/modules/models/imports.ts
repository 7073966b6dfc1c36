import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileBytesMost } from '@zhisuan/contract/files/file'
import { modelImports, type ModelImport } from '@zhisuan/contract/models/import'
import { modelFilePath } from '@zhisuan/contract/models/model'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { Agent } from 'undici'
import { z } from 'zod'
import { authoredBy, type Actor } from '../../platform/auth/actor.ts'
import { mayStill, type PersonOf } from '../../platform/auth/later.ts'
import type { Bytes } from '../../platform/bytes/bytes.ts'
import { iso, isoOrNull, type Tx } from '../../platform/db/database.ts'
import { found, Refusal } from '../../platform/errors.ts'
import { uuidv7 } from '../../platform/ids.ts'
import { defineJob, handleJob } from '../../platform/jobs.ts'
import { fetchFile } from '../../platform/outbound/fetch.ts'
import { createOutboundAgent, fetchFailed, fetchReason, fetchRefusal, follow } from '../../platform/outbound/follow.ts'
import type { OutboundGuard } from '../../platform/outbound/guard.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Transfers } from '../files/transfers.ts'
import { importTexts } from './models.texts.ts'
import type { ModelService } from './models.service.ts'
import * as store from './imports.store.ts'
import type { ImportRow, PlannedFile } from './imports.store.ts'

/** As much as one model holds. */
const filesMost = 2_000
const answerMs = 60_000
/** More than what a hub says of all files of a model. */
const answerBytes = 2 * 1024 * 1024
/** A file has to bring so much in each span: what only seems to come holds nobody's place for hours. */
const pace = { spanMs: 60_000, bytes: 256 * 1024 } as const
/** Pages of a listing; a hub that never ends is left. */
const pagesMost = 50
/** How long a server is believed to be at it that says nothing. */
const claimMs = 120_000
const renewEveryMs = 30_000
/** So many at once at a server, and so many of one organisation on all of them, so that another's do not wait behind hers. */
const workers = 4
const atOnce = 2
/** What nobody could go on with for so long is given up. */
const givenUpMs = 7 * 86_400_000
const tellEveryMs = 1_000
/** The queue takes a job for lost after an hour: what lasts longer goes on in another. */
const turnMs = 45 * 60_000

const info = z.object({ sha: z.string().regex(/^[0-9a-f]{7,64}$/) })
/** Another's word: what is no size of a file is none. */
const size = z.int().min(0).max(fileBytesMost)
const listing = z.array(
  z.object({
    type: z.string(),
    path: z.string(),
    size: size.default(0),
    oid: z.string().optional(),
    lfs: z.object({ oid: z.string().regex(/^[0-9a-f]{64}$/), size }).nullish(),
  }),
)

export const importJob = defineJob({ name: 'models.import.run', input: z.object({ id: z.uuid() }), concurrency: workers })
/** Takes up what a killed server left. */
export const lookJob = defineJob({ name: 'models.import.look', input: z.object({}), concurrency: 1, schedule: '* * * * *' })

/** Whoever asked for it said so by now, or another server took it up. */
class Cancelled extends Error {}

/**
 * Brings models in from other hubs: from addresses that administrators name, to machines that the guard lets us to. What is
 * there is written down first; each file is fetched, goes on where it broke off, is verified and waits with the model's
 * other files; the revision is made of all of them at last.
 */
export function createImports(
  platform: Pick<Platform, 'config' | 'db' | 'jobs' | 'kinds' | 'log' | 'now'>,
  parts: {
    models: ModelService
    bytes: Bytes
    transfers: Pick<Transfers, 'told' | 'ended'>
    guard: OutboundGuard
    hubs: () => Promise<string>
    personOf: PersonOf
  },
) {
  const { db, jobs, log, now } = platform
  const { models, bytes, transfers, guard, hubs, personOf } = parts
  const folder = join(platform.config.DATA_DIR, 'bytes', 'imports')
  const folderOf = (id: string): string => join(folder, id)
  const until = (): Date => new Date(now().getTime() + claimMs)

  const allowed = async (): Promise<string[]> =>
    (await hubs())
      .split(/[,\s]+/)
      .filter((text) => URL.canParse(text))
      .map(plain)
  const refuseForbidden = async (url: string): Promise<void> => {
    if (!(await allowed()).includes(plain(url))) throw new Refusal('modelHubForbidden', { field: 'url', values: { url } })
    guard.checkLiteral(new URL(url))
  }
  /** Both are asked again by whoever takes it up: the hub may be allowed no longer, and whoever asked may not import any more. */
  const refuseByNow = async (row: ImportRow): Promise<void> => {
    await refuseForbidden(row.url)
    const actor = row.created_by === null ? null : await personOf(row.created_by)
    const theirs = actor !== null && (await models.own(actor, row.model_id).then(() => true, isRefusal))
    if (!theirs || !(await mayStill(platform, actor, modelImports.create, undefined, { id: row.model_id })))
      throw failed(importTexts.notTheirs(row.created_by_name))
  }

  const ask = async (url: string, agent: Agent, signal: AbortSignal): Promise<{ body: unknown; next: string | null }> => {
    const { answer, url: at } = await follow(url, { guard, agent, signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]) })
    if (answer.statusCode !== 200) {
      answer.body.on('error', () => undefined).destroy()
      throw fetchFailed('status', { status: answer.statusCode })
    }
    const next = /<([^>]+)>;\s*rel="next"/.exec(String(answer.headers['link'] ?? ''))?.[1]
    if (next === undefined) return { body: await boundedJson(answer.body), next: null }
    const following = URL.parse(next, at.href)
    // The hub was allowed, and nobody that it names.
    if (following === null || following.origin !== new URL(url).origin) throw failed(importTexts.unreadable)
    return { body: await boundedJson(answer.body), next: following.href }
  }
  /** What there is, as it is now: of a name that moves on, such as `main`, the commit that it stands for. */
  const plan = async (row: ImportRow, signal: AbortSignal): Promise<{ commit: string; files: PlannedFile[] }> => {
    const agent = createOutboundAgent(guard)
    const base = `${row.url}/api/models/${row.repository}`
    try {
      const { sha: commit } = info.parse((await ask(`${base}/revision/${encodeURIComponent(row.revision)}`, agent, signal)).body)
      const files: PlannedFile[] = []
      const paths = new Set<string>()
      let next: string | null = `${base}/tree/${commit}?recursive=true`
      for (let pages = 0; next !== null && pages < pagesMost; pages++) {
        const page = await ask(next, agent, signal)
        for (const { type, path, size: bytesOf, oid = null, lfs } of listing.parse(page.body)) {
          if (type !== 'file') continue
          if (paths.has(path)) throw failed(importTexts.twice(path))
          paths.add(path)
          if (!modelFilePath.safeParse(path).success) throw failed(importTexts.path(path))
          files.push({ path, size_bytes: lfs?.size ?? bytesOf, sha256: lfs?.oid ?? null, git: lfs == null ? oid : null, done: false })
        }
        if (files.length > filesMost) throw new Refusal('modelTooManyFiles', { values: { limit: filesMost } })
        next = page.next
      }
      // Some of it is not all of it.
      if (next !== null) throw failed(importTexts.tooManyPages(pagesMost))
      if (files.length === 0) throw failed(importTexts.empty)
      if (!Number.isSafeInteger(sum(files))) throw failed(importTexts.unreadable)
      return { commit, files }
    } catch (error) {
      if (error instanceof z.ZodError || error instanceof SyntaxError) throw failed(importTexts.unreadable, error)
      throw error
    } finally {
      await agent.destroy()
    }
  }

  /** Brings one file in and answers its digest. */
  const bring = async (
    row: ImportRow,
    commit: string,
    file: PlannedFile,
    number: number,
    told: (bytes: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<string> => {
    const path = join(folderOf(row.id), String(number))
    const at = file.path.split('/').map(encodeURIComponent).join('/')
    const url = `${row.url}/${row.repository}/resolve/${commit}/${at}`
    await fetchFile({ url, path, maxBytes: Math.max(1, file.size_bytes), guard, signal, pace, onTotal: async () => undefined, onProgress: told })
    const { sha256, git } = await digestsOf(path, signal)
    const wrong =
      (await stat(path)).size !== file.size_bytes ||
      (file.sha256 !== null && file.sha256 !== sha256) ||
      (file.git !== null && file.git.length === 40 && file.git !== git)
    if (wrong) throw failed(importTexts.wrong(file.path))
    await models.stageFile(row.model_id, path, { sha256, size_bytes: file.size_bytes }, (tx) => arrived(tx, row, file.size_bytes))
    await rm(path, { force: true })
    await rm(`${path}.source`, { force: true })
    return sha256
  }

  /** All of it counts before any of it comes. */
  const begin = async (row: ImportRow, signal: AbortSignal): Promise<{ commit: string; files: PlannedFile[] }> => {
    if (row.commit !== null && row.files !== null) {
      const came = await store.cameOf(db, row.id)
      const files = row.files.map((file, number) => ({ ...file, sha256: came.get(number) ?? file.sha256, done: file.done || came.has(number) }))
      return { commit: row.commit, files }
    }
    const { commit, files } = await plan(row, signal)
    await db.transaction().execute(async (tx) => {
      const at = await store.lockImport(tx, row)
      if (at === undefined) throw new Cancelled()
      await bytes.reserve(tx, at, sum(files))
      await store.updateImport(tx, row, {
        commit,
        files: JSON.stringify(files),
        total_bytes: sum(files),
        total_files: files.length,
        reserved_bytes: sum(files),
        moved_at: now(),
      })
    })
    return { commit, files }
  }
  /** What has come is counted by the model from now on. @returns how much of it counted already */
  const arrived = async (tx: Tx, row: store.Claimed, came: number): Promise<number> => {
    const at = await store.lockImport(tx, row)
    if (at === undefined) throw new Cancelled()
    const counted = Math.min(at.reserved_bytes, came)
    await store.updateImport(tx, row, { reserved_bytes: at.reserved_bytes - counted })
    return counted
  }
  /** Once: what has ended stays as it did. What has not come counts no more. @param of with its claim: only where nobody took it up since */
  const end = (of: { readonly id: string; readonly claim?: number }, status: 'done' | 'failed' | 'cancelled', error: string | null): Promise<void> =>
    db.transaction().execute(async (tx) => {
      const at = await store.lockImport(tx, of)
      if (at === undefined) return
      await store.endImport(tx, of.id, { status, error, ended_at: now(), claimed_until: null, reserved_bytes: 0 })
      await bytes.give(tx, at, at.reserved_bytes)
      const size_bytes = at.total_bytes ?? undefined
      if (at.transfer_id !== null)
        await transfers.ended(
          tx,
          { id: at.transfer_id },
          { outcome: status, reason: error, bytes: at.done_bytes, ...(size_bytes !== undefined && { size_bytes }) },
        )
    })

  const work = async (row: ImportRow, signal: AbortSignal): Promise<'done' | 'later'> => {
    await mkdir(folderOf(row.id), { recursive: true, mode: 0o700 })
    const { commit, files } = await begin(row, signal)
    const turn = Date.now() + turnMs
    let toldAt = 0
    for (const [number, file] of files.entries()) {
      if (file.done) continue
      if (Date.now() > turn) return 'later'
      const before = sum(files.filter(({ done }) => done))
      const told = async (came: number): Promise<void> => {
        if (Date.now() - toldAt < tellEveryMs) return
        toldAt = Date.now()
        if (!(await store.goOn(db, row, until(), { done_bytes: before + came, moved_at: now() }))) throw new Cancelled()
      }
      await told(0)
      const sha256 = await bring(row, commit, file, number, told, signal)
      file.sha256 = sha256
      file.done = true
      const done = files.filter((one) => one.done)
      const so = { done_files: done.length, done_bytes: sum(done), moved_at: now() }
      if (!(await db.transaction().execute((tx) => store.fileCame(tx, row, { number, sha256 }, so)))) throw new Cancelled()
    }
    const add = files.map(({ path, sha256, size_bytes }) => ({ path, sha256: found(sha256), size_bytes }))
    await models.commitImported({ user_id: row.created_by ?? '', name: row.created_by_name }, row.model_id, { message: importTexts.message(row), add })
    return 'done'
  }

  const run = async (id: string, stopping: AbortSignal): Promise<void> => {
    // Another server is at it, or it has ended, or others of its organisation are worked at.
    const row = await db.transaction().execute((tx) => store.claimImport(tx, id, now(), until(), atOnce))
    if (row === undefined) return
    const over = new AbortController()
    // Also while a sum is made, or nothing comes: so nobody else takes it up, and who cancels it is heard.
    const renewing = setInterval(() => {
      store.goOn(db, row, until()).then(
        (ours) => void (ours || over.abort(new Cancelled())),
        (error: unknown) => log.debug({ err: error, import: id }, 'that somebody is at an import was not said'),
      )
    }, renewEveryMs)
    try {
      await refuseByNow(row)
      if ((await work(row, AbortSignal.any([stopping, over.signal]))) === 'later') {
        await db.transaction().execute(async (tx) => {
          await store.updateImport(tx, row, { claimed_until: null })
          await jobs.send(tx, importJob, { id })
        })
        return
      }
      await end(row, 'done', null)
    } catch (error) {
      if (stopping.aborted) return
      const cancelled = error instanceof Cancelled || over.signal.aborted
      // An outcome that nobody can know of beforehand, such as a database that is away, is tried again by the clock.
      const refused = error instanceof Refusal ? error : (fetchRefusal(error) ?? (isConnection(error) ? fetchFailed(fetchReason(error), {}, error) : null))
      const refusal = refused === null ? null : inWords(refused)
      if (refusal === null && !cancelled) {
        log.warn({ err: error, import: id }, 'an import broke off')
        return
      }
      if (refusal !== null && !cancelled) await end(row, 'failed', refusal.message)
    } finally {
      clearInterval(renewing)
      await look().catch((error: unknown) => log.debug({ err: error }, 'imports that wait were not looked for'))
    }
    // Whoever took it up meanwhile goes on with what is there.
    if (!(await store.openAmong(db, [id])).has(id)) await rm(folderOf(id), { recursive: true, force: true })
  }
  /** Those that wait for others of their organisation, or that a killed server left. */
  const look = async (): Promise<void> => {
    for (const { id } of await store.leftImports(db, now(), atOnce)) await db.transaction().execute((tx) => jobs.send(tx, importJob, { id }))
  }
  /** What ended while nobody was at it leaves the disk; what nobody could go on with ends. */
  const clear = async (): Promise<void> => {
    for (const of of await store.forgottenImports(db, now(), new Date(now().getTime() - givenUpMs))) await end(of, 'failed', importTexts.givenUp)
    const there = await readdir(folder).catch(() => [])
    const open = await store.openAmong(db, there)
    for (const id of there.filter((one) => !open.has(one))) await rm(folderOf(id), { recursive: true, force: true })
  }

  return {
    jobs: [importJob, lookJob],
    jobHandlers: [
      handleJob(importJob, ({ id }, { signal }) => run(id, signal)),
      handleJob(lookJob, async () => {
        await clear()
        await look()
      }),
    ],
    async list(actor: Actor, modelId: string): Promise<ResponseOf<(typeof modelImports)['list']>> {
      await models.own(actor, modelId)
      return { items: (await store.importsOf(db, modelId)).map(shape), hubs: await allowed() }
    },
    async create(actor: Actor, modelId: string, body: BodyOf<(typeof modelImports)['create']>, ip: string): Promise<ModelImport> {
      const model = await models.own(actor, modelId)
      await refuseForbidden(body.url)
      const row = await db.transaction().execute(async (tx) => {
        if ((await store.runningOf(tx, modelId)) !== undefined) throw new Refusal('modelImportRunning')
        const from = `${plain(body.url)}/${body.repository}`
        const transfer_id = await transfers.told(tx, actor, models.record('import', model, ip, { size_bytes: null, machine: from }))
        const made = await store.insertImport(tx, { id: uuidv7(), model_id: modelId, ...body, url: plain(body.url), transfer_id, ...authoredBy(actor) })
        await jobs.send(tx, importJob, { id: made.id })
        return made
      })
      return shape(row)
    },
    async cancel(actor: Actor, modelId: string, id: string): Promise<void> {
      await models.own(actor, modelId)
      const row = found((await store.importsOf(db, modelId)).find((one) => one.id === id))
      await end({ id: row.id }, 'cancelled', null)
    },
  }
}

/** A host is called the same in capitals, and what stands behind it is not. */
const plain = (text: string): string => {
  const { origin, pathname } = new URL(text)
  return `${origin}${pathname}`.replace(/\/+$/, '')
}
const isRefusal = (error: unknown): false => {
  if (error instanceof Refusal) return false
  throw error
}
const sum = (files: readonly PlannedFile[]): number => files.reduce((all, { size_bytes }) => all + size_bytes, 0)
const failed = (reason: string, cause?: unknown): Refusal => new Refusal('modelImportFailed', { values: { reason }, cause })
/** What is fetched elsewhere is an image; here it is a model. */
const inWords = (refusal: Refusal): Refusal => {
  if (refusal.refusal === 'imageAddressForbidden') return failed(importTexts.elsewhere, refusal)
  return refusal.refusal === 'imageFetchFailed' ? failed(String(refusal.values['reason'] ?? ''), refusal) : refusal
}
/** What a request failed with that did not get anywhere. */
const isConnection = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^(?:UND_ERR|E(?:CONN|HOST|NET|NOTFOUND|AI_|PIPE|TIMEDOUT))/.test(error.code)

/** What a hub answers, as far as it may be. */
async function boundedJson(body: Readable): Promise<unknown> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    length += part.length
    if (length > answerBytes) throw failed(importTexts.tooLong)
    parts.push(part)
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'))
}

/** Of the bytes, and as git names what it keeps itself (`blob <length>\\0<bytes>`). */
async function digestsOf(path: string, signal: AbortSignal): Promise<{ sha256: string; git: string }> {
  const [sha256, git] = [createHash('sha256'), createHash('sha1').update(`blob ${(await stat(path)).size}\0`)]
  await pipeline(
    createReadStream(path, { highWaterMark: 1024 * 1024 }),
    async (parts: AsyncIterable<Buffer>) => {
      for await (const part of parts) {
        sha256.update(part)
        git.update(part)
      }
    },
    { signal },
  )
  return { sha256: sha256.digest('hex'), git: git.digest('hex') }
}

const shape = (row: store.ShownImport): ModelImport => ({
  id: row.id,
  url: row.url,
  repository: row.repository,
  revision: row.revision,
  status: row.status,
  total_bytes: row.total_bytes,
  total_files: row.total_files,
  done_bytes: row.done_bytes,
  done_files: row.done_files,
  error: row.error,
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  ended_at: isoOrNull(row.ended_at),
})
