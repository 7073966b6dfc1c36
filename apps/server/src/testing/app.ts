import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp, type App, type AppOptions } from '../app.ts'
import { readConfig, type Config } from '../platform/config.ts'
import { pause, type Pause } from '../platform/platform.ts'
import { freshDatabase } from './database.ts'

/** A clock that goes on by itself and can be put forward. Only what asks `platform.now()` sees it, not SQL's `now()`. */
export interface Clock {
  now(): Date
  advance(ms: number): void
}

export function createClock(): Clock {
  let ahead = 0
  return {
    now: () => new Date(Date.now() + ahead),
    advance: (ms) => {
      ahead += ms
    },
  }
}

/** Waits of these lengths are that short; all others are as long as they are. */
export const shortened =
  (lengths: readonly number[], toMs = 10): Pause =>
  (ms, signal) =>
    pause(lengths.includes(ms) ? toMs : ms, signal)

export interface TestApp extends App {
  readonly config: Config
  readonly clock: Clock
  readonly databaseUrl: string
}

/** The same on every test server, so that two on one database read each other's secrets. */
const secretKey = Buffer.alloc(32, 7).toString('base64')

/**
 * The real server, in memory, on a database of its own: ask it with `call` (call.ts).
 * @param overrides environment, as the server would be given it. With another test server's
 * `databaseUrl` as DATABASE_URL, the two are servers of one platform.
 */
export async function testApp(
  overrides: Readonly<Record<string, string>> = {},
  { clock = createClock(), ...options }: Omit<AppOptions, 'now'> & { clock?: Clock } = {},
): Promise<TestApp> {
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-app-'))
  const database = overrides['DATABASE_URL'] === undefined ? await freshDatabase() : null
  const clear = async () => {
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const config = readConfig({
      ZHISUAN_ENV: 'test',
      DATA_DIR: folder,
      DATABASE_URL: database?.url,
      DATABASE_POOL_SIZE: '8',
      SECRET_KEY: secretKey,
      LOCAL_CLOUD: 'none',
      LOCAL_AGENT: 'none',
      LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
      WEB_DIR: join(folder, 'no-console'),
      ...overrides,
    })
    // Nothing comes by the minute of the day that a test happens to run in.
    const app = await buildApp(config, { schedule: false, ...options, now: clock.now })
    return {
      ...app,
      config,
      clock,
      databaseUrl: config.DATABASE_URL ?? '',
      close: async () => {
        await app.close()
        await clear()
      },
    }
  } catch (error) {
    await clear()
    throw error
  }
}

/** An address nobody else comes from: calls are limited by address, and tests make many. */
export const someIp = (): string => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`

/** A mobile number nobody else has. */
export const somePhone = (): string => `139${String(randomInt(100_000_000)).padStart(8, '0')}`
