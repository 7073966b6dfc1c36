import { migration, type Db, type Migrations } from '../../../platform/db/database.ts'
import type { Secrets } from '../../../platform/secrets.ts'

interface EdgeIdentityTable {
  one: boolean
  /** The private key that agents know their server by, sealed. */
  sealed: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    edge_identity: EdgeIdentityTable
  }
}

export const identityMigrations: Migrations = {
  '20261123_00_32_edge_identity': migration('create table edge_identity (one boolean primary key check (one), sealed text not null)'),
}

const place = 'edge_identity'

/** The platform's key for agents, made at the first start; of servers that start at once one makes it. PEM. */
export async function readIdentity(db: Db, secrets: Secrets, make: () => string): Promise<string> {
  await db
    .insertInto('edge_identity')
    .values({ one: true, sealed: secrets.seal(make(), place) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return secrets.open((await db.selectFrom('edge_identity').select('sealed').executeTakeFirstOrThrow()).sealed, place)
}
