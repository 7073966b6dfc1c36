import type { QueryOf } from '@zhisuan/contract/define'
import type { keptProjects } from '@zhisuan/contract/iam/project'
import { sql } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

type Calls = typeof keptProjects

/** Unique within an organisation, as PostgreSQL named them. */
export const projectIndexes = { name: 'projects_bp_id_name_key', key: 'projects_bp_id_key_key' } as const

const shown = (on: Sql, scope: Scope) =>
  on
    .selectFrom('projects')
    .leftJoin('organisations', 'organisations.id', 'projects.bp_id')
    .where(within(scope, 'projects.bp_id'))
    .selectAll('projects')
    .select([
      'organisations.name as bp_name',
      sql<number>`(select count(*) from project_members join users on users.id = project_members.user_id where project_members.project_id = projects.id and users.deleted_at is null)`.as(
        'member_count',
      ),
    ])

export type ShownProject = NonNullable<Awaited<ReturnType<typeof getProject>>>

export async function listProjects(on: Sql, scope: Scope, query: QueryOf<Calls['list']>) {
  const all = shown(on, scope)
    .where(asked(query, 'projects', 'bp_id'))
    .where(matching(query.keyword, 'projects.name', 'projects.key'))
  return pageWithTotal(paged(all, query, orderOf('projects', '-created_at', 'name', 'key', 'created_at')), all, query)
}

export const getProject = (on: Sql, scope: Scope, id: string) => shown(on, scope).where('projects.id', '=', id).executeTakeFirst()

/** Locked against others who change it or who is in it. */
export const { insert: insertProject, update: updateProject, remove: deleteProject, lock: lockProject } = rowsOf('projects')

export async function listMembers(on: Sql, id: string, query: QueryOf<Calls['members']>) {
  const all = on
    .selectFrom('project_members')
    .innerJoin('users', 'users.id', 'project_members.user_id')
    .leftJoin('organisations', 'organisations.id', 'users.bp_id')
    .where('project_members.project_id', '=', id)
    .where('users.deleted_at', 'is', null)
    .select(['users.id', 'users.name', 'users.nickname', 'users.kind', 'users.bp_id', 'organisations.name as bp_name'])
    .where(matching(query.keyword, 'users.name'))
  return pageWithTotal(paged(all, query, orderOf('users', 'name', 'name')), all, query)
}

export const hasMembers = async (on: Sql, id: string): Promise<boolean> =>
  (await on
    .selectFrom('project_members')
    .innerJoin('users', 'users.id', 'project_members.user_id')
    .select('user_id')
    .where('project_id', '=', id)
    .where('users.deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()) !== undefined

/** @returns whether they were none yet */
export const addMember = async (tx: Tx, row: { project_id: string; user_id: string }): Promise<boolean> =>
  (
    await tx
      .insertInto('project_members')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
  ).numInsertedOrUpdatedRows !== 0n

/** @returns whether they were one */
export const removeMember = async (tx: Tx, row: { project_id: string; user_id: string }): Promise<boolean> =>
  (await tx.deleteFrom('project_members').where('project_id', '=', row.project_id).where('user_id', '=', row.user_id).executeTakeFirst()).numDeletedRows > 0n
