import { sql, type Insertable, type Selectable } from 'kysely'
import type { Sql, Tables, Tx } from '../../../platform/db/database.ts'
import { insertsInto } from '../../../platform/db/rows.ts'
import type { IdentityRow } from './provider.store.ts'

export const insertFlow = insertsInto('sign_on_flows')
/** A state is good once, for the browser that it was given to and the provider that it was sent to, on whichever server. */
export const takeFlow = (
  on: Sql,
  of: { state: Buffer; browser: Buffer; provider: string },
  now: Date,
): Promise<Selectable<Tables['sign_on_flows']> | undefined> =>
  on
    .deleteFrom('sign_on_flows')
    .where('state_hash', '=', of.state)
    .where('browser_hash', '=', of.browser)
    .where('provider_id', '=', of.provider)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()

export const insertSignOn = insertsInto('sign_ons')
export const findSignOn = (on: Sql, ticket: Buffer, now: Date) =>
  on
    .selectFrom('sign_ons')
    .innerJoin('identities', 'identities.id', 'sign_ons.identity_id')
    .innerJoin('identity_providers', 'identity_providers.id', 'identities.provider_id')
    .select(['sign_ons.second', 'sign_ons.id_token', 'sign_ons.identity_id', 'identities.user_id', 'identities.provider_id', 'identity_providers.enabled'])
    .where('ticket_hash', '=', ticket)
    .where('expires_at', '>', now)
    .executeTakeFirst()
/** Good once. */
export const spendSignOn = async (tx: Tx, ticket: Buffer): Promise<boolean> =>
  (await tx.deleteFrom('sign_ons').where('ticket_hash', '=', ticket).executeTakeFirst()).numDeletedRows > 0n

export const deleteSignOnsBefore = async (on: Sql, now: Date): Promise<void> => {
  await on.deleteFrom('sign_on_flows').where('expires_at', '<', now).execute()
  await on.deleteFrom('sign_ons').where('expires_at', '<', now).execute()
}

/** Those who come as the same account are led one after the other, until the transaction ends. */
export const lockSubject = async (tx: Tx, providerId: string, subject: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`sign-on ${providerId} ${subject}`}, 0))`.execute(tx)
}
export const findIdentity = (on: Sql, providerId: string, subject: string): Promise<IdentityRow | undefined> =>
  on.selectFrom('identities').selectAll().where('provider_id', '=', providerId).where('subject', '=', subject).executeTakeFirst()
export const insertIdentity = (tx: Tx, row: Insertable<Tables['identities']>): Promise<IdentityRow> =>
  tx.insertInto('identities').values(row).returningAll().executeTakeFirstOrThrow()
export const renameIdentity = async (tx: Tx, id: string, account: string): Promise<void> => {
  await tx.updateTable('identities').set({ account }).where('id', '=', id).execute()
}
export const recordIdentityUse = async (tx: Tx, id: string, at: Date): Promise<void> => {
  await tx.updateTable('identities').set({ last_used_at: at }).where('id', '=', id).execute()
}
export const deleteIdentity = async (tx: Tx, userId: string, id: string): Promise<boolean> =>
  (await tx.deleteFrom('identities').where('id', '=', id).where('user_id', '=', userId).executeTakeFirst()).numDeletedRows > 0n
export const identitiesOf = (on: Sql, userId: string) =>
  on
    .selectFrom('identities')
    .innerJoin('identity_providers', 'identity_providers.id', 'identities.provider_id')
    .selectAll('identities')
    .select('identity_providers.name as provider_name')
    .where('user_id', '=', userId)
    .orderBy('identities.created_at')
    .execute()

/** For signing out there with the session of this token. */
export const keepSessionOf = async (tx: Tx, accessHash: Buffer, of: { provider_id: string; id_token: (sessionId: string) => string }): Promise<void> => {
  const { session_id } = await tx.selectFrom('access_tokens').select('session_id').where('hash', '=', accessHash).executeTakeFirstOrThrow()
  await tx
    .insertInto('sign_on_sessions')
    .values({ session_id, provider_id: of.provider_id, id_token: of.id_token(session_id) })
    .execute()
}
export const findSession = (on: Sql, sessionId: string) => on.selectFrom('sign_on_sessions').selectAll().where('session_id', '=', sessionId).executeTakeFirst()

export const organisationOf = (on: Sql, id: string) => on.selectFrom('organisations').select(['id', 'status']).where('id', '=', id).executeTakeFirst()
