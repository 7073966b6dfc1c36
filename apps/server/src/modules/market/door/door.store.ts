import type { Db, Sql } from '../../../platform/db/database.ts'
import type { Secrets } from '../../../platform/secrets.ts'

const place = 'market_door'

/** The door's own key, made at the first start; of servers that start at once one makes it. As OpenSSH keeps it. */
export async function readDoorKey(db: Db, secrets: Secrets, make: () => string): Promise<string> {
  await db
    .insertInto('market_door')
    .values({ one: true, sealed: secrets.seal(make(), place) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return secrets.open((await db.selectFrom('market_door').select('sealed').executeTakeFirstOrThrow()).sealed, place)
}

/** What somebody asks for by its name; only what runs has an inside. */
export const rentalAtDoor = (on: Sql, id: string): Promise<{ bp_id: string; container_id: string | null } | undefined> =>
  on.selectFrom('market_rentals').select(['bp_id', 'container_id']).where('id', '=', id).where('status', '=', 'running').executeTakeFirst()
