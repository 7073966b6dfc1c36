import { verifiedAtOnceBytes } from '@zhisuan/contract/files/file'
import { sizeText } from '@zhisuan/contract/resource'
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Config } from '../config.ts'
import type { Sql, Tx } from '../db/database.ts'
import { Refusal } from '../errors.ts'
import { problemOf } from '../http/problems.ts'
import { refuseMisplaced } from '../http/tus.ts'
import { uuidv7 } from '../ids.ts'
import { defineJob, handleJob } from '../jobs.ts'
import type { ModuleParts } from '../module.ts'
import type { Platform } from '../platform.ts'
import * as store from './bytes.store.ts'
import { byteMigrations, type UploadRow } from './bytes.store.ts'
import type { Contents } from './contents.ts'
import { createDirectoryContents, createUploadDirectory, type UploadDirectory } from './directory.ts'
import { createS3Contents } from './s3.ts'

/** So many bytes at most are sent again after a kill, and what was in the connection. */
export const committedEveryBytes = 8 * 1024 * 1024
/** What comes is gathered to so much before it is written. */
const writtenBytes = 512 * 1024
const uploadDays = 7
/** Whoever verifies says so that often. */
const verifyingEveryMs = 60_000
const dayMs = 86_400_000

/** As the environment says: in a bucket of an S3, else in the data directory. */
const contentsOf = (config: Config): Contents => {
  const { S3_BUCKET: bucket, S3_ENDPOINT: endpoint, S3_REGION: region, S3_ACCESS_KEY_ID: key, S3_SECRET_ACCESS_KEY: secret } = config
  return bucket === undefined || key === undefined || secret === undefined
    ? createDirectoryContents(config.DATA_DIR)
    : createS3Contents({ bucket, endpoint, region, credentials: { accessKeyId: key, secretAccessKey: secret } })
}

/** What becomes of what was received; for one kind of uploads. */
export interface Taker {
  /** Its bytes are verified and kept: takes them, in the transaction that says so. @throws Refusal where nothing can be made of them any more */
  readonly take: (tx: Tx, upload: UploadRow, content: { readonly sha256: string; readonly size_bytes: number }) => Promise<void>
  /** It has ended without that: given up, expired, or not what was announced. */
  readonly ended: (tx: Tx, upload: UploadRow, outcome: 'failed' | 'cancelled', reason: string) => Promise<void>
}

export interface Announced {
  readonly taker: string
  readonly bp_id: string | null
  readonly user_id: string
  readonly size_bytes: number
  /** Where the sender knows it. */
  readonly sha256: string | null
  readonly wish: object
  /** How long it is kept where nobody goes on with it; left out: a week. */
  readonly keptMs?: number
}

/** What is large is verified beside what comes; a few at once, so that a small one does not wait behind a large one for long. */
const finishJob = defineJob({ name: 'bytes.upload.finish', input: z.object({ id: z.uuid() }), concurrency: 3 })
/** What has ended goes: exported for tests, which do not wait for the clock. */
export const sweepJob = defineJob({ name: 'bytes.sweep', input: z.object({}), concurrency: 1, schedule: '*/5 * * * *' })

export type Bytes = ReturnType<typeof createBytes>['bytes']

/**
 * The storage core: content by its SHA-256, and how it comes in. An upload is written, synced to disk, then its offset is
 * committed, then answered; what lies behind the offset is cut off when it goes on. A lease says who writes, so whoever
 * comes later goes on and whoever came before ends. Nothing is there before the SHA-256 of the whole was made.
 * @param quotaBytes what an organisation may keep; null: no limit
 * @param mayGrow whether it may keep more at all, as far as it has to pay for it. @throws Refusal
 */
export function createBytes(
  platform: Pick<Platform, 'config' | 'db' | 'jobs' | 'log' | 'now'>,
  { quotaBytes, mayGrow }: { quotaBytes: (on: Sql, bpId: string) => Promise<number | null>; mayGrow: (tx: Tx, bpId: string) => Promise<void> },
) {
  const { db, jobs, log, now } = platform
  const uploads = createUploadDirectory(platform.config.DATA_DIR)
  const contents = contentsOf(platform.config)
  const takers = new Map<string, Taker>()
  const open = new Map<ServerResponse, string>()
  const takerOf = (upload: UploadRow): Taker => {
    const taker = takers.get(upload.taker)
    if (taker === undefined) throw new Error(`nobody takes uploads for ${upload.taker}`)
    return taker
  }

  /** Counts what is kept. @throws Refusal fileQuotaExceeded */
  const take = async (tx: Tx, bpId: string | null, bytes: number): Promise<void> => {
    // Whoever runs the platform has no organisation, and no limit.
    if (bpId !== null && bytes > 0) await mayGrow(tx, bpId)
    const account = await store.lockAccount(tx, bpId)
    const quota = bpId === null ? null : await quotaBytes(tx, bpId)
    if (quota !== null && bytes > 0 && account.used_bytes + bytes > quota)
      throw new Refusal('fileQuotaExceeded', { values: { used: sizeText(account.used_bytes), limit: sizeText(quota), wanted: sizeText(bytes) } })
    await store.addUsed(tx, bpId, bytes)
  }
  const give = async (tx: Tx, bpId: string | null, bytes: number): Promise<void> => {
    await store.lockAccount(tx, bpId)
    await store.addUsed(tx, bpId, -bytes)
  }

  /** Counts what is to come, where there is room for it. @throws Refusal fileQuotaExceeded, filesExhausted */
  const reserve = async (tx: Tx, bpId: string | null, size: number): Promise<void> => {
    if ((await uploads.room()) < size) throw new Refusal('filesExhausted')
    await take(tx, bpId, size)
  }

  /** All bytes are here: their sum is made, once. Of a small one here and now, so that it is there with the answer, and none waits behind many others; where we are killed the clock sees to it. */
  const whole = async (id: string): Promise<void> => {
    const small = await db.transaction().execute(async (tx) => {
      const upload = await store.lockUpload(tx, id)
      if (upload?.status !== 'uploading' || upload.offset_bytes !== upload.size_bytes) return false
      await store.closeLease(tx, id)
      await store.updateUpload(tx, id, { status: 'verifying' })
      const atOnce = upload.size_bytes <= verifiedAtOnceBytes
      if (!atOnce) await jobs.send(tx, finishJob, { id })
      return atOnce
    })
    if (small) await finish(id).catch((error: unknown) => log.warn({ err: error, upload: id }, 'an upload is verified later'))
  }

  const end = async (tx: Tx, upload: UploadRow, outcome: 'failed' | 'cancelled', reason: string): Promise<void> => {
    await store.closeLease(tx, upload.id)
    await give(tx, upload.bp_id, upload.size_bytes)
    await takerOf(upload).ended(tx, upload, outcome, reason)
    if (outcome === 'failed') await store.updateUpload(tx, upload.id, { status: 'failed', error: reason, expires_at: new Date(now().getTime() + dayMs) })
    else await store.deleteUpload(tx, upload.id)
  }

  /** One at a time of each here: whoever sent it whole waits for the same look at it as the job that was begun for it. */
  const finishing = new Map<string, Promise<void>>()
  const finish = (id: string, signal?: AbortSignal): Promise<void> => {
    const running = finishing.get(id) ?? verify(id, signal).finally(() => finishing.delete(id))
    finishing.set(id, running)
    return running
  }
  const verify = async (id: string, signal?: AbortSignal): Promise<void> => {
    const upload = await store.getUpload(db, id)
    if (upload?.status !== 'verifying') return
    // Of one of no bytes nothing was written.
    if (upload.size_bytes === 0) await (await uploads.open(id, 0)).close()
    // Says that somebody is at it: what is large takes long.
    const saying = setInterval(() => {
      store.updateUpload(db, id, {}).catch((error: unknown) => log.debug({ err: error, upload: id }, 'nobody was told that an upload is being verified'))
    }, verifyingEveryMs)
    const sha256 = await uploads
      .hash(id, signal)
      .catch(async (error: unknown) => {
        // Another server was faster, and has taken it.
        if ((await store.getUpload(db, id))?.status === 'verifying') throw error
        return null
      })
      .finally(() => clearInterval(saying))
    if (sha256 === null) return
    const wrong = (await uploads.size(id)) !== upload.size_bytes || (upload.sha256 !== null && upload.sha256 !== sha256)
    const fail = (reason: string): Promise<void> =>
      db.transaction().execute(async (tx) => {
        const locked = await store.lockUpload(tx, id)
        if (locked?.status === 'verifying') await end(tx, locked, 'failed', reason)
      })
    if (wrong) await fail(new Refusal('fileUploadWrong').message)
    else {
      try {
        await db.transaction().execute(async (tx) => {
          await store.lockContent(tx, sha256)
          const locked = await store.lockUpload(tx, id)
          if (locked?.status !== 'verifying') return
          await contents.keep(uploads.pathOf(id), sha256)
          await store.insertContent(tx, sha256, upload.size_bytes)
          await takerOf(upload).take(tx, locked, { sha256, size_bytes: upload.size_bytes })
          await store.updateUpload(tx, id, { status: 'done', expires_at: new Date(now().getTime() + dayMs) })
        })
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        await fail(error.message)
        // Nothing refers to it, where it was new.
        await db.transaction().execute((tx) => store.release(tx, [sha256]))
      }
    }
    await uploads.drop(id)
  }

  /** Contents that nothing refers to any more. */
  const dropReleased = async (): Promise<void> => {
    for (const { sha256 } of await store.released(db)) {
      await db
        .transaction()
        .execute(async (tx) => {
          // Held until its file is gone too: whoever brings the same meanwhile waits.
          await store.lockContent(tx, sha256)
          const gone = await deleteUnreferenced(db, sha256)
          if (gone) await contents.drop(sha256)
          await store.forgetReleased(tx, sha256)
        })
        .catch((error: unknown) => log.warn({ err: error, sha256 }, 'a content could not be dropped'))
    }
  }

  /** One of them that cannot be done keeps nobody from the others. */
  const each = async (uploadIds: readonly { readonly id: string }[], act: (id: string) => Promise<void>): Promise<void> => {
    for (const { id } of uploadIds) await act(id).catch((error: unknown) => log.warn({ err: error, upload: id }, 'an upload is left for the next time'))
  }
  const sweep = async (): Promise<void> => {
    await each(await store.wholeUploads(db), whole)
    const unverified = await store.unverifiedUploads(db, verifiedAtOnceBytes)
    const [small, large] = [
      unverified.filter(({ size_bytes }) => size_bytes <= verifiedAtOnceBytes),
      unverified.filter(({ size_bytes }) => size_bytes > verifiedAtOnceBytes),
    ]
    await each(small, finish)
    // What the queue gave up after its tries is asked of it again.
    await each(large, (id) =>
      db.transaction().execute(async (tx) => {
        await store.updateUpload(tx, id, {})
        await jobs.send(tx, finishJob, { id })
      }),
    )
    await each(await store.expiredUploads(db, now()), async (id) => {
      await db.transaction().execute(async (tx) => {
        const upload = await store.lockUpload(tx, id)
        if (upload === undefined || upload.status === 'verifying' || upload.expires_at > now()) return
        if (upload.status === 'uploading') await end(tx, upload, 'cancelled', texts.expired)
        else await store.deleteUpload(tx, id)
      })
      await uploads.drop(id)
    })
    await dropReleased()
    // What a server left that was killed between the row and its file.
    for (const id of await uploads.ids()) if ((await store.getUpload(db, id)) === undefined) await uploads.drop(id)
  }

  const bytes = {
    /** Once for each kind of uploads, by whoever keeps what comes. */
    receive(kind: string, taker: Taker): void {
      if (takers.has(kind)) throw new Error(`uploads for ${kind} are taken twice`)
      takers.set(kind, taker)
    },
    take,
    reserve,
    give,
    account: async (on: Sql, bpId: string | null): Promise<{ used_bytes: number; quota_bytes: number | null }> => {
      const account = await store.getAccount(on, bpId)
      return { used_bytes: account?.used_bytes ?? 0, quota_bytes: bpId === null ? null : await quotaBytes(on, bpId) }
    },
    /** Nothing refers to these through the caller any more. */
    release: store.release,
    /** Announces an upload; its bytes count from now on. @throws Refusal fileQuotaExceeded, filesExhausted */
    async announce(tx: Tx, { wish, keptMs = uploadDays * dayMs, ...about }: Announced): Promise<string> {
      await reserve(tx, about.bp_id, about.size_bytes)
      const id = uuidv7()
      await store.insertUpload(tx, { id, ...about, wish, expires_at: new Date(now().getTime() + keptMs) })
      return id
    },
    /** Of one of no bytes nothing will be sent. */
    begun: (id: string): Promise<void> => whole(id),
    /**
     * All bytes of an upload at once, from its beginning, whatever came of it before: for programs that know no other way.
     * They are verified, and taken, before it returns. @throws Refusal fileUploadOver, fileUploadWrong, bodyTooLarge, changedMeanwhile
     */
    async put(id: string, source: Readable): Promise<void> {
      const leased = await store.leaseUpload(db, id, 0)
      if (leased !== undefined) {
        await write(db, uploads, source, id, leased).catch((error: unknown) => {
          throw error instanceof Ended ? new Refusal(refusals[error.status], { cause: error }) : error
        })
        await whole(id)
      }
      await finish(id)
      const status = (await store.getUpload(db, id))?.status
      // Less came than was announced.
      if (status === 'failed' || status === 'uploading') throw new Refusal('fileUploadWrong')
      if (status !== 'done') throw new Refusal('fileUploadOver')
    },
    /** Keeps what is small enough to be at hand, in the transaction whose rows refer to it. In the order of their digests, so that no two wait for each other. */
    async keep(tx: Tx, small: readonly Buffer[]): Promise<{ sha256: string; size_bytes: number }[]> {
      const kept = small.map((content) => ({ content, sha256: createHash('sha256').update(content).digest('hex'), size_bytes: content.length }))
      for (const { content, sha256, size_bytes } of kept.toSorted((one, other) => (one.sha256 < other.sha256 ? -1 : 1))) {
        await store.lockContent(tx, sha256)
        await contents.store(sha256, content)
        await store.insertContent(tx, sha256, size_bytes)
      }
      return kept.map(({ sha256, size_bytes }) => ({ sha256, size_bytes }))
    },
    /** Keeps a file of ours on the same file system, whose digest its caller made, in the transaction whose rows refer to it. */
    async adopt(tx: Tx, path: string, { sha256, size_bytes }: { readonly sha256: string; readonly size_bytes: number }): Promise<void> {
      await store.lockContent(tx, sha256)
      await contents.keep(path, sha256)
      await store.insertContent(tx, sha256, size_bytes)
    },
    upload: (on: Sql, id: string) => store.getUpload(on, id),
    /** Those of somebody that wait for their bytes, by what was announced of them. */
    waiting: store.waitingUploads,
    uploadsOf: (on: Sql, taker: string, userId: string) => store.uploadsOf(on, taker, userId, new Date(now().getTime() - dayMs)),
    /** Gives it up. @throws Refusal fileUploadOver where it has come in whole, or ended */
    async discard(id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const upload = await store.lockUpload(tx, id)
        if (upload === undefined || upload.status === 'done' || upload.status === 'verifying') throw new Refusal('fileUploadOver')
        if (upload.status === 'uploading') await end(tx, upload, 'cancelled', texts.discarded)
        else await store.deleteUpload(tx, id)
      })
      for (const [response, of] of open) if (of === id) response.destroy()
      await uploads.drop(id)
    },
    /** Those of somebody that have not ended, held until the transaction ends. Before all else is held: whoever takes one does it in this order too. */
    hold: store.lockUploadsOf,
    /** Ends those that are held, whatever has come of them: who sent them is gone. Their files go by the clock. */
    async leave(tx: Tx, held: readonly UploadRow[]): Promise<void> {
      for (const upload of held) await end(tx, upload, 'cancelled', texts.left)
    },
    /** The tus door (HEAD and PATCH), for whoever has found that the upload is theirs. */
    async door(upload: UploadRow, request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const { id } = upload
      // Its last byte was the last thing that a killed server did.
      if (upload.status === 'uploading' && upload.offset_bytes === upload.size_bytes) await whole(id)
      if (upload.status === 'uploading') refuseMisplaced(request, { size: upload.size_bytes, offset: upload.offset_bytes })
      reply.header('tus-resumable', '1.0.0').header('cache-control', 'no-store')
      open.set(reply.raw, id)
      try {
        if (request.method === 'HEAD') {
          if (upload.status === 'failed') throw gone()
          const { offset_bytes: offset } = (await store.getUpload(db, id)) ?? upload
          return await reply.code(200).header('upload-offset', offset).header('upload-length', upload.size_bytes).send()
        }
        const leased = await store.leaseUpload(db, id)
        if (leased === undefined) throw gone()
        if (leased.offset_bytes !== Number(request.headers['upload-offset'])) throw elsewhere()
        const offset = await write(db, uploads, request.raw, id, leased)
        if (offset === upload.size_bytes) await whole(id)
        await reply.code(204).header('upload-offset', offset).send()
      } catch (error) {
        if (reply.raw.destroyed || request.raw.destroyed) log.debug({ err: error, upload: id }, 'an upload broke off')
        // What is still on its way is not read.
        if (!request.raw.complete) reply.header('connection', 'close')
        if (!(error instanceof Ended)) throw error
        const problem = problemOf(new Refusal(refusals[error.status], { cause: error }), request.id)
        await reply.code(error.status).type('application/json; charset=utf-8').send(problem)
      } finally {
        open.delete(reply.raw)
      }
    },
    /** @throws ContentMissingError where the store has lost it */
    read: (sha256: string, range?: { start: number; end: number }): Promise<Readable> => contents.read(sha256, range),
  }

  const module: ModuleParts = {
    migrations: byteMigrations,
    handlers: [],
    jobs: [finishJob, sweepJob],
    jobHandlers: [handleJob(finishJob, ({ id }, { signal }) => finish(id, signal)), handleJob(sweepJob, sweep)],
    start: async () => {
      uploads.make()
      // What stands still has not to keep people from all else.
      await contents.begin().catch((error: unknown) => log.error({ err: error }, 'what people keep cannot be reached'))
      for (const { id } of await store.wholeUploads(db)) await whole(id)
    },
    // Uploads go on where they were.
    drain: () => {
      for (const response of open.keys()) response.destroy()
    },
  }
  return { ...module, bytes }
}

/** What each status of tus is to the person who sends. */
const refusals = { 409: 'changedMeanwhile', 410: 'notFound', 413: 'bodyTooLarge' } as const
const texts = { expired: '超过7天没有继续，已自动清理', discarded: '已放弃', left: '上传者已被删除' } as const

/** By another connection than the one that holds the lock: the database says whether something refers to it. */
async function deleteUnreferenced(db: Sql, sha256: string): Promise<boolean> {
  try {
    await store.deleteContent(db, sha256)
    return true
  } catch (error) {
    // 23503: something does.
    if (error instanceof Error && 'code' in error && error.code === '23503') return false
    throw error
  }
}

/** What tus answers besides refusals of the catalogue: its status is what clients go by. */
class Ended extends Error {
  readonly status: 409 | 410 | 413
  constructor(status: 409 | 410 | 413, message: string) {
    super(message)
    this.status = status
  }
}
const gone = (): Ended => new Ended(410, 'the upload has ended')
const elsewhere = (): Ended => new Ended(409, 'somebody else goes on with this upload')

/**
 * Writes what comes, from an offset on. While one part of it is synced to disk and counted the next one is written: the
 * disk is never waited for but at the end.
 * @param leased who writes, from which offset on, and up to where
 * @returns the offset that is on disk and committed
 */
async function write(db: Sql, uploads: UploadDirectory, source: Readable, id: string, leased: store.Lease): Promise<number> {
  const file = await uploads.open(id, leased.offset_bytes)
  /** What came, what is written, and what is counted. */
  let [came, written, committed] = [leased.offset_bytes, leased.offset_bytes, leased.offset_bytes]
  let pieces: Buffer[] = []
  let writing: Promise<void> = Promise.resolve()
  let counting: Promise<unknown> | null = null
  /** Of what went on beside: a disk may say only once that it failed. */
  let failure: { readonly error: unknown } | null = null

  const commit = async (upTo: number, last: boolean): Promise<void> => {
    if (upTo === committed) return
    await file.datasync()
    if (!(await store.commitOffset(db, id, leased.lease, upTo, last))) throw elsewhere()
    committed = upTo
  }
  const flush = async (): Promise<void> => {
    await writing
    if (pieces.length === 0) return
    const [taken, from] = [pieces, written]
    pieces = []
    written = came
    const length = came - from
    writing = file.writev(taken, from).then(({ bytesWritten }) => {
      if (bytesWritten !== length) throw new Error('the disk took less than it was given')
    })
    // Waited for above; until then it is nobody's.
    writing.catch(() => undefined)
  }
  /** Counts what is written, beside what comes meanwhile; waits where too much would have to be sent again. */
  const count = async (): Promise<void> => {
    if (counting === null && written - committed >= committedEveryBytes / 2) {
      await writing
      counting = commit(written, false)
        .catch((error: unknown) => (failure ??= { error }))
        .finally(() => (counting = null))
    }
    if (counting !== null && came - committed >= committedEveryBytes) await counting
    if (failure !== null) throw failure.error
  }
  const settle = async (): Promise<number> => {
    await flush()
    await writing
    await counting
    if (failure !== null) throw failure.error
    await commit(written, true)
    return committed
  }
  try {
    try {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        if (came + chunk.length > leased.size_bytes) throw new Ended(413, 'more than was announced')
        pieces.push(chunk)
        came += chunk.length
        if (came - written >= writtenBytes) await flush()
        await count()
      }
    } catch (error) {
      // What came before the connection went is kept.
      if (!(error instanceof Ended)) await settle()
      throw error
    }
    return await settle()
  } finally {
    await Promise.allSettled([writing, counting])
    await file.close()
  }
}
