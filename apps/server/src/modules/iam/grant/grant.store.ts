import type { QueryOf } from '@zhisuan/contract/define'
import type { grants } from '@zhisuan/contract/iam/grant'
import type { PolicyDocument } from '@zhisuan/contract/policy/document'
import { sql } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { insertsInto } from '../../../platform/db/rows.ts'

type Calls = typeof grants

/** A policy is given to somebody once, see migrations. */
export const grantIndex = 'policy_grants_holder'

export type GrantRow = Awaited<ReturnType<typeof listGrants>>['rows'][number]

/** Whose a grant is follows from whom it was given to. */
const owner = sql<string | null>`coalesce(users.bp_id, roles.bp_id, projects.bp_id)`
/** What a role of the system has is there for all to see. */
const seen = (scope: Scope) =>
  'everything' in scope
    ? sql<boolean>`true`
    : 'bp_id' in scope
      ? sql<boolean>`(${owner} = ${scope.bp_id} or roles.system_key is not null)`
      : sql<boolean>`false`

const joined = (on: Sql, scope: Scope) =>
  on
    .selectFrom('policy_grants')
    .innerJoin('policies', 'policies.id', 'policy_grants.policy_id')
    .leftJoin('users', 'users.id', 'policy_grants.user_id')
    .leftJoin('roles', 'roles.id', 'policy_grants.role_id')
    .leftJoin('projects', 'projects.id', 'policy_grants.project_id')
    .where('users.deleted_at', 'is', null)
    .where(seen(scope))
    .selectAll('policy_grants')
    .select([
      'policies.name as policy_name',
      'policies.bp_id as policy_bp_id',
      'users.name as user_name',
      'roles.name as role_name',
      'roles.system_key as role_system_key',
      'projects.name as project_name',
      owner.as('holder_bp_id'),
    ])

export async function listGrants(on: Sql, scope: Scope, query: QueryOf<Calls['list']>) {
  const all = (['policy_id', 'user_id', 'role_id', 'project_id'] as const).reduce(
    (q, column) => {
      const wanted = query[column]
      return wanted === undefined ? q : q.where(`policy_grants.${column}`, '=', wanted)
    },
    // They belong to the role, and nobody gave them: they are told where one asks about it.
    joined(on, scope).$if(query.role_id === undefined, (q) => q.where('roles.system_key', 'is', null)),
  )
  return pageWithTotal(paged(all, query, orderOf('policy_grants', '-created_at', 'created_at')), all, query)
}

export const getGrant = (on: Sql, scope: Scope, id: string) => joined(on, scope).where('policy_grants.id', '=', id).executeTakeFirst()

export const insertGrant = insertsInto('policy_grants')
export const deleteGrant = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.deleteFrom('policy_grants').where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n

export const findProject = (on: Sql, scope: Scope, id: string) =>
  on.selectFrom('projects').select(['id', 'bp_id']).where('id', '=', id).where(within(scope, 'bp_id')).executeTakeFirst()

/** A document, and whose it is; null is the platform's. */
export interface OwnedDocument {
  readonly bp_id: string | null
  readonly document: PolicyDocument
}

/** What the policies of a role or a project say now, and whose they are; held, so that none of them says more in the meantime. */
export const documentsOf = async (tx: Tx, holder: { role_id: string } | { project_id: string }): Promise<OwnedDocument[]> =>
  tx
    .selectFrom('policies')
    .innerJoin('policy_versions', (join) =>
      join.onRef('policy_versions.policy_id', '=', 'policies.id').onRef('policy_versions.version', '=', 'policies.default_version'),
    )
    .select(['policies.bp_id', 'policy_versions.document'])
    .where('policies.id', 'in', (select) =>
      select
        .selectFrom('policy_grants')
        .select('policy_id')
        .where((where) => where.and(holder)),
    )
    .forUpdate('policies')
    .execute()

/** Instead of whatever there was. @returns whether there was one */
export async function setBoundary(tx: Tx, holder: { user_id: string } | { bp_id: string }, row: { id: string; policy_id: string } | null): Promise<boolean> {
  const [column, id] = 'user_id' in holder ? (['user_id', holder.user_id] as const) : (['bp_id', holder.bp_id] as const)
  const { numDeletedRows } = await tx.deleteFrom('policy_boundaries').where(column, '=', id).executeTakeFirst()
  if (row !== null)
    await tx
      .insertInto('policy_boundaries')
      .values({ ...row, user_id: null, bp_id: null, [column]: id })
      .execute()
  return numDeletedRows > 0n
}
