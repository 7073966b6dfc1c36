import { sql } from 'kysely'
import type { Tx } from '../../../platform/db/database.ts'

/**
 * Neutron takes the rules of a policy and the ports of a group as a whole, so that who reads them, changes them and
 * writes them back takes away what another wrote in between. Held until the transaction ends.
 * @param how `together`: beside others who say so, for what Neutron itself does in one step
 * @returns false where another is at it
 */
export async function holdFirewall(tx: Tx, id: string, how: 'alone' | 'together'): Promise<boolean> {
  const key = sql`hashtextextended('firewall ' || ${id}::text, 13)`
  const { rows } = await (
    how === 'alone'
      ? sql<{ held: boolean }>`select pg_try_advisory_xact_lock(${key}) as held`
      : sql<{ held: boolean }>`select pg_try_advisory_xact_lock_shared(${key}) as held`
  ).execute(tx)
  return rows[0]?.held === true
}
