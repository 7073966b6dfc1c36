import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import pg from 'pg'
import { ConfigError, readConfig, type Config } from '../platform/config.ts'
import { DatabaseUnusable, embeddedUrl } from '../platform/db/embedded.ts'
import { isDataEntry } from '../platform/db/restored.ts'
import { createArchive, manifestName, walk, type ArchiveWriter } from './archive.ts'
import { startClient } from './client.ts'
import { assertOwned, endedBySignals, Failure, onlyArgument, readArguments, runCommand, UsageError } from './command.ts'
import { withEmbedded } from './database.ts'
import { secretKeyOf, type Manifest } from './manifest.ts'
import { segments } from './segments.ts'

const usage = `usage: scripts/backup FILE
  writes the database and everything else of the data directory to FILE, whether the server runs or not;
  the environment has to be the server's (DATA_DIR, DATABASE_URL, SECRET_KEY)`

/** What a base backup leaves out, as the manual has it ("Making a Base Backup Using the Low Level API"). */
const emptyFolders = ['pg_dynshmem', 'pg_notify', 'pg_replslot', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans', 'pg_wal']
const leftOut = new Set([
  'postmaster.pid',
  'postmaster.opts',
  'current_logfiles',
  'backup_label',
  'backup_label.old',
  'tablespace_map',
  'tablespace_map.old',
  'global/pg_control',
])

function isBackedUp(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (emptyFolders.some((folder) => path.startsWith(`${folder}/`))) return false
  return !leftOut.has(path) && !name.startsWith('pgsql_tmp') && !name.startsWith('pg_internal.init')
}

async function backUp(config: Config, path: string, signal: AbortSignal): Promise<void> {
  if (!existsSync(config.DATA_DIR)) throw new Failure(`There is nothing to back up: the data directory ${config.DATA_DIR} does not exist.`)
  assertOwned(config.DATA_DIR)
  if (!relative(realpathSync(config.DATA_DIR), realpathSync(dirname(path))).startsWith('..'))
    throw new UsageError(`FILE must not lie in the data directory ${config.DATA_DIR}`)
  const archive = createArchive(path, signal)
  try {
    const describe = (database: Manifest['database']) =>
      archive.addContent(
        manifestName,
        `${JSON.stringify({ product: 'zhisuan', format: 1, version: config.version, created_at: new Date().toISOString(), database, secret_key: secretKeyOf(config) } satisfies Manifest, null, 2)}\n`,
      )
    if (config.DATABASE_URL === undefined) await addEmbedded(config, archive, describe, signal)
    else await addDump(config.DATABASE_URL, path, archive, describe, signal)
    await addFiles(config, archive)
    const sizeBytes = await archive.finish()
    process.stdout.write(`${path} (${(sizeBytes / 1024 / 1024).toFixed(1)} MiB)\n`)
  } catch (error) {
    await archive.discard()
    throw error
  }
  if (config.SECRET_KEY !== undefined) process.stderr.write('SECRET_KEY is not in the backup: keep it as well, or what is sealed with it is lost.\n')
}

type Describe = (database: Manifest['database']) => Promise<void>

const addEmbedded = (config: Config, archive: ArchiveWriter, describe: Describe, signal: AbortSignal): Promise<void> =>
  withEmbedded(config.DATA_DIR, (folder) => addCluster(realpathSync(folder), embeddedUrl(folder, 'postgres'), archive, describe, signal))

/** A base backup of a running cluster, with the log that makes it consistent. */
async function addCluster(base: string, url: string, archive: ArchiveWriter, describe: Describe, signal: AbortSignal): Promise<void> {
  const data = join(base, 'data')
  const client = new pg.Client({ connectionString: url, application_name: 'zhisuan-backup' })
  // The next statement tells.
  client.on('error', () => undefined)
  await client.connect().catch((error: Error) => {
    throw new Failure(`The server's database does not answer (it may be starting or stopping; try again): ${error.message}`, { cause: error })
  })
  const ask = async (sql: string): Promise<Record<string, string>> => {
    const { rows } = await client.query<Record<string, string>>(sql).catch((error: Error) => {
      throw new Failure(`The database ended the backup: ${error.message}`, { cause: error })
    })
    return rows[0] ?? {}
  }
  try {
    const { version = '' } = await ask(`select current_setting('server_version') as version`)
    const { tablespaces } = await ask(`select string_agg(spcname, ', ') as tablespaces from pg_tablespace where spcname not in ('pg_default', 'pg_global')`)
    if (typeof tablespaces === 'string') throw new Failure(`The database has files outside its folder, which are not backed up: tablespaces ${tablespaces}`)
    // A slot of this session keeps the log from being recycled until its end is copied.
    await ask(`select pg_create_physical_replication_slot('zhisuan_backup_' || pg_backend_pid(), true, true)`)
    const { lsn: fromLsn = '' } = await ask(`select pg_backup_start('zhisuan', fast => true) as lsn`)
    await describe({ kind: 'embedded', postgres: version, from_lsn: fromLsn })
    await addTree(archive, data, 'database/data', isBackedUp)
    // Last, and of one piece: it says where the log is to be read from.
    await archive.addContent('database/data/global/pg_control', await readSettled(join(data, 'global/pg_control')))
    signal.throwIfAborted()
    const {
      labelfile = '',
      spcmapfile = '',
      last = '',
    } = await ask('select labelfile, spcmapfile, pg_walfile_name(lsn) as last from pg_backup_stop(wait_for_archive => false)')
    await archive.addContent('database/data/backup_label', labelfile)
    if (spcmapfile.trim() !== '') await archive.addContent('database/data/tablespace_map', spcmapfile)
    const first = /\(file ([0-9A-F]{24})\)/.exec(labelfile)?.[1]
    if (first === undefined) throw new Error(`PostgreSQL's backup label is not understood:\n${labelfile}`)
    const { segment = '' } = await ask(`select setting as segment from pg_settings where name = 'wal_segment_size'`)
    for (const name of segments(first, last, Number(segment))) {
      if (!(await archive.addFile(`database/data/pg_wal/${name}`, join(data, 'pg_wal', name)))) throw new Error(`The log ${name} is gone before it was copied.`)
    }
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** A small file that is rewritten in place, read until it is the same twice. */
async function readSettled(path: string): Promise<Buffer> {
  for (let before = await readFile(path); ;) {
    const now = await readFile(path)
    if (now.equals(before)) return now
    before = now
  }
}

async function addTree(archive: ArchiveWriter, folder: string, name: string, wanted: (relative: string) => boolean): Promise<void> {
  await archive.addFolder(name)
  for await (const { relative, kind } of walk(folder, wanted)) {
    if (kind === 'folder') await archive.addFolder(join(name, relative))
    else if (kind === 'file') await archive.addFile(join(name, relative), join(folder, relative))
    else process.stderr.write(`Left out, being neither file nor folder: ${join(folder, relative)}\n`)
  }
}

async function addDump(databaseUrl: string, path: string, archive: ArchiveWriter, describe: Describe, signal: AbortSignal): Promise<void> {
  // An archive has to know how long what comes is, so the dump is made beside it first.
  const work = mkdtempSync(join(dirname(resolve(path)), '.zhisuan-backup-'))
  try {
    const dump = join(work, 'database.dump')
    const { process: child, ended } = startClient('pg_dump', databaseUrl, ['--format=custom', '--no-owner', '--no-privileges', '--no-password', '--file', dump])
    const stop = () => void child.kill()
    signal.addEventListener('abort', stop)
    await ended.finally(() => signal.removeEventListener('abort', stop))
    await describe({ kind: 'dump', postgres: await serverVersion(databaseUrl) })
    await archive.addFile('database.dump', dump)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function serverVersion(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'zhisuan-backup' })
  await client.connect()
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    return rows[0]?.server_version ?? ''
  } finally {
    await client.end()
  }
}

/** Keys, uploads, the sandbox's state: whatever else is in the data directory. */
async function addFiles(config: Config, archive: ArchiveWriter): Promise<void> {
  for (const name of (await readdir(config.DATA_DIR)).filter((entry) => isDataEntry(entry) && entry !== 'database')) {
    const wanted = (relative: string) => relative === name || relative.startsWith(`${name}/`)
    for await (const { relative, kind } of walk(config.DATA_DIR, wanted)) {
      if (kind === 'folder') await archive.addFolder(join('files', relative))
      else if (kind === 'file') await archive.addFile(join('files', relative), join(config.DATA_DIR, relative))
      else process.stderr.write(`Left out, being neither file nor folder: ${join(config.DATA_DIR, relative)}\n`)
    }
  }
}

await runCommand(usage, async () => {
  const { values, positionals } = readArguments({ args: process.argv.slice(2), options: { help: { type: 'boolean', short: 'h' } }, allowPositionals: true })
  if (values.help === true) {
    process.stdout.write(`${usage}\n`)
    return
  }
  await endedBySignals((signal) => backUp(readConfig(process.env), resolve(onlyArgument(positionals, 'FILE')), signal))
}, [ConfigError, DatabaseUnusable])
