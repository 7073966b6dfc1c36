import { sql } from 'kysely'
import type { TestApp } from './app.ts'

/**
 * How many statements wait for a lock that somebody else holds: what a test polls until those that it wants to meet do.
 * @param patterns of `ilike`; only statements that one of them fits are counted
 */
export async function waitingForLocks(app: Pick<TestApp, 'platform'>, ...patterns: string[]): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query ilike any (${patterns.length === 0 ? ['%'] : patterns})
  `.execute(app.platform.db)
  return rows.length
}
