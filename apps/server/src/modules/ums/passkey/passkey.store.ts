import { sql, type Generated, type Insertable, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { insertsInto } from '../../../platform/db/rows.ts'

interface PasskeyTable {
  id: string
  user_id: string
  /** base64url, as the authenticator chose it. */
  credential_id: string
  /** COSE. */
  public_key: Buffer
  /** How often it signed, where it counts at all: many say 0 always. */
  counter: number
  synced: boolean
  name: string
  created_at: Generated<Date>
  last_used_at: Date | null
}
interface PasskeyChallengeTable {
  challenge: string
  /** Whom a passkey is made for; null for one to sign in. */
  user_id: string | null
  expires_at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    passkeys: PasskeyTable
    passkey_challenges: PasskeyChallengeTable
  }
}
export type PasskeyRow = Selectable<PasskeyTable>

export const passkeyMigrations: Migrations = {
  '20261123_00_61_passkeys': migration(`
    create table passkeys (
      id uuid primary key,
      user_id uuid not null references users on delete cascade,
      credential_id text not null,
      public_key bytea not null,
      counter bigint not null,
      synced boolean not null,
      name text not null,
      created_at timestamptz not null default now(),
      last_used_at timestamptz
    );
    create unique index passkeys_credential on passkeys (credential_id);
    create index passkeys_user on passkeys (user_id, created_at);
    create table passkey_challenges (
      challenge text primary key,
      user_id uuid references users on delete cascade,
      expires_at timestamptz not null
    );
    create index passkey_challenges_expiry on passkey_challenges (expires_at);
  `),
}

export const credentialIndex = 'passkeys_credential'

export const keepChallenge = insertsInto('passkey_challenges')

/** Each is good once, for what it was asked for, on whichever server. */
export const useChallenge = async (on: Sql, challenge: string, userId: string | null, now: Date): Promise<boolean> =>
  (
    await on
      .deleteFrom('passkey_challenges')
      .where('challenge', '=', challenge)
      .where('user_id', userId === null ? 'is' : '=', userId)
      .where('expires_at', '>', now)
      .executeTakeFirst()
  ).numDeletedRows > 0n

export const deleteChallengesBefore = async (on: Sql, now: Date): Promise<void> => {
  await on.deleteFrom('passkey_challenges').where('expires_at', '<', now).execute()
}

export const passkeysOf = (on: Sql, userId: string): Promise<PasskeyRow[]> =>
  on.selectFrom('passkeys').selectAll().where('user_id', '=', userId).orderBy('created_at').orderBy('id').execute()

export const findByCredential = (on: Sql, credentialId: string): Promise<PasskeyRow | undefined> =>
  on.selectFrom('passkeys').selectAll().where('credential_id', '=', credentialId).executeTakeFirst()

export const insertPasskey = (tx: Tx, row: Insertable<PasskeyTable>): Promise<PasskeyRow> =>
  tx.insertInto('passkeys').values(row).returningAll().executeTakeFirstOrThrow()

export const renamePasskey = (on: Sql, userId: string, id: string, name: string): Promise<PasskeyRow | undefined> =>
  on.updateTable('passkeys').set({ name }).where('id', '=', id).where('user_id', '=', userId).returningAll().executeTakeFirst()

export const deletePasskey = async (on: Sql, userId: string, id: string): Promise<boolean> =>
  (await on.deleteFrom('passkeys').where('id', '=', id).where('user_id', '=', userId).executeTakeFirst()).numDeletedRows > 0n

export const deletePasskeysOf = async (on: Sql, userId: string): Promise<void> => {
  await on.deleteFrom('passkeys').where('user_id', '=', userId).execute()
}

/** A counter goes up, or stays at the 0 of those that do not count. @returns false where it did neither */
export const recordUse = async (tx: Tx, id: string, counter: number, at: Date): Promise<boolean> =>
  (
    await tx
      .updateTable('passkeys')
      .set({ counter, last_used_at: at })
      .where('id', '=', id)
      .where((where) => where.or([where('counter', '<', counter), where.and([where('counter', '=', 0), where(sql.val(counter), '=', 0)])]))
      .executeTakeFirst()
  ).numUpdatedRows > 0n
