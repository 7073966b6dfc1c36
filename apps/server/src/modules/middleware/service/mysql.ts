import { EngineError, type EngineErrorKind } from '@zhisuan/engines/errors'
import mysql, { type RowDataPacket } from 'mysql2/promise'
import { asSocket, type Session, type SessionParts } from './session.ts'

const administrator = 'root'
/** What it has of its own. */
const ownDatabases = ['information_schema', 'mysql', 'performance_schema', 'sys']

const kinds: Readonly<Record<string, EngineErrorKind>> = {
  ER_ACCESS_DENIED_ERROR: 'unauthorized',
  ER_DB_CREATE_EXISTS: 'conflict',
  ER_DB_DROP_EXISTS: 'not_found',
  ER_BAD_DB_ERROR: 'not_found',
  ER_CON_COUNT_ERROR: 'unreachable',
  ER_SERVER_SHUTDOWN: 'unreachable',
}
const failure = (error: unknown): EngineError => {
  const { message, code = '' } = error as Error & { code?: string }
  return new EngineError(kinds[code] ?? (code.startsWith('ER_') ? 'failed' : 'unreachable'), message, { cause: error })
}
/** In a grant `_` and `%` stand for anything. */
const pattern = (database: string): string => database.replaceAll('_', String.raw`\_`)

/** MariaDB 10.11, by MySQL's protocol. */
export async function openMysql({ dial, password, signal }: SessionParts): Promise<Session> {
  const socket = asSocket(await dial())
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  const connection = await mysql.createConnection({ stream: () => socket, user: administrator, password }).catch((error: unknown) => {
    socket.destroy()
    throw failure(error)
  })
  connection.on('error', () => undefined)
  const ask = async (text: string, values: readonly unknown[] = []): Promise<RowDataPacket[]> => {
    try {
      const [rows] = await connection.query<RowDataPacket[]>(text, [...values])
      return rows
    } catch (error) {
      throw failure(error)
    }
  }
  const databases = () =>
    ask(
      `select s.schema_name as name, coalesce(sum(t.data_length + t.index_length), 0) as size
       from information_schema.schemata s left join information_schema.tables t on t.table_schema = s.schema_name
       where s.schema_name not in (?) group by s.schema_name order by s.schema_name`,
      [ownDatabases],
    )
  const hasAccount = async (name: string): Promise<boolean> => (await ask("select 1 from mysql.user where user = ? and host = '%'", [name])).length > 0
  return {
    async figures() {
      const status = new Map(
        (await ask("show global status where variable_name in ('Uptime', 'Threads_connected', 'Memory_used')")).map((row) => [
          String(row['Variable_name']),
          Number(row['Value']),
        ]),
      )
      const [row] = await ask(
        'select version() as version, @@max_connections as most, (select sum(data_length + index_length) from information_schema.tables) as size',
      )
      return {
        version: String(row?.['version']).split('-')[0] ?? '',
        uptime_seconds: status.get('Uptime') ?? 0,
        // But for the one that asks.
        connections: Math.max(0, (status.get('Threads_connected') ?? 1) - 1),
        connections_most: Number(row?.['most']),
        memory_bytes: status.get('Memory_used') ?? null,
        size_bytes: Number(row?.['size']),
      }
    },
    setPassword: async (fresh) => void (await ask(`alter user ?@'%' identified by ?`, [administrator, fresh])),
    databases: async () => (await databases()).map((row) => ({ name: String(row['name']), size_bytes: Number(row['size']) })),
    createDatabase: async (name) => void (await ask('create database ?? character set utf8mb4', [name])),
    dropDatabase: async (name) => void (await ask('drop database ??', [name])),
    async accounts() {
      const [users, grants] = [
        await ask("select user as name from mysql.user where host = '%' and user <> ? order by user", [administrator]),
        await ask("select user as name, db from mysql.db where host = '%' order by db"),
      ]
      return users.map((user) => ({
        name: String(user['name']),
        databases: grants.filter((grant) => grant['name'] === user['name']).map((grant) => String(grant['db']).replaceAll('\\', '')),
      }))
    },
    async createAccount({ name, password: given, databases: wanted }) {
      const there = new Set((await databases()).map((row) => String(row['name'])))
      const missing = wanted.find((one) => !there.has(one))
      if (missing !== undefined) throw new EngineError('not_found', missing)
      if (await hasAccount(name)) throw new EngineError('conflict', name)
      await ask(`create user ?@'%' identified by ?`, [name, given])
      try {
        for (const database of wanted) await ask(`grant all privileges on \`${pattern(database)}\`.* to ?@'%'`, [name])
      } catch (error) {
        // Whole or not at all.
        await ask(`drop user ?@'%'`, [name]).catch(() => undefined)
        throw error
      }
    },
    async dropAccount(name) {
      if (!(await hasAccount(name))) throw new EngineError('not_found', name)
      await ask(`drop user ?@'%'`, [name])
      // What is open goes on as if it were there.
      for (const row of await ask('select id from information_schema.processlist where user = ?', [name]))
        await ask('kill ?', [row['id']]).catch(() => undefined)
    },
    close: () => connection.destroy(),
  }
}
