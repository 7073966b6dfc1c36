import { EngineError, type EngineErrorKind } from '@zhisuan/engines/errors'
import pg from 'pg'
import { asSocket, type Session, type SessionParts } from './session.ts'

const administrator = 'postgres'

const kindOf = (code: string | undefined): EngineErrorKind => {
  if (code === undefined) return 'unreachable'
  if (code === '28P01' || code === '28000') return 'unauthorized'
  if (code === '42P04' || code === '42710') return 'conflict'
  if (code === '3D000' || code === '42704') return 'not_found'
  // Starting, or on its way down; no connection is left.
  if (code.startsWith('57P') || code === '53300') return 'unreachable'
  return 'failed'
}
/** What the library says of a connection has no code of SQL. */
const failure = (error: unknown): EngineError => {
  const { message, code } = error as Error & { code?: string }
  return new EngineError(kindOf(code !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : undefined), message, { cause: error })
}

async function connected({ dial, password, signal }: SessionParts, database: string): Promise<pg.Client> {
  const socket = asSocket(await dial())
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  const client = new pg.Client({ user: administrator, database, password, stream: () => socket })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return client
  } catch (error) {
    socket.destroy()
    throw failure(error)
  }
}

/** PostgreSQL 15, by its own protocol. */
export async function openPostgresql(parts: SessionParts): Promise<Session> {
  const client = await connected(parts, 'postgres')
  const ask = async <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    try {
      return (await client.query<Row>(text, [...values])).rows
    } catch (error) {
      throw failure(error)
    }
  }
  const name = pg.escapeIdentifier
  /** In each of its databases, as privileges and owners are kept there. */
  const inside = async (database: string, texts: readonly string[]): Promise<void> => {
    const other = await connected(parts, database)
    try {
      for (const text of texts) await other.query(text)
    } catch (error) {
      throw failure(error)
    } finally {
      await other.end().catch(() => undefined)
    }
  }
  const databases = () =>
    ask<{ name: string; size_bytes: string }>(
      `select datname as name, pg_database_size(oid) as size_bytes from pg_database where not datistemplate and datname <> 'postgres' order by datname`,
    )
  const session: Session = {
    async figures() {
      const [row] = await ask<Record<'version' | 'uptime' | 'connections' | 'most' | 'size', string>>(`
        select current_setting('server_version') as version,
          floor(extract(epoch from now() - pg_postmaster_start_time()))::bigint as uptime,
          (select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()) as connections,
          current_setting('max_connections') as most,
          (select sum(pg_database_size(oid)) from pg_database) as size`)
      if (row === undefined) throw new EngineError('bad_answer', 'no figures')
      return {
        version: row.version.split(' ')[0] ?? row.version,
        uptime_seconds: Number(row.uptime),
        connections: Number(row.connections),
        connections_most: Number(row.most),
        memory_bytes: null,
        size_bytes: Number(row.size),
      }
    },
    setPassword: async (password) => void (await ask(`alter role ${name(administrator)} password ${pg.escapeLiteral(password)}`)),
    databases: async () => (await databases()).map((one) => ({ name: one.name, size_bytes: Number(one.size_bytes) })),
    async createDatabase(database) {
      await ask(`create database ${name(database)} template template0 encoding 'UTF8'`)
      // Only who is told to comes in.
      await ask(`revoke connect, temporary on database ${name(database)} from public`)
    },
    dropDatabase: async (database) => void (await ask(`drop database ${name(database)} with (force)`)),
    async accounts() {
      const rows = await ask<{ name: string; databases: string[] }>(`
        select rolname as name, array(
          select datname::text from pg_database
          where not datistemplate and datname <> 'postgres' and has_database_privilege(r.oid, oid, 'CONNECT') order by datname
        ) as databases
        from pg_roles r where rolcanlogin and not rolsuper order by rolname`)
      return rows
    },
    async createAccount({ name: account, password, databases: given }) {
      const there = new Set((await databases()).map((one) => one.name))
      const missing = given.find((one) => !there.has(one))
      if (missing !== undefined) throw new EngineError('not_found', missing)
      await ask(`create role ${name(account)} login password ${pg.escapeLiteral(password)}`)
      try {
        for (const database of given) {
          await ask(`grant all on database ${name(database)} to ${name(account)}`)
          await inside(database, [`grant all on schema public to ${name(account)}`])
        }
      } catch (error) {
        // Whole or not at all.
        await session.dropAccount(account).catch(() => undefined)
        throw error
      }
    },
    async dropAccount(account) {
      const [row] = await ask<{ there: boolean }>('select exists(select 1 from pg_roles where rolname = $1 and rolcanlogin and not rolsuper) as there', [
        account,
      ])
      if (row?.there !== true) throw new EngineError('not_found', account)
      // What it made is the administrator's from then on.
      for (const one of [...(await databases()).map((row) => row.name), 'postgres'])
        await inside(one, [`reassign owned by ${name(account)} to ${name(administrator)}`, `drop owned by ${name(account)}`])
      await ask(`select pg_terminate_backend(pid) from pg_stat_activity where usename = $1`, [account])
      await ask(`drop role ${name(account)}`)
    },
    close: () => void client.end().catch(() => undefined),
  }
  return session
}
