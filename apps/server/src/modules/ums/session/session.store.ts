import type { Role } from '@zhisuan/contract/roles'
import { sql, type Insertable, type Selectable } from 'kysely'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import type { SessionTable } from '../ums.migrations.ts'

export type SessionRow = Selectable<SessionTable>

export const insertSession = async (on: Sql, row: Insertable<SessionTable>): Promise<void> => {
  await on.insertInto('sessions').values(row).execute()
}

export const insertAccessToken = async (on: Sql, token: { hash: Buffer; session_id: string; expires_at: Date }): Promise<void> => {
  await on.insertInto('access_tokens').values(token).execute()
}

/** Whom an access token stands for; nothing for ended sessions, users who may not sign in, frozen organisations. */
export const findActor = (on: Sql, accessHash: Buffer, now: Date) =>
  on
    .selectFrom('access_tokens')
    .innerJoin('sessions', 'sessions.id', 'access_tokens.session_id')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .leftJoin('organisations', 'organisations.id', 'users.bp_id')
    .select(['access_tokens.expires_at', 'access_tokens.session_id', 'users.id as user_id', 'users.name', 'users.kind', 'users.bp_id', 'users.must_change_password'])
    .select((select) =>
      select
        .selectFrom('user_roles')
        .select(sql<Role[]>`coalesce(array_agg(role order by role), '{}')`.as('roles'))
        .whereRef('user_roles.user_id', '=', 'users.id')
        .as('roles'),
    )
    .where('access_tokens.hash', '=', accessHash)
    .where('access_tokens.expires_at', '>', now)
    .where('users.deleted_at', 'is', null)
    .where('users.status', '=', 'active')
    .where((where) => where.or([where('users.bp_id', 'is', null), where('organisations.status', '=', 'active')]))
    .executeTakeFirst()

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

export const deleteSession = async (on: Sql, id: string): Promise<void> => {
  await on.deleteFrom('sessions').where('id', '=', id).execute()
}

/** All of a user's, or all but one. Tells which. */
export const deleteSessionsOf = async (on: Sql, userId: string, except: string | null): Promise<string[]> => {
  const all = on.deleteFrom('sessions').where('user_id', '=', userId).returning('id')
  const rows = await (except === null ? all : all.where('id', '<>', except)).execute()
  return rows.map(({ id }) => id)
}

export const deleteExpired = async (on: Sql, now: Date): Promise<void> => {
  await on.deleteFrom('access_tokens').where('expires_at', '<', now).execute()
  await on.deleteFrom('sessions').where('refresh_expires_at', '<', now).execute()
}
