import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildApp } from '../app.ts'
import { readConfig } from '../platform/config.ts'
import { embeddedUrl, lockDataDirectory, startEmbeddedPostgres } from '../platform/db/embedded.ts'
import { createArchive, extractArchive } from './archive.ts'
import { assertOwned } from './command.ts'
import { segments } from './segments.ts'
import { runScript, startScript, type ScriptResult } from './testing.ts'

let folder: string
const at = (...names: string[]) => join(folder, ...names)
const closing: (() => Promise<unknown>)[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zhisuan-backup-'))
  // The database's own user has to get in.
  chmodSync(folder, 0o755)
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  rmSync(folder, { recursive: true, force: true })
})

/** The environment that the scripts see: no database but the embedded one, unless it is said. */
const environment = (data: string, more: Readonly<Record<string, string>> = {}) => ({ DATA_DIR: data, DATABASE_URL: '', SECRET_KEY: '', ...more })
const backup = (data: string, file: string, more?: Record<string, string>): Promise<ScriptResult> => runScript('backup', [file], environment(data, more))
const restore = (data: string, file: string, args: string[] = [], more?: Record<string, string>): Promise<ScriptResult> =>
  runScript('restore', [file, ...args], environment(data, more))

/** What a server has while it runs: the lock, its database, and files beside. */
async function run(data: string): Promise<{ url: string; stop(): Promise<void> }> {
  const lock = lockDataDirectory(data)
  const postgres = await startEmbeddedPostgres(join(data, 'database'), ['fsync=off', 'shared_buffers=32MB', 'max_wal_size=32MB', 'min_wal_size=32MB'])
  let stopped = false
  const stop = async () => {
    if (stopped) return
    stopped = true
    await postgres.stop().finally(() => lock.close())
  }
  closing.push(stop)
  return { url: postgres.url('postgres'), stop }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  closing.push(() => client.end().catch(() => undefined))
  return client
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = await connect(url)
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

/** A stopped data directory that says what it is, made once: making a database takes its time. */
let model: string
beforeAll(async () => {
  model = mkdtempSync(join(tmpdir(), 'zhisuan-backup-model-'))
  chmodSync(model, 0o755)
  const { url, stop } = await run(join(model, 'data'))
  await query(url, `create table kept as select 'old'::text as kind`)
  writeFileSync(join(model, 'data', 'secret.key'), Buffer.alloc(32, 1).toString('base64'), { mode: 0o600 })
  mkdirSync(join(model, 'data', 'licence'), { mode: 0o700 })
  writeFileSync(join(model, 'data', 'licence', 'private.pem'), 'private', { mode: 0o600 })
  await stop()
  closing.length = 0
})
afterAll(() => rmSync(model, { recursive: true, force: true }))

/** Its own copy, owners and all. */
async function dataDirectory(name = 'data'): Promise<string> {
  const copy = spawn('cp', ['-a', join(model, 'data'), at(name)])
  expect(await once(copy, 'close')).toEqual([0, null])
  return at(name)
}

/** What a data directory says that it is, asked as a server would. */
async function kind(data: string): Promise<unknown> {
  const { url, stop } = await run(data)
  try {
    return (await query(url, 'select kind from kept'))[0]?.['kind']
  } finally {
    await stop()
  }
}

/** A backup of a database that says it is `new`, beside a data directory that is `old`; made by the first who wants it. */
let made: Promise<string> | null = null
const newBackup = (): Promise<string> => (made ??= makeBackup(join(model, 'new.backup')))
async function makeBackup(file: string): Promise<string> {
  const source = await dataDirectory('source')
  const { url, stop } = await run(source)
  await query(url, `update kept set kind = 'new'`)
  await stop()
  expect(await backup(source, file)).toMatchObject({ status: 0 })
  rmSync(source, { recursive: true })
  return file
}

describe('a backup of the embedded database', () => {
  it('holds what was committed before it began, while others write', async () => {
    const data = await dataDirectory()
    const { url } = await run(data)
    const writer = await connect(url)
    await writer.query(`create table rows (id bigint primary key, filler text not null); create index on rows (md5(filler))`)
    let committed = 0
    const until = new AbortController()
    const writes = (async () => {
      while (!until.signal.aborted) {
        const from = committed + 1
        await writer.query(`insert into rows select n, repeat(md5(n::text), 20) from generate_series(${from}, ${from + 99}) as n`)
        committed += 100
        // Tables come and go, and so much log is written that it would be recycled.
        await writer.query(`drop table if exists passing; create table passing as select repeat('x', 1000) from generate_series(1, 500)`)
        if (committed % 1000 === 0) await writer.query('checkpoint; select pg_switch_wal()')
      }
    })()
    await expect.poll(() => committed).toBeGreaterThan(2000)
    const before = committed
    const file = at('online.backup')
    expect(await backup(data, file)).toMatchObject({ status: 0, stdout: expect.stringContaining(file), stderr: '' })
    const during = committed - before
    until.abort()
    await writes
    expect(during, 'rows that were written during the backup').toBeGreaterThan(0)
    expect(await query(url, 'select slot_name from pg_replication_slots')).toEqual([])
    expect(statSync(file).mode & 0o777).toBe(0o600)

    const restored = at('elsewhere')
    expect(await restore(restored, file)).toMatchObject({ status: 0, stderr: '' })
    const other = await run(restored)
    const [{ count, least, last } = {}] = await query(other.url, 'select count(*)::int as count, min(id)::int as least, max(id)::int as last from rows')
    expect(count).toBeGreaterThanOrEqual(before)
    // A state that was: every row up to the last, in table and indexes alike.
    expect({ least, last }).toEqual({ least: 1, last: count })
    const throughIndex = `set enable_seqscan = off; set enable_bitmapscan = off; select count(*)::int as count from rows where id > 0`
    const client = await connect(other.url)
    const results: unknown = await client.query(throughIndex)
    expect((results as pg.QueryResult[]).at(-1)?.rows).toEqual([{ count }])
    for (const statement of ['create extension pg_trgm', 'reindex table rows', 'vacuum (full, analyze) rows']) await client.query(statement)
    expect(readFileSync(join(restored, 'database', 'postgres.log'), 'utf8')).not.toMatch(/not properly shut down|PANIC|checksum/)
    expect(readFileSync(join(restored, 'secret.key'))).toEqual(readFileSync(join(data, 'secret.key')))
    expect(statSync(join(restored, 'secret.key')).mode & 0o777).toBe(0o600)
    expect(statSync(join(restored, 'licence')).mode & 0o777).toBe(0o700)
    expect(readFileSync(join(restored, 'licence', 'private.pem'), 'utf8')).toBe('private')
  })

  it('is a server again, with its people and its keys', async () => {
    const start = (data: string) =>
      buildApp(readConfig({ ZHISUAN_ENV: 'test', DATA_DIR: data, LOCAL_CLOUD: 'sandbox', LOG_LEVEL: 'silent', WEB_DIR: at('no-console') }))
    const first = await start(at('data'))
    const password = first.firstPassword ?? ''
    const made = await backup(at('data'), at('file'))
    await first.close()
    expect(made).toMatchObject({ status: 0, stderr: '' })
    expect(await restore(at('elsewhere'), at('file'))).toMatchObject({ status: 0, stderr: '' })
    const second = await start(at('elsewhere'))
    try {
      expect(second.firstPassword).toBeNull()
      expect((await second.http.inject('/readyz')).statusCode).toBe(200)
      const signedIn = await second.http.inject({ method: 'POST', url: '/api/ums/v1/auth/password/tokens', body: { username: 'admin', password } })
      expect(signedIn.statusCode, signedIn.body).toBe(200)
    } finally {
      await second.close()
    }
  })

  it('starts the database itself where the server does not run, and stops it', async () => {
    const data = await dataDirectory()
    expect(await backup(data, at('file'))).toMatchObject({ status: 0 })
    expect(existsSync(join(data, 'database', 'data', 'postmaster.pid'))).toBe(false)
    expect(await restore(at('elsewhere'), at('file'))).toMatchObject({ status: 0 })
    expect(await kind(at('elsewhere'))).toBe('old')
    expect(readdirSync(at('elsewhere')).sort()).toEqual(['database', 'licence', 'lock', 'secret.key'])
  })

  it('can be used with the usual programs', async () => {
    await backup(await dataDirectory(), at('file'))
    mkdirSync(at('by-hand'))
    const unpack = spawn('bash', ['-c', 'tar --zstd -xf ../file && sha256sum --quiet --check SHA256SUMS'], { cwd: at('by-hand'), stdio: 'inherit' })
    expect(await once(unpack, 'close')).toEqual([0, null])
    expect(JSON.parse(readFileSync(at('by-hand', 'manifest.json'), 'utf8'))).toMatchObject({
      product: 'zhisuan',
      format: 1,
      database: { kind: 'embedded' },
      secret_key: { source: 'file' },
    })
  })

  it('does not tell the key, but knows it again', async () => {
    const key = Buffer.alloc(32, 2).toString('base64')
    const data = await dataDirectory()
    rmSync(join(data, 'secret.key'))
    expect(await backup(data, at('file'), { SECRET_KEY: key })).toMatchObject({ status: 0, stderr: expect.stringContaining('SECRET_KEY is not in the backup') })
    expect(await restore(at('without'), at('file'))).toMatchObject({ status: 0, stderr: expect.stringContaining('SECRET_KEY is not the one') })
    expect(await restore(at('with'), at('file'), [], { SECRET_KEY: key })).toMatchObject({ status: 0, stderr: '' })
  })

  it('is nothing where there is nothing, and overwrites nothing', async () => {
    expect(await backup(at('none'), at('file'))).toMatchObject({ status: 1, stderr: expect.stringContaining('nothing to back up') })
    expect(existsSync(at('none'))).toBe(false)
    mkdirSync(at('empty'))
    expect(await backup(at('empty'), at('file'))).toMatchObject({ status: 1, stderr: expect.stringContaining('holds no database') })
    writeFileSync(at('mine'), 'mine')
    expect(await backup(at('empty'), at('mine'))).toMatchObject({ status: 1, stderr: expect.stringContaining('exists') })
    expect(readFileSync(at('mine'), 'utf8')).toBe('mine')
    expect(await backup(at('empty'), at('empty', 'file'))).toMatchObject({ status: 2, stderr: expect.stringContaining('must not lie in the data directory') })
    expect(await backup(at('empty'), at('no', 'folder', 'file'))).toMatchObject({ status: 1, stderr: expect.stringMatching(/ENOENT.*no/) })
    expect(await runScript('backup', [])).toMatchObject({ status: 2, stderr: expect.stringContaining('FILE is missing') })
    expect(await backup(at('empty'), at('file'), { PORT: 'x' })).toMatchObject({ status: 1, stderr: expect.stringContaining('PORT') })
    expect(readdirSync(folder).sort()).toEqual(['empty', 'mine'])
  })

  it.each(['SIGTERM', 'SIGKILL'] as const)('leaves no half file when it is ended by %s, and can be made again', async (signal) => {
    const data = await dataDirectory()
    await large(data)
    const { process: child, result } = startScript('backup', [at('file')], environment(data))
    await expect.poll(() => existsSync(at('file.unfinished')) && statSync(at('file.unfinished')).size, { interval: 5 }).toBeGreaterThan(0)
    child.kill(signal)
    const ended = await result
    expect(ended.status).toBe(signal === 'SIGTERM' ? 1 : 'SIGKILL')
    expect(existsSync(at('file'))).toBe(false)
    if (signal === 'SIGTERM') {
      expect(ended.stderr).toContain('Interrupted by SIGTERM')
      expect(existsSync(at('file.unfinished'))).toBe(false)
      expect(existsSync(join(data, 'database', 'data', 'postmaster.pid'))).toBe(false)
    }
    expect(await backup(data, at('file'))).toMatchObject({ status: 0 })
  })

  it('fails, and leaves nothing, where the database stops meanwhile', async () => {
    const data = await dataDirectory()
    await large(data)
    const { stop } = await run(data)
    const { result } = startScript('backup', [at('file')], environment(data))
    await expect.poll(() => existsSync(at('file.unfinished')) && statSync(at('file.unfinished')).size, { interval: 5 }).toBeGreaterThan(0)
    await stop()
    expect(await result).toMatchObject({ status: 1, stderr: expect.stringContaining('The database ended the backup') })
    expect(readdirSync(folder)).toEqual(['data'])
  })
})

/** Something that takes its time to be copied, and does not shrink. */
async function large(data: string): Promise<void> {
  const { url, stop } = await run(data)
  await query(url, `create table large as select md5(n::text) || md5((n * 7)::text) as text from generate_series(1, 600000) as n`)
  await stop()
}

it('is made and restored by the user of the server', () => {
  const uid = process.getuid?.() ?? 0
  assertOwned(folder, uid)
  assertOwned(at('nothing yet'), uid + 1)
  expect(() => assertOwned(folder, uid + 1)).toThrow(`belongs to the user with id ${uid}`)
})

it('counts the files of the log as PostgreSQL names them', () => {
  expect([...segments('000000010000000000000002', '000000010000000000000002', 2 ** 24)]).toEqual(['000000010000000000000002'])
  expect([...segments('0000000100000009000000FE', '000000010000000A00000001', 2 ** 24)]).toEqual([
    '0000000100000009000000FE',
    '0000000100000009000000FF',
    '000000010000000A00000000',
    '000000010000000A00000001',
  ])
  // A GiB each: four of them to a number.
  expect([...segments('000000010000000900000003', '000000010000000A00000000', 2 ** 30)]).toHaveLength(2)
  expect(() => [...segments('000000010000000000000002', '000000020000000000000003', 2 ** 24)]).toThrow(/timeline/)
})

describe('restoring', () => {
  it('refuses to touch a data directory that a server runs on', async () => {
    const file = await newBackup()
    const data = await dataDirectory()
    const { stop } = await run(data)
    expect(await restore(data, file, ['--force'])).toMatchObject({ status: 1, stderr: expect.stringContaining('is running on the data directory') })
    await stop()
    expect(await kind(data)).toBe('old')
  })

  it('moves what is there aside, but only when it is told to', async () => {
    const file = await newBackup()
    const data = await dataDirectory()
    expect(await restore(data, file)).toMatchObject({ status: 1, stderr: expect.stringContaining('--force') })
    expect(await kind(data)).toBe('old')
    const { status, stdout } = await restore(data, file, ['--force'])
    expect(status).toBe(0)
    const aside = readdirSync(data).find((name) => name.startsWith('before-restore-')) ?? ''
    expect(stdout).toContain(join(data, aside))
    expect(await kind(data)).toBe('new')
    expect(readdirSync(join(data, aside)).sort()).toEqual(['database', 'licence', 'secret.key'])
    chmodSync(join(data, aside), 0o755)
    expect(await kind(join(data, aside))).toBe('old')
  })

  it('stops a database that a killed server left running', async () => {
    const file = await newBackup()
    const data = await dataDirectory()
    const server = spawn(process.execPath, [
      '--input-type=module',
      '--eval',
      `
      const { startEmbeddedPostgres } = await import(${JSON.stringify(new URL('../platform/db/embedded.ts', import.meta.url).href)})
      await startEmbeddedPostgres(${JSON.stringify(join(data, 'database'))}, ['fsync=off'])
      process.kill(process.pid, 'SIGKILL')`,
    ])
    await once(server, 'exit')
    const url = embeddedUrl(join(data, 'database'), 'postgres')
    expect(await query(url, 'select kind from kept')).toEqual([{ kind: 'old' }])
    expect(await restore(data, file, ['--force'])).toMatchObject({ status: 0 })
    expect(await kind(data)).toBe('new')
  })

  it('refuses what was cut off or changed, and leaves what is there', async () => {
    const file = await newBackup()
    const whole = readFileSync(file)
    const data = await dataDirectory()
    const damaged: [string, Buffer][] = [
      ...[0, 10, 1000, 0.1, 0.5, 0.9].map((part): [string, Buffer] => [`cut at ${part}`, whole.subarray(0, part < 1 ? Math.floor(whole.length * part) : part)]),
      // The very last bytes are the compression's own end, after all that was backed up.
      ...[16, 300, 5000].map((bytes): [string, Buffer] => [`without its last ${bytes}`, whole.subarray(0, -bytes)]),
      ...[0, 20, 0.3, 0.6, 0.99].map((part): [string, Buffer] => {
        const changed = Buffer.from(whole)
        const place = part < 1 ? Math.floor(whole.length * part) : part
        changed[place] = (changed[place] ?? 0) ^ 0x10
        return [`changed at ${part}`, changed]
      }),
    ]
    const never = new AbortController().signal
    for (const [what, content] of damaged) {
      writeFileSync(at('damaged'), content)
      await expect(
        extractArchive(at('damaged'), () => null, never),
        what,
      ).rejects.toThrow(/^\S+damaged is (no backup|damaged)/)
    }
    await extractArchive(file, () => null, never)
    for (const part of [0.5, 0.99]) {
      writeFileSync(at('damaged'), whole.subarray(0, Math.floor(whole.length * part)))
      expect(await restore(data, at('damaged'), ['--force'])).toMatchObject({
        status: 1,
        stdout: '',
        stderr: expect.stringMatching(/^\S+damaged is (no backup|damaged)/),
      })
      expect(readdirSync(data).sort()).toEqual(['database', 'licence', 'lock', 'secret.key'])
    }
    expect(await kind(data)).toBe('old')
    expect(await restore(at('elsewhere'), file)).toMatchObject({ status: 0 })
  })

  it('refuses what is no backup of its kind', async () => {
    const signal = new AbortController().signal
    const manifest = {
      product: 'zhisuan',
      format: 1,
      version: '1',
      created_at: new Date().toISOString(),
      database: { kind: 'embedded', postgres: '18.4', from_lsn: '0/0' },
      secret_key: null,
    }
    const archive = async (name: string, head: unknown, entries: Record<string, string> = {}) => {
      const made = createArchive(at(name), signal)
      await made.addContent('manifest.json', typeof head === 'string' ? head : JSON.stringify(head))
      for (const [entry, content] of Object.entries(entries)) await made.addContent(entry, content)
      await made.finish()
      return at(name)
    }
    const refused = async (file: string, message: RegExp, more?: Record<string, string>) => {
      expect(await restore(at('target'), file, [], more), String(message)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(message) })
      expect(existsSync(at('target')) ? readdirSync(at('target')).filter((name) => name !== 'lock') : [], String(message)).toEqual([])
    }
    await refused(at('missing'), /ENOENT/)
    writeFileSync(at('text'), 'not an archive')
    await refused(at('text'), /is no backup/)
    await refused(await archive('another', { product: 'other' }), /is no backup: product/)
    await refused(await archive('broken', '{'), /manifest is not JSON/)
    await refused(await archive('future', { ...manifest, format: 2 }), /has format 2, this program reads format 1/)
    await refused(
      await archive('older', { ...manifest, database: { kind: 'embedded', postgres: '17.2', from_lsn: '0/0' } }),
      /PostgreSQL 17\.2, this version needs 18/,
    )
    await refused(await archive('dump', { ...manifest, database: { kind: 'dump', postgres: '18.4' } }), /set DATABASE_URL/)
    await refused(at('older'), /unset DATABASE_URL/, { DATABASE_URL: 'postgres://nobody@localhost/none' })
    await refused(await archive('climbing', manifest, { 'files/../../escaped': 'x' }), /it names/)
    expect(existsSync(at('escaped'))).toBe(false)
    // Whole as an archive, but PostgreSQL cannot make a database of it.
    await refused(await archive('hollow', manifest, { 'database/data/PG_VERSION': '18\n' }), /^PostgreSQL cannot recover it:\n(?![^]*    at )/)
  })

  it('leaves the old or the new when it is killed, and can be run again', async () => {
    const file = await newBackup()
    const data = await dataDirectory()
    const staged = join(data, '.restore', 'unfinished', 'database', 'data')
    // While it unpacks, while PostgreSQL recovers, and as near as can be to the decision.
    const moments = [() => existsSync(join(staged, 'base')), () => existsSync(join(staged, 'backup_label')), () => existsSync(join(staged, 'backup_label.old'))]
    for (const moment of moments) {
      const { process: child, result } = startScript('restore', [file, '--force'], environment(data))
      await expect.poll(moment, { interval: 1 }).toBe(true)
      child.kill('SIGKILL')
      expect((await result).status).toBe('SIGKILL')
      expect(['old', 'new']).toContain(await kind(data))
    }
    expect(await restore(data, file, ['--force'])).toMatchObject({ status: 0 })
    expect(await kind(data)).toBe('new')
    expect(readdirSync(data)).not.toContain('.restore')
  })

  it('is undone when it is interrupted', async () => {
    const file = await newBackup()
    const data = await dataDirectory()
    const { process: child, result } = startScript('restore', [file, '--force'], environment(data))
    await expect.poll(() => existsSync(join(data, '.restore', 'unfinished', 'database', 'data', 'base')), { interval: 1 }).toBe(true)
    child.kill('SIGINT')
    expect(await result).toMatchObject({ status: 1, stderr: expect.stringContaining('nothing was changed') })
    expect(readdirSync(data).sort()).toEqual(['database', 'licence', 'lock', 'secret.key'])
    expect(await kind(data)).toBe('old')
  })
})
