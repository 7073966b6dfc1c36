import { sql, type RawBuilder } from 'kysely'
import type { Scope } from '../auth/actor.ts'

/** The condition that a row is the scope's, by the column that names its organisation: the only way to tenant rows. */
export function within(scope: Scope, column: string): RawBuilder<boolean> {
  if ('everything' in scope) return sql<boolean>`true`
  return 'bp_id' in scope ? sql<boolean>`${sql.ref(column)} = ${scope.bp_id}` : sql<boolean>`false`
}

/** Whether somebody works in a project: as a member of it, or as who runs its organisation. @param projectBp the column of its organisation @param projectId that of its id */
export const worksIn = (
  { user_id, bp_id }: { readonly user_id: string; readonly bp_id: string | null },
  projectBp: string,
  projectId: string,
): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(projectBp)} = ${bp_id} and (
    exists (select from project_members where project_members.project_id = ${sql.ref(projectId)} and project_members.user_id = ${user_id})
    or exists (select from user_roles where user_roles.user_id = ${user_id} and user_roles.role = 'TENANT_ADMIN')))`
