import { sql } from 'kysely'
import type { Db } from './db/database.ts'

/** Runs what has the same key one after the other, and the rest side by side. Within this process. */
export function createOneAtATime() {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(key: string, run: () => Promise<T>): Promise<T> => {
    const before = last.get(key)
    const mine = before === undefined ? run() : before.then(run, run)
    last.set(key, mine)
    try {
      return await mine
    } finally {
      if (last.get(key) === mine) last.delete(key)
    }
  }
}

/**
 * The same on all servers: for what an engine itself does twice, or lets all through, where it is asked at once, and
 * of which nothing stands in rows that could be locked.
 *
 * Who waits here holds no connection of the database, who works holds one: what is worked on asks the engine only, as
 * with the last connection taken by those who work they would wait for each other.
 */
export function createOneAtATimeEverywhere(db: Db) {
  const here = createOneAtATime()
  return <T>(key: string, run: () => Promise<T>): Promise<T> =>
    here(key, () =>
      db.transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 13))`.execute(tx)
        return run()
      }),
    )
}
