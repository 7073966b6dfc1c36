import type { Selectable } from 'kysely'
import { rolesGiven, rolesWithBases } from '../../../platform/auth/held-roles.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { insertsInto, rowsOf } from '../../../platform/db/rows.ts'
import type { SessionTable } from '../ums.migrations.ts'

export type SessionRow = Selectable<SessionTable>

export const { insert: insertSession, remove: deleteSession } = rowsOf('sessions')

export const insertAccessToken = insertsInto('access_tokens')

/** Who may act by a session; nobody where they may not sign in, or their organisation is frozen. */
const actorsOf = (on: Sql) =>
  on
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .leftJoin('organisations', 'organisations.id', 'users.bp_id')
    .select([
      'sessions.id as session_id',
      'sessions.created_at as session_since',
      'sessions.authenticated_by',
      'sessions.second_factor_at',
      'users.id as user_id',
      'users.name',
      'users.kind',
      'users.bp_id',
      'users.must_change_password',
    ])
    .select([rolesGiven('users.id').as('built_in_roles'), rolesWithBases('users.id').as('roles')])
    .where('users.deleted_at', 'is', null)
    .where('users.status', '=', 'active')
    .where((where) => where.or([where('users.bp_id', 'is', null), where('organisations.status', '=', 'active')]))

/** Somebody by themselves, without a session, for what they asked for earlier; nobody on the same terms. */
export const findPerson = (on: Sql, userId: string) =>
  on
    .selectFrom('users')
    .leftJoin('organisations', 'organisations.id', 'users.bp_id')
    .select(['users.id as user_id', 'users.name', 'users.kind', 'users.bp_id', 'users.must_change_password'])
    .select([rolesGiven('users.id').as('built_in_roles'), rolesWithBases('users.id').as('roles')])
    .where('users.id', '=', userId)
    .where('users.deleted_at', 'is', null)
    .where('users.status', '=', 'active')
    .where((where) => where.or([where('users.bp_id', 'is', null), where('organisations.status', '=', 'active')]))
    .executeTakeFirst()

/** Whom an access token stands for; nothing for ended sessions, users who may not sign in, frozen organisations. */
export const findActor = (on: Sql, accessHash: Buffer, now: Date) =>
  actorsOf(on)
    .innerJoin('access_tokens', 'access_tokens.session_id', 'sessions.id')
    .select('access_tokens.expires_at')
    .where('access_tokens.hash', '=', accessHash)
    .where('access_tokens.expires_at', '>', now)
    .executeTakeFirst()

/** The same by the session itself. */
export const findActorOfSession = (on: Sql, id: string, now: Date) =>
  actorsOf(on).where('sessions.id', '=', id).where('sessions.ends_at', '>', now).where('sessions.refresh_expires_at', '>', now).executeTakeFirst()
export type ActorRow = NonNullable<Awaited<ReturnType<typeof findActorOfSession>>>

/** The session that a refresh token belongs to, whether in force or not; held until the transaction ends. */
export const lockByFamily = (tx: Tx, familyHash: Buffer): Promise<SessionRow | undefined> =>
  tx.selectFrom('sessions').selectAll().where('family_hash', '=', familyHash).forUpdate().executeTakeFirst()

export const rotateRefresh = async (
  tx: Tx,
  id: string,
  changes: Pick<SessionRow, 'refresh_hash' | 'refresh_expires_at' | 'previous_refresh_hash' | 'rotated_at'>,
): Promise<void> => {
  await tx.updateTable('sessions').set(changes).where('id', '=', id).execute()
}

/** One of a user's. @returns whether there was it */
export const deleteSessionOf = async (on: Sql, userId: string, id: string): Promise<boolean> =>
  (await on.deleteFrom('sessions').where('id', '=', id).where('user_id', '=', userId).executeTakeFirst()).numDeletedRows > 0n

/** All of a user's, or all but one. Tells which. */
export const deleteSessionsOf = async (on: Sql, userId: string, except: string | null): Promise<string[]> => {
  const all = on.deleteFrom('sessions').where('user_id', '=', userId).returning('id')
  const rows = await (except === null ? all : all.where('id', '<>', except)).execute()
  return rows.map(({ id }) => id)
}

export const deleteSessionsOfOrganisation = async (on: Sql, bpId: string): Promise<string[]> =>
  (
    await on
      .deleteFrom('sessions')
      .where('user_id', 'in', (select) => select.selectFrom('users').select('id').where('bp_id', '=', bpId))
      .returning('id')
      .execute()
  ).map(({ id }) => id)

export const deleteExpired = async (on: Sql, now: Date): Promise<void> => {
  await on.deleteFrom('access_tokens').where('expires_at', '<', now).execute()
  await on.deleteFrom('sessions').where('refresh_expires_at', '<', now).execute()
}
