import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { fileBytesMost } from '@zhisuan/contract/files/file'
import type { modelImports, ModelImport } from '@zhisuan/contract/models/import'
import { modelFilePath } from '@zhisuan/contract/models/model'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { Agent } from 'undici'
import { z } from 'zod'
import { authoredBy, type Actor } from '../../platform/auth/actor.ts'
import type { Bytes } from '../../platform/bytes/bytes.ts'
import { iso, isoOrNull, type Tx } from '../../platform/db/database.ts'
import { found, Refusal } from '../../platform/errors.ts'
import { uuidv7 } from '../../platform/ids.ts'
import { defineJob, handleJob } from '../../platform/jobs.ts'
import { fetchFile } from '../../platform/outbound/fetch.ts'
import { createOutboundAgent, fetchFailed, fetchReason, fetchRefusal, follow } from '../../platform/outbound/follow.ts'
import type { OutboundGuard } from '../../platform/outbound/guard.ts'
import type { Platform } from '../../platform/platform.ts'
import { importTexts } from './models.texts.ts'
import type { ModelService } from './models.service.ts'
import * as store from './imports.store.ts'
import type { ImportRow, PlannedFile } from './imports.store.ts'

/** As much as one model holds. */
const filesMost = 2_000
const answerMs = 60_000
/** Pages of a listing; a hub that never ends is left. */
const pagesMost = 50
/** How long a server is believed to be at it that says nothing. */
const claimMs = 120_000
const tellEveryMs = 1_000
/** The queue takes a job for lost after an hour: what lasts longer goes on in another. */
const turnMs = 45 * 60_000

const info = z.object({ sha: z.string().regex(/^[0-9a-f]{7,64}$/) })
const listing = z.array(
  z.object({
    type: z.string(),
    path: z.string(),
    size: z.number().default(0),
    oid: z.string().optional(),
    lfs: z.object({ oid: z.string().regex(/^[0-9a-f]{64}$/), size: z.number() }).nullish(),
  }),
)

export const importJob = defineJob({ name: 'models.import.run', input: z.object({ id: z.uuid() }), concurrency: 2 })
/** Takes up what a killed server left. */
const lookJob = defineJob({ name: 'models.import.look', input: z.object({}), concurrency: 1, schedule: '* * * * *' })

/** Whoever asked for it said so by now. */
class Cancelled extends Error {}

/**
 * Brings models in from other hubs: from addresses that administrators name, to machines that the guard lets us to. What is
 * there is written down first; each file is fetched, goes on where it broke off, is verified and waits with the model's
 * other files; the revision is made of all of them at last.
 */
export function createImports(
  platform: Pick<Platform, 'config' | 'db' | 'jobs' | 'log' | 'now'>,
  { models, bytes, guard, hubs }: { models: ModelService; bytes: Bytes; guard: OutboundGuard; hubs: () => Promise<string> },
) {
  const { db, jobs, log, now } = platform
  const folderOf = (id: string): string => join(platform.config.DATA_DIR, 'bytes', 'imports', id)

  const allowed = async (): Promise<string[]> =>
    (await hubs())
      .split(/[,\s]+/)
      .filter((text) => URL.canParse(text))
      .map(plain)
  const refuseForbidden = async (url: string): Promise<void> => {
    if (!(await allowed()).includes(plain(url))) throw new Refusal('modelHubForbidden', { field: 'url', values: { url } })
    guard.checkLiteral(new URL(url))
  }

  const ask = async (url: string, agent: Agent, signal: AbortSignal): Promise<{ body: unknown; next: string | null }> => {
    const { answer, url: at } = await follow(url, { guard, agent, signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]) })
    if (answer.statusCode !== 200) {
      answer.body.on('error', () => undefined).destroy()
      throw fetchFailed('status', { status: answer.statusCode })
    }
    const next = /<([^>]+)>;\s*rel="next"/.exec(String(answer.headers['link'] ?? ''))?.[1]
    return { body: await json(answer.body), next: next === undefined ? null : new URL(next, at).href }
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
        for (const { type, path, size, oid = null, lfs } of listing.parse(page.body)) {
          if (type !== 'file') continue
          if (paths.has(path)) throw failed(importTexts.twice(path))
          paths.add(path)
          if (!modelFilePath.safeParse(path).success || size < 0 || size > fileBytesMost) throw failed(importTexts.path(path))
          files.push({ path, size_bytes: lfs?.size ?? size, sha256: lfs?.oid ?? null, git: lfs == null ? oid : null, done: false })
        }
        if (files.length > filesMost) throw new Refusal('modelTooManyFiles', { values: { limit: filesMost } })
        next = page.next
      }
      if (files.length === 0) throw failed(importTexts.empty)
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
    await fetchFile({ url, path, maxBytes: Math.max(1, file.size_bytes), guard, signal, onTotal: async () => undefined, onProgress: told })
    const { sha256, git } = await digestsOf(path, signal)
    const wrong =
      (await stat(path)).size !== file.size_bytes ||
      (file.sha256 !== null && file.sha256 !== sha256) ||
      (file.git !== null && file.git.length === 40 && file.git !== git)
    if (wrong) throw failed(importTexts.wrong(file.path))
    await models.stageFile(row.model_id, path, { sha256, size_bytes: file.size_bytes }, (tx) => arrived(tx, row.id, file.size_bytes))
    await rm(path, { force: true })
    await rm(`${path}.source`, { force: true })
    return sha256
  }

  /** All of it counts before any of it comes. */
  const begin = async (row: ImportRow, signal: AbortSignal): Promise<{ commit: string; files: PlannedFile[] }> => {
    if (row.commit !== null && row.files !== null) return { commit: row.commit, files: row.files }
    const { commit, files } = await plan(row, signal)
    await db.transaction().execute(async (tx) => {
      const at = await store.lockImport(tx, row.id)
      if (at === undefined) throw new Cancelled()
      await bytes.reserve(tx, at.bp_id, sum(files))
      await store.updateImport(tx, row.id, {
        commit,
        files: JSON.stringify(files),
        total_bytes: sum(files),
        total_files: files.length,
        reserved_bytes: sum(files),
      })
    })
    return { commit, files }
  }
  /** What has come is counted by the model from now on. @returns how much of it counted already */
  const arrived = async (tx: Tx, id: string, size: number): Promise<number> => {
    const at = await store.lockImport(tx, id)
    if (at === undefined) throw new Cancelled()
    const counted = Math.min(at.reserved_bytes, size)
    await store.updateImport(tx, id, { reserved_bytes: at.reserved_bytes - counted })
    return counted
  }
  /** Once: what has ended stays as it did. What has not come counts no more. */
  const end = (id: string, status: 'done' | 'failed' | 'cancelled', error: string | null): Promise<void> =>
    db.transaction().execute(async (tx) => {
      const at = await store.lockImport(tx, id)
      if (at === undefined) return
      await store.updateImport(tx, id, { status, error, ended_at: now(), claimed_until: null, reserved_bytes: 0 })
      await bytes.give(tx, at.bp_id, at.reserved_bytes)
    })

  const work = async (row: ImportRow, signal: AbortSignal): Promise<'done' | 'later'> => {
    await mkdir(folderOf(row.id), { recursive: true, mode: 0o700 })
    const { commit, files } = await begin(row, signal)
    const until = Date.now() + turnMs
    let toldAt = 0
    for (const [number, file] of files.entries()) {
      if (file.done) continue
      if (Date.now() > until) return 'later'
      const before = sum(files.filter(({ done }) => done))
      const told = async (bytes: number): Promise<void> => {
        if (Date.now() - toldAt < tellEveryMs) return
        toldAt = Date.now()
        if (!(await store.goOn(db, row.id, before + bytes, new Date(now().getTime() + claimMs)))) throw new Cancelled()
      }
      await told(0)
      file.sha256 = await bring(row, commit, file, number, told, signal)
      file.done = true
      const done = files.filter((one) => one.done)
      await store.updateImport(db, row.id, { files: JSON.stringify(files), done_files: done.length, done_bytes: sum(done) })
    }
    const add = files.map(({ path, sha256, size_bytes }) => ({ path, sha256: found(sha256), size_bytes }))
    await models.commitImported({ user_id: row.created_by ?? '', name: row.created_by_name }, row.model_id, { message: importTexts.message(row), add })
    return 'done'
  }

  const run = async (id: string, signal: AbortSignal): Promise<void> => {
    // Another server is at it, or it has ended.
    const row = await store.claimImport(db, id, now(), new Date(now().getTime() + claimMs))
    if (row === undefined) return
    try {
      if ((await work(row, signal)) === 'later') {
        await db.transaction().execute(async (tx) => {
          await store.updateImport(tx, id, { claimed_until: null })
          await jobs.send(tx, importJob, { id })
        })
        return
      }
      await end(id, 'done', null)
    } catch (error) {
      if (signal.aborted) return
      // An outcome that nobody can know of beforehand, such as a database that is away, is tried again by the clock.
      const refusal = error instanceof Refusal ? error : (fetchRefusal(error) ?? (isConnection(error) ? fetchFailed(fetchReason(error), {}, error) : null))
      if (refusal === null && !(error instanceof Cancelled)) {
        log.warn({ err: error, import: id }, 'an import broke off')
        return
      }
      if (refusal !== null) await end(id, 'failed', refusal.message)
    }
    await rm(folderOf(id), { recursive: true, force: true })
  }

  return {
    jobs: [importJob, lookJob],
    jobHandlers: [
      handleJob(importJob, ({ id }, { signal }) => run(id, signal)),
      handleJob(lookJob, async () => {
        for (const { id } of await store.leftImports(db, now())) await db.transaction().execute((tx) => jobs.send(tx, importJob, { id }))
      }),
    ],
    async list(actor: Actor, modelId: string): Promise<ResponseOf<(typeof modelImports)['list']>> {
      await models.own(actor, modelId)
      return { items: (await store.importsOf(db, modelId)).map(shape), hubs: await allowed() }
    },
    async create(actor: Actor, modelId: string, body: BodyOf<(typeof modelImports)['create']>): Promise<ModelImport> {
      await models.own(actor, modelId)
      await refuseForbidden(body.url)
      const row = await db.transaction().execute(async (tx) => {
        if ((await store.runningOf(tx, modelId)) !== undefined) throw new Refusal('modelImportRunning')
        const made = await store.insertImport(tx, { id: uuidv7(), model_id: modelId, ...body, url: plain(body.url), ...authoredBy(actor) })
        await jobs.send(tx, importJob, { id: made.id })
        return made
      })
      return shape(row)
    },
    async cancel(actor: Actor, modelId: string, id: string): Promise<void> {
      await models.own(actor, modelId)
      const row = found((await store.importsOf(db, modelId)).find((one) => one.id === id))
      await end(row.id, 'cancelled', null)
    },
  }
}

const plain = (url: string): string => url.trim().replace(/\/+$/, '').toLowerCase()
const sum = (files: readonly PlannedFile[]): number => files.reduce((all, { size_bytes }) => all + size_bytes, 0)
const failed = (reason: string, cause?: unknown): Refusal => new Refusal('modelImportFailed', { values: { reason }, cause })
/** What a request failed with that did not get anywhere. */
const isConnection = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^(?:UND_ERR|E(?:CONN|HOST|NET|NOTFOUND|AI_|PIPE|TIMEDOUT))/.test(error.code)

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

const shape = (row: ImportRow): ModelImport => ({
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
