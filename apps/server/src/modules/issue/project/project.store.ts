import type { Project } from '@zhisuan/contract/issue/project'
import type { Scope } from '../../../platform/auth/actor.ts'
import { iso, type Sql } from '../../../platform/db/database.ts'
import { matching, orderOf, pageWithTotal, paged, shapedPage, type PageQuery } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'

/**
 * Projects of the scope.
 * @param memberId only those that this user is a member of; null for all
 */
export async function listProjects(
  on: Sql,
  scope: Scope,
  memberId: string | null,
  query: PageQuery & { keyword?: string | undefined },
): Promise<{ total: number; items: Project[] }> {
  let filtered = on
    .selectFrom('projects')
    .leftJoin('organisations', 'organisations.id', 'projects.bp_id')
    .where(within(scope, 'projects.bp_id'))
    .where(matching(query.keyword, 'projects.name', 'projects.key'))
  if (memberId !== null) {
    filtered = filtered.where((where) =>
      where.exists(
        where.selectFrom('project_members').whereRef('project_members.project_id', '=', 'projects.id').where('project_members.user_id', '=', memberId),
      ),
    )
  }
  const page = paged(
    filtered.selectAll('projects').select('organisations.name as bp_name'),
    query,
    orderOf('projects', 'created_at', 'name', 'key', 'created_at'),
  )
  return shapedPage(pageWithTotal(page, filtered, query), (row) => ({ ...row, created_at: iso(row.created_at) }))
}
