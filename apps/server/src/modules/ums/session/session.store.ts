import { sql, type Insertable, type Selectable } from 'kysely'
import type { Role } from '@zhisuan/contract/roles'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import type { SessionTable } from '../ums.migrations.ts'

export type SessionRow = Selectable<SessionTable>

export const insertSession = async (on: Sql, row: Insertable<SessionTable>): Promise<void> => {
  await on.insertInto('sessions').values(row).execute()
}

/** The session of an access token with whom it stands for; nothing for ended ones, disabled users, frozen organisations. */
export const findActor = (on: Sql, accessHash: Buffer, now: Date) =>
  on
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .leftJoin('organisations', 'organisations.id', 'users.bp_id')
    .select(['sessions.id as session_id', 'sessions.access_expires_at', 'users.id as user_id', 'users.name', 'users.kind', 'users.bp_id', 'users.must_change_password'])
    .select((select) =>
      select
        .selectFrom('user_roles')
        .select(sql<Role[]>`coalesce(array_agg(role), '{}')`.as('roles'))
        .whereRef('user_roles.user_id', '=', 'users.id')
        .as('roles'),
    )
    .where('sessions.access_hash', '=', accessHash)
    .where('sessions.access_expires_at', '>', now)
    .where('users.deleted_at', 'is', null)
    .where('users.status', '=', 'active')
    .where((where) => where.or([where('organisations.status', 'is', null), where('organisations.status', '=', 'active')]))
    .executeTakeFirst()

/** By the refresh token in force or the one before it; held until the transaction ends. */
export const lockByRefresh = (tx: Tx, hash: Buffer): Promise<SessionRow | undefined> =>
  tx
    .selectFrom('sessions')
    .selectAll()
    .where((where) => where.or([where('refresh_hash', '=', hash), where('previous_refresh_hash', '=', hash)]))
    .forUpdate()
    .executeTakeFirst()

export const rotate = async (
  tx: Tx,
  id: string,
  changes: Partial<Pick<SessionRow, 'access_hash' | 'access_expires_at' | 'refresh_hash' | 'refresh_expires_at' | 'previous_refresh_hash' | 'rotated_at'>>,
): Promise<void> => {
  await tx.updateTable('sessions').set(changes).where('id', '=', id).execute()
}

export const deleteSession = async (on: Sql, id: string): Promise<void> => {
  await on.deleteFrom('sessions').where('id', '=', id).execute()
}

export const deleteSessionsOf = async (on: Sql, userId: string, except: string | null): Promise<void> => {
  await on
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .$if(except !== null, (q) => q.where('id', '<>', except ?? ''))
    .execute()
}

export const deleteEnded = async (on: Sql, now: Date): Promise<void> => {
  await on.deleteFrom('sessions').where('refresh_expires_at', '<', now).execute()
}
