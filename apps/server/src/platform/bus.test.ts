import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { freshDatabase } from '../testing/database.ts'
import { openBus, type Bus } from './bus.ts'
import { openDatabase, type Database } from './db/database.ts'
import { createLog } from './log.ts'

const log = createLog({ LOG_LEVEL: 'silent' })
let fresh: { url: string; drop(): Promise<void> }
let database: Database
let here: Bus
let there: Bus
beforeEach(async () => {
  fresh = await freshDatabase()
  database = openDatabase(fresh.url, { poolSize: 2, log })
  here = await openBus(fresh.url, log)
  there = await openBus(fresh.url, log)
})
afterEach(async () => {
  await here.close()
  await there.close()
  await database.close()
  await fresh.drop()
})

const heardBy = (bus: Bus, topic: string): string[] => {
  const heard: string[] = []
  bus.subscribe(topic, (payload) => heard.push(payload))
  return heard
}
const becomes = (heard: string[], wanted: string[]) => vi.waitFor(() => expect(heard).toEqual(wanted), { interval: 10 })

describe('a message', () => {
  it('reaches every server, in order, under its topic, with whatever is in it', async () => {
    const [mine, theirs, other] = [heardBy(here, 'cloud'), heardBy(there, 'cloud'), heardBy(there, 'user')]
    for (const payload of ['1', 'two words', '', '引号 "\'']) await here.publish(database.db, 'cloud', payload)
    await there.publish(database.db, 'user', 'last')
    await becomes(other, ['last'])
    await becomes(mine, ['1', 'two words', '', '引号 "\''])
    await becomes(theirs, ['1', 'two words', '', '引号 "\''])
  })

  it('is told when its transaction commits, and not when it is taken back', async () => {
    const heard = heardBy(there, 'cloud')
    await expect(
      database.db.transaction().execute(async (tx) => {
        await here.publish(tx, 'cloud', 'taken back')
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await database.db.transaction().execute(async (tx) => {
      await here.publish(tx, 'cloud', 'kept')
      await sql`select 1`.execute(tx)
      expect(heard).toEqual([])
    })
    await becomes(heard, ['kept'])
  })

  it('is not told to who does not listen any more', async () => {
    const heard: string[] = []
    const leave = there.subscribe('cloud', (payload) => heard.push(payload))
    const others = heardBy(there, 'cloud')
    await here.publish(database.db, 'cloud', 'first')
    await becomes(heard, ['first'])
    leave()
    await here.publish(database.db, 'cloud', 'second')
    await becomes(others, ['first', 'second'])
    expect(heard).toEqual(['first'])
  })
})

describe('everyone is told', () => {
  it('once each server has acted on what was published before', async () => {
    const heard = heardBy(there, 'cloud')
    for (let time = 0; time < 50; time++) {
      await here.publish(database.db, 'cloud', String(time))
      await here.everyoneTold(database.db)
      expect(heard.at(-1)).toBe(String(time))
    }
  })

  it('without those that are gone, or go meanwhile', async () => {
    const third = await openBus(fresh.url, log)
    const leaving = third.close()
    await here.everyoneTold(database.db)
    await leaving
    await here.everyoneTold(database.db)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'zhisuan-bus' and datname = current_database()`.execute(
      database.db,
    )
    await here.everyoneTold(database.db)
    await vi.waitFor(() => expect([here.isListening(), there.isListening()]).toEqual([true, true]), { interval: 10 })
  })
})

describe('a connection that is lost', () => {
  it('is told as a gap, and messages come again after it', async () => {
    let gaps = 0
    const heard: string[] = []
    there.subscribe(
      'cloud',
      (payload) => heard.push(payload),
      () => gaps++,
    )
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'zhisuan-bus' and datname = current_database()`.execute(
      database.db,
    )
    // Once when it goes, and once when it is back.
    await vi.waitFor(() => expect(gaps).toBe(2), { interval: 10 })
    await here.publish(database.db, 'cloud', 'again')
    await becomes(heard, ['again'])
  })
})
