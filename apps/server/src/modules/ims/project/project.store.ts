import type { registryProjects } from '@zhisuan/contract/ims/project'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tables } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { within } from '../../../platform/db/scope.ts'
import '../ims.migrations.ts'

export type ProjectRow = Selectable<Tables['registry_projects']>
export type ShownProject = ProjectRow & { bp_name: string | null; repository_count: number; tag_count: number }

const shown = <T>(query: SelectQueryBuilder<Tables, 'registry_projects', T>) =>
  query
    .selectAll('registry_projects')
    .select([
      sql<string | null>`(select name from organisations where organisations.id = registry_projects.bp_id)`.as('bp_name'),
      sql<number>`(select count(*) from registry_repositories as r where r.project_id = registry_projects.id)`.as('repository_count'),
      sql<number>`(select coalesce(sum(r.tag_count), 0)::bigint from registry_repositories as r where r.project_id = registry_projects.id)`.as('tag_count'),
    ])

const order = orderOf('registry_projects', '-created_at', 'name', 'created_at', 'used_bytes')
const own = (scope: Scope) => within(scope, 'registry_projects.bp_id')
/** One's own, and what everybody may pull. */
const readable = (scope: Scope) => sql<boolean>`(${own(scope)} or registry_projects.visibility = 'public')`

export async function listProjects(
  on: Sql,
  scope: Scope,
  registryId: string,
  query: QueryOf<typeof registryProjects.list>,
): Promise<{ total: number; rows: ShownProject[] }> {
  const filtered = on
    .selectFrom('registry_projects')
    .where('registry_id', '=', registryId)
    .where(query.everybody ? readable(scope) : own(scope))
    .where(asked(query, 'registry_projects', 'visibility'))
    .where(matching(query.keyword, sql<string>`registry_projects.name || ' ' || registry_projects.description`))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}

/** Of that registry: an id of another one is none. */
export interface ProjectAt {
  readonly id: string
  readonly pid: string
}
const at = (on: Sql, { id, pid }: ProjectAt) =>
  on.selectFrom('registry_projects').where('registry_projects.registry_id', '=', id).where('registry_projects.id', '=', pid)

export const showProject = (on: Sql, scope: Scope, of: ProjectAt): Promise<ShownProject | undefined> => shown(at(on, of).where(own(scope))).executeTakeFirst()
/** The same for who reads: what is public is everybody's. */
export const readProject = (on: Sql, scope: Scope, of: ProjectAt): Promise<ProjectRow | undefined> =>
  at(on, of).where(readable(scope)).selectAll('registry_projects').executeTakeFirst()

export const { insert: insertProject, update: updateProject, remove: deleteProject, lock: lockProject } = rowsOf('registry_projects', 'updated_at')

export const repositoryNames = async (on: Sql, projectId: string): Promise<string[]> =>
  (await on.selectFrom('registry_repositories').select('name').where('project_id', '=', projectId).execute()).map(({ name }) => name)

/** What decides about tokens. */
export type ProjectForToken = Pick<ProjectRow, 'id' | 'registry_id' | 'bp_id' | 'visibility' | 'quota_bytes' | 'used_bytes' | 'immutable_tags'>
export const projectForToken = (on: Sql, registryId: string, name: string): Promise<ProjectForToken | undefined> =>
  on
    .selectFrom('registry_projects')
    .select(['id', 'registry_id', 'bp_id', 'visibility', 'quota_bytes', 'used_bytes', 'immutable_tags'])
    .where('registry_id', '=', registryId)
    .where('name', '=', name)
    .executeTakeFirst()
