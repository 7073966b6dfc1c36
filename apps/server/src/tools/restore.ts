import { execFile } from 'node:child_process'
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { ConfigError, readConfig, type Config } from '../platform/config.ts'
import {
  DatabaseUnusable,
  databaseOwner,
  folderForDatabase,
  lockDataDirectory,
  recoverCluster,
  stopEmbeddedPostgres,
  type Owner,
} from '../platform/db/embedded.ts'
import { asideFolder, beginRestore, decideRestore, isDataEntry, restoreFolder } from '../platform/db/restored.ts'
import { extractArchive, readManifest, walk } from './archive.ts'
import { startClient } from './client.ts'
import { assertOwned, endedBySignals, Failure, onlyArgument, readArguments, runCommand } from './command.ts'
import { parseManifest, secretKeyOf, type Manifest } from './manifest.ts'

const usage = `usage: scripts/restore FILE [--force]
  puts a backup in force while the server does not run; --force moves aside what is there;
  the environment has to be the server's (DATA_DIR, DATABASE_URL, SECRET_KEY)`

async function restore(config: Config, path: string, force: boolean, signal: AbortSignal): Promise<void> {
  const backup = parseManifest(await readManifest(path), path)
  assertFits(config, backup, path)
  assertOwned(config.DATA_DIR)
  const lock = lockDataDirectory(config.DATA_DIR)
  try {
    const there = readdirSync(config.DATA_DIR).filter(isDataEntry)
    if (there.length > 0 && !force) {
      throw new Failure(
        `${config.DATA_DIR} holds data (${there.join(', ')}). With --force it is moved aside into a folder ${asideFolder(config.DATA_DIR, 'TIME')}.`,
      )
    }
    const aside =
      config.DATABASE_URL === undefined ? await restoreEmbedded(config, path, signal) : await restoreDump(config, config.DATABASE_URL, path, force, signal)
    process.stdout.write(`Restored the backup of ${backup.created_at}, made by version ${backup.version}.\n`)
    if (existsSync(aside)) process.stdout.write(`What was there is in ${aside}: remove it when you do not need it.\n`)
  } finally {
    lock.close()
  }
  warnOfKey(config, backup)
}

function assertFits(config: Config, backup: Manifest, path: string): void {
  const { kind, postgres } = backup.database
  if (kind === 'embedded' && config.DATABASE_URL !== undefined) throw new Failure(`${path} holds the embedded database: unset DATABASE_URL to restore it.`)
  if (kind === 'dump' && config.DATABASE_URL === undefined) throw new Failure(`${path} holds the dump of another PostgreSQL: set DATABASE_URL to restore it.`)
  if (kind === 'embedded' && postgres.split('.')[0] !== '18') throw new Failure(`${path} holds PostgreSQL ${postgres}, this version needs 18.`)
}

/** Lays everything out, lets PostgreSQL recover it, and only then puts it in the place of the old. @returns where that is */
async function restoreEmbedded(config: Config, path: string, signal: AbortSignal): Promise<string> {
  const place = join(config.DATA_DIR, 'database')
  await stopEmbeddedPostgres(place)
  const owner = await databaseOwner()
  const staging = begin(config.DATA_DIR)
  const folder = folderForDatabase(place, owner)
  const database = folder === place ? join(staging, 'database') : folder
  try {
    if (database === folder) symlinkSync(folder, join(staging, 'database'))
    mkdirSync(database, { recursive: true, mode: 0o700 })
    await extractArchive(
      path,
      (name) => {
        if (name.startsWith('files/')) return join(staging, name.slice('files/'.length))
        return name === 'database' || name.startsWith('database/') ? join(database, name.slice('database/'.length)) : null
      },
      signal,
    )
    if (owner !== null) await giveTo(owner, database)
    await recoverCluster(database)
    await flush(staging, database)
    signal.throwIfAborted()
  } catch (error) {
    discard(config.DATA_DIR)
    throw error
  }
  return decideRestore(config.DATA_DIR, new Date())
}

async function giveTo(owner: Owner, folder: string): Promise<void> {
  chownSync(folder, owner.uid, owner.gid)
  for await (const { relative } of walk(folder, () => true)) chownSync(join(folder, relative), owner.uid, owner.gid)
}

/** Everything on those file systems reaches the disk. */
const flush = (...folders: string[]) => promisify(execFile)('sync', ['--file-system', ...folders])

/** An empty place to lay things out in, without what a killed restore left. */
function begin(directory: string): string {
  discard(directory)
  return beginRestore(directory)
}

function discard(directory: string): void {
  const link = join(restoreFolder(directory), 'database')
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true) rmSync(readlinkSync(link), { recursive: true, force: true })
  rmSync(dirname(restoreFolder(directory)), { recursive: true, force: true })
}

/** Replaces the database in one transaction, then the files. @returns where the old ones are */
async function restoreDump(config: Config, databaseUrl: string, path: string, force: boolean, signal: AbortSignal): Promise<string> {
  const now = new Date()
  const staging = begin(config.DATA_DIR)
  const dump = join(staging, '..', 'database.dump')
  try {
    await extractArchive(
      path,
      (name) => (name.startsWith('files/') ? join(staging, name.slice('files/'.length)) : name === 'database.dump' ? dump : null),
      signal,
    )
    const occupied = await assertUnused(databaseUrl)
    if (occupied && !force) throw new Failure('The database holds tables. With --force they are dumped and replaced.')
    if (occupied) {
      const aside = asideFolder(config.DATA_DIR, now)
      mkdirSync(aside, { recursive: true, mode: 0o700 })
      const old = join(aside, 'database.dump')
      await startClient('pg_dump', databaseUrl, ['--format=custom', '--no-password', '--file', old]).ended
      chmodSync(old, 0o600)
    }
    await flush(staging)
    signal.throwIfAborted()
    await loadDump(databaseUrl, dump, signal)
  } catch (error) {
    discard(config.DATA_DIR)
    throw error
  }
  return decideRestore(config.DATA_DIR, now)
}

/** Whether it holds tables. @throws Failure where servers work with it */
async function assertUnused(databaseUrl: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'zhisuan-backup' })
  await client.connect()
  try {
    const { rows } = await client.query<{ servers: string; tables: boolean }>(`
      select (select count(*) from pg_stat_activity where datname = current_database() and application_name = 'zhisuan')::text as servers,
        exists (select from pg_tables where schemaname not in ('pg_catalog', 'information_schema')) as tables`)
    if (rows[0]?.servers !== '0') throw new Failure(`A server works with this database (${rows[0]?.servers ?? ''} connections). Stop all servers first.`)
    return rows[0].tables
  } finally {
    await client.end()
  }
}

/** Without `commit`, which comes only after the whole dump, all of it is undone. */
const emptyDatabase = `begin;
do $$ declare name text; begin
  for name in select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' loop
    execute format('drop schema %I cascade', name);
  end loop;
end $$;
create schema public;
`

async function loadDump(databaseUrl: string, dump: string, signal: AbortSignal): Promise<void> {
  const source = startClient('pg_restore', null, ['--no-owner', '--no-privileges', '--file', '-', dump])
  const target = startClient('psql', databaseUrl, ['--no-psqlrc', '--quiet', '--no-password', '--set', 'ON_ERROR_STOP=1', '--output', '/dev/null'])
  const [from, to] = [source.process.stdout, target.process.stdin]
  if (from === null || to === null) throw new Error('pipes were asked for')
  try {
    to.write(emptyDatabase)
    // Who ends first for a reason is who says it.
    await Promise.race([pipeline(from, to, { end: false, signal }).catch(() => target.ended), target.ended])
    await source.ended
    to.end('\ncommit;\n')
    await target.ended
  } catch (error) {
    source.process.kill()
    target.process.kill()
    await Promise.allSettled([source.ended, target.ended])
    throw error
  }
}

/** Stored passwords of clouds are readable only with the key that they were sealed with. */
function warnOfKey(config: Config, backup: Manifest): void {
  if (backup.secret_key === null || backup.secret_key.fingerprint === secretKeyOf(config)?.fingerprint) return
  process.stderr.write('SECRET_KEY is not the one that this backup was made with: set that one before the server starts, or stored secrets cannot be read.\n')
}

await runCommand(usage, async () => {
  const { values, positionals } = readArguments({
    args: process.argv.slice(2),
    options: { force: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  })
  if (values.help === true) {
    process.stdout.write(`${usage}\n`)
    return
  }
  const path = resolve(onlyArgument(positionals, 'FILE'))
  await endedBySignals((signal) => restore(readConfig(process.env), path, values.force, signal))
}, [ConfigError, DatabaseUnusable])
