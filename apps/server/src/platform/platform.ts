import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Tags } from '@zhisuan/contract/define'
import type { Logger } from 'pino'
import type { Scope } from './auth/actor.ts'
import { openBus, type Bus } from './bus.ts'
import type { Config } from './config.ts'
import { ensureDatabase, migrate, openDatabase, type Database, type Db, type Migrations } from './db/database.ts'
import { lockDataDirectory, startEmbeddedPostgres } from './db/embedded.ts'
import { createOutageLog } from './db/outage.ts'
import { createDownloads, type Downloads } from './downloads.ts'
import { createJobs, type JobDefinition, type JobHandler, type Jobs } from './jobs.ts'
import { createOperations, type AnyOperation, type MayBegin, type Operations } from './operations.ts'
import type { Handler } from './http/handler.ts'
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
  /** The time, so that tests can move it. */
  readonly now: () => Date
  /** Waits before something is looked at or tried again, so that tests can shorten it. */
  readonly pause: Pause
}

/** @throws what the signal was aborted with */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>
export const pause: Pause = (ms, signal) => sleep(ms, undefined, { signal })

/** What a module gives to the app: made by its `index.ts`. */
export interface ModuleParts {
  readonly handlers: readonly Handler[]
  readonly jobs?: readonly JobDefinition[]
  readonly jobHandlers?: readonly JobHandler[]
  readonly operations?: readonly AnyOperation[]
  /** Tags of what has some, by kind: `ecrm.edge`. None of what the scope does not see. */
  readonly tags?: Readonly<Record<string, (scope: Scope, id: string) => Promise<Tags>>>
  /** After the schema is in place and before requests: seeds, watchers. */
  readonly start?: () => Promise<void>
  /** Before the database closes. */
  readonly stop?: () => Promise<void>
}

export interface OpenedPlatform extends Platform {
  readonly database: Database
  readonly downloads: ReturnType<typeof createDownloads>
  /** Registers the operations of all modules, and what may refuse to begin one; before anything is begun. */
  setOperations(definitions: readonly AnyOperation[], mayBegin?: MayBegin): void
  close(): Promise<void>
}

/**
 * Opens database, queue and bus. The embedded PostgreSQL is started where no DATABASE_URL is
 * configured, under an exclusive lock on the data directory.
 */
export async function openPlatform(
  config: Config,
  log: Logger,
  migrations: Migrations,
  options: { now?: () => Date; pause?: Pause } = {},
): Promise<OpenedPlatform> {
  const parts = { now: () => new Date(), pause, ...options }
  const closing: (() => Promise<unknown>)[] = []
  try {
    let url = config.DATABASE_URL
    if (url === undefined) {
      const lock = lockDataDirectory(config.DATA_DIR)
      closing.unshift(async () => lock.close())
      const postgres = await startEmbeddedPostgres(join(config.DATA_DIR, 'database'), [], (message) => log.error(message))
      closing.unshift(() => postgres.stop())
      await ensureDatabase(postgres.url('postgres'), 'zhisuan')
      url = postgres.url('zhisuan')
    }
    // After the lock: a restore that was killed is ended with it, and brings its key.
    const secrets = createSecrets(readSecretKey(config))
    const database = openDatabase(url, { poolSize: config.DATABASE_POOL_SIZE, log })
    closing.unshift(() => database.close())
    const done = await migrate(database.db, migrations)
    if (done.length > 0) log.info({ migrations: done }, 'schema brought up to date')
    const bus = await openBus(url, log)
    closing.unshift(() => bus.close())
    const outage = createOutageLog(log)
    const jobs = await createJobs(url, log, outage)
    closing.unshift(() => jobs.stop())
    let definitions: readonly AnyOperation[] = []
    let mayBegin: MayBegin = async () => undefined
    const operations = createOperations({
      database,
      databaseUrl: url,
      bus,
      jobs,
      secrets,
      log,
      definitions: () => definitions,
      mayBegin: () => mayBegin,
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
      now: parts.now,
      pause: parts.pause,
      setOperations: (all, may) => {
        definitions = all
        mayBegin = may ?? mayBegin
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
