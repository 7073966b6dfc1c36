import { randomBytes, randomUUID } from 'node:crypto'
import { EngineError } from '@zhisuan/engines/errors'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { freshDatabase } from '../testing/database.ts'
import { openBus } from './bus.ts'
import { openDatabase, type Database, type Db } from './db/database.ts'
import { createEndpoints, type EndpointHealth, type EndpointKind, type EndpointLook, type EndpointPart, type EndpointRow } from './endpoints.ts'
import { Refusal } from './errors.ts'
import { createSecrets } from './secrets.ts'

/** A library as others are: it is asked with a password, has shelves, and says how many books it has. */
interface Library extends EndpointRow {
  readonly health: string
  readonly health_message: string | null
  readonly books: number | null
}
interface LibraryLook extends EndpointLook {
  readonly books: number
}
type Connection = { url: string; password: string }
interface Opened {
  readonly connection: Connection
  readonly for: string
  closed: boolean
}

const password = 'open-sesame-4711'
const logged: string[] = []
/** What the libraries do when they are asked, by address; and all that was ever opened, on whichever server. */
const answers = new Map<string, () => Promise<LibraryLook>>()
let opened: { server: string; as: Opened }[] = []
const key = randomBytes(32)
const closing: (() => Promise<unknown>)[] = []
let database: Database
let url: string

const libraryKind = (db: Db, server: string): EndpointKind<Library, Connection, Opened, LibraryLook> => {
  const get = async (id: string) => (await sql<Library>`select * from libraries where id = ${id}::uuid`.execute(db)).rows[0]
  return {
    topic: 'library',
    column: 'libraries.connection',
    connection: z.object({ url: z.string(), password: z.string() }),
    rows: {
      looked: async () => (await sql<Library>`select * from libraries`.execute(db)).rows,
      get,
      async record(row, { health, health_message, checked_at }: EndpointHealth, look) {
        await sql`update libraries set health = ${health}, health_message = ${health_message}, checked_at = ${checked_at}, books = coalesce(${look?.books ?? null}, books)
          where id = ${row.id}::uuid and connection = ${row.connection}`.execute(db)
        return get(row.id)
      },
    },
    open: (connection, { id }) => {
      const as: Opened = { connection, for: id ?? 'a try', closed: false }
      opened.push({ server, as })
      return as
    },
    close: async (as) => {
      as.closed = true
    },
    look: async ({ connection }) => {
      if (connection.password !== password) throw new EngineError('unauthorized', 'wrong password')
      return answers.get(connection.url)?.() ?? { parts: [], books: 7 }
    },
    explain: async (error, _, name) =>
      error instanceof EngineError && error.kind === 'unauthorized' ? new Refusal('fieldsInvalid', { field: 'connection.password', values: { name } }) : error,
    incomplete: (_, { parts }) => new Refusal('engineRefused', { detail: parts }),
  }
}

const times = { everyMs: 40, lookMs: 100, tryMs: 100, graceMs: 50 }
async function server(name: string) {
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
  const own = openDatabase(url, { poolSize: 2, log })
  const bus = await openBus(url, log)
  const endpoints = createEndpoints({ bus, log, now: () => new Date(), secrets: createSecrets(key) }, libraryKind(own.db, name), times)
  closing.unshift(
    () => endpoints.stop(),
    () => bus.close(),
    () => own.close(),
  )
  return endpoints
}
type Server = Awaited<ReturnType<typeof server>>
let here: Server
let there: Server

beforeAll(async () => {
  const fresh = await freshDatabase()
  closing.push(() => fresh.drop())
  url = fresh.url
  database = openDatabase(url, { poolSize: 2, log: pino({ level: 'silent' }) })
  closing.unshift(() => database.close())
  await sql`create table libraries (id uuid primary key, name text not null, connection text not null, health text not null default 'unknown', health_message text, books integer, checked_at timestamptz)`.execute(
    database.db,
  )
  here = await server('here')
  there = await server('there')
})
afterAll(async () => {
  for (const close of closing) await close()
})
beforeEach(() => {
  opened = []
  answers.clear()
})

const read = async (id: string): Promise<Library> => {
  const row = (await sql<Library>`select * from libraries where id = ${id}::uuid`.execute(database.db)).rows[0]
  if (row === undefined) throw new Error('no such library')
  return row
}
const someUrl = () => `http://${randomUUID()}`
/** Registered as a kind's service would: tried, sealed, told. */
async function register(connection: Connection = { url: someUrl(), password }, name = 'a library'): Promise<string> {
  const id = randomUUID()
  await here.tryToKeep(connection, name)
  await database.db.transaction().execute(async (tx) => {
    await sql`insert into libraries (id, name, connection) values (${id}::uuid, ${name}, ${here.seal(id, connection)})`.execute(tx)
    await here.tell(tx, id)
  })
  return id
}
const move = (id: string, to: Connection) =>
  database.db.transaction().execute(async (tx) => {
    await sql`update libraries set connection = ${here.seal(id, to)} where id = ${id}::uuid`.execute(tx)
    await here.tell(tx, id)
  })
const part = (label: string, wish: Partial<EndpointPart> = {}): EndpointPart => ({ label, required: true, state: 'works', problem: null, ...wish })
const broken = { state: 'failed', problem: { message: '没有回答', words: 'dusty', request_id: 'req-9' } } as const

describe('an endpoint', () => {
  it('is tried before it is kept, and closed after it', async () => {
    const wrong = await here.tryToKeep({ url: someUrl(), password: 'wrong' }, 'a library').catch((error: unknown) => error)
    expect(wrong).toMatchObject({ refusal: 'fieldsInvalid', fields: [{ field: 'connection.password' }] })
    const at = someUrl()
    answers.set(at, async () => ({ parts: [part('目录', broken), part('借阅', { required: false, state: 'missing' })], books: 0 }))
    expect(await here.tryToKeep({ url: at, password }, 'a library').catch((error: unknown) => error)).toMatchObject({
      refusal: 'engineRefused',
      detail: '目录（没有回答，req-9）',
    })
    // Who only tries it is told all the same.
    expect((await here.try({ url: at, password }, 'a library')).parts).toHaveLength(2)
    expect(opened.map(({ as }) => [as.for, as.closed])).toEqual([
      ['a try', true],
      ['a try', true],
      ['a try', true],
    ])
  })

  it('is opened once and shared, and sealed for its own row', async () => {
    const [one, other] = [await register(), await register()]
    const row = await read(one)
    expect(here.opened(row)).toBe(here.opened(await read(one)))
    expect(here.opened(await read(other))).not.toBe(here.opened(row))
    expect(() => here.connectionOf({ ...row, id: other })).toThrow()
    expect(await here.refresh({ ...row, id: other })).not.toMatchObject({ health: 'reachable' })
  })

  it('that was changed on one server is opened anew on the other', async () => {
    const id = await register()
    const before = there.opened(await read(id))
    const told = vi.fn()
    there.onChange(told)
    there.start()
    const to = someUrl()
    await move(id, { url: to, password })
    await vi.waitFor(() => expect(before.closed).toBe(true))
    await vi.waitFor(() => expect(told).toHaveBeenCalled())
    expect(there.opened(await read(id))).toMatchObject({ connection: { url: to }, closed: false })
    const last = there.opened(await read(id))
    await database.db.transaction().execute(async (tx) => {
      await sql`delete from libraries where id = ${id}::uuid`.execute(tx)
      await here.tell(tx, id)
    })
    await vi.waitFor(() => expect(last.closed).toBe(true))
  })

  it('that went while messages were lost is closed, too', async () => {
    const listening = () =>
      sql<{ pid: number }>`select pid from pg_stat_activity where application_name = 'zhisuan-bus' and datname = current_database()`.execute(database.db)
    const [gone, stays] = [await register(), await register()]
    const [last, other] = [there.opened(await read(gone)), there.opened(await read(stays))]
    await sql`delete from libraries where id = ${gone}::uuid`.execute(database.db)
    const told = vi.fn()
    there.onChange(told)
    for (const { pid } of (await listening()).rows) await sql`select pg_terminate_backend(${pid})`.execute(database.db)
    await vi.waitFor(() => expect(last.closed).toBe(true), { timeout: 5_000 })
    // Once all were looked at, the database being back for each.
    await vi.waitFor(() => expect(told).toHaveBeenCalled(), { timeout: 5_000 })
    expect(other.closed).toBe(false)
    await vi.waitFor(async () => expect((await listening()).rows).toHaveLength(2), { timeout: 5_000 })
  })

  it('is looked at again and again, each by itself: one that hangs keeps no other waiting', async () => {
    const [at, hanging] = [someUrl(), someUrl()]
    const [one, silent] = [await register({ url: at, password }), await register({ url: hanging, password })]
    answers.set(hanging, () => new Promise(() => undefined))
    await vi.waitFor(async () => expect(await read(one)).toMatchObject({ health: 'reachable', books: 7 }))
    await vi.waitFor(async () => expect(await read(silent)).toMatchObject({ health: 'unreachable', health_message: 'no answer within 150 ms' }))
    answers.set(at, async () => ({ parts: [part('目录'), part('阅览室', { ...broken, required: false })], books: 9 }))
    await vi.waitFor(async () => expect(await read(one)).toMatchObject({ health: 'degraded', health_message: '阅览室（没有回答，req-9）', books: 9 }))
    answers.set(at, () => Promise.reject(new EngineError('unreachable', 'closed today')))
    // What was known stays.
    await vi.waitFor(async () => expect(await read(one)).toMatchObject({ health: 'unreachable', health_message: 'closed today', books: 9 }))
    answers.delete(at)
    answers.delete(hanging)
    await vi.waitFor(async () => expect([await read(one), await read(silent)]).toMatchObject([{ health: 'reachable' }, { health: 'reachable' }]))
  })

  it('whose answer comes late says nothing of where it was moved to', async () => {
    const at = someUrl()
    const id = await register({ url: at, password })
    let answer: (look: LibraryLook) => void = () => undefined
    answers.set(at, () => new Promise((resolve) => (answer = resolve)))
    const late = here.refresh(await read(id))
    await vi.waitFor(() => expect(opened.some(({ as }) => as.connection.url === at && as.for === id)).toBe(true))
    await move(id, { url: someUrl(), password })
    answer({ parts: [], books: 1_000 })
    await late
    expect((await read(id)).books).not.toBe(1_000)
  })

  it('keeps its secrets to itself', async () => {
    const id = await register()
    await move(id, { url: someUrl(), password: 'another-secret-42' })
    await vi.waitFor(async () => expect(await read(id)).toMatchObject({ health: 'unauthorised', health_message: 'wrong password' }))
    await sql`update libraries set connection = 'no sealed text' where id = ${id}::uuid`.execute(database.db)
    expect(await here.refresh(await read(id))).toMatchObject({ health: 'unreachable' })
    const kept = JSON.stringify((await sql`select * from libraries`.execute(database.db)).rows) + logged.join('')
    for (const secret of [password, 'another-secret-42']) expect(kept).not.toContain(secret)
  })
})
