import { firstProjectKey } from '@zhisuan/contract/issue/project'
import type { Organisation } from '@zhisuan/contract/ums/user'
import { sql, type Insertable, type Updateable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { iso, type Sql } from '../../../platform/db/database.ts'
import { matching, orderOf, pageWithTotal, paged, shapedPage, type PageQuery } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { OrganisationTable } from '../ums.migrations.ts'

/** Unique among companies, see migrations. */
export const companyNameIndex = 'organisations_company_name'

/** An organisation with the project that everybody begins in. */
export async function insertOrganisation(on: Sql, row: Insertable<OrganisationTable>): Promise<{ projectId: string }> {
  await on.insertInto('organisations').values(row).execute()
  const projectId = uuidv7()
  await on.insertInto('projects').values({ id: projectId, key: firstProjectKey, name: firstProjectKey, bp_id: row.id }).execute()
  return { projectId }
}

export const insertProjectMember = async (on: Sql, projectId: string, userId: string): Promise<void> => {
  await on.insertInto('project_members').values({ project_id: projectId, user_id: userId }).execute()
}

export const organisationStatus = async (on: Sql, id: string): Promise<OrganisationTable['status'] | undefined> =>
  (await on.selectFrom('organisations').select('status').where('id', '=', id).executeTakeFirst())?.status

export async function listOrganisations(
  on: Sql,
  scope: Scope,
  query: PageQuery & { keyword?: string | undefined; status?: OrganisationTable['status'] | undefined },
): Promise<{ total: number; items: Organisation[] }> {
  let filtered = on.selectFrom('organisations').where(within(scope, 'organisations.id')).where(matching(query.keyword, 'organisations.name'))
  if (query.status !== undefined) filtered = filtered.where('organisations.status', '=', query.status)
  const page = paged(
    filtered
      .selectAll('organisations')
      .select(sql<number>`(select count(*) from users where users.bp_id = organisations.id and users.deleted_at is null)`.as('user_count')),
    query,
    orderOf('organisations', '-created_at', 'name', 'created_at'),
  )
  return shapedPage(pageWithTotal(page, filtered, query), (row) => ({ ...row, created_at: iso(row.created_at) }))
}

export const getOrganisation = (on: Sql, scope: Scope, id: string) =>
  on
    .selectFrom('organisations')
    .selectAll('organisations')
    .select([
      sql<number>`(select count(*) from users where users.bp_id = organisations.id and users.deleted_at is null)`.as('user_count'),
      sql<number>`(select count(*) from projects where projects.bp_id = organisations.id)`.as('project_count'),
    ])
    .where('organisations.id', '=', id)
    .where(within(scope, 'organisations.id'))
    .executeTakeFirst()

/** Its administrators, and what bounds its people. */
export async function keepersOf(on: Sql, id: string) {
  const rows = await on
    .selectFrom('users')
    .select(['id', 'name', 'nickname'])
    .where('bp_id', '=', id)
    .where('deleted_at', 'is', null)
    .where('id', 'in', (select) => select.selectFrom('user_roles').select('user_id').where('role', '=', 'TENANT_ADMIN'))
    .orderBy('name')
    .limit(100)
    .execute()
  const boundary = await on
    .selectFrom('policy_boundaries')
    .innerJoin('policies', 'policies.id', 'policy_boundaries.policy_id')
    .select(['policies.id', 'policies.name'])
    .where('policy_boundaries.bp_id', '=', id)
    .executeTakeFirst()
  return {
    administrators: rows.map((row) => ({ id: row.id, name: row.name ?? '', nickname: row.nickname === '' ? (row.name ?? '') : row.nickname })),
    boundary: boundary ?? null,
  }
}

/** @returns whether there is one */
export const updateOrganisation = async (on: Sql, id: string, changes: Updateable<OrganisationTable>): Promise<boolean> =>
  (await on.updateTable('organisations').set(changes).where('id', '=', id).executeTakeFirst()).numUpdatedRows > 0n
