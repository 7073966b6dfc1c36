import { once } from 'node:events'
import { connect as dial, createServer, type AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { expect, it } from 'vitest'
import { testApp } from '../../testing/app.ts'
import { freshDatabase } from '../../testing/database.ts'
import { toRefusal } from '../http/problems.ts'
import { createLog } from '../log.ts'
import { listen } from './connections.ts'

it('outlives connections that the database ends, in the middle of whatever they do', async () => {
  const app = await testApp()
  const other = new pg.Client({ connectionString: app.databaseUrl })
  await other.connect()
  for (let round = 0; round < 20; round++) {
    const busy = Array.from({ length: 12 }, (_, at) =>
      app.platform.db
        .transaction()
        .execute(async (tx) => {
          await sql`select pg_sleep(${at / 400})`.execute(tx)
          await sql`select 1`.execute(tx)
        })
        .catch(() => undefined),
    )
    await wait(round)
    await other.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()')
    await Promise.all(busy)
  }
  await expect.poll(async () => (await app.http.inject('/readyz')).statusCode).toBe(200)
  // What is told and what is queued arrives again.
  const heard = new Promise((resolve) => {
    app.platform.bus.subscribe('again', resolve)
  })
  await expect.poll(() => app.platform.bus.publish(app.platform.db, 'again', 'yes').then(() => Promise.race([heard, 'not yet']))).toBe('yes')
  await other.end()
  await app.close()
})

it('tells what ended a transaction, and not that it could not be taken back', async () => {
  const app = await testApp()
  const other = new pg.Client({ connectionString: app.databaseUrl })
  await other.connect()
  const errors: unknown[] = []
  for (let round = 0; round < 3; round++) {
    await app.platform.db
      .transaction()
      .execute(async (tx) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
        await other.query('select pg_terminate_backend($1)', [rows[0]?.pid])
        // Whoever is in the middle of something else finds out with the next statement, or with the commit.
        if (round > 0) await wait(round * 20)
        await sql`select 1`.execute(tx)
      })
      .catch((error: unknown) => errors.push(error))
  }
  expect(errors.map((error) => toRefusal(error).refusal)).toEqual(['databaseUnavailable', 'databaseUnavailable', 'databaseUnavailable'])
  await other.end()
  await app.close()
})

it('listens again where the answer to `listen` and the end of the connection come in one piece', async () => {
  const database = await freshDatabase()
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  const terminate = () => admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'in one piece'`)
  let listened = 0
  const folder = new URL(database.url).searchParams.get('host') ?? ''
  const proxy = createServer((client) => {
    const server = dial(`${folder}/.s.PGSQL.5432`)
    const held: Buffer[] = []
    let holds = false
    client.on('data', (chunk) => {
      // The second connection's answer is kept back until its end is there as well.
      if (chunk.includes('listen "ear"')) holds = ++listened === 2
      server.write(chunk)
    })
    server.on('data', (chunk) => {
      if (!holds) return void client.write(chunk)
      if (held.push(chunk) === 1) void terminate()
    })
    server.on('end', () => client.end(Buffer.concat(held)))
    for (const socket of [client, server]) socket.on('error', () => undefined)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(database.url)
  url.search = ''
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const heard: string[] = []
  const listener = await listen(
    url.href,
    'in one piece',
    'ear',
    (message) => heard.push(message),
    () => undefined,
    createLog({ LOG_LEVEL: 'silent' }),
  )
  await terminate()
  // The second may still hear something that was said before its end.
  await expect.poll(() => listened).toBe(3)
  heard.length = 0
  await expect.poll(() => admin.query(`select pg_notify('ear', 'hello')`).then(() => heard)).toContain('hello')
  await listener.close()
  await admin.end()
  proxy.close()
  await database.drop()
})
