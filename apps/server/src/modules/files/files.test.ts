import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { constants, existsSync, readdirSync } from 'node:fs'
import { appendFile, mkdir, open, rename, rm, stat, statfs, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  fileEntries,
  fileShares,
  fileSpaces,
  fileTransfers,
  fileUploads,
  inlineFileBytes,
  verifiedAtOnceBytes,
  type FileEntry,
  type FileUpload,
} from '@zhisuan/contract/files/file'
import { audits } from '@zhisuan/contract/iam/audit'
import { grants } from '@zhisuan/contract/iam/grant'
import { keptProjects } from '@zhisuan/contract/iam/project'
import { modelFiles, models } from '@zhisuan/contract/models/model'
import { apiEvents } from '@zhisuan/contract/omc/log'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { auth } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import type { BodyInput } from '@zhisuan/contract/define'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { anyPort } from '@zhisuan/engines/registry/testing'
import { sweepJob } from '../../platform/bytes/bytes.ts'
import { leaseUpload, toCome } from '../../platform/bytes/bytes.store.ts'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, refused } from '../../testing/call.ts'
import { makeUser, signIn, someone, type Person, type SignedIn } from '../../testing/people.ts'
import { allow, deny, keeping } from '../../testing/policies.ts'
import { usageJob } from './index.ts'
import { breakOff, offsetOf, sendPiece, sendSlowly, sha256Of } from '../../testing/uploads.ts'

let app: TestApp
let url: string
let admin: Person & SignedIn
let owner: Person & SignedIn
let colleague: Person & SignedIn
let stranger: Person & SignedIn

beforeAll(async () => {
  const port = await anyPort()
  url = `http://127.0.0.1:${port}`
  app = await testApp({ PUBLIC_URL: url })
  await app.http.listen({ port, host: '127.0.0.1' })
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  const made = await makeUser(app, { kind: 4, organisation: owner.bp_id })
  colleague = { ...made, ...(await signIn(app, made)) }
  stranger = await someone(app)
})
afterAll(() => app.close())

/** Lets go on who waits to write there. */
const readOnce = async (path: string): Promise<void> => (await open(path, constants.O_RDONLY | constants.O_NONBLOCK)).close()

/** What the clock does each five minutes. */
const sweep = (): Promise<void> => app.platform.db.transaction().execute((tx) => app.platform.jobs.send(tx, sweepJob, {}))

type Kind = 'personal' | 'organisation' | 'project' | 'public'
const spaceOf = async (who: SignedIn, kind: Kind = 'personal'): Promise<string> => {
  const { items } = await call(app, fileSpaces.list, { token: who.token })
  return items.find((space) => space.kind === kind)?.id ?? ''
}
const announce = async (who: SignedIn, wish: Partial<BodyInput<typeof fileSpaces.upload>> & { name: string }, kind: Kind = 'personal'): Promise<FileUpload> =>
  call(app, fileSpaces.upload, { token: who.token, params: { id: await spaceOf(who, kind) }, body: { size_bytes: 0, ...wish } })
const ended = (who: SignedIn, { id }: FileUpload): Promise<FileUpload> =>
  vi.waitFor(async () => {
    const upload = await call(app, fileUploads.get, { token: who.token, params: { id } })
    expect(upload.status).toMatch(/done|failed/)
    return upload
  }, 10_000)
/** A file that is there. */
const put = async (
  who: SignedIn,
  name: string,
  bytes: Buffer = randomBytes(1_000),
  wish: Partial<BodyInput<typeof fileSpaces.upload>> = {},
  kind: Kind = 'personal',
): Promise<FileEntry> => {
  const upload = await announce(who, { name, size_bytes: bytes.length, ...wish }, kind)
  if (bytes.length > 0) expect((await sendPiece(url, who.token, upload, 0, new Uint8Array(bytes))).status).toBe(204)
  const { entry_id } = await ended(who, upload)
  return call(app, fileEntries.get, { token: who.token, params: { id: entry_id ?? '' } })
}
const list = async (who: SignedIn, query: { parent_id?: string; keyword?: string; bin?: 'true' } = {}, kind: Kind = 'personal'): Promise<string[]> =>
  (await call(app, fileSpaces.entries, { token: who.token, params: { id: await spaceOf(who, kind) }, query: { page_size: 100, ...query } })).items.map(
    ({ name }) => name,
  )
const folder = async (who: SignedIn, name: string, parent_id: string | null = null, kind: Kind = 'personal'): Promise<FileEntry> =>
  call(app, fileSpaces.createFolder, { token: who.token, params: { id: await spaceOf(who, kind) }, body: { name, parent_id } })
const download = async (who: SignedIn, ids: string[], headers: Record<string, string> = {}, inline = false): Promise<Response> => {
  const { path } = await call(app, fileEntries.download, { token: who.token, body: { ids, inline } })
  return fetch(`${url}${path}`, { headers })
}
const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer())

describe('an upload', () => {
  it('is announced, comes in pieces, shows once its sum was made, and is downloaded, in parts too', async () => {
    const bytes = randomBytes(3_000_000)
    const upload = await announce(owner, { name: '数据集.bin', size_bytes: bytes.length, folders: ['训练', 'v1'], sha256: sha256Of(bytes) })
    expect(upload).toMatchObject({ folder: '/训练/v1', status: 'uploading', offset_bytes: 0, entry_id: null })
    expect(await list(owner, { keyword: '数据集' })).toEqual([])
    expect((await sendPiece(url, owner.token, upload, 0, new Uint8Array(bytes.subarray(0, 1_000_000)))).status).toBe(204)
    expect(await offsetOf(url, owner.token, upload)).toBe(1_000_000)
    expect((await call(app, fileUploads.list, { token: owner.token })).items).toMatchObject([{ id: upload.id, offset_bytes: 1_000_000 }])
    const misplaced = await sendPiece(url, owner.token, upload, 0, new Uint8Array(bytes))
    expect([misplaced.status, await misplaced.json()]).toMatchObject([409, { code: 90030 }])
    expect((await sendPiece(url, owner.token, upload, 1_000_000, new Uint8Array(bytes.subarray(1_000_000)))).status).toBe(204)
    const { entry_id } = await ended(owner, upload)
    const entry = await call(app, fileEntries.get, { token: owner.token, params: { id: entry_id ?? '' } })
    expect(entry).toMatchObject({ name: '数据集.bin', size_bytes: bytes.length, sha256: sha256Of(bytes), path: [{ name: '训练' }, { name: 'v1' }] })
    const whole = await download(owner, [entry.id])
    expect([whole.headers.get('content-disposition'), sha256Of(await bytesOf(whole))]).toEqual([expect.stringContaining('attachment'), entry.sha256])
    const part = await download(owner, [entry.id], { range: 'bytes=10-19' })
    expect([part.status, await bytesOf(part)]).toEqual([206, bytes.subarray(10, 20)])
    const records = await vi.waitFor(async () => {
      const { items } = await call(app, fileTransfers.list, { token: admin.token, query: { keyword: owner.name, page_size: 100 } })
      expect(items.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done'])
      return items
    })
    expect(records.map(({ kind, bytes: went, user_name }) => [kind, went, user_name])).toEqual([
      ['download', 10, owner.name],
      ['download', bytes.length, owner.name],
      ['upload', bytes.length, owner.name],
    ])
  })

  it('goes on behind what is on disk and counted: a connection that broke off, and a tail that nobody counted', async () => {
    const bytes = randomBytes(20_000_000)
    const upload = await announce(owner, { name: 'cut.bin', size_bytes: bytes.length })
    for (let cut = 0; cut < 3; cut++) {
      const from = await offsetOf(url, owner.token, upload)
      await breakOff(url, owner.token, upload, from, bytes.subarray(from, from + 5_000_000))
      await vi.waitFor(async () => expect(await offsetOf(url, owner.token, upload)).toBeGreaterThan(from))
    }
    // As a server leaves it that was killed between writing and counting.
    await vi.waitFor(async () => {
      const before = await offsetOf(url, owner.token, upload)
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(await offsetOf(url, owner.token, upload)).toBe(before)
    })
    const kept = await offsetOf(url, owner.token, upload)
    await appendFile(join(app.config.DATA_DIR, 'bytes', 'uploads', upload.id), randomBytes(777))
    expect((await sendPiece(url, owner.token, upload, kept, new Uint8Array(bytes.subarray(kept)))).status).toBe(204)
    const { entry_id } = await ended(owner, upload)
    expect(await call(app, fileEntries.get, { token: owner.token, params: { id: entry_id ?? '' } })).toMatchObject({ sha256: sha256Of(bytes) })
  })

  it('is finished by the clock where a server was killed after its last byte, and once only', async () => {
    const bytes = randomBytes(1_000)
    const upload = await announce(owner, { name: 'last.bin', size_bytes: bytes.length })
    await app.platform.db.updateTable('byte_uploads').set({ offset_bytes: bytes.length }).where('id', '=', upload.id).execute()
    await appendFile(join(app.config.DATA_DIR, 'bytes', 'uploads', upload.id), bytes)
    await Promise.all([offsetOf(url, owner.token, upload), offsetOf(url, owner.token, upload)])
    await ended(owner, upload)
    expect((await list(owner)).filter((name) => name.startsWith('last'))).toEqual(['last.bin'])
  })

  it('is verified by the clock where a server was killed while it did so', async () => {
    const bytes = randomBytes(1_000)
    const upload = await announce(owner, { name: 'unverified.bin', size_bytes: bytes.length })
    await app.platform.db
      .updateTable('byte_uploads')
      .set({ offset_bytes: bytes.length, status: 'verifying', updated_at: new Date(Date.now() - 120_000) })
      .where('id', '=', upload.id)
      .execute()
    await appendFile(join(app.config.DATA_DIR, 'bytes', 'uploads', upload.id), bytes)
    await sweep()
    expect(await ended(owner, upload)).toMatchObject({ status: 'done' })
  })

  it('that is large is verified although the queue has given it up', async () => {
    const size_bytes = verifiedAtOnceBytes + 1
    const upload = await announce(owner, { name: 'given-up.bin', size_bytes })
    // All of it is a hole: nothing has to be sent.
    const path = join(app.config.DATA_DIR, 'bytes', 'uploads', upload.id)
    await appendFile(path, '')
    await truncate(path, size_bytes)
    await app.platform.db
      .updateTable('byte_uploads')
      .set({ offset_bytes: size_bytes, status: 'verifying', updated_at: new Date(Date.now() - 3_600_000) })
      .where('id', '=', upload.id)
      .execute()
    await sweep()
    expect(await ended(owner, upload)).toMatchObject({ status: 'done' })
  })

  it('of other bytes than were announced fails, is told of, and counts no more', async () => {
    const before = (await call(app, fileSpaces.list, { token: owner.token })).usage.used_bytes
    const upload = await announce(owner, { name: 'wrong.bin', size_bytes: 100, sha256: sha256Of(randomBytes(100)) })
    expect((await call(app, fileSpaces.list, { token: owner.token })).usage.used_bytes).toBe(before + 100)
    await sendPiece(url, owner.token, upload, 0, new Uint8Array(randomBytes(100)))
    expect(await ended(owner, upload)).toMatchObject({ status: 'failed', error: '收到的内容与校验值不符，请重新上传', entry_id: null })
    expect((await call(app, fileSpaces.list, { token: owner.token })).usage.used_bytes).toBe(before)
    expect(existsSync(join(app.config.DATA_DIR, 'bytes', 'uploads', upload.id))).toBe(false)
    expect(await call(app, fileTransfers.list, { token: admin.token, query: { keyword: owner.name, outcome: 'failed' } })).toMatchObject({
      items: [{ outcome: 'failed', name: null, reason: null }],
    })
  })

  it('is given up by who sends it, and after its week by the clock', async () => {
    const [given, forgotten] = [await announce(owner, { name: 'given.bin', size_bytes: 10 }), await announce(owner, { name: 'forgotten.bin', size_bytes: 10 })]
    await sendPiece(url, owner.token, given, 0, new Uint8Array(5))
    await call(app, fileUploads.discard, { token: owner.token, params: { id: given.id } })
    expect(await refused(app, fileUploads.get, { token: owner.token, params: { id: given.id } })).toMatchObject({ status: 404 })
    expect((await sendPiece(url, owner.token, given, 5, new Uint8Array(5))).status).toBe(404)
    await app.platform.db
      .updateTable('byte_uploads')
      .set({ expires_at: new Date(0) })
      .where('id', '=', forgotten.id)
      .execute()
    await sweep()
    await vi.waitFor(
      async () => expect(await refused(app, fileUploads.get, { token: owner.token, params: { id: forgotten.id } })).toMatchObject({ status: 404 }),
      10_000,
    )
  })

  it('ends in the middle of a piece with the session that sends it, and with the right to', async () => {
    const { makePolicy, give } = keeping(app)
    const end: Readonly<Record<string, (who: Person & SignedIn) => Promise<unknown>>> = {
      session: (who) => call(app, auth.logout, { token: who.token }),
      right: async (who) => give(admin, await makePolicy(admin, [deny('files.space.upload')]), { user_id: who.id }),
    }
    for (const [what, over] of Object.entries(end)) {
      const who = await someone(app)
      const bytes = randomBytes(3 * 2 ** 20)
      const upload = await announce(who, { name: 'long.bin', size_bytes: 10 * bytes.length })
      const sending = sendSlowly(url, who.token, upload, 0, 10 * bytes.length)
      for (let piece = 0; piece < 2; piece++) await sending.give(bytes)
      await vi.waitFor(async () => expect(await offsetOf(url, who.token, upload)).toBeGreaterThan(0))
      await over(who)
      await sending.give(bytes)
      const status = what === 'session' ? 401 : 403
      expect([status, null]).toContain(await sending.status)
      expect((await sendPiece(url, who.token, upload, 0, new Uint8Array(bytes))).status).toBe(status)
      const row = await app.platform.db.selectFrom('byte_uploads').select('offset_bytes').where('id', '=', upload.id).executeTakeFirst()
      expect(row?.offset_bytes).toBeLessThanOrEqual(3 * bytes.length)
    }
  })

  it('is written by who came last: who was overtaken changes nothing of what is there', async () => {
    const bytes = randomBytes(1_500_000)
    const upload = await announce(owner, { name: 'overtaken.bin', size_bytes: bytes.length })
    const former = sendSlowly(url, owner.token, upload, 0, bytes.length)
    // Too little to be written by itself.
    await former.give(bytes.subarray(0, 100_000))
    await vi.waitFor(async () => {
      const { lease } = await app.platform.db.selectFrom('byte_uploads').select('lease').where('id', '=', upload.id).executeTakeFirstOrThrow()
      expect(lease).toBeGreaterThan(0)
    })
    expect((await sendPiece(url, owner.token, upload, 0, new Uint8Array(bytes))).status).toBe(204)
    const { entry_id } = await ended(owner, upload)
    await former.give(Buffer.alloc(1_400_000))
    expect([409, null]).toContain(await former.status)
    const entry = await call(app, fileEntries.get, { token: owner.token, params: { id: entry_id ?? '' } })
    expect(entry.sha256).toBe(sha256Of(bytes))
    expect(sha256Of(await bytesOf(await download(owner, [entry.id])))).toBe(sha256Of(bytes))
  })

  it('is kept as a file of its own where two servers wrote it: whom the other overtook changes nothing of what is there', async () => {
    const other = await testApp({ DATABASE_URL: app.databaseUrl, DATA_DIR: app.config.DATA_DIR })
    try {
      const elsewhere = await other.http.listen({ port: 0, host: '127.0.0.1' })
      const bytes = randomBytes(3_000_000)
      const upload = await announce(owner, { name: 'two-servers.bin', size_bytes: bytes.length })
      const former = sendSlowly(elsewhere, owner.token, upload, 0, bytes.length)
      // So much that it has the file open, and wrote to it.
      await former.give(bytes.subarray(0, 600_000))
      const path = join(app.config.DATA_DIR, 'bytes', 'uploads', upload.id)
      await vi.waitFor(async () => expect((await stat(path)).size).toBeGreaterThan(500_000))
      expect((await sendPiece(url, owner.token, upload, 0, new Uint8Array(bytes))).status).toBe(204)
      const { entry_id } = await ended(owner, upload)
      // No more than is counted at once: nobody asks before whether it may write that.
      await former.give(Buffer.alloc(1_500_000))
      await new Promise((resolve) => setTimeout(resolve, 500))
      const entry = await call(app, fileEntries.get, { token: owner.token, params: { id: entry_id ?? '' } })
      expect(entry.sha256).toBe(sha256Of(bytes))
      expect(sha256Of(await bytesOf(await download(owner, [entry.id])))).toBe(sha256Of(bytes))
      await former.give(Buffer.alloc(900_000))
      expect([409, 410, null]).toContain(await former.status)
      expect(sha256Of(await bytesOf(await download(owner, [entry.id])))).toBe(sha256Of(bytes))
      // Of the copy nothing is left.
      expect(readdirSync(join(app.config.DATA_DIR, 'bytes', 'uploads')).filter((name) => name.startsWith(upload.id))).toEqual([])
    } finally {
      await other.close()
    }
  })

  it('is not cut below what was counted by who was overtaken while the disk let them wait for it', async () => {
    const other = await testApp({ DATABASE_URL: app.databaseUrl, DATA_DIR: app.config.DATA_DIR })
    const bytes = randomBytes(3_000_000)
    const upload = await announce(owner, { name: 'late.bin', size_bytes: bytes.length })
    const path = join(app.config.DATA_DIR, 'bytes', 'uploads', upload.id)
    // Who opens this waits until somebody reads it: a disk that stands still.
    await promisify(execFile)('mkfifo', [path])
    try {
      const elsewhere = await other.http.listen({ port: 0, host: '127.0.0.1' })
      const former = sendSlowly(elsewhere, owner.token, upload, 0, bytes.length)
      void former.give(bytes)
      await vi.waitFor(async () => {
        const { lease } = await app.platform.db.selectFrom('byte_uploads').select('lease').where('id', '=', upload.id).executeTakeFirstOrThrow()
        expect(lease).toBeGreaterThan(0)
      })
      // From its lease to its file.
      await sleep(300)
      await rename(path, `${path}.stalled`)
      expect((await sendPiece(url, owner.token, upload, 0, new Uint8Array(bytes.subarray(0, 2_000_000)))).status).toBe(204)
      await readOnce(`${path}.stalled`)
      expect([409, null]).toContain(await former.status)
      expect((await stat(path)).size).toBe(2_000_000)
      expect((await sendPiece(url, owner.token, upload, 2_000_000, new Uint8Array(bytes.subarray(2_000_000)))).status).toBe(204)
      const { entry_id } = await ended(owner, upload)
      expect(await call(app, fileEntries.get, { token: owner.token, params: { id: entry_id ?? '' } })).toMatchObject({ sha256: sha256Of(bytes) })
    } finally {
      for (const one of [path, `${path}.stalled`]) if (existsSync(one)) await readOnce(one)
      await rm(`${path}.stalled`, { force: true })
      await other.close()
    }
  })

  it('goes on after a restart without a copy: whoever comes after a server is that one, and two at once are two', async () => {
    const environment = { DATABASE_URL: app.databaseUrl, DATA_DIR: app.config.DATA_DIR }
    const bytes = randomBytes(2_000_000)
    const upload = await announce(owner, { name: 'restarted.bin', size_bytes: bytes.length })
    const row = () =>
      app.platform.db
        .selectFrom('byte_uploads')
        .select(['handed_over', 'writer', sql<number>`offset_bytes::int`.as('offset')])
        .where('id', '=', upload.id)
        .executeTakeFirstOrThrow()
    const sendAt = async (from: number, to: number): Promise<void> => {
      const other = await testApp(environment)
      try {
        const elsewhere = await other.http.listen({ port: 0, host: '127.0.0.1' })
        expect((await sendPiece(elsewhere, owner.token, upload, from, new Uint8Array(bytes.subarray(from, to)))).status).toBe(204)
      } finally {
        await other.close()
      }
    }
    await sendAt(0, 500_000)
    const before = await row()
    await sendAt(500_000, 1_000_000)
    expect(await row()).toEqual({ handed_over: false, writer: before.writer, offset: 1_000_000 })
    expect((await sendPiece(url, owner.token, upload, 1_000_000, new Uint8Array(bytes.subarray(1_000_000)))).status).toBe(204)
    const { entry_id } = await ended(owner, upload)
    const after = await row()
    expect([after.handed_over, after.writer === before.writer]).toEqual([true, false])
    expect(await call(app, fileEntries.get, { token: owner.token, params: { id: entry_id ?? '' } })).toMatchObject({ sha256: sha256Of(bytes) })
  })

  it('whose copy has no room on the disk fails and says so; until then room is kept for it', async () => {
    const { db } = app.platform
    const before = await toCome(db)
    const upload = await announce(owner, { name: 'no-room.bin', size_bytes: 1_000 })
    await leaseUpload(db, upload.id, randomUUID(), { at: 0 })
    expect(await toCome(db)).toBe(before + 1_000)
    await leaseUpload(db, upload.id, randomUUID(), { at: 0 })
    expect(await toCome(db)).toBe(before + 2_000)
    const path = join(app.config.DATA_DIR, 'bytes', 'uploads', upload.id)
    await appendFile(path, '')
    const { bavail, bsize } = await statfs(path)
    // A hole: it takes no room, a copy of it would take more than there is.
    await truncate(path, bavail * bsize)
    await db
      .updateTable('byte_uploads')
      .set({ offset_bytes: 1_000, status: 'verifying', updated_at: new Date(Date.now() - 120_000) })
      .where('id', '=', upload.id)
      .execute()
    expect(await toCome(db)).toBe(before + 1_000)
    await sweep()
    expect(await ended(owner, upload)).toMatchObject({ status: 'failed', error: '平台的文件空间不足，请联系平台管理员', entry_id: null })
    expect([await toCome(db), existsSync(path)]).toEqual([before, false])
  })

  it('that is being verified is given up by who sent it, and then no longer counts', async () => {
    const used = async () => (await call(app, fileSpaces.list, { token: owner.token })).usage.used_bytes
    const before = await used()
    const upload = await announce(owner, { name: 'unverifiable.bin', size_bytes: 1_000 })
    await app.platform.db.updateTable('byte_uploads').set({ offset_bytes: 1_000, status: 'verifying' }).where('id', '=', upload.id).execute()
    await call(app, fileUploads.discard, { token: owner.token, params: { id: upload.id } })
    expect(await used()).toBe(before)
    expect(await refused(app, fileUploads.get, { token: owner.token, params: { id: upload.id } })).toMatchObject({ status: 404 })
  })

  it('goes on from what is on disk where that is less than was counted', async () => {
    const bytes = randomBytes(2_000_000)
    const upload = await announce(owner, { name: 'restored.bin', size_bytes: bytes.length })
    expect((await sendPiece(url, owner.token, upload, 0, new Uint8Array(bytes.subarray(0, 1_000_000)))).status).toBe(204)
    await truncate(join(app.config.DATA_DIR, 'bytes', 'uploads', upload.id), 600_000)
    expect((await sendPiece(url, owner.token, upload, 1_000_000, new Uint8Array(bytes.subarray(1_000_000)))).status).toBe(409)
    expect(await offsetOf(url, owner.token, upload)).toBe(600_000)
    expect((await sendPiece(url, owner.token, upload, 600_000, new Uint8Array(bytes.subarray(600_000)))).status).toBe(204)
    const { entry_id } = await ended(owner, upload)
    expect(await call(app, fileEntries.get, { token: owner.token, params: { id: entry_id ?? '' } })).toMatchObject({ sha256: sha256Of(bytes) })
  })

  it('of no bytes is a file', async () => {
    expect(await put(owner, 'empty.txt', Buffer.alloc(0))).toMatchObject({ size_bytes: 0, sha256: sha256Of(Buffer.alloc(0)) })
  })

  it('never passes the quota, however many are announced at once; what is in the bin and on its way counts', async () => {
    const person = await someone(app)
    await call(app, quotas.set, { token: admin.token, params: { bp_id: person.bp_id ?? '' }, body: { limits: { file_bytes: 10_000 } } })
    const spaces = [await spaceOf(person), await spaceOf(person, 'organisation')]
    const answers = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        call(app, fileSpaces.upload, { token: person.token, params: { id: spaces[index % 2] ?? '' }, body: { name: `n${index}`, size_bytes: 1_000 } }),
      ),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    expect((await call(app, fileSpaces.list, { token: person.token })).usage).toEqual({ used_bytes: 10_000, quota_bytes: 10_000 })
    expect(await refused(app, fileSpaces.upload, { token: person.token, params: { id: spaces[0] ?? '' }, body: { name: 'one', size_bytes: 1 } })).toMatchObject(
      {
        code: 97604,
        message: '空间不足：已用9.76 KB，配额为9.76 KB，还需要1 B',
      },
    )
  })

  it('is one of many that are announced at once: what is small is there with the answer, and what is refused keeps no other', async () => {
    const person = await someone(app)
    const id = await spaceOf(person)
    await put(person, 'taken.txt', randomBytes(10))
    const small = (name: string, text: string, folders: string[] = []) => ({
      name,
      folders,
      size_bytes: Buffer.byteLength(text),
      content: Buffer.from(text).toString('base64'),
    })
    const many = (files: BodyInput<typeof fileSpaces.uploadMany>['files']) => ({ token: person.token, params: { id }, body: { files } })
    const { items } = await call(
      app,
      fileSpaces.uploadMany,
      many([
        small('a.txt', 'hello', ['批量', '一']),
        small('a.txt', 'again', ['批量', '一']),
        { ...small('a.txt', 'both', ['批量', '一']), conflict: 'keep_both' },
        small('taken.txt', 'x'),
        { name: 'large.bin', size_bytes: 1_000 },
        { ...small('wrong.txt', 'hello'), size_bytes: 3 },
        small('empty.txt', ''),
      ]),
    )
    expect(items.map(({ entry_id, upload, refused: why }) => [entry_id !== null, upload?.status ?? null, why?.code ?? null])).toEqual([
      [true, null, null],
      [false, null, 97602],
      [true, null, null],
      [false, null, 97602],
      [false, 'uploading', null],
      [false, null, 97609],
      [true, null, null],
    ])
    const [first] = items
    expect(await call(app, fileEntries.get, { token: person.token, params: { id: first?.entry_id ?? '' } })).toMatchObject({
      sha256: sha256Of(Buffer.from('hello')),
      path: [{ name: '批量' }, { name: '一' }],
    })
    expect((await bytesOf(await download(person, [first?.entry_id ?? '']))).toString()).toBe('hello')
    expect([await list(person), await list(person, { keyword: 'a' })]).toEqual([
      ['批量', 'empty.txt', 'taken.txt'],
      ['a (1).txt', 'a.txt', 'taken.txt'],
    ])
    const used = async () => (await call(app, fileSpaces.list, { token: person.token })).usage.used_bytes
    expect(await used()).toBe(10 + 5 + 4 + 1_000)
    expect((await call(app, fileTransfers.list, { token: admin.token, query: { keyword: person.name, outcome: 'done', kind: 'upload' } })).total).toBe(4)
    // All or none as far as the quota goes.
    await call(app, quotas.set, { token: admin.token, params: { bp_id: person.bp_id ?? '' }, body: { limits: { file_bytes: 1_025 } } })
    expect(await refused(app, fileSpaces.uploadMany, many([small('b.txt', 'four'), small('c.txt', 'four')]))).toMatchObject({ code: 97604 })
    expect([await used(), await list(person, { keyword: 'b.txt' })]).toEqual([1_019, []])
    expect(await refused(app, fileSpaces.uploadMany, many([small('large.txt', 'x'.repeat(inlineFileBytes + 3))]))).toMatchObject({
      fields: [{ field: 'files.0.content' }],
    })
    expect(await refused(app, fileSpaces.uploadMany, { ...many([small('d.txt', 'x')]), token: stranger.token })).toMatchObject({ status: 404 })
    // Of what is refused no folder is left, and those that are sent later are announced as one: all of them or none.
    await call(app, fileSpaces.uploadMany, many([{ ...small('w.txt', 'hello', ['空']), size_bytes: 3 }]))
    expect(
      await refused(
        app,
        fileSpaces.uploadMany,
        many([
          { name: 'e.bin', size_bytes: 3 },
          { name: 'f.bin', size_bytes: 4, folders: ['空'] },
        ]),
      ),
    ).toMatchObject({
      code: 97604,
    })
    expect([await used(), await list(person, { keyword: '空' })]).toEqual([1_019, []])
  })

  it('waits for others of its space without a connection to the database: who reads meanwhile is answered', async () => {
    const person = await someone(app)
    const id = await spaceOf(person)
    const free = Promise.withResolvers<void>()
    const holding = app.platform.db.transaction().execute(async (tx) => {
      await tx.selectFrom('file_spaces').select('id').where('id', '=', id).forUpdate().execute()
      await free.promise
    })
    const size = 20
    // More at once than there are connections.
    const many = Array.from({ length: size }, (_, at) =>
      call(app, fileSpaces.uploadMany, {
        token: person.token,
        params: { id },
        body: { files: [{ name: `${at}.txt`, size_bytes: 1, content: Buffer.from(String(at % 10)).toString('base64') }] },
      }),
    )
    try {
      // All of them have come so far by then.
      await sleep(1_000)
      expect(await Promise.race([list(owner), sleep(10_000)])).toBeInstanceOf(Array)
    } finally {
      free.resolve()
      await holding
    }
    const answers = await Promise.all(many)
    expect(answers.map(({ items }) => items[0]?.refused)).toEqual(Array.from({ length: size }, () => null))
  })

  it('goes on with who writes it where somebody is wrong about how far it is', async () => {
    const upload = await announce(owner, { name: 'misplaced.bin', size_bytes: 1_000 })
    const lease = (at: number) => leaseUpload(app.platform.db, upload.id, randomUUID(), { at })
    expect(await lease(5)).toBeUndefined()
    expect(await lease(0)).toMatchObject({ lease: 1 })
    expect(await lease(5)).toBeUndefined()
    expect(await lease(0)).toMatchObject({ lease: 2 })
  })

  it('refuses names that no disk takes, in words', async () => {
    const id = await spaceOf(owner)
    const of = async (name: string, folders: string[] = []) =>
      (await refused(app, fileSpaces.upload, { token: owner.token, params: { id }, body: { name, folders, size_bytes: 1 } })).fields?.map(
        ({ field, message }) => `${field} ${message}`,
      )
    expect(await of('..')).toEqual(['name 名称不能包含斜杠和反斜杠，也不能是空格、“.”或“..”'])
    expect(await of('a/b')).toEqual(['name 名称不能包含斜杠和反斜杠，也不能是空格、“.”或“..”'])
    expect(await of('a\u0000')).toEqual(['name 不能包含控制字符'])
    expect(await of('photo\u202egpj.exe')).toEqual(['name 不能包含控制字符'])
    expect(await of('好'.repeat(86))).toEqual(['name 名称不能超过255个字节，一个汉字占3个字节'])
    expect(await of('ok', ['x', '..'])).toEqual(['folders.1 名称不能包含斜杠和反斜杠，也不能是空格、“.”或“..”'])
    await announce(owner, { name: '好'.repeat(85), size_bytes: 1 })
    // What is kept beside it has a number, and room for it.
    const long = `${'好'.repeat(83)}.txt`
    await put(owner, long)
    const { name } = await put(owner, long, randomBytes(10), { conflict: 'keep_both' })
    expect([name, Buffer.byteLength(name)]).toEqual([`${'好'.repeat(82)} (1).txt`, 254])
  })
})

describe('a space', () => {
  it('is one’s own, one’s organisation’s, or everybody’s to read', async () => {
    const [mine, ours] = [await put(colleague, 'mine.txt'), await put(colleague, 'ours.txt', randomBytes(10), {}, 'organisation')]
    expect(await list(owner, {}, 'organisation')).toContain('ours.txt')
    for (const who of [owner, stranger, admin]) {
      expect(await refused(app, fileEntries.get, { token: who.token, params: { id: mine.id } })).toMatchObject({ status: 404 })
      expect(await refused(app, fileEntries.download, { token: who.token, body: { ids: [mine.id] } })).toMatchObject({ status: 404 })
      expect(await refused(app, fileEntries.delete, { token: who.token, body: { ids: [mine.id] } })).toMatchObject({ status: 404 })
      expect(await refused(app, fileShares.create, { token: who.token, body: { entry_id: mine.id } })).toMatchObject({ status: 404 })
      expect(await refused(app, fileSpaces.entries, { token: who.token, params: { id: mine.space_id } })).toMatchObject({ status: 404 })
    }
    for (const who of [stranger, admin])
      expect(await refused(app, fileEntries.get, { token: who.token, params: { id: ours.id } })).toMatchObject({ status: 404 })
    // Nor is somebody's upload anybody else's.
    const upload = await announce(colleague, { name: 'going.bin', size_bytes: 5 })
    expect((await sendPiece(url, owner.token, upload, 0, new Uint8Array(5))).status).toBe(404)
    // What is copied into another's space would be theirs.
    expect(
      await refused(app, fileEntries.copy, { token: stranger.token, body: { ids: [(await put(stranger, 'x')).id], space_id: mine.space_id } }),
    ).toMatchObject({ code: 97601 })
  })

  it('that is public is written by the platform, and published to by whom a policy lets', async () => {
    const mine = await put(owner, '公告.md', Buffer.from('# 公告'))
    const space = await spaceOf(stranger, 'public')
    expect(await refused(app, fileSpaces.createFolder, { token: owner.token, params: { id: space }, body: { name: 'x' } })).toMatchObject({ code: 97603 })
    expect(await refused(app, fileEntries.publish, { token: owner.token, body: { ids: [mine.id] } })).toMatchObject({ status: 403 })
    const theirs = await put(admin, '公告.md', Buffer.from('# 公告'))
    await call(app, fileEntries.publish, { token: admin.token, body: { ids: [theirs.id] } })
    const [published] = (await call(app, fileSpaces.entries, { token: stranger.token, params: { id: space }, query: {} })).items
    expect(published).toMatchObject({ name: '公告.md', sha256: sha256Of(Buffer.from('# 公告')) })
    expect((await download(stranger, [published?.id ?? ''])).status).toBe(200)
    expect(await refused(app, fileEntries.delete, { token: stranger.token, body: { ids: [published?.id ?? ''] } })).toMatchObject({ code: 97603 })
  })
})

describe('what is published', () => {
  it('counts for whose people published it, also what it costs, until it goes for good; and policies say of which files they may', async () => {
    const { makePolicy, give } = keeping(app)
    const head = await someone(app)
    const { token } = head
    const [closed, open] = [await folder(head, '内部'), await put(head, '手册.pdf', randomBytes(400))]
    const inner = await put(head, '价目.xlsx', randomBytes(100), { parent_id: closed.id })
    await give(admin, await makePolicy(admin, [allow('files.entry.publish'), deny('files.entry.publish', { Resource: `zrn:files:*:entry/${closed.id}` })]), {
      user_id: head.id,
    })
    const usage = async () => (await call(app, fileSpaces.list, { token })).usage.used_bytes
    const told = async () => {
      await app.platform.db.transaction().execute((tx) => app.platform.jobs.send(tx, usageJob, {}))
      const { rows } = await sql<{ metered: number }>`select metered_bytes::int as metered from file_publications where bp_id = ${head.bp_id}`.execute(
        app.platform.db,
      )
      return rows[0]?.metered
    }
    const before = await usage()
    expect(await refused(app, fileEntries.publish, { token, body: { ids: [closed.id] } })).toMatchObject({ code: 3000 })
    expect(await refused(app, fileEntries.publish, { token, body: { ids: [inner.id] } })).toMatchObject({ code: 3000 })
    await call(app, fileEntries.publish, { token, body: { ids: [open.id] } })
    expect(await usage()).toBe(before + 400)
    await vi.waitFor(async () => expect(await told()).toBe(400))
    await call(app, quotas.set, { token: admin.token, params: { bp_id: head.bp_id ?? '' }, body: { project_id: null, limits: { file_bytes: before + 500 } } })
    expect(await refused(app, fileEntries.publish, { token, body: { ids: [open.id], conflict: 'keep_both' } })).toMatchObject({ code: 97604 })
    // What others published they only add to.
    const theirs = await put(admin, '须知.md', Buffer.from('a'))
    await call(app, fileEntries.publish, { token: admin.token, body: { ids: [theirs.id] } })
    const mine = await put(head, '须知.md', Buffer.from('b'))
    expect(await refused(app, fileEntries.publish, { token, body: { ids: [mine.id], conflict: 'replace' } })).toMatchObject({ code: 97623 })
    // It goes by who runs the platform, and counts no more.
    const { items } = await call(app, fileSpaces.entries, { token, params: { id: await spaceOf(head, 'public') }, query: { keyword: '手册' } })
    const ids = items.map(({ id }) => id)
    await call(app, fileEntries.delete, { token: admin.token, body: { ids } })
    expect(await usage()).toBe(before + 401)
    await call(app, fileEntries.purge, { token: admin.token, body: { ids } })
    expect(await usage()).toBe(before + 1)
    await vi.waitFor(async () => expect(await told()).toBe(0))
  })
})

describe('what is in a space', () => {
  it('and denied to somebody by itself is not theirs by its folder either', async () => {
    const { makePolicy, give } = keeping(app)
    const person = await someone(app)
    const other = await folder(person, '别处')
    const top = await folder(person, '合同')
    const denied = await put(person, '底价.xlsx', randomBytes(10), { parent_id: top.id, folders: ['内'] })
    const actions = ['download', 'copy', 'move', 'delete', 'restore', 'purge'].map((name) => `files.entry.${name}`)
    const granted = await give(admin, await makePolicy(admin, [deny([...actions, 'files.share.create'], { Resource: `zrn:files:*:entry/${denied.id}` })]), {
      user_id: person.id,
    })
    const { token } = person
    const ids = [top.id]
    const refusal = { status: 403, code: 97618, message: '其中的“底价.xlsx”不允许您这样操作' }
    expect(await refused(app, fileEntries.download, { token, body: { ids } })).toMatchObject(refusal)
    expect(await refused(app, fileEntries.copy, { token, body: { ids, space_id: top.space_id, parent_id: other.id } })).toMatchObject(refusal)
    expect(await refused(app, fileEntries.move, { token, body: { ids, parent_id: other.id } })).toMatchObject(refusal)
    expect(await refused(app, fileEntries.delete, { token, body: { ids } })).toMatchObject(refusal)
    expect(await refused(app, fileShares.create, { token, body: { entry_id: top.id } })).toMatchObject(refusal)
    // Whoever does not see the folder learns no name of what is in it.
    expect(await refused(app, fileEntries.download, { token: stranger.token, body: { ids } })).toMatchObject({ status: 404 })
    await call(app, grants.delete, { token: admin.token, params: { id: granted.id } })
    await call(app, fileEntries.delete, { token, body: { ids } })
    await give(admin, await makePolicy(admin, [deny(actions, { Resource: `zrn:files:*:entry/${denied.id}` })]), { user_id: person.id })
    expect(await refused(app, fileEntries.restore, { token, body: { ids } })).toMatchObject(refusal)
    expect(await refused(app, fileEntries.purge, { token, body: { ids } })).toMatchObject(refusal)
    // Beside it all is as it was; and who names one thing twice is given it once.
    const link = await call(app, fileEntries.download, { token, body: { ids: [other.id, other.id] } })
    expect((await fetch(`${url}${link.path}`)).status).toBe(200)
  })

  it('and denied by its folder is not theirs by its own name either, nor by taking it out of there, nor by a copy', async () => {
    const { makePolicy, give } = keeping(app)
    const person = await someone(app)
    const { token } = person
    const closed = await folder(person, '合同')
    const inner = await put(person, '底价.xlsx', randomBytes(10), { parent_id: closed.id, folders: ['内'] })
    const beside = await put(person, '草稿.txt')
    const actions = ['get', 'download', 'copy', 'rename', 'delete'].map((name) => `files.entry.${name}`)
    const statement = deny([...actions, 'files.share.create'], { Resource: `zrn:files:*:entry/${closed.id}` })
    await give(admin, await makePolicy(admin, [statement, deny('files.entry.download', { Resource: `zrn:files:*:entry/${beside.id}` })]), {
      user_id: person.id,
    })
    const ids = [inner.id]
    const refusal = (action: string) => ({ code: 3000, refused: { action, outcome: 'explicitDeny' } })
    expect(await refused(app, fileEntries.get, { token, params: { id: inner.id } })).toMatchObject(refusal('files.entry.get'))
    expect(await refused(app, fileEntries.rename, { token, params: { id: inner.id }, body: { name: 'x' } })).toMatchObject(refusal('files.entry.rename'))
    expect(await refused(app, fileEntries.download, { token, body: { ids } })).toMatchObject(refusal('files.entry.download'))
    expect(await refused(app, fileEntries.copy, { token, body: { ids, space_id: inner.space_id } })).toMatchObject(refusal('files.entry.copy'))
    expect(await refused(app, fileEntries.delete, { token, body: { ids } })).toMatchObject(refusal('files.entry.delete'))
    expect(await refused(app, fileShares.create, { token, body: { entry_id: inner.id } })).toMatchObject(refusal('files.share.create'))
    expect(await refused(app, fileEntries.move, { token, body: { ids } })).toMatchObject({ code: 3000 })
    // Within the folder it goes where they like.
    await call(app, fileEntries.move, { token, body: { ids, parent_id: closed.id } })
    expect(await refused(app, fileEntries.copy, { token, body: { ids: [beside.id], space_id: beside.space_id, conflict: 'keep_both' } })).toMatchObject(
      refusal('files.entry.download'),
    )
  })

  it('and denied by its folder is not theirs by way of the bin either, when the folder has gone for good', async () => {
    const { makePolicy, give } = keeping(app)
    const head = await someone(app)
    const made = await makeUser(app, { kind: 4, organisation: head.bp_id })
    const mate = { ...made, ...(await signIn(app, made)) }
    const { token } = mate
    const [outer, beside] = [await folder(head, '外', null, 'organisation'), await folder(head, '旁', null, 'organisation')]
    const closed = await folder(head, '合同', outer.id, 'organisation')
    const inner = await put(head, '底价.xlsx', randomBytes(10), { parent_id: closed.id, folders: ['内'] }, 'organisation')
    await give(admin, await makePolicy(admin, [deny('files.entry.download', { Resource: `zrn:files:*:entry/${closed.id}` })]), { user_id: mate.id })
    const ids = [inner.id]
    const denied = { code: 3000, refused: { action: 'files.entry.download', outcome: 'explicitDeny' } }
    await call(app, fileEntries.delete, { token, body: { ids } })
    // First the folder that it lay in, then the one that it is denied of, then the one around them.
    const folders = [inner.parent_id ?? '', closed.id, outer.id]
    for (const id of folders) await call(app, fileEntries.delete, { token, body: { ids: [id] } })
    for (const id of folders) {
      await call(app, fileEntries.purge, { token, body: { ids: [id] } })
      expect(await refused(app, fileEntries.restore, { token, body: { ids } })).toMatchObject(denied)
    }
    // Whoever may brings it back, and so takes it out of there; of all else nothing is denied.
    await call(app, fileEntries.restore, { token: head.token, body: { ids } })
    expect((await download(mate, [inner.id, beside.id])).status).toBe(200)
  })

  it('is replaced by whom it may be deleted by, whichever way something of its name comes', async () => {
    const { makePolicy, give } = keeping(app)
    const person = await someone(app)
    const { token } = person
    const kept = await put(person, '账本.xlsx', Buffer.from('kept'))
    const [from, params] = [await folder(person, '别处'), { id: kept.space_id }]
    const other = await put(person, '账本.xlsx', Buffer.from('other'), { parent_id: from.id })
    await give(admin, await makePolicy(admin, [deny('files.entry.delete', { Resource: `zrn:files:*:entry/${kept.id}` })]), { user_id: person.id })
    const refusal = { status: 403, code: 97623, message: '您不能删除“账本.xlsx”，所以也不能替换它', refused: { action: 'files.entry.delete' } }
    const named = { name: kept.name, conflict: 'replace' } as const
    expect(await refused(app, fileSpaces.upload, { token, params, body: { ...named, size_bytes: 5 } })).toMatchObject(refusal)
    const many = await call(app, fileSpaces.uploadMany, {
      token,
      params,
      body: {
        files: [
          { ...named, size_bytes: 1, content: 'YQ==' },
          { ...named, size_bytes: 5 },
        ],
      },
    })
    expect(many.items.map((item) => item.refused?.code)).toEqual([97623, 97623])
    expect(await refused(app, fileEntries.move, { token, body: { ids: [other.id], conflict: 'replace' } })).toMatchObject(refusal)
    expect(await refused(app, fileEntries.copy, { token, body: { ids: [other.id], space_id: kept.space_id, conflict: 'replace' } })).toMatchObject(refusal)
    // Who announced it saw nothing of that name: what took it since stays.
    const upload = await announce(person, { name: 'neu.txt', size_bytes: 3, conflict: 'replace' })
    const since = await put(person, 'neu.txt')
    expect((await sendPiece(url, token, upload, 0, new Uint8Array(3))).status).toBe(204)
    await ended(person, upload)
    expect(await list(person)).toEqual(['别处', 'neu (1).txt', 'neu.txt', '账本.xlsx'])
    expect(await call(app, fileEntries.get, { token, params: { id: since.id } })).toMatchObject({ deleted: null })
  })

  it('replaces no folder: that is said before anything is sent, and of a folder that came since both are kept', async () => {
    const person = await someone(app)
    const named = { name: '数据', size_bytes: 3, conflict: 'replace' } as const
    const upload = await announce(person, named)
    const { space_id } = await folder(person, named.name)
    expect(await refused(app, fileSpaces.upload, { token: person.token, params: { id: space_id }, body: named })).toMatchObject({ code: 97602 })
    expect((await sendPiece(url, person.token, upload, 0, new Uint8Array(3))).status).toBe(204)
    expect(await ended(person, upload)).toMatchObject({ status: 'done' })
    expect(await list(person)).toEqual(['数据', '数据 (1)'])
  })

  it('is renamed, moved and copied, all or none, and never into itself', async () => {
    const [a, b] = [await folder(stranger, 'a'), await folder(stranger, 'b')]
    const inner = await folder(stranger, 'inner', a.id)
    const file = await put(stranger, 'f.txt', randomBytes(50), { parent_id: inner.id })
    expect(await refused(app, fileSpaces.createFolder, { token: stranger.token, params: { id: a.space_id }, body: { name: 'a' } })).toMatchObject({
      code: 97602,
      message: '已有名为“a”的文件或文件夹',
    })
    expect(await refused(app, fileEntries.move, { token: stranger.token, body: { ids: [b.id, a.id], parent_id: inner.id } })).toMatchObject({ code: 97605 })
    expect(await list(stranger, { parent_id: inner.id })).toEqual(['f.txt'])
    await call(app, fileEntries.copy, { token: stranger.token, body: { ids: [a.id], space_id: a.space_id, parent_id: a.id } })
    expect(await list(stranger, { parent_id: a.id })).toEqual(['a', 'inner'])
    await call(app, fileEntries.move, { token: stranger.token, body: { ids: [inner.id], parent_id: b.id } })
    expect(await list(stranger, { parent_id: b.id })).toEqual(['inner'])
    await call(app, fileEntries.copy, { token: stranger.token, body: { ids: [file.id], space_id: a.space_id, parent_id: inner.id, conflict: 'keep_both' } })
    expect(await list(stranger, { parent_id: inner.id })).toEqual(['f (1).txt', 'f.txt'])
    expect(await call(app, fileEntries.rename, { token: stranger.token, params: { id: b.id }, body: { name: 'c' } })).toMatchObject({ name: 'c' })
    // A file and the folder that it is copied into, both into that folder: what comes into it first is not copied once more.
    const beside = await put(stranger, 'beside.bin', randomBytes(700))
    const into = await folder(stranger, 'into')
    await call(app, fileEntries.copy, { token: stranger.token, body: { ids: [beside.id, into.id], space_id: a.space_id, parent_id: into.id } })
    const { rows } = await sql<{ bytes: number }>`select coalesce(sum(size_bytes), 0)::int as bytes from file_entries where space_id = ${a.space_id}`.execute(
      app.platform.db,
    )
    const { usage, items } = await call(app, fileSpaces.list, { token: stranger.token })
    expect(usage.used_bytes).toBe(rows[0]?.bytes)
    const own = items.find(({ kind }) => kind === 'personal')
    expect(own?.used_bytes).toBe(usage.used_bytes)
  })

  it('is copied by twelve at once, each under a number of its own, and none of them waits with a connection to the database in hand', async () => {
    const person = await someone(app)
    const id = await spaceOf(person)
    const top = await folder(person, '数据')
    const files = Array.from({ length: 100 }, (_, at) => ({ name: `${at}.txt`, size_bytes: 1, content: Buffer.from('x').toString('base64') }))
    await call(app, fileSpaces.uploadMany, { token: person.token, params: { id }, body: { parent_id: top.id, files } })
    let most = 0
    const copying = Promise.all(
      Array.from({ length: 12 }, () =>
        call(app, fileEntries.copy, { token: person.token, body: { ids: [top.id], space_id: id, parent_id: null, conflict: 'keep_both' } }),
      ),
    ).then(() => true)
    for (let over = false; !over;) {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event <> 'extend'
      `.execute(app.platform.db)
      most = Math.max(most, rows[0]?.count ?? 0)
      over = await Promise.race([copying, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 20))])
    }
    expect(most).toBeLessThanOrEqual(1)
    const numbers = Array.from({ length: 12 }, (_, at) => `数据 (${at + 1})`)
    expect((await list(person)).toSorted()).toEqual(['数据', ...numbers].toSorted())
    expect((await call(app, fileSpaces.list, { token: person.token })).usage.used_bytes).toBe(13 * 100)
  })

  it('leaves the bin by the clock, however much is due', async () => {
    const person = await someone(app)
    const id = await spaceOf(person)
    const count = 510
    const row = { space_id: id, bp_id: person.bp_id, parent_id: null, kind: 'folder' as const, sha256: null, size_bytes: null, created_by: person.id }
    const ids = Array.from({ length: count }, () => randomUUID())
    for (let at = 0; at < count; at += 255)
      await app.platform.db
        .insertInto('file_entries')
        .values(
          ids.slice(at, at + 255).map((one) => ({
            ...row,
            id: one,
            name: one,
            created_by_name: person.name,
            bin_id: one,
            deleted_at: new Date(app.clock.now().getTime() - 8 * 86_400_000),
            deleted_by_name: person.name,
            deleted_from: '/',
          })),
        )
        .execute()
    const purge =
      app.platform
        .modules()
        .flatMap(({ jobs = [] }) => jobs)
        .find(({ name }) => name === 'files.bin.purge') ?? expect.fail('there is no such job')
    await app.platform.db.transaction().execute((tx) => app.platform.jobs.send(tx, purge, {}))
    await vi.waitFor(
      async () => expect((await app.platform.db.selectFrom('file_entries').select('id').where('space_id', '=', id).execute()).length).toBe(0),
      15_000,
    )
  })

  it('rests in the bin, comes back with all that was in it, and goes for good', async () => {
    const person = await someone(app)
    const top = await folder(person, 'top')
    const [kept, gone] = [
      await put(person, 'kept.txt', randomBytes(10), { parent_id: top.id }),
      await put(person, 'gone.txt', randomBytes(20), { parent_id: top.id }),
    ]
    await call(app, fileEntries.delete, { token: person.token, body: { ids: [gone.id] } })
    await call(app, fileEntries.delete, { token: person.token, body: { ids: [top.id, kept.id] } })
    expect([await list(person), await list(person, { bin: 'true' })]).toEqual([[], ['top', 'gone.txt']])
    expect(await refused(app, fileEntries.download, { token: person.token, body: { ids: [kept.id] } })).toMatchObject({ status: 404 })
    await folder(person, 'top')
    await call(app, fileEntries.restore, { token: person.token, body: { ids: [top.id] } })
    expect([await list(person), await list(person, { parent_id: top.id })]).toEqual([['top', 'top (1)'], ['kept.txt']])
    await call(app, fileEntries.restore, { token: person.token, body: { ids: [gone.id] } })
    expect(await list(person, { parent_id: top.id })).toEqual(['gone.txt', 'kept.txt'])
    expect(await refused(app, fileEntries.purge, { token: person.token, body: { ids: [gone.id] } })).toMatchObject({ code: 97611 })
    await call(app, fileEntries.delete, { token: person.token, body: { ids: [gone.id] } })
    await call(app, fileEntries.purge, { token: person.token, body: { ids: [gone.id] } })
    expect((await call(app, fileSpaces.list, { token: person.token })).usage.used_bytes).toBe(10)
    const disk = () => readdirSync(join(app.config.DATA_DIR, 'bytes', 'contents'), { recursive: true }).map(String)
    const [of, other] = [gone.sha256 ?? '', kept.sha256 ?? '']
    await sweep()
    await vi.waitFor(() => expect([disk().some((name) => name.endsWith(of)), disk().some((name) => name.endsWith(other))]).toEqual([false, true]), 10_000)
  })

  it('that is replaced goes to the bin; the same bytes lie on disk once, until nothing refers to them', async () => {
    const person = await someone(app)
    const bytes = randomBytes(99)
    const [one, two] = [await put(person, 'one', bytes), await put(person, 'two', bytes)]
    expect(one.sha256).toBe(two.sha256)
    await put(person, 'one', randomBytes(5), { conflict: 'replace' })
    expect([await list(person), await list(person, { bin: 'true' })]).toEqual([['one', 'two'], ['one']])
    await call(app, fileEntries.purge, { token: person.token, body: { ids: [one.id] } })
    await sweep()
    await vi.waitFor(async () => expect(await app.platform.db.selectFrom('byte_released').selectAll().execute()).toEqual([]), 10_000)
    expect(sha256Of(await bytesOf(await download(person, [two.id])))).toBe(sha256Of(bytes))
  })

  it('is downloaded together as an archive', async () => {
    const top = await folder(colleague, '资料')
    await put(colleague, '说明.txt', Buffer.from('hello archive'), { parent_id: top.id, folders: ['内'] })
    const archive = await bytesOf(await download(colleague, [top.id]))
    expect(archive.subarray(0, 2).toString()).toBe('PK')
    for (const text of ['hello archive', '资料/内/说明.txt']) expect(archive.includes(text)).toBe(true)
    // With what is another's among it there is none, and a link that was theirs to follow is not when it has gone to another.
    const theirs = await put(owner, 'theirs.txt')
    expect(await refused(app, fileEntries.download, { token: colleague.token, body: { ids: [top.id, theirs.id] } })).toMatchObject({ status: 404 })
    const { path } = await call(app, fileEntries.download, { token: colleague.token, body: { ids: [top.id] } })
    await call(app, fileEntries.delete, { token: colleague.token, body: { ids: [top.id] } })
    expect((await fetch(`${url}${path}`)).status).toBe(404)
  })

  it('is downloaded together however many things were chosen, as long as the link is good', async () => {
    const person = await someone(app)
    const one = await put(person, '一.txt', Buffer.from('one of many'))
    const { db } = app.platform
    const row = await db.selectFrom('file_entries').selectAll().where('id', '=', one.id).executeTakeFirstOrThrow()
    const many = Array.from({ length: 999 }, (_, index) => ({ ...row, id: randomUUID(), name: `${index}.txt` }))
    await db.insertInto('file_entries').values(many).execute()
    const ids = [one.id, ...many.map(({ id }) => id)]
    const { path, expires_at } = await call(app, fileEntries.download, { token: person.token, body: { ids } })
    const archive = await fetch(`${url}${path}`)
    const text = (await bytesOf(archive)).toString('latin1')
    expect([archive.status, text.split('one of many').length - 1, text.includes('998.txt')]).toEqual([200, 1_000, true])
    // What was asked for is kept no longer than that.
    const kept = await db.selectFrom('file_archive_wishes').select('expires_at').execute()
    expect(kept.some((wish) => wish.expires_at.toISOString() === expires_at)).toBe(true)
    await db
      .updateTable('file_archive_wishes')
      .set({ expires_at: new Date(0) })
      .execute()
    const purge =
      app.platform
        .modules()
        .flatMap(({ jobs = [] }) => jobs)
        .find(({ name }) => name === 'files.bin.purge') ?? expect.fail('there is no such job')
    await db.transaction().execute((tx) => app.platform.jobs.send(tx, purge, {}))
    await vi.waitFor(async () => expect(await db.selectFrom('file_archive_wishes').select('id').execute()).toEqual([]), 10_000)
    expect((await fetch(`${url}${path}`)).status).toBe(404)
  })

  it('loses nothing in an archive: what is called the same in several folders has a number, and what lies in a chosen folder is there once', async () => {
    const person = await someone(app)
    const [one, two] = [await folder(person, 'one'), await folder(person, 'two')]
    const texts = ['first text', 'second text', 'third text']
    const [first, second, third] = await Promise.all([
      put(person, 'a.txt', Buffer.from(texts[0] ?? ''), { parent_id: one.id }),
      put(person, 'a.txt', Buffer.from(texts[1] ?? ''), { parent_id: two.id }),
      put(person, 'a.txt', Buffer.from(texts[2] ?? '')),
    ])
    const found = await bytesOf(await download(person, [first.id, second.id, third.id]))
    for (const text of [...texts, 'a.txt', 'a (1).txt', 'a (2).txt']) expect(found.includes(text)).toBe(true)
    const within = (await bytesOf(await download(person, [one.id, first.id]))).toString('latin1')
    expect([within.split('first text').length - 1, within.includes('one/a.txt')]).toEqual([1, true])
    // What would be a drive on Windows is none, and takes no other's place.
    const drives = await folder(person, 'C:')
    for (const name of ['C:notes.txt', 'C_notes.txt']) await put(person, name, Buffer.from(name), { parent_id: drives.id })
    const top = await put(person, 'C:notes.txt', Buffer.from('at the top'))
    const renamed = (await bytesOf(await download(person, [drives.id, top.id]))).toString('latin1')
    expect(['C_/C_notes.txt', 'C_/C_notes (1).txt', 'at the top'].filter((text) => !renamed.includes(text))).toEqual([])
  })

  it('is looked at without being run: what a browser would run is text, or is only saved', async () => {
    const page = await put(colleague, 'evil.html', Buffer.from('<script>alert(1)</script>'))
    const shown = await download(colleague, [page.id], {}, true)
    expect([shown.headers.get('content-type'), shown.headers.get('content-security-policy'), shown.headers.get('x-content-type-options')]).toEqual([
      'text/plain; charset=utf-8',
      "sandbox; default-src 'none'; style-src 'unsafe-inline'",
      'nosniff',
    ])
    const drawing = await put(colleague, 'evil.svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'))
    expect((await download(colleague, [drawing.id], {}, true)).headers.get('content-type')).toBe('text/plain; charset=utf-8')
    // A picture in name only is no picture, and nothing else either.
    const disguised = await download(colleague, [(await put(colleague, 'evil.png', Buffer.from('<script>alert(1)</script>'))).id], {}, true)
    expect([disguised.headers.get('content-type'), disguised.headers.get('x-content-type-options')]).toEqual(['image/png', 'nosniff'])
    // Its reader is the browser's own, outside of any page; what is no PDF it does not open, and nobody else may.
    const paper = await download(colleague, [(await put(colleague, 'paper.pdf', Buffer.from('<script>alert(1)</script>'))).id], {}, true)
    expect([paper.headers.get('content-type'), paper.headers.get('x-content-type-options'), paper.headers.get('content-disposition')]).toEqual([
      'application/pdf',
      'nosniff',
      expect.stringContaining('inline'),
    ])
    expect(paper.headers.get('content-security-policy')).toContain("default-src 'none'")
    // What is called a film is one to browsers, whatever it is, and is sent by the pieces that they want.
    for (const [name, type] of [
      ['evil.mp4', 'video/mp4'],
      ['evil.mp3', 'audio/mpeg'],
    ] as const) {
      const { id } = await put(colleague, name, Buffer.from('<script>alert(1)</script>'))
      const piece = await download(colleague, [id], { range: 'bytes=1-6' }, true)
      expect([piece.status, piece.headers.get('content-type'), piece.headers.get('x-content-type-options'), await piece.text()]).toEqual([
        206,
        type,
        'nosniff',
        'script',
      ])
    }
    const program = await put(colleague, 'evil.xhtml')
    expect(await refused(app, fileEntries.download, { token: colleague.token, body: { ids: [program.id], inline: true } })).toMatchObject({ code: 97608 })
  })
})

describe('a share', () => {
  it('lets whoever has its link download, with a password, so often and so long', async () => {
    const bytes = randomBytes(64)
    const file = await put(owner, '分享.bin', bytes)
    const share = await call(app, fileShares.create, { token: owner.token, body: { entry_id: file.id, password: '1234', downloads: 1 } })
    const token = { token: share.token ?? '' }
    // Before the password is known nothing is told of it.
    expect(await call(app, fileShares.look, { params: token })).toEqual({ needs_password: true, of: null })
    const open = await call(app, fileShares.create, { token: owner.token, body: { entry_id: file.id, downloads: 1 } })
    expect(await call(app, fileShares.look, { params: { token: open.token ?? '' } })).toMatchObject({
      needs_password: false,
      of: { name: '分享.bin', downloads_left: 1, shared_by: owner.name },
    })
    await call(app, fileShares.delete, { token: owner.token, params: { id: open.id } })
    expect(await refused(app, fileShares.open, { params: token, body: {} })).toMatchObject({ code: 97621 })
    const { path } = await call(app, fileShares.open, { params: token, body: { password: '1234' } })
    expect(await bytesOf(await fetch(`${url}${path}`))).toEqual(bytes)
    expect(await refused(app, fileShares.open, { params: token, body: { password: '1234' } })).toMatchObject({ code: 97622 })
    expect((await call(app, fileShares.list, { token: owner.token, query: {} })).items).toMatchObject([{ id: share.id, token: share.token, download_count: 1 }])
    for (const who of [stranger, admin])
      expect(await refused(app, fileShares.delete, { token: who.token, params: { id: share.id } })).toMatchObject({ status: 404 })
    await call(app, fileShares.delete, { token: owner.token, params: { id: share.id } })
    const gone = await refused(app, fileShares.look, { params: token })
    expect(gone).toMatchObject({ code: 97620 })
    expect({ ...(await refused(app, fileShares.look, { params: { token: 'x'.repeat(22) } })), request_id: '' }).toEqual({ ...gone, request_id: '' })
    const ending = await call(app, fileShares.create, {
      token: owner.token,
      body: { entry_id: file.id, ends_at: new Date(app.clock.now().getTime() + 60_000).toISOString() },
    })
    app.clock.advance(61_000)
    expect(await refused(app, fileShares.look, { params: { token: ending.token ?? '' } })).toMatchObject({ code: 97620 })
  })

  it('counts what is fetched by a link: once more where it begins anew, not where it goes on; and no link outlives it', async () => {
    const bytes = randomBytes(1_000)
    const share = await call(app, fileShares.create, { token: owner.token, body: { entry_id: (await put(owner, '计数.bin', bytes)).id, downloads: 2 } })
    const params = { token: share.token ?? '' }
    const open = async (): Promise<string> => `${url}${(await call(app, fileShares.open, { params, body: {} })).path}`
    const fetched = async (link: string, range?: string) => {
      const response = await fetch(link, { headers: range === undefined ? {} : { range } })
      return [response.status, (await bytesOf(response)).length]
    }
    const left = async () => (await call(app, fileShares.look, { params })).of?.downloads_left
    const link = await open()
    expect(await left()).toBe(2)
    // As a tool does that asks for the size first, and whose connection breaks.
    expect([await fetched(link, 'bytes=0-0'), await fetched(link), await fetched(link, 'bytes=400-')]).toEqual([
      [206, 1],
      [200, 1_000],
      [206, 600],
    ])
    expect(await left()).toBe(1)
    const other = await open()
    // One is left, and two want it.
    const both = await Promise.all([fetch(link), fetch(other)])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 403])
    expect(await both.find(({ status }) => status === 403)?.json()).toMatchObject({ code: 97622 })
    expect(await left()).toBe(0)
    await call(app, fileShares.delete, { token: owner.token, params: { id: share.id } })
    for (const known of [link, other]) expect((await fetch(known, { headers: { range: 'bytes=1-' } })).status).toBe(404)
  })

  it('is not gone round by what only goes on', async () => {
    const share = await call(app, fileShares.create, { token: owner.token, body: { entry_id: (await put(owner, '续传.bin')).id, downloads: 1 } })
    const { path } = await call(app, fileShares.open, { params: { token: share.token ?? '' }, body: {} })
    const rest = async () => (await fetch(`${url}${path}`, { headers: { range: 'bytes=1-' } })).status
    expect([await rest(), await rest(), await rest()]).toEqual([206, 206, 403])
  })

  it('of what was deleted leads nowhere', async () => {
    const file = await put(owner, 'soon.bin')
    const share = await call(app, fileShares.create, { token: owner.token, body: { entry_id: file.id } })
    const { path } = await call(app, fileShares.open, { params: { token: share.token ?? '' }, body: {} })
    await call(app, fileEntries.delete, { token: owner.token, body: { ids: [file.id] } })
    expect(await refused(app, fileShares.look, { params: { token: share.token ?? '' } })).toMatchObject({ code: 97620 })
    expect((await fetch(`${url}${path}`)).status).toBe(404)
  })
})

describe('records', () => {
  it('are the administrators’, and a file of theirs', async () => {
    expect(await refused(app, fileTransfers.list, { token: owner.token, query: {} })).toMatchObject({ status: 403 })
    await put(owner, '组织数据.bin', randomBytes(10), {}, 'organisation')
    const { path } = await call(app, fileTransfers.export, { token: admin.token, body: { format: 'csv', kind: 'upload' } })
    const text = await (await fetch(`${url}${path}`)).text()
    expect(text.split('\r\n')[0]).toContain('开始时间,结束时间,类型,名称')
    expect(text).toContain('组织数据.bin')
    expect(text).not.toContain('数据集.bin')
  })

  it('say of another’s own space that something went, how much and how it ended, and not what', async () => {
    const file = await put(colleague, '病历.pdf', randomBytes(123))
    const share = await call(app, fileShares.create, { token: colleague.token, body: { entry_id: file.id } })
    const { path } = await call(app, fileShares.open, { params: { token: share.token ?? '' }, body: {} })
    await bytesOf(await fetch(`${url}${path}`))
    expect((await call(app, fileTransfers.list, { token: admin.token, query: { keyword: '病历' } })).items).toEqual([])
    await vi.waitFor(async () => {
      const [shared] = (await call(app, fileTransfers.list, { token: admin.token, query: { kind: 'share' } })).items
      expect(shared).toMatchObject({ name: null, sha256: null, bytes: 123, outcome: 'done' })
    })
    const [sent] = (await call(app, fileTransfers.list, { token: admin.token, query: { keyword: colleague.name, kind: 'upload' } })).items
    expect(sent).toMatchObject({ name: null, sha256: null, bytes: 123, outcome: 'done', user_name: colleague.name, space_kind: 'personal' })
    // One's own is there.
    const mine = await put(admin, '自己的.pdf', randomBytes(5))
    expect((await call(app, fileTransfers.list, { token: admin.token, query: { keyword: '自己的' } })).items).toMatchObject([
      { name: '自己的.pdf', sha256: mine.sha256 },
    ])
  })
})

describe('the audit log', () => {
  it('says of what lies in a personal space that something was done, and to nobody else what it is called', async () => {
    const head = await someone(app)
    const made = await makeUser(app, { kind: 4, organisation: head.bp_id })
    const person = { ...made, ...(await signIn(app, made)) }
    const [mine, ours] = [await folder(person, '离职申请'), await folder(person, '共享', null, 'organisation')]
    for (const { id } of [mine, ours]) await call(app, fileEntries.rename, { token: person.token, params: { id }, body: { name: `${id}-x` } })
    const named = async (who: SignedIn, { id }: FileEntry) =>
      (await call(app, audits.list, { token: who.token, query: { call: 'files.entry.rename', object_id: id } })).items.map(({ object_name }) => object_name)
    for (const who of [admin, head]) expect([await named(who, mine), await named(who, ours)]).toEqual([[null], [`${ours.id}-x`]])
    const { events } = await call(app, apiEvents.list, { token: admin.token, query: { page_size: 100 } }).then(({ items }) => ({
      events: JSON.stringify(items),
    }))
    expect([events.includes(`${mine.id}-x`), events.includes(`${ours.id}-x`)]).toEqual([false, true])
    const own = await folder(head, '自己的')
    await call(app, fileEntries.rename, { token: head.token, params: { id: own.id }, body: { name: '自己改的' } })
    expect(await named(head, own)).toEqual(['自己改的'])
  })
})

describe('what is kept', () => {
  it('is limited as all else is: by the default, or by what is said for one organisation', async () => {
    const person = await someone(app)
    const limitOf = async () => (await call(app, fileSpaces.list, { token: person.token })).usage.quota_bytes
    expect(await limitOf()).toBe(100 * 2 ** 30)
    const params = { bp_id: person.bp_id ?? '' }
    await call(app, quotas.set, { token: admin.token, params, body: { limits: { file_bytes: null } } })
    expect(await limitOf()).toBeNull()
    await put(person, 'some.bin', randomBytes(300))
    expect((await call(app, quotas.get, { token: admin.token, params, query: {} })).lines).toContainEqual({
      resource: 'file_bytes',
      used: 300,
      limit: null,
      own: true,
    })
  })

  it('for a project is shared by those who work in it, and counts in its quota as in the organisation’s', async () => {
    const head = await someone(app)
    const body = { key: 'vision', name: '视觉', bp_id: head.bp_id }
    const project = await call(app, keptProjects.create, { token: head.token, body })
    const people = await Promise.all([0, 1].map(() => makeUser(app, { kind: 4, organisation: head.bp_id })))
    const [member, other] = await Promise.all(people.map(async (one) => ({ ...one, ...(await signIn(app, one)) })))
    if (member === undefined || other === undefined) return expect.fail('they were made')
    await call(app, keptProjects.addMember, { token: head.token, params: { id: project.id }, body: { user_id: member.id } })
    const of = async (who: SignedIn) => (await call(app, fileSpaces.list, { token: who.token })).items.filter(({ kind }) => kind === 'project')
    const limit = (project_id: string | null, file_bytes: number | null) =>
      call(app, quotas.set, { token: admin.token, params: { bp_id: head.bp_id ?? '' }, body: { project_id, limits: { file_bytes } } })
    await limit(project.id, 1_000)
    expect([await of(other), await of(stranger)]).toEqual([[], []])
    const [space] = await of(member)
    expect(space).toMatchObject({ name: '视觉', writable: true, project: { used_bytes: 0, quota_bytes: 1_000 } })
    expect(await refused(app, fileSpaces.entries, { token: other.token, params: { id: space?.id ?? '' } })).toMatchObject({ status: 404 })
    const file = await put(member, 'set.bin', randomBytes(600), {}, 'project')
    expect(await list(head, {}, 'project')).toEqual(['set.bin'])
    const params = { id: space?.id ?? '' }
    // A model of the project counts too.
    await limit(null, 1_500)
    const model = await call(app, models.create, { token: member.token, body: { namespace: 'vision', name: 'm', title: 'm', project_id: project.id } })
    const upload = await call(app, modelFiles.upload, { token: member.token, params: { id: model.id }, body: { size_bytes: 300 } })
    expect((await of(member))[0]).toMatchObject({ used_bytes: 600, project: { used_bytes: 900 } })
    expect(await refused(app, fileSpaces.upload, { token: member.token, params, body: { name: 'more.bin', size_bytes: 101 } })).toMatchObject({ code: 97619 })
    await announce(member, { name: 'mine.bin', size_bytes: 550 })
    expect(await refused(app, fileSpaces.upload, { token: member.token, params, body: { name: 'more.bin', size_bytes: 100 } })).toMatchObject({ code: 97604 })
    await limit(null, null)
    const answers = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => call(app, fileSpaces.upload, { token: member.token, params, body: { name: `n${at}`, size_bytes: 40 } })),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    expect((await call(app, keptProjects.contents, { token: head.token, params: { id: project.id } })).items).toContainEqual({
      resource: 'file_bytes',
      count: 980,
    })
    // Whoever works in it no more reads it no more.
    await call(app, keptProjects.removeMember, { token: head.token, params: { id: project.id, user_id: member.id } })
    expect(await refused(app, fileEntries.get, { token: member.token, params: { id: file.id } })).toMatchObject({ status: 404 })
    expect(await refused(app, keptProjects.delete, { token: head.token, params: { id: project.id } })).toMatchObject({ code: 91116 })
    expect(upload.size_bytes).toBe(300)
  })

  it('of a person alone goes with them, and is counted and paid for no more; what is the organisation’s stays', async () => {
    const head = await someone(app)
    const made = await makeUser(app, { kind: 4, organisation: head.bp_id })
    const person = { ...made, ...(await signIn(app, made)) }
    const [mine, ours] = [await put(person, 'mine.bin', randomBytes(1_000)), await put(person, 'ours.bin', randomBytes(500), {}, 'organisation')]
    await call(app, fileShares.create, { token: person.token, body: { entry_id: mine.id } })
    // What is on its way goes too; what another server is just about to take finds no space.
    const [begun, late] = [await announce(person, { name: 'begun.bin', size_bytes: 70 }), await announce(person, { name: 'late.bin', size_bytes: 10 })]
    await app.platform.db.updateTable('byte_uploads').set({ user_id: head.id }).where('id', '=', late.id).execute()
    await call(app, users.delete, { token: head.token, params: { id: made.id } })
    expect((await call(app, fileSpaces.list, { token: head.token })).usage.used_bytes).toBe(510)
    expect(await app.platform.db.selectFrom('byte_uploads').select('id').where('id', '=', begun.id).execute()).toEqual([])
    const arrived = join(app.config.DATA_DIR, 'bytes', 'uploads', late.id)
    await appendFile(arrived, randomBytes(10))
    await app.platform.db
      .updateTable('byte_uploads')
      .set({ offset_bytes: 10, status: 'verifying', updated_at: new Date(Date.now() - 120_000) })
      .where('id', '=', late.id)
      .execute()
    // One that cannot be read keeps the clock from nothing else.
    const broken = await announce(head, { name: 'broken.bin', size_bytes: 10 })
    await mkdir(join(app.config.DATA_DIR, 'bytes', 'uploads', broken.id))
    await app.platform.db
      .updateTable('byte_uploads')
      .set({ offset_bytes: 10, status: 'verifying', updated_at: new Date(Date.now() - 180_000) })
      .where('id', '=', broken.id)
      .execute()
    expect(await call(app, fileEntries.get, { token: head.token, params: { id: ours.id } })).toMatchObject({ name: 'ours.bin' })
    await sweep()
    const lies = (sha256: string | null) => existsSync(join(app.config.DATA_DIR, 'bytes', 'contents', (sha256 ?? '').slice(0, 2), sha256 ?? ''))
    await vi.waitFor(() => expect([lies(mine.sha256), lies(ours.sha256)]).toEqual([false, true]), 10_000)
    expect(await ended(head, late)).toMatchObject({ status: 'failed', entry_id: null })
    expect(await call(app, fileUploads.get, { token: head.token, params: { id: broken.id } })).toMatchObject({ status: 'verifying' })
    expect((await call(app, fileSpaces.list, { token: head.token })).usage.used_bytes).toBe(510)
  })
})
