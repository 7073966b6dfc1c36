import { spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { archiveEntriesMost, fileEntries, fileSpaces, fileUploads } from '@zhisuan/contract/files/file'
import { anyPort } from '@zhisuan/engines/registry/testing'
import { Upload } from 'tus-js-client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { committedEveryBytes } from '../../platform/bytes/bytes.ts'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../platform/db/embedded.ts'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, refused } from '../../testing/call.ts'
import { signIn, someone, type Person, type SignedIn } from '../../testing/people.ts'
import { sendPiece, sha256Of } from '../../testing/uploads.ts'

const size = 2 * 2 ** 30
const kills = 10

/** A file that is large, and the sum of what is in it. */
async function largeFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  const block = randomBytes(8 * 2 ** 20)
  await pipeline(async function* () {
    for (let at = 0; at < size; at += block.length) {
      // No two blocks are the same.
      block.writeDoubleBE(at, 0)
      const piece = Buffer.from(block)
      hash.update(piece)
      yield piece
    }
  }, createWriteStream(path))
  return hash.digest('hex')
}

describe('a large upload by the unchanged tus client', () => {
  let app: TestApp
  let person: Person & SignedIn
  let port: number
  let server: ChildProcess
  let postgres: EmbeddedPostgres
  const folder = mkdtempSync(join(tmpdir(), 'large-'))
  const file = join(folder, 'file')
  /** One of its own, that can be stopped without stopping what others test on. */
  const startDatabase = (): Promise<EmbeddedPostgres> => startEmbeddedPostgres(join(folder, 'database'))

  /** The server that the client talks to; the other one on the database only answers what the test asks. */
  const start = async (): Promise<void> => {
    server = spawn(process.execPath, [fileURLToPath(new URL('../../main.ts', import.meta.url))], {
      env: {
        ...process.env,
        ZHISUAN_ENV: 'test',
        DATA_DIR: app.config.DATA_DIR,
        DATABASE_URL: app.databaseUrl,
        SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
        LOCAL_CLOUD: 'none',
        LOCAL_AGENT: 'none',
        LOG_LEVEL: 'silent',
        HOST: '127.0.0.1',
        PORT: String(port),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (server.stdout !== null) await once(server.stdout, 'data')
  }
  const kill = async (): Promise<void> => {
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
  }

  beforeAll(async () => {
    // As root, PostgreSQL runs as a system user of its own, who has to get in.
    chmodSync(folder, 0o755)
    postgres = await startDatabase()
    app = await testApp({ DATABASE_URL: postgres.url('postgres') })
    person = await someone(app)
    port = await anyPort()
    await start()
  })
  afterAll(async () => {
    await kill()
    await app.close()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is what was sent after ten kills of the server, a restart of its database, ten cut connections and another token, and sends little again', async () => {
    const sha256 = await largeFile(file)
    const { items } = await call(app, fileSpaces.list, { token: person.token })
    const space = items.find(({ kind }) => kind === 'personal')?.id ?? ''
    const upload = await call(app, fileSpaces.upload, { token: person.token, params: { id: space }, body: { name: 'large.bin', size_bytes: size, sha256 } })
    const offset = async (): Promise<number> => (await call(app, fileUploads.get, { token: person.token, params: { id: upload.id } })).offset_bytes

    let { token } = person
    /** Where each request began, and how far the one before it had sent. */
    const again: number[] = []
    let sent = 0
    const done = Promise.withResolvers<void>()
    const sending = new Upload(createReadStream(file), {
      uploadUrl: `http://127.0.0.1:${port}${upload.upload_path}`,
      uploadSize: size,
      chunkSize: 16 * 2 ** 20,
      retryDelays: Array.from({ length: 200 }, () => 200),
      storeFingerprintForResuming: false,
      onBeforeRequest: (request) => request.setHeader('authorization', `Bearer ${token}`),
      onShouldRetry: () => true,
      onAfterResponse: (request, response) => {
        // While the database is away it is told so, and no more.
        if (request.getMethod() !== 'HEAD' || response.getStatus() !== 200) return
        const from = Number(response.getHeader('upload-offset'))
        if (Number.isFinite(from)) again.push(Math.max(0, sent - from))
        sent = from
      },
      onProgress: (bytes) => {
        if (Number.isFinite(bytes)) sent = Math.max(sent, bytes)
      },
      onSuccess: () => done.resolve(),
      onError: (error) => done.reject(error),
    })
    sending.start()
    for (let number = 1; number <= kills; number++) {
      const until = (size * number) / (2 * kills + 2)
      await vi.waitFor(async () => expect(await offset()).toBeGreaterThan(until), { timeout: 120_000, interval: 50 })
      await kill()
      await start()
    }
    await postgres.stop()
    postgres = await startDatabase()
    // Another session, as after a night: the one before has ended.
    token = (await signIn(app, person)).token
    for (let number = 1; number <= 10; number++) {
      const until = (size * (kills + number)) / (2 * kills + 2)
      await vi.waitFor(async () => expect(await offset()).toBeGreaterThan(until), { timeout: 120_000, interval: 50 })
      // As a network that is gone for a moment.
      await sending.abort()
      sending.start()
    }
    await done.promise
    const ended = await vi.waitFor(
      async () => {
        const now = await call(app, fileUploads.get, { token: person.token, params: { id: upload.id } })
        expect(now.status).toBe('done')
        return now
      },
      { timeout: 120_000, interval: 200 },
    )
    expect(await call(app, fileEntries.get, { token: person.token, params: { id: ended.entry_id ?? '' } })).toMatchObject({ sha256, size_bytes: size })
    // What a kill makes to be sent again: what was on its way in the connection, and what was not yet committed.
    expect(again.length).toBeGreaterThanOrEqual(kills)
    expect(Math.max(...again)).toBeLessThanOrEqual(2 * committedEveryBytes)
    const kept = await open(join(app.config.DATA_DIR, 'bytes', 'contents', sha256.slice(0, 2), sha256))
    expect((await kept.stat()).size).toBe(size)
    await kept.close()
  }, 900_000)
  it('is one of two hundred that come at once, at two servers, and together never pass the quota', async () => {
    const [each, room, all] = [200_000, 50, 200]
    const crowd = await someone(app)
    await app.platform.db
      .insertInto('quotas')
      .values({ bp_id: crowd.bp_id ?? '', project_id: null, resource: 'file_bytes', most: each * room + each / 2 })
      .execute()
    const { items } = await call(app, fileSpaces.list, { token: crowd.token })
    const [one = '', other = ''] = items.filter(({ kind }) => kind !== 'public').map(({ id }) => id)
    const usage = async () => (await call(app, fileSpaces.list, { token: crowd.token })).usage.used_bytes
    const url = `http://127.0.0.1:${port}`
    const here = await app.http.listen({ port: 0, host: '127.0.0.1' })
    const content = randomBytes(each)
    let most = 0
    const watching = setInterval(() => void usage().then((bytes) => (most = Math.max(most, bytes))), 100)
    const outcomes = await Promise.all(
      Array.from({ length: all }, async (_, number) => {
        const [at, space] = [number % 2 === 0 ? url : here, number % 4 < 2 ? one : other]
        const answer = await fetch(`${at}${fileSpaces.upload.path.replace('{id}', space)}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${crowd.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: `${number}.bin`, size_bytes: each, sha256: sha256Of(content) }),
        })
        if (answer.status !== 201) return answer.status
        const upload = fileSpaces.upload.response.parse(await answer.json())
        return (await sendPiece(at, crowd.token, upload, 0, new Uint8Array(content))).status
      }),
    )
    clearInterval(watching)
    expect(outcomes.toSorted((left, right) => left - right)).toEqual([
      ...Array.from({ length: room }, () => 204),
      ...Array.from({ length: all - room }, () => 400),
    ])
    await vi.waitFor(async () => {
      const spaces = (await call(app, fileSpaces.list, { token: crowd.token })).items
      expect(spaces.reduce((sum, { file_count, kind }) => sum + (kind === 'public' ? 0 : file_count), 0)).toBe(room)
    }, 60_000)
    expect(Math.max(most, await usage())).toBe(each * room)
  }, 300_000)

  it('is one of a thousand of a folder, each of which is there; of ten thousand one archive is made, and of no more', async () => {
    const many = await someone(app)
    const space = (await call(app, fileSpaces.list, { token: many.token })).items.find(({ kind }) => kind === 'personal')?.id ?? ''
    const list = (parent_id?: string) =>
      call(app, fileSpaces.entries, {
        token: many.token,
        params: { id: space },
        query: { page_size: 100, sort: 'name', ...(parent_id !== undefined && { parent_id }) },
      })
    const names = Array.from({ length: 999 }, (_, number) => `${number}.txt`)
    const send = (name: string) =>
      call(app, fileSpaces.upload, { token: many.token, params: { id: space }, body: { name, folders: ['全部', '一份'], size_bytes: 0 } })
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let name = names.pop(); name !== undefined; name = names.pop()) await send(name)
      }),
    )
    const whole = (await list()).items[0]?.id ?? ''
    const part = (await list(whole)).items[0]?.id ?? ''
    expect(await list(part)).toMatchObject({ total: 999, items: { length: 100 } })
    for (let copy = 1; copy < 10; copy++)
      await call(app, fileEntries.copy, { token: many.token, body: { ids: [part], space_id: space, parent_id: whole, conflict: 'keep_both' } })
    const archive = async () => {
      const { path } = await call(app, fileEntries.download, { token: many.token, body: { ids: [whole] } })
      return app.http.inject({ method: 'GET', url: path })
    }
    // With the folders that is one too many.
    expect((await archive()).json()).toMatchObject({ code: 97607, message: `一次最多处理${archiveEntriesMost}个文件和文件夹` })
    await call(app, fileEntries.delete, { token: many.token, body: { ids: [(await list(part)).items[0]?.id ?? ''] } })
    const made = await archive()
    expect([made.statusCode, made.rawPayload.subarray(0, 2).toString()]).toEqual([200, 'PK'])
    // What many things are asked of at once is cut off by the call itself.
    expect(await refused(app, fileEntries.delete, { token: many.token, body: { ids: Array.from({ length: 1_001 }, () => whole) } })).toMatchObject({
      code: 90001,
    })
    await call(app, fileEntries.delete, { token: many.token, body: { ids: [whole] } })
    expect((await list()).total).toBe(0)
  }, 300_000)
})
