import { verifiedAtOnceBytes } from '@zhisuan/contract/files/file'
import { sizeText } from '@zhisuan/contract/resource'
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Config } from '../config.ts'
import type { Sql, Tx } from '../db/database.ts'
import { unrecorded } from '../db/recording.ts'
import { Refusal } from '../errors.ts'
import { problemOf } from '../http/problems.ts'
import { refuseMisplaced } from '../http/tus.ts'
import { uuidv7 } from '../ids.ts'
import { defineJob, handleJob } from '../jobs.ts'
import type { ModuleParts } from '../module.ts'
import { createOneAtATime } from '../oneAtATime.ts'
import type { Platform } from '../platform.ts'
import * as store from './bytes.store.ts'
import { byteMigrations, type ByteOwner, type UploadRow } from './bytes.store.ts'
import type { Contents } from './contents.ts'
import { createDirectoryContents, createUploadDirectory, NoRoomError, writerIn, type UploadDirectory, type Writer } from './directory.ts'
import { workInTurn } from './inTurn.ts'
import { createS3Contents } from './s3.ts'

/** So many bytes at most are sent again after a kill, and what was in the connection. */
export const committedEveryBytes = 8 * 1024 * 1024
/** Of what takes long whether its sender still may is looked at again after so much, and at the latest after so long: what was taken by then is kept. */
const lookedEveryBytes = 8 * 1024 * 1024
const lookedEveryMs = 30_000
/** What comes is gathered to so much before it is written. */
const writtenBytes = 512 * 1024
const uploadDays = 7
/** So long bytes may take to be kept before what refers to them is there; what nobody went on with is dropped then. */
const keptWithinMs = 12 * 3_600_000
/** Tries at keeping what others drop meanwhile. */
const keepingTries = 5
/** Transactions at a server that take what was received: fewer than it has connections to the database. */
const takenAtOnce = 4
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

/** Makes a change, in one transaction. */
export type Change = <T>(act: (tx: Tx) => Promise<T>) => Promise<T>

/** What becomes of what was received; for one kind of uploads. */
export interface Taker {
  /** Where its uploads of one place wait for each other without a connection to the database in hand; left out: those of one organisation do. */
  readonly changeOf?: (upload: UploadRow) => Change
  /** Its bytes are verified and kept: takes them, in the transaction that says so. @throws Refusal where nothing can be made of them any more */
  readonly take: (tx: Tx, upload: UploadRow, content: { readonly sha256: string; readonly size_bytes: number }) => Promise<void>
  /** It has ended without that: given up, expired, or not what was announced. */
  readonly ended: (tx: Tx, upload: UploadRow, outcome: 'failed' | 'cancelled', reason: string) => Promise<void>
}

/** Bytes, by their digest. */
export interface Kept {
  readonly sha256: string
  readonly size_bytes: number
}

/** @throws Refusal where whoever sends may not any more */
export type MaySend = () => Promise<void>

export interface Announced {
  readonly taker: string
  readonly bp_id: string | null
  readonly project_id: string | null
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
 * committed, then answered; what lies behind the offset is written over when it goes on. A lease says who writes, so whoever
 * comes later goes on and whoever came before ends. Nothing is there before the SHA-256 of the whole was made.
 * @param quotaBytes what an organisation may keep, or one of its projects; null: no limit
 * @param mayGrow whether it may keep more at all, as far as it has to pay for it. @throws Refusal
 */
export function createBytes(
  platform: Pick<Platform, 'config' | 'db' | 'jobs' | 'log' | 'now'>,
  {
    quotaBytes,
    mayGrow,
  }: { quotaBytes: (on: Sql, bpId: string, projectId: string | null) => Promise<number | null>; mayGrow: (tx: Tx, bpId: string) => Promise<void> },
) {
  const { db, jobs, log, now } = platform
  const uploads = createUploadDirectory(platform.config.DATA_DIR)
  const contents = contentsOf(platform.config)
  const takers = new Map<string, Taker>()
  const open = new Map<ServerResponse, string>()
  const hands: Hands = new Map()
  let writer: Writer | null = null
  /** This server, as uploads know it. */
  const server = (): string => (writer ??= writerIn(platform.config.DATA_DIR)).id
  const oneAtATime = createOneAtATime()
  const few = workInTurn(takenAtOnce)
  const takerOf = (upload: UploadRow): Taker => {
    const taker = takers.get(upload.taker)
    if (taker === undefined) throw new Error(`nobody takes uploads for ${upload.taker}`)
    return taker
  }

  /** The organisation's account, then its project's: of one that nothing was kept of, or is, there may be no project any more. */
  const accountsOf = ({ bp_id, project_id }: ByteOwner, bytes: number): ByteOwner[] => [
    { bp_id, project_id: null },
    ...(project_id === null || bytes === 0 ? [] : [{ bp_id, project_id }]),
  ]
  const quotaOf = async (on: Sql, { bp_id, project_id }: ByteOwner): Promise<number | null> => (bp_id === null ? null : quotaBytes(on, bp_id, project_id))
  /** Counts what is kept, for the organisation and the project. @throws Refusal fileQuotaExceeded, fileProjectQuotaExceeded */
  const take = async (tx: Tx, owner: ByteOwner, bytes: number): Promise<void> => {
    // Whoever runs the platform has no organisation, and no limit.
    if (owner.bp_id !== null && bytes > 0) await mayGrow(tx, owner.bp_id)
    const accounts = accountsOf(owner, bytes)
    // All are asked before one is changed: whoever is refused may go on with the transaction.
    for (const of of accounts) {
      const account = await store.lockAccount(tx, of)
      const quota = await quotaOf(tx, of)
      if (quota !== null && bytes > 0 && account.used_bytes + bytes > quota)
        throw new Refusal(of.project_id === null ? 'fileQuotaExceeded' : 'fileProjectQuotaExceeded', {
          values: { used: sizeText(account.used_bytes), limit: sizeText(quota), wanted: sizeText(bytes) },
        })
    }
    for (const of of accounts) await store.addUsed(tx, of, bytes)
  }
  const give = async (tx: Tx, owner: ByteOwner, bytes: number): Promise<void> => {
    for (const of of accountsOf(owner, bytes)) {
      await store.lockAccount(tx, of)
      await store.addUsed(tx, of, -bytes)
    }
  }

  /** Counts what is to come, where there is room for it. @throws Refusal fileQuotaExceeded, filesExhausted */
  const reserve = async (tx: Tx, owner: ByteOwner, size: number): Promise<void> => {
    if ((await uploads.room()) - (await store.toCome(tx)) < size) throw new Refusal('filesExhausted')
    await take(tx, owner, size)
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
    await give(tx, upload, upload.size_bytes)
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
  /**
   * Keeps bytes, and then, in one transaction, what refers to them: no connection to the database is held while they are copied,
   * which takes long where they lie elsewhere. @param change where it waits for others. Where one of them was dropped in between, as nothing referred to it yet, all is done again.
   */
  const keeping = async <T>(
    contentsOf: readonly (Kept & { readonly put: () => Promise<void> })[],
    act: (tx: Tx) => Promise<T>,
    change: Change = (work) => db.transaction().execute(work),
  ): Promise<T> => {
    // In the order of their digests, so that no two wait for each other.
    const all = [...new Map(contentsOf.map((one) => [one.sha256, one])).values()].toSorted((one, other) => (one.sha256 < other.sha256 ? -1 : 1))
    if (all.length === 0) return change(act)
    const digests = all.map(({ sha256 }) => sha256)
    for (let tries = 1; ; tries++) {
      const since = await unrecorded(() =>
        db.transaction().execute(async (tx) => {
          await store.lockContents(tx, digests)
          await store.insertContents(
            tx,
            all.map(({ sha256, size_bytes }) => ({ sha256, size_bytes })),
          )
          await store.releaseLater(tx, digests, new Date(Date.now() + keptWithinMs))
          return store.contentsSince(tx, digests)
        }),
      )
      try {
        for (const { put } of all) await put()
        const done = await change(async (tx) => {
          await store.lockContents(tx, digests)
          const still = await store.contentsSince(tx, digests)
          if (digests.some((digest) => still.get(digest) !== since.get(digest))) return null
          const answer = await act(tx)
          // Last, as whoever lets go of some has all else before.
          await store.forgetReleased(tx, digests)
          return { answer }
        })
        if (done !== null) return done.answer
        if (tries >= keepingTries) throw new Error('what was kept was dropped again and again')
      } catch (error) {
        // Nothing may refer to them.
        await unrecorded(() => db.transaction().execute((tx) => store.release(tx, digests)))
        throw error
      }
    }
  }
  const verify = async (id: string, signal?: AbortSignal): Promise<void> => {
    const upload = await store.getUpload(db, id)
    if (upload?.status !== 'verifying') return
    // Of one of no bytes nothing was written.
    if (upload.size_bytes === 0) await (await uploads.open(id, 0)).close()
    // Whom another server overtook may still write there: what is kept is a file of its own, and what is summed up is that one.
    const path = upload.handed_over ? uploads.placeApart(id) : uploads.pathOf(id)
    try {
      if (await kept(upload, path, signal)) await uploads.drop(id)
    } finally {
      if (upload.handed_over) await rm(path, { force: true })
    }
  }
  const isVerifying = async (id: string): Promise<boolean> => (await store.getUpload(db, id))?.status === 'verifying'
  /** @returns false where another server has seen to it */
  const kept = async (upload: UploadRow, path: string, signal: AbortSignal | undefined): Promise<boolean> => {
    const { id } = upload
    const fail = (reason: string): Promise<void> =>
      db.transaction().execute(async (tx) => {
        const locked = await store.lockUpload(tx, id)
        if (locked?.status === 'verifying') await end(tx, locked, 'failed', reason)
      })
    // Says that somebody is at it: what is large takes long.
    const saying = setInterval(() => {
      store.updateUpload(db, id, {}).catch((error: unknown) => log.debug({ err: error, upload: id }, 'nobody was told that an upload is being verified'))
    }, verifyingEveryMs)
    const summed = await (upload.handed_over ? uploads.copy(id, path) : Promise.resolve())
      .then(() => uploads.hash(path, signal))
      .catch(async (error: unknown) => {
        // Another server was faster, and has taken it; or it was given up.
        if (!(await isVerifying(id))) return null
        if (error instanceof NoRoomError) return error
        // It is gone from the disk: it is not what was announced.
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
        throw error
      })
      .finally(() => clearInterval(saying))
    if (summed === null) return false
    if (summed instanceof NoRoomError) {
      await fail(new Refusal('filesExhausted').message)
      return true
    }
    const sha256 = summed
    const wrong = (await uploads.size(path)) !== upload.size_bytes || (upload.sha256 !== null && upload.sha256 !== sha256)
    if (wrong) await fail(new Refusal('fileUploadWrong').message)
    else {
      try {
        const content = { sha256, size_bytes: upload.size_bytes }
        const act = async (tx: Tx): Promise<void> => {
          const locked = await store.lockUpload(tx, id)
          // It ended meanwhile, or another server has taken it.
          if (locked?.status !== 'verifying') return store.release(tx, [sha256])
          await takerOf(upload).take(tx, locked, content)
          await store.updateUpload(tx, id, { status: 'done', expires_at: new Date(now().getTime() + dayMs) })
        }
        await keeping([{ ...content, put: () => contents.keep(path, sha256) }], act, changeOf(upload))
      } catch (error) {
        if (!(await isVerifying(id))) return false
        if (!(error instanceof Refusal)) throw error
        await fail(error.message)
      }
    }
    return true
  }
  const changeOf = (upload: UploadRow): Change =>
    takerOf(upload).changeOf?.(upload) ?? ((act) => oneAtATime(`${upload.taker} ${upload.bp_id}`, () => few(() => db.transaction().execute(act))))

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
          await store.forgetReleased(tx, [sha256])
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
    const there = await uploads.names()
    const known = await store.uploadsAmong(db, [...new Set(there.map(({ id }) => id))])
    for (const { name } of there.filter(({ id }) => !known.has(id))) await uploads.drop(name)
  }

  /** Announces uploads of one owner; their bytes count from now on, all or none. @throws Refusal fileQuotaExceeded, filesExhausted */
  const announceAll = async (tx: Tx, { bp_id, project_id }: ByteOwner, all: readonly Omit<Announced, keyof ByteOwner>[]): Promise<string[]> => {
    if (all.length === 0) return []
    await reserve(
      tx,
      { bp_id, project_id },
      all.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
    )
    const rows = all.map(({ keptMs = uploadDays * dayMs, ...about }) => ({
      id: uuidv7(),
      bp_id,
      project_id,
      ...about,
      expires_at: new Date(now().getTime() + keptMs),
    }))
    await store.insertUploads(tx, rows)
    return rows.map(({ id }) => id)
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
    account: async (on: Sql, owner: ByteOwner): Promise<{ used_bytes: number; quota_bytes: number | null }> => {
      const account = await store.getAccount(on, owner)
      return { used_bytes: account?.used_bytes ?? 0, quota_bytes: await quotaOf(on, owner) }
    },
    /** Nothing refers to these through the caller any more. */
    release: store.release,
    announceAll,
    /** The same of one. @throws Refusal fileQuotaExceeded, filesExhausted */
    async announce(tx: Tx, { bp_id, project_id, ...about }: Announced): Promise<string> {
      const [id = ''] = await announceAll(tx, { bp_id, project_id }, [about])
      return id
    },
    /** Of one of no bytes nothing will be sent. */
    begun: (id: string): Promise<void> => whole(id),
    /**
     * All bytes of an upload at once, from its beginning, whatever came of it before: for programs that know no other way.
     * They are verified, and taken, before it returns. @throws Refusal fileUploadOver, fileUploadWrong, bodyTooLarge, changedMeanwhile
     * @param may whether whoever sends still may: asked again and again while it comes. @throws Refusal where not
     */
    async put(id: string, source: Readable, may: MaySend = async () => undefined): Promise<void> {
      const leased = await store.leaseUpload(db, id, server(), { from: 0 })
      if (leased !== undefined) {
        await write({ db, uploads, hands }, source, id, leased, may).catch((error: unknown) => {
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
    /**
     * Keeps what is small enough to be at hand, then what refers to it, in one transaction: what nothing refers to then is released by `act`.
     * @param change where it waits for others
     */
    async keep<T>(small: readonly Buffer[], act: (tx: Tx, kept: readonly Kept[]) => Promise<T>, change?: Change): Promise<T> {
      const kept = small.map((content) => ({ content, sha256: createHash('sha256').update(content).digest('hex'), size_bytes: content.length }))
      const all = kept.map(({ sha256, size_bytes }) => ({ sha256, size_bytes }))
      return keeping(
        kept.map(({ content, ...one }) => ({ ...one, put: () => contents.store(one.sha256, content) })),
        (tx) => act(tx, all),
        change,
      )
    },
    /** Keeps a file of ours on the same file system, whose digest its caller made, then what refers to it. */
    adopt: <T>(path: string, { sha256, size_bytes }: Kept, act: (tx: Tx) => Promise<T>): Promise<T> =>
      keeping([{ sha256, size_bytes, put: () => contents.keep(path, sha256) }], act),
    upload: (on: Sql, id: string) => store.getUpload(on, id),
    /** Those of somebody that wait for their bytes, by what was announced of them. */
    waiting: store.waitingUploads,
    /** Those of somebody that go on, or failed since yesterday. @param wish what was announced of them, as far as it is asked for */
    uploadsOf: (on: Sql, taker: string, userId: string, wish?: object) => store.uploadsOf(on, taker, userId, new Date(now().getTime() - dayMs), wish),
    /** Gives it up, as long as it was not taken. @throws Refusal fileUploadOver where it was, or has ended */
    async discard(id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const upload = await store.lockUpload(tx, id)
        if (upload === undefined || upload.status === 'done') throw new Refusal('fileUploadOver')
        if (upload.status !== 'failed') await end(tx, upload, 'cancelled', texts.discarded)
        else await store.deleteUpload(tx, id)
      })
      for (const [response, of] of open) if (of === id) response.destroy()
      await uploads.drop(id)
    },
    /** Those of somebody that have not ended, held until the transaction ends. Before all else is held: whoever takes one does it in this order too. */
    hold: store.lockUploadsOf,
    /** The same of one taker, by what was announced of them. */
    holdFor: store.lockUploadsFor,
    /** Ends those that are held, whatever has come of them: who sent them is gone, or what they are for. Their files go by the clock. */
    async leave(tx: Tx, held: readonly UploadRow[], why: 'left' | 'placeGone'): Promise<void> {
      for (const upload of held) await end(tx, upload, 'cancelled', texts[why])
    },
    /**
     * The tus door (HEAD and PATCH), for whoever has found that the upload is theirs.
     * @param may whether whoever sends still may: asked again and again while a piece comes
     */
    async door(upload: UploadRow, request: FastifyRequest, reply: FastifyReply, may: MaySend): Promise<void> {
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
        // Who is wrong about where it goes on ends nobody who is at it.
        const leased = await store.leaseUpload(db, id, server(), { at: Number(request.headers['upload-offset']) })
        if (leased === undefined) throw (await store.getUpload(db, id))?.status === 'uploading' ? elsewhere() : gone()
        // Not destroyed: whoever is refused in the middle of it is still told so.
        const offset = await write({ db, uploads, hands }, request.raw.iterator({ destroyOnReturn: false }), id, leased, may)
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
      server()
      // What stands still has not to keep people from all else.
      await contents.begin().catch((error: unknown) => log.error({ err: error }, 'what people keep cannot be reached'))
      for (const { id } of await store.wholeUploads(db)) await whole(id)
    },
    // Uploads go on where they were.
    drain: () => {
      for (const response of open.keys()) response.destroy()
    },
    stop: async () => {
      await Promise.all([...hands.values()].map((hand) => hand.release()))
      writer?.close()
    },
  }
  return { ...module, bytes }
}

/** What each status of tus is to the person who sends. */
const refusals = { 409: 'changedMeanwhile', 410: 'notFound', 413: 'bodyTooLarge' } as const
const texts = { expired: '超过7天没有继续，已自动清理', discarded: '已放弃', left: '上传者已被删除', placeGone: '上传到的地方已被删除' } as const

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
/** Who writes an upload here, and by which lease. */
interface Hand {
  readonly lease: number
  /** Ends when nothing is being written by it any more. */
  readonly release: () => Promise<void>
}
type Hands = Map<string, Hand>
const gone = (): Ended => new Ended(410, 'the upload has ended')
const elsewhere = (): Ended => new Ended(409, 'somebody else goes on with this upload')

/**
 * Writes what comes, from an offset on. While one part of it is synced to disk and counted the next one is written: the
 * disk is never waited for but at the end.
 * @param leased who writes, from which offset on, and up to where
 * @param may asked again and again; where they may not any more, what came before is kept
 * @returns the offset that is on disk and committed
 */
async function write(
  { db, uploads, hands }: { readonly db: Sql; readonly uploads: UploadDirectory; readonly hands: Hands },
  source: AsyncIterable<Buffer>,
  id: string,
  leased: store.Lease,
  may: MaySend,
): Promise<number> {
  // Who was overtaken writes no more, before what they wrote is cut off or summed up: a content that is kept is this very file.
  for (let former = hands.get(id); former !== undefined; former = hands.get(id)) {
    if (former.lease > leased.lease) throw elsewhere()
    await former.release()
    if (hands.get(id) === former) hands.delete(id)
  }
  let released = false
  const hand: Hand = {
    lease: leased.lease,
    release: async () => {
      released = true
      await writing.catch(() => undefined)
    },
  }
  let writing: Promise<void> = Promise.resolve()
  hands.set(id, hand)
  const there = await uploads.size(uploads.pathOf(id))
  if (there < leased.offset_bytes) {
    // Less is on the disk than was counted, as after a restore: it goes on from there.
    hands.delete(id)
    await store.commitOffset(db, id, leased.lease, there, true)
    throw elsewhere()
  }
  // No longer than announced, and never shorter than what others counted meanwhile.
  const file = await uploads.open(id, leased.size_bytes)
  // Opening may have taken long: who was overtaken in between writes nothing.
  if (released || !(await store.holdsLease(db, id, leased.lease))) {
    await file.close()
    if (hands.get(id) === hand) hands.delete(id)
    throw elsewhere()
  }
  /** What came, what is written, and what is counted. */
  let [came, written, committed] = [leased.offset_bytes, leased.offset_bytes, leased.offset_bytes]
  let pieces: Buffer[] = []
  let counting: Promise<unknown> | null = null
  /** Of what went on beside: a disk may say only once that it failed. */
  let failure: { readonly error: unknown } | null = null
  let looked = { bytes: leased.offset_bytes, at: performance.now() }

  const commit = async (upTo: number, last: boolean): Promise<void> => {
    if (upTo === committed) return
    await file.datasync()
    if (!(await store.commitOffset(db, id, leased.lease, upTo, last))) throw elsewhere()
    committed = upTo
  }
  const flush = async (): Promise<void> => {
    await writing
    if (released) throw elsewhere()
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
      for await (const chunk of source) {
        if (came - looked.bytes >= lookedEveryBytes || performance.now() - looked.at >= lookedEveryMs) {
          looked = { bytes: came, at: performance.now() }
          await may()
        }
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
    if (hands.get(id) === hand) hands.delete(id)
  }
}
