import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'

/** Does what nobody else may do at once with the same thing of a cloud. */
export type Alone = <T>(what: string, work: () => Promise<T>) => Promise<T>

/**
 * One after the other for each thing, on all servers: for what a cloud itself does twice, or lets all through, where
 * it is asked at once. A lock of the database, as of this cloud nothing stands in rows that could be locked.
 *
 * Who waits here holds no connection of the database, who works holds one: what is worked on asks the cloud only, as
 * with the last connection taken by those who work they would wait for each other.
 */
export function createAlone(db: Db): Alone {
  const last = new Map<string, Promise<unknown>>()
  return async (what, work) => {
    const held = () =>
      db.transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(hashtextextended(${what}, 13))`.execute(tx)
        return work()
      })
    const mine = (last.get(what) ?? Promise.resolve()).then(held, held)
    last.set(what, mine)
    try {
      return await mine
    } finally {
      if (last.get(what) === mine) last.delete(what)
    }
  }
}
