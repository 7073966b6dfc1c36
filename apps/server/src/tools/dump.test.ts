import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { freshDatabase } from '../testing/database.ts'
import { runScript, type ScriptResult } from './testing.ts'

/**
 * With DATABASE_URL, PostgreSQL's own programs do the work. These stand in for them, so that the
 * test needs none: a "dump" is SQL, and `psql` runs what it reads, as one text, when that ends.
 */
const stands = {
  pg_dump: `
    const file = args[args.indexOf('--file') + 1]
    const { rows } = await query('select kind from kept')
    writeFileSync(file, "create table kept as select '" + rows[0].kind + "'::text as kind;")`,
  pg_restore: `
    process.stdout.write(readFileSync(args.at(-1), 'utf8'))
    if (process.env.STAND_IN_FAILS === 'pg_restore') { process.stderr.write('broken'); process.exitCode = 1 }`,
  psql: `
    let text = ''
    for await (const chunk of process.stdin) text += chunk
    if (process.env.STAND_IN_FAILS === 'psql') text = text.replace('commit', 'select 1 / 0; commit')
    try { await query(text) } catch (error) { process.stderr.write(error.message); process.exitCode = 3 }`,
}

let folder: string
let database: Awaited<ReturnType<typeof freshDatabase>>
const at = (...names: string[]) => join(folder, ...names)
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'zhisuan-dump-'))
  mkdirSync(at('bin'))
  for (const [name, body] of Object.entries(stands)) {
    const program = `#!${process.execPath}
const { readFileSync, writeFileSync, appendFileSync } = require('node:fs')
const pg = require(${JSON.stringify(new URL('../../../../node_modules/pg', import.meta.url).pathname)})
const args = process.argv.slice(2)
appendFileSync(${JSON.stringify(at('asked'))}, JSON.stringify([${JSON.stringify(name)}, args, process.env.PGPASSWORD ?? null]) + '\\n')
async function query(text) {
  const client = new pg.Client({ connectionString: args[args.indexOf('--dbname') + 1] })
  await client.connect()
  try { return await client.query(text) } finally { await client.end() }
}
void (async () => {${body}
})()
`
    writeFileSync(at('bin', name), program)
    chmodSync(at('bin', name), 0o755)
  }
  database = await freshDatabase()
  await ask('create table kept as select $$backed up$$::text as kind')
  mkdirSync(at('data'))
  writeFileSync(at('data', 'secret.key'), Buffer.alloc(32, 1).toString('base64'), { mode: 0o600 })
})
afterEach(async () => {
  await database.drop()
  rmSync(folder, { recursive: true })
})

async function ask(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

const kind = async () => (await ask('select kind from kept'))[0]?.['kind']
const change = () => ask(`update kept set kind = 'changed'; create schema later; create table later.table (n int)`)
const asked = () =>
  readFileSync(at('asked'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as [string, string[], string | null])

function script(name: 'backup' | 'restore', args: string[], env: Record<string, string> = {}): Promise<ScriptResult> {
  const url = new URL(database.url)
  url.password = 's3cret!'
  // Without a DATA_DIR of the embedded kind: the database is another's.
  return runScript(name, args, { DATA_DIR: at('data'), DATABASE_URL: url.href, SECRET_KEY: '', PATH: `${at('bin')}:/usr/bin:/bin`, ...env })
}

it('backs up a database and restores it in its place, with what was added later gone', async () => {
  expect(await script('backup', [at('file')])).toMatchObject({ status: 0, stderr: '' })
  expect(statSync(at('file')).mode & 0o777).toBe(0o600)
  await change()
  expect(await script('restore', [at('file')])).toMatchObject({ status: 1, stderr: expect.stringContaining('--force') })
  rmSync(at('data'), { recursive: true })
  expect(await script('restore', [at('file')])).toMatchObject({ status: 1, stderr: expect.stringContaining('The database holds tables') })
  expect(await kind()).toBe('changed')

  const { status, stdout } = await script('restore', [at('file'), '--force'])
  expect(status).toBe(0)
  expect(await kind()).toBe('backed up')
  expect(await ask(`select from pg_namespace where nspname = 'later'`)).toEqual([])
  expect(
    readdirSync(at('data'))
      .filter((name) => !name.startsWith('before-restore-'))
      .sort(),
  ).toEqual(['lock', 'secret.key'])
  const aside = /What was there is in (\S+):/.exec(stdout)?.[1] ?? ''
  expect(readFileSync(join(aside, 'database.dump'), 'utf8')).toContain('changed')
  expect(statSync(join(aside, 'database.dump')).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder).sort()).toEqual(['asked', 'bin', 'data', 'file'])
})

it('keeps the password off command lines', async () => {
  await script('backup', [at('file')])
  await script('restore', [at('file'), '--force'])
  expect(new Set(asked().map(([program]) => program))).toEqual(new Set(['pg_dump', 'pg_restore', 'psql']))
  for (const [program, args, password] of asked()) {
    expect(args.join(' '), program).not.toContain('s3cret')
    expect(password, program).toBe(program === 'pg_restore' ? null : 's3cret!')
  }
})

it.each(['pg_restore', 'psql'])('changes nothing where %s fails', async (program) => {
  await script('backup', [at('file')])
  await change()
  writeFileSync(at('data', 'mine'), 'mine')
  expect(await script('restore', [at('file'), '--force'], { STAND_IN_FAILS: program })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`${program} failed`),
  })
  expect(await kind()).toBe('changed')
  expect(await ask('select * from later.table')).toEqual([])
  expect(readFileSync(at('data', 'mine'), 'utf8')).toBe('mine')
  expect(readdirSync(at('data'))).not.toContain('.restore')
})

it('refuses while a server works with the database', async () => {
  await script('backup', [at('file')])
  const server = new pg.Client({ connectionString: database.url, application_name: 'zhisuan' })
  await server.connect()
  expect(await script('restore', [at('file'), '--force'])).toMatchObject({ status: 1, stderr: expect.stringContaining('Stop all servers first') })
  await server.end()
  expect(await kind()).toBe('backed up')
})

it('says what to install where PostgreSQL’s programs are missing', async () => {
  const without = at('nothing')
  mkdirSync(without)
  // What the script itself needs, and no more.
  for (const name of ['bash', 'env', 'dirname', 'readlink', 'sync'])
    writeFileSync(join(without, name), `#!/bin/sh\nexec /usr/bin/${name} "$@"\n`, { mode: 0o755 })
  expect(await script('backup', [at('file')], { PATH: without })).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/pg_dump is not in PATH.*postgresql-client/),
  })
  expect(existsSync(at('file'))).toBe(false)
  await script('backup', [at('file')])
  expect(await script('restore', [at('file'), '--force'], { PATH: without })).toMatchObject({ status: 1, stderr: expect.stringContaining('is not in PATH') })
  expect(await kind()).toBe('backed up')
})
