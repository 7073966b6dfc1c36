import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { expect, it } from 'vitest'
import { testApp } from '../../testing/app.ts'

it('outlives connections that the database ends, in the middle of whatever they do', async () => {
  const app = await testApp()
  const other = new pg.Client({ connectionString: app.databaseUrl })
  await other.connect()
  for (let round = 0; round < 20; round++) {
    const busy = Array.from({ length: 12 }, (_, at) =>
      app.platform.db.transaction().execute(async (tx) => {
        await sql`select pg_sleep(${at / 400})`.execute(tx)
        await sql`select 1`.execute(tx)
      }).catch(() => undefined),
    )
    await wait(round)
    await other.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()')
    await Promise.all(busy)
  }
  await expect.poll(async () => (await app.http.inject('/readyz')).statusCode, { timeout: 10_000 }).toBe(200)
  // What is told and what is queued arrives again.
  const heard = new Promise((resolve) => {
    app.platform.bus.subscribe('again', resolve)
  })
  await expect.poll(() => app.platform.bus.publish(app.platform.db, 'again', 'yes').then(() => Promise.race([heard, 'not yet'])), { timeout: 10_000 }).toBe('yes')
  await other.end()
  await app.close()
}, 60_000)
