import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  DatabaseUnusable,
  DataDirectoryLocked,
  embeddedUrl,
  folderForDatabase,
  lockDataDirectory,
  reachableFolder,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
  type EmbeddedPostgres,
} from './embedded.ts'

let folder: string
const started: EmbeddedPostgres[] = []
const children: ChildProcess[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zhisuan-embedded-'))
  // The database's own user has to get in.
  chmodSync(folder, 0o755)
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const postgres of started.splice(0)) await postgres.stop().catch(() => undefined)
  rmSync(folder, { recursive: true, force: true })
})

/** A cluster that was made once, and stopped: to make one takes longer than most tests. */
let model: string
beforeAll(async () => {
  model = mkdtempSync(join(tmpdir(), 'zhisuan-embedded-model-'))
  chmodSync(model, 0o755)
  await (await startEmbeddedPostgres(join(model, 'database'), ['fsync=off', 'shared_buffers=16MB'])).stop()
})
afterAll(() => rmSync(model, { recursive: true, force: true }))

/**
 * Durable as in production, apart from the disk: a killed process loses nothing that it wrote.
 * @param path where one is made; without it, a copy of the model is there
 */
const start = async (path?: string): Promise<EmbeddedPostgres> => {
  const usual = join(folder, 'database')
  if (path === undefined && !existsSync(usual)) execFileSync('cp', ['-a', join(model, 'database'), usual])
  const postgres = await startEmbeddedPostgres(path ?? usual, ['fsync=off', 'shared_buffers=16MB'])
  started.push(postgres)
  return postgres
}

/** Another process that runs a line with everything of embedded.ts in scope, says `ready`, and stays. */
async function inOtherProcess(line: string): Promise<ChildProcess> {
  const code = `
    const { lockDataDirectory, startEmbeddedPostgres } = await import(${JSON.stringify(new URL('embedded.ts', import.meta.url).href)})
    setInterval(() => undefined, 60_000)
    ${line}
    process.stdout.write('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let problem = ''
  child.stderr.on('data', (chunk: Buffer) => (problem += chunk.toString()))
  const [said] = (await Promise.race([once(child.stdout, 'data'), once(child, 'close').then(() => ['ended'])])) as [Buffer | string]
  expect(said.toString(), problem).toBe('ready')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

async function query(postgres: Pick<EmbeddedPostgres, 'url'>, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: postgres.url('postgres') })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const pidFile = (path = join(folder, 'database')) => join(path, 'data', 'postmaster.pid')
const postmaster = (path?: string) => Number(readFileSync(pidFile(path), 'utf8').split('\n')[0])
const log = () => readFileSync(join(folder, 'database', 'postgres.log'), 'utf8')

describe('the lock of a data directory', () => {
  it('is exclusive in this process and to others, and free when it is given back', async () => {
    const lock = lockDataDirectory(join(folder, 'data'))
    expect(() => lockDataDirectory(join(folder, 'data'))).toThrow(DataDirectoryLocked)
    symlinkSync(join(folder, 'data'), join(folder, 'alias'))
    expect(() => lockDataDirectory(join(folder, 'alias'))).toThrow(DataDirectoryLocked)
    lock.close()
    const other = await inOtherProcess(`lockDataDirectory(${JSON.stringify(join(folder, 'data'))})`)
    expect(() => lockDataDirectory(join(folder, 'data'))).toThrow(/Another server.* is running on the data directory/)
    await kill(other)
    lockDataDirectory(join(folder, 'data')).close()
    expect(readdirSync(join(folder, 'data'))).toEqual(['lock'])
  })

  it('is kept though nobody looks at it, however often memory is tidied', async () => {
    const other = await inOtherProcess(`
      const { setFlagsFromString } = await import('node:v8')
      setFlagsFromString('--expose-gc')
      lockDataDirectory(${JSON.stringify(join(folder, 'data'))})
      const { runInNewContext } = await import('node:vm')
      for (let n = 0; n < 3; n++) { runInNewContext('gc')(); await new Promise(setImmediate) }`)
    expect(() => lockDataDirectory(join(folder, 'data'))).toThrow(DataDirectoryLocked)
    await kill(other)
  })
})

describe('the embedded PostgreSQL', () => {
  it('stops cleanly, and starts again with its data', async () => {
    const first = await start()
    await query(first, `create table kept as select '数据' as text`)
    await first.stop()
    expect(existsSync(pidFile())).toBe(false)
    const second = await start()
    expect(await query(second, 'select * from kept')).toEqual([{ text: '数据' }])
    expect(log()).toContain('database system is shut down')
    expect(log()).not.toContain('not properly shut down')
  })

  it('recovers what was committed when it was killed', async () => {
    const first = await start()
    await query(first, 'create table kept as select 1 as n')
    process.kill(postmaster(), 'SIGKILL')
    // Another server comes at once, while the processes of the old one may still be there.
    await first.stop().catch(() => undefined)
    const second = await start()
    expect(await query(second, 'select * from kept')).toEqual([{ n: 1 }])
    expect(log()).toContain('not properly shut down')
  })

  it('is started again when it is killed under a running server', async () => {
    const told: string[] = []
    const postgres = await startEmbeddedPostgres(join(folder, 'database'), ['fsync=off', 'shared_buffers=16MB'], (message) => told.push(message))
    started.push(postgres)
    await query(postgres, 'create table kept as select 1 as n')
    for (const times of [1, 2]) {
      const pid = postmaster()
      process.kill(pid, 'SIGKILL')
      await expect
        .poll(() =>
          query(postgres, 'select * from kept').then(
            () => postmaster(),
            () => pid,
          ),
        )
        .not.toBe(pid)
      await expect.poll(() => told.filter((message) => message === 'the database runs again')).toHaveLength(times)
    }
    await postgres.stop()
    expect(existsSync(pidFile())).toBe(false)
    expect(told).toHaveLength(4)
  })

  it('is taken over from a server that was killed', async () => {
    const server = await inOtherProcess(`await startEmbeddedPostgres(${JSON.stringify(join(folder, 'database'))}, ['fsync=off'])`)
    const pid = postmaster()
    await kill(server)
    const next = await start()
    expect(postmaster()).toBe(pid)
    expect(await query(next, 'select 1 as n')).toEqual([{ n: 1 }])
  })

  it('recovers where both were killed, the server and it', async () => {
    const server = await inOtherProcess(`
      const postgres = await startEmbeddedPostgres(${JSON.stringify(join(folder, 'database'))}, ['fsync=off'])
      const { default: pg } = await import('pg')
      const client = new pg.Client({ connectionString: postgres.url('postgres') })
      await client.connect()
      await client.query('create table kept as select 1 as n')`)
    const pid = postmaster()
    await kill(server)
    process.kill(pid, 'SIGKILL')
    const next = await start()
    expect(postmaster()).not.toBe(pid)
    expect(await query(next, 'select * from kept')).toEqual([{ n: 1 }])
  })

  it('is waited for while it stops', async () => {
    const path = join(folder, 'database')
    const server = await inOtherProcess(`await startEmbeddedPostgres(${JSON.stringify(path)}, ['fsync=off'])`)
    const pid = postmaster()
    const url = embeddedUrl(path, 'postgres')
    const last = new pg.Client({ connectionString: url })
    await last.connect()
    await kill(server)
    // A smart shutdown: it takes nobody any more, and goes when the last one has gone.
    process.kill(pid, 'SIGTERM')
    await expect
      .poll(() =>
        query({ url: () => url }, 'select 1').then(
          () => 'open',
          (error: pg.DatabaseError) => error.code,
        ),
      )
      .toBe('57P03')
    const next = start()
    await expect(Promise.race([next.then(() => 'started'), wait(300).then(() => 'waits')])).resolves.toBe('waits')
    await last.end()
    expect(await query(await next, 'select 1 as n')).toEqual([{ n: 1 }])
    expect(postmaster()).not.toBe(pid)
  })

  it('is not started beside what is left of a killed one', async () => {
    const first = await start()
    const pid = postmaster()
    const last = new pg.Client({ connectionString: first.url('postgres') })
    last.on('error', () => undefined)
    await last.connect()
    const { rows } = await last.query<{ pid: number }>('select pg_backend_pid() as pid')
    const backend = rows[0]?.pid ?? 0
    // Stopped, it does not notice that the postmaster is gone.
    process.kill(backend, 'SIGSTOP')
    process.kill(pid, 'SIGKILL')
    await first.stop().catch(() => undefined)
    const next = start()
    await expect(Promise.race([next.then(() => 'started'), wait(300).then(() => 'waits')])).resolves.toBe('waits')
    process.kill(backend, 'SIGCONT')
    expect(await query(await next, 'select 1 as n')).toEqual([{ n: 1 }])
    await last.end().catch(() => undefined)
  })

  it('starts though a stranger has the number that its pid file names', async () => {
    const first = await start()
    await first.stop()
    // As the same user, which PostgreSQL itself would take for another PostgreSQL.
    writeFileSync(pidFile(), `${process.pid}\n${join(folder, 'database', 'data')}\n1\n5432\n\n*\n`)
    const next = await start()
    expect(postmaster()).not.toBe(process.pid)
    expect(await query(next, 'select 1 as n')).toEqual([{ n: 1 }])
  })

  it('is one server’s only, by whatever path', async () => {
    await start()
    await expect(start()).rejects.toThrow(DataDirectoryLocked)
    symlinkSync(join(folder, 'database'), join(folder, 'alias'))
    await expect(start(join(folder, 'alias'))).rejects.toThrow(DataDirectoryLocked)
  })

  it('follows a data directory that was moved', async () => {
    const first = await start(join(folder, 'one', 'database'))
    await query(first, 'create table kept as select 1 as n')
    await first.stop()
    renameSync(join(folder, 'one'), join(folder, 'two'))
    const second = await start(join(folder, 'two', 'database'))
    expect(await query(second, 'select * from kept')).toEqual([{ n: 1 }])
  })

  it('refuses the data of another major version, and leaves it', async () => {
    const first = await start()
    await first.stop()
    const version = join(folder, 'database', 'data', 'PG_VERSION')
    writeFileSync(version, '17\n')
    await expect(start()).rejects.toThrow(
      new DatabaseUnusable(`${join(folder, 'database', 'data')} holds PostgreSQL 17, this version needs 18: see docs/operations.md, "Upgrade".`),
    )
    writeFileSync(version, '18\n')
    expect(await query(await start(), 'select 1 as n')).toEqual([{ n: 1 }])
  })

  it('says why it does not start', async () => {
    const first = await start()
    await first.stop()
    rmSync(join(folder, 'database', 'data', 'global', 'pg_control'))
    await expect(start()).rejects.toThrow(/did not start: pg_ctl: [^]*postgres\.log ends:\n/)
    // And gives the lock back, so that a restore can come.
    await expect(start()).rejects.toThrow(/did not start/)
  })

  it('makes the cluster anew where making it was interrupted', async () => {
    mkdirSync(join(folder, 'database', 'data.unfinished'), { recursive: true })
    writeFileSync(join(folder, 'database', 'data.unfinished', 'PG_VERSION'), '18\n')
    expect(await query(await start(), 'select 1 as n')).toEqual([{ n: 1 }])
  })

  it('lives under any name', async () => {
    const path = join(folder, `it's "数据" $HOME, a`, 'database')
    expect(await query(await start(path), 'select 1 as n')).toEqual([{ n: 1 }])
  })

  it.each(['x'.repeat(90), '数'.repeat(30)])('says that a path is too long: %s', async (name) => {
    await expect(start(join(folder, name, 'database'))).rejects.toThrow(/too long for a Unix socket/)
  })

  it('is stopped where a killed server left it', async () => {
    const server = await inOtherProcess(`await startEmbeddedPostgres(${JSON.stringify(join(folder, 'database'))}, ['fsync=off'])`)
    await kill(server)
    await stopEmbeddedPostgres(join(folder, 'database'))
    expect(existsSync(pidFile())).toBe(false)
    await stopEmbeddedPostgres(join(folder, 'database'))
    await stopEmbeddedPostgres(join(folder, 'nothing here'))
  })
})

describe('where the database user cannot get to', () => {
  const owner = { uid: 12_345, gid: 12_345 }
  const closed = () => {
    mkdirSync(join(folder, 'closed'), { mode: 0o700 })
    return join(folder, 'closed', 'data', 'database')
  }

  it('is no place for the database, unless it runs as we do', () => {
    const path = closed()
    expect(folderForDatabase(path, owner)).toMatch(/^\/var\/lib\/zhisuan\//)
    expect(folderForDatabase(path, owner)).not.toBe(folderForDatabase(path, owner))
    expect(folderForDatabase(path, null)).toBe(path)
    expect(folderForDatabase(join(folder, 'open', 'database'), owner)).toBe(join(folder, 'open', 'database'))
    // A link does not open what it leads into.
    symlinkSync(join(folder, 'closed'), join(folder, 'link'))
    mkdirSync(join(folder, 'closed', 'data'), { mode: 0o755 })
    expect(folderForDatabase(join(folder, 'link', 'data', 'database'), owner)).toMatch(/^\/var\/lib\/zhisuan\//)
  })

  it('a database that is there is not replaced by an empty one', () => {
    const path = closed()
    mkdirSync(path, { recursive: true })
    expect(() => reachableFolder(path, owner)).toThrow(/cannot get to .*chmod o\+x/)
  })

  it('a link to it is followed, and one to nothing is an error', () => {
    const path = closed()
    mkdirSync(join(folder, 'elsewhere'))
    mkdirSync(join(folder, 'closed', 'data'))
    symlinkSync(join(folder, 'elsewhere'), path)
    expect(reachableFolder(path, null)).toBe(realpathSync(join(folder, 'elsewhere')))
    renameSync(join(folder, 'elsewhere'), join(folder, 'gone'))
    expect(() => reachableFolder(path, null)).toThrow(/database is missing/)
  })
})
