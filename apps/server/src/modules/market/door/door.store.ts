import type { Db } from '../../../platform/db/database.ts'
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
