import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { auditMigrations } from './audit.ts'
import { answerKeyMigrations } from './http/keys.ts'
import { openBus, type Bus } from './bus.ts'
import { changeMigrations } from './changes.ts'
import type { Config } from './config.ts'
import { ensureDatabase, migrate, openDatabase, type Database, type Db, type Migrations } from './db/database.ts'
import { kindMigrations } from './db/kinds.migration.ts'
import { lockDataDirectory, startEmbeddedPostgres } from './db/embedded.ts'
import { createOutageLog } from './db/outage.ts'
import { createDownloads, type Downloads } from './downloads.ts'
import { createJobs, type Jobs } from './jobs.ts'
import { kindsOf, type Kinds } from './kinds.ts'
import type { ModuleParts } from './module.ts'
import { createOpenStreams, type OpenStreams } from './openStreams.ts'
import { createOperations, operationMigrations, sealedOperationMigrations, type Operations } from './operations.ts'
import { keepPrivate } from './private.ts'
import { createSecrets, readSecretKey, type Secrets } from './secrets.ts'

/** What every module stands on. */
export interface Platform {
  readonly config: Config
  readonly log: Logger
  readonly db: Db
  readonly jobs: Jobs
  readonly operations: Operations
  readonly bus: Bus
  readonly secrets: Secrets
  readonly downloads: Downloads
  readonly openStreams: OpenStreams
  /** What all modules tell; to be asked once they are all made. */
  readonly modules: () => readonly ModuleParts[]
  /** Their kinds of things. */
  readonly kinds: () => Kinds
  /** The time, so that tests can move it. */
  readonly now: () => Date
  /** Waits before something is looked at or tried again, so that tests can shorten it. */
  readonly pause: Pause
}

/** @throws what the signal was aborted with */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>
export const pause: Pause = (ms, signal) => sleep(ms, undefined, { signal })

export interface OpenedPlatform extends Platform {
  readonly database: Database
  readonly downloads: ReturnType<typeof createDownloads>
  /** Takes all modules, and brings the schema up to date for them; before anything is asked. */
  compose(modules: readonly ModuleParts[]): Promise<void>
  close(): Promise<void>
}

/**
 * Opens database, queue and bus. The embedded PostgreSQL is started where no DATABASE_URL is
 * configured, under an exclusive lock on the data directory.
 */
export async function openPlatform(
  config: Config,
  log: Logger,
  options: { now?: () => Date; pause?: Pause; schedule?: boolean } = {},
): Promise<OpenedPlatform> {
  const parts = { now: () => new Date(), pause, schedule: true, ...options }
  const closing: (() => Promise<unknown>)[] = []
  try {
    let url = config.DATABASE_URL
    // Not while a restore lays out what the database's user has to get to.
    if (url !== undefined) keepPrivate(config.DATA_DIR)
    if (url === undefined) {
      const lock = lockDataDirectory(config.DATA_DIR)
      closing.unshift(async () => lock.close())
      keepPrivate(config.DATA_DIR)
      const postgres = await startEmbeddedPostgres(join(config.DATA_DIR, 'database'), [], (message) => log.error(message))
      closing.unshift(() => postgres.stop())
      await ensureDatabase(postgres.url('postgres'), 'zhisuan')
      url = postgres.url('zhisuan')
    }
    // After the lock: a restore that was killed is ended with it, and brings its key.
    const secrets = createSecrets(readSecretKey(config))
    const database = openDatabase(url, { poolSize: config.DATABASE_POOL_SIZE, log })
    closing.unshift(() => database.close())
    const bus = await openBus(url, log)
    closing.unshift(() => bus.close())
    const outage = createOutageLog(log)
    const jobs = await createJobs(url, log, { outage, schedule: parts.schedule })
    closing.unshift(() => jobs.stop())
    const openStreams = createOpenStreams()
    closing.unshift(async () => openStreams.drain())
    let modules: readonly ModuleParts[] = []
    let kinds: Kinds = new Map()
    const operations = createOperations({
      database,
      databaseUrl: url,
      bus,
      jobs,
      secrets,
      log,
      definitions: () => modules.flatMap(({ operations: all = [] }) => all),
      kinds: () => kinds,
      mayBegin: async (tx, operation) => {
        for (const module of modules) await module.mayBegin?.(tx, operation)
      },
      faultFile: config.FAULT_FILE,
      outage,
      pause: parts.pause,
    })
    closing.unshift(() => operations.stop())
    return {
      config,
      log,
      db: database.db,
      database,
      jobs,
      operations,
      bus,
      secrets,
      downloads: createDownloads({ secrets, now: parts.now }),
      openStreams,
      now: parts.now,
      pause: parts.pause,
      modules: () => modules,
      kinds: () => kinds,
      async compose(all) {
        modules = all
        kinds = kindsOf(all)
        const own = [auditMigrations, answerKeyMigrations, operationMigrations, sealedOperationMigrations(secrets), changeMigrations, kindMigrations]
        const stores: Migrations[] = [...own, ...all.map(({ migrations = {} }) => migrations)]
        const names = stores.flatMap((one) => Object.keys(one))
        const twice = names.find((name, index) => names.indexOf(name) !== index)
        if (twice !== undefined) throw new Error(`two stores have a migration ${twice}`)
        const done = await migrate(database.db, Object.assign({}, ...stores))
        if (done.length > 0) log.info({ migrations: done }, 'schema brought up to date')
      },
      close: () => closeAll(closing),
    }
  } catch (error) {
    await closeAll(closing)
    throw error
  }
}

/** Newest first; one that fails does not keep the others open. */
async function closeAll(closing: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const close of closing) await close().catch(() => undefined)
}
