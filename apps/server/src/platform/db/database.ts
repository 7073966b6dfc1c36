import { Kysely, sql, type Transaction } from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import { openPool } from './connections.ts'
import { RecordingDialect } from './recording.ts'
import { squashed } from './squashed.ts'

/**
 * The tables. Each module adds its own beside its SQL:
 * `declare module '…/platform/db/database.ts' { interface Tables { vms: VmTable } }`.
 */
// oxlint-disable-next-line typescript/no-empty-interface -- filled by the modules, see above
export interface Tables {}

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>
/** Whatever SQL can be run on: a store's function takes this, and so works inside and outside a transaction. */
export type Sql = Db | Tx

// Our bigints are sizes and counts below 2^53, so numbers are exact. Money never is bigint-as-number: it is numeric, which stays text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
// Of `numeric[]` the driver would make numbers, too. Its type has this number in every PostgreSQL.
const numericArray: number = 1231
pg.types.setTypeParser(numericArray, (text: string): string[] => (text === '{}' ? [] : text.slice(1, -1).split(',')))

export interface Database {
  db: Db
  pool: pg.Pool
  close(): Promise<void>
}

export function openDatabase(url: string, options: { poolSize: number; log: Logger }): Database {
  const pool = openPool(url, 'zhisuan', options.poolSize, options.log)
  const db = new Kysely<Tables>({ dialect: new RecordingDialect({ pool }) })
  return { db, pool, close: () => db.destroy() }
}

/** Creates the database if the server does not have it; for the embedded PostgreSQL. */
export async function ensureDatabase(adminUrl: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}

/** Migrations by name; names begin with the day on which they were written and a number (`20261124_01_users`), which orders them over all modules. */
export type Migrations = Readonly<Record<string, (tx: Tx) => Promise<void>>>

/** Migration from one SQL text of several statements. There is no way back but a backup. */
export const migration =
  (text: string) =>
  async (tx: Tx): Promise<void> => {
    await sql.raw(text).execute(tx)
  }

/**
 * Brings the schema to this version, in one transaction. Several servers may start at once: one
 * migrates, the others wait and find it done.
 * @returns the names of those that ran
 * @throws Error where the database is of a newer program, or one would run after what was written later
 */
export async function migrate(db: Db, migrations: Migrations): Promise<string[]> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(7140801)`.execute(tx)
    await sql`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`.execute(tx)
    await takeSquashed(tx, Object.keys(migrations))
    const done = new Set(await applied(tx))
    const unknown = [...done].filter((name) => !(name in migrations))
    if (unknown.length > 0) throw new Error(`The database is newer than this program: it has ${unknown.join(', ')}`)
    const todo = Object.keys(migrations)
      .filter((name) => !done.has(name))
      .sort()
    const newest = [...done].sort().at(-1)
    const late = newest === undefined ? [] : todo.filter((name) => name < newest)
    if (late.length > 0) {
      throw new Error(`The database already has ${newest}, which sorts after ${late.join(', ')}: a migration is named by the day on which it was written`)
    }
    for (const name of todo) {
      await migrations[name]?.(tx)
      await sql`insert into migrations (name) values (${name})`.execute(tx)
    }
    return todo
  })
}

const applied = async (tx: Tx): Promise<string[]> => (await sql<{ name: string }>`select name from migrations`.execute(tx)).rows.map(({ name }) => name)

/** A database of before the first release has what the squashed ones make; from then on it says so by their names. */
async function takeSquashed(tx: Tx, names: readonly string[]): Promise<void> {
  const former = (await applied(tx)).filter((name) => squashed.from.has(name))
  if (former.length === 0) return
  if (former.length < squashed.from.size) {
    throw new Error('The database is of a version before 0.1 that this program cannot bring up: start the last version of 2026-11-23 on it first')
  }
  await sql`delete from migrations where name = any(${former})`.execute(tx)
  for (const name of names.filter((one) => one.startsWith(squashed.into))) await sql`insert into migrations (name) values (${name})`.execute(tx)
}

/** Whether an error of the driver is a broken unique rule, of that constraint or index. */
export const isUniqueViolation = (error: unknown, constraint: string): boolean =>
  error instanceof pg.DatabaseError && error.code === '23505' && error.constraint === constraint

/** Whether an error of the driver says that a lock was not got in the time that was set (`lock_timeout`). */
export const isHeld = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '55P03'

/** Whether an error of the driver says that a text has characters which no database of ours can store, such as U+0000. */
export const isUnstorableText = (error: unknown): boolean => error instanceof pg.DatabaseError && (error.code === '22021' || error.code === '22P05')

/** ISO text of a database moment, as payloads carry it. */
export const iso = (moment: Date): string => moment.toISOString()
export const isoOrNull = (moment: Date | null): string | null => (moment === null ? null : moment.toISOString())
