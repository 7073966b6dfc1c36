import type { QueryOf } from '@zhisuan/contract/define'
import type { customRoles } from '@zhisuan/contract/iam/role'
import { sql, type RawBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

type Calls = typeof customRoles

/** Unique within an organisation, see migrations. */
export const roleNameIndex = 'roles_name'

/** One's own, the built-in ones and those of the system; the platform's others are for the platform's own people. */
const sees = (scope: Scope): RawBuilder<boolean> =>
  'nothing' in scope ? sql<boolean>`false` : sql<boolean>`(roles.built_in or roles.system_key is not null or ${within(scope, 'roles.bp_id')})`

/** Of a built-in role those who were given it as such. */
const holds = sql<boolean>`(case when roles.built_in
  then exists (select from user_roles where user_roles.user_id = users.id and user_roles.role = roles.name)
  else exists (select from role_members where role_members.user_id = users.id and role_members.role_id = roles.id) end)`

const shown = (on: Sql, scope: Scope) =>
  on
    .selectFrom('roles')
    .leftJoin('organisations', 'organisations.id', 'roles.bp_id')
    .where(sees(scope))
    .selectAll('roles')
    .select([
      'organisations.name as bp_name',
      sql<number>`(case when roles.built_in
        then (select count(*) from user_roles join users on users.id = user_roles.user_id where user_roles.role = roles.name and users.deleted_at is null and ${within(scope, 'users.bp_id')})
        else (select count(*) from role_members join users on users.id = role_members.user_id where role_members.role_id = roles.id and users.deleted_at is null and ${within(scope, 'users.bp_id')}) end)`.as(
        'member_count',
      ),
      sql<number>`(select count(*) from policy_grants where policy_grants.role_id = roles.id)`.as('policy_count'),
    ])

export type ShownRole = NonNullable<Awaited<ReturnType<typeof getRole>>>

export async function listRoles(on: Sql, scope: Scope, query: QueryOf<Calls['list']>) {
  const all = shown(on, scope)
    .$if(query.built_in !== undefined, (q) => q.where('roles.built_in', '=', query.built_in === 'true'))
    .$if(query.kind === 'builtIn', (q) => q.where('roles.built_in', '=', true))
    .$if(query.kind === 'system', (q) => q.where('roles.system_key', 'is not', null))
    .$if(query.kind === 'custom', (q) => q.where('roles.built_in', '=', false).where('roles.system_key', 'is', null))
    .where(asked(query, 'roles', 'bp_id'))
    .where(matching(query.keyword, 'roles.search'))
  const ordered = query.sort === undefined ? all.orderBy('roles.built_in').orderBy(sql`roles.system_key is not null`) : all
  return pageWithTotal(paged(ordered, query, orderOf('roles', 'created_at', 'name', 'created_at')), all, query)
}

export const getRole = (on: Sql, scope: Scope, id: string) => shown(on, scope).where('roles.id', '=', id).executeTakeFirst()

/** Held against all who give it, take it or delete it. */
export const lockRole = (tx: Tx, scope: Scope, id: string) =>
  tx.selectFrom('roles').selectAll().where('id', '=', id).where(sees(scope)).forUpdate().executeTakeFirst()

export const { insert: insertRole, update: updateRole, remove: deleteRole } = rowsOf('roles', 'updated_at')
export const hasMembers = async (on: Sql, id: string): Promise<boolean> =>
  (await on
    .selectFrom('role_members')
    .innerJoin('users', 'users.id', 'role_members.user_id')
    .select('user_id')
    .where('role_id', '=', id)
    .where('users.deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()) !== undefined

export async function listMembers(on: Sql, scope: Scope, roleId: string, query: QueryOf<Calls['members']>) {
  const all = on
    .selectFrom('users')
    .innerJoin('roles', (join) => join.on('roles.id', '=', roleId))
    .leftJoin('organisations', 'organisations.id', 'users.bp_id')
    .where('users.deleted_at', 'is', null)
    .where(within(scope, 'users.bp_id'))
    .where(holds)
    .select(['users.id', 'users.name', 'users.nickname', 'users.kind', 'users.bp_id', 'organisations.name as bp_name'])
    .where(matching(query.keyword, 'users.name'))
  return pageWithTotal(paged(all, query, orderOf('users', 'name', 'name')), all, query)
}

/** Of somebody new, to roles that are not built in. */
export async function insertMembers(tx: Tx, userId: string, roleIds: readonly string[]): Promise<void> {
  if (roleIds.length === 0) return
  await tx
    .insertInto('role_members')
    .values([...new Set(roleIds)].map((role_id) => ({ role_id, user_id: userId })))
    .execute()
}

/** Built-in ones and others stand in tables of their own. @returns whether they did not have it yet */
export async function addMember(tx: Tx, role: Pick<ShownRole, 'id' | 'built_in' | 'base'>, userId: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = role.built_in
    ? await tx
        .insertInto('user_roles')
        .values({ user_id: userId, role: role.base })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
    : await tx
        .insertInto('role_members')
        .values({ user_id: userId, role_id: role.id })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
  return numInsertedOrUpdatedRows !== 0n
}

/** @returns whether they had it */
export async function removeMember(tx: Tx, role: Pick<ShownRole, 'id' | 'built_in' | 'base'>, userId: string): Promise<boolean> {
  const { numDeletedRows } = role.built_in
    ? await tx.deleteFrom('user_roles').where('user_id', '=', userId).where('role', '=', role.base).executeTakeFirst()
    : await tx.deleteFrom('role_members').where('user_id', '=', userId).where('role_id', '=', role.id).executeTakeFirst()
  return numDeletedRows > 0n
}

export const roleCount = async (tx: Tx, userId: string): Promise<number> => {
  const { count } = await tx
    .selectNoFrom(
      sql<number>`(select count(*) from user_roles where user_id = ${userId}) + (select count(*) from role_members where user_id = ${userId})`.as('count'),
    )
    .executeTakeFirstOrThrow()
  return count
}
