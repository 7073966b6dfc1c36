import { sql } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { rolesGiven, rolesWithBases } from '../../../platform/auth/held-roles.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { counted } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'

const present = (on: Sql, scope: Scope) => on.selectFrom('users').where('users.deleted_at', 'is', null).where(within(scope, 'users.bp_id'))

/** Somebody whom the scope shows, held against other changes of what they may do. */
export const lockPerson = (tx: Tx, scope: Scope, id: string) =>
  present(tx, scope).select(['id', 'bp_id', 'kind', 'name']).where('users.id', '=', id).forUpdate().executeTakeFirst()

/** As decisions need to know them. */
export const personOf = (on: Sql, scope: Scope) =>
  present(on, scope)
    .leftJoin('organisations', 'organisations.id', 'users.bp_id')
    .select(['users.id as user_id', 'users.name', 'users.nickname', 'users.kind', 'users.bp_id', 'organisations.name as bp_name'])
    .select(sql<boolean>`(users.status = 'active' and coalesce(organisations.status, 'active') = 'active')`.as('is_active'))
    .select([rolesGiven('users.id').as('built_in_roles'), rolesWithBases('users.id').as('roles')])

/**
 * How many others may sign in and keep an organisation. What a role of the system allows is never all of it: who has only
 * such a one cannot make another administrator. Held, one change at a time, so that of two who end each
 * other's rights one is second.
 */
export async function keepersBeside(tx: Tx, bpId: string, userId: string): Promise<number> {
  await tx.selectFrom('organisations').select('id').where('id', '=', bpId).forNoKeyUpdate().execute()
  return counted(
    tx
      .selectFrom('users')
      .where('bp_id', '=', bpId)
      .where('id', '<>', userId)
      .where('status', '=', 'active')
      .where('deleted_at', 'is', null)
      .where(
        sql<boolean>`id in (select user_id from user_roles where role = 'TENANT_ADMIN'
          union select role_members.user_id from role_members join roles on roles.id = role_members.role_id where roles.base = 'TENANT_ADMIN' and roles.system_key is null)`,
      ),
  )
}
