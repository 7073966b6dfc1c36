import { spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { fileEntries, fileSpaces, fileUploads } from '@zhisuan/contract/files/file'
import { anyPort } from '@zhisuan/engines/registry/testing'
import { Upload } from 'tus-js-client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { committedEveryBytes } from '../../platform/bytes/bytes.ts'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call } from '../../testing/call.ts'
import { signIn, someone, type Person, type SignedIn } from '../../testing/people.ts'

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
  const folder = mkdtempSync(join(tmpdir(), 'large-'))
  const file = join(folder, 'file')

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
    app = await testApp()
    person = await someone(app)
    port = await anyPort()
    await start()
  })
  afterAll(async () => {
    await kill()
    await app.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is what was sent after ten kills of the server, ten cut connections and another token, and sends little again', async () => {
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
        if (request.getMethod() !== 'HEAD') return
        const from = Number(response.getHeader('upload-offset'))
        if (Number.isFinite(from)) again.push(Math.max(0, sent - from))
        sent = from
      },
      onProgress: (bytes) => {
        sent = Math.max(sent, bytes)
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
})
