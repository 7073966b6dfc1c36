import { sql } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { within } from '../../../platform/db/scope.ts'
import { rolesOf, type UserRow } from './user.store.ts'

/** Somebody whom the scope shows, held against other changes until the transaction ends. */
export const lockKept = (tx: Tx, scope: Scope, id: string): Promise<UserRow | undefined> =>
  tx.selectFrom('users').selectAll().where('id', '=', id).where('deleted_at', 'is', null).where(within(scope, 'users.bp_id')).forUpdate().executeTakeFirst()

export const isKept = async (on: Sql, scope: Scope, id: string): Promise<boolean> =>
  (await on.selectFrom('users').select('id').where('id', '=', id).where('deleted_at', 'is', null).where(within(scope, 'users.bp_id')).executeTakeFirst()) !==
  undefined

/** What stands beside a user: what they belong to, and what bounds them. */
export async function belongings(on: Sql, id: string) {
  const roles = await on
    .selectFrom('role_members')
    .innerJoin('roles', 'roles.id', 'role_members.role_id')
    .select(['roles.id', 'roles.name'])
    .where('role_members.user_id', '=', id)
    .orderBy('roles.name')
    .execute()
  const projects = await on
    .selectFrom('project_members')
    .innerJoin('projects', 'projects.id', 'project_members.project_id')
    .select(['projects.id', 'projects.name'])
    .where('project_members.user_id', '=', id)
    .orderBy('projects.name')
    .execute()
  const boundary = await on
    .selectFrom('policy_boundaries')
    .innerJoin('policies', 'policies.id', 'policy_boundaries.policy_id')
    .select(['policies.id', 'policies.name'])
    .where('policy_boundaries.user_id', '=', id)
    .executeTakeFirst()
  return { built_in_roles: await rolesOf(on, id), custom_roles: roles, projects, boundary: boundary ?? null }
}

/** Newest first. */
export const sessionsOf = (on: Sql, userId: string, now: Date) =>
  on
    .selectFrom('sessions')
    .select(['id', 'ip', 'user_agent', 'created_at', 'rotated_at', sql<Date>`least(refresh_expires_at, ends_at)`.as('expires_at')])
    .where('user_id', '=', userId)
    .where('refresh_expires_at', '>', now)
    .orderBy('rotated_at', 'desc')
    .execute()

export const defaultProject = async (on: Sql, bpId: string): Promise<string | undefined> =>
  (await on.selectFrom('projects').select('id').where('bp_id', '=', bpId).orderBy('created_at').limit(1).executeTakeFirst())?.id
