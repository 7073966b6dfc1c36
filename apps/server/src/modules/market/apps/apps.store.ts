import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'

/** Once each; what is older than a ticket lives is forgotten. */
export async function spendTicket(db: Db, id: string): Promise<boolean> {
  await sql`delete from market_tickets where spent_at < now() - interval '10 minutes'`.execute(db)
  const spent = await db
    .insertInto('market_tickets')
    .values({ id })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute()
  return spent.length === 1
}
