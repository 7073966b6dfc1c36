import type { QueryOf } from '@zhisuan/contract/define'
import type { policies } from '@zhisuan/contract/iam/policy'
import type { PolicyDocument } from '@zhisuan/contract/policy/document'
import { sql, type Insertable, type RawBuilder, type Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tables, Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

type Calls = typeof policies

/** Unique within an organisation, see migrations. */
export const policyNameIndex = 'policies_name'

/** One's own, and the platform's, which everybody may be given. */
const seesPolicy = (scope: Scope): RawBuilder<boolean> =>
  'nothing' in scope ? sql<boolean>`false` : sql<boolean>`(policies.bp_id is null or ${within(scope, 'policies.bp_id')})`

const contactCount = sql<number>`(
  (select count(*) from policy_grants where policy_grants.policy_id = policies.id)
  + (select count(*) from policy_boundaries where policy_boundaries.policy_id = policies.id)
)`
/** Of what is for everybody each sees their own. A boundary belongs to whom it bounds. */
const contactsSeen = (scope: Scope): RawBuilder<number> =>
  'everything' in scope
    ? contactCount
    : 'nothing' in scope
      ? sql<number>`0`
      : sql<number>`((select count(*) from policy_grants
        left join users on users.id = policy_grants.user_id left join roles on roles.id = policy_grants.role_id left join projects on projects.id = policy_grants.project_id
        where policy_grants.policy_id = policies.id and coalesce(users.bp_id, roles.bp_id, projects.bp_id) = ${scope.bp_id})
      + (select count(*) from policy_boundaries left join users on users.id = policy_boundaries.user_id
        where policy_boundaries.policy_id = policies.id and coalesce(policy_boundaries.bp_id, users.bp_id) = ${scope.bp_id}))`
const versionCount = sql<number>`(select count(*) from policy_versions where policy_versions.policy_id = policies.id)`

const visible = (on: Sql, scope: Scope) => on.selectFrom('policies').leftJoin('organisations', 'organisations.id', 'policies.bp_id').where(seesPolicy(scope))
const shown = (on: Sql, scope: Scope) =>
  visible(on, scope)
    .selectAll('policies')
    .select(['organisations.name as bp_name', contactsSeen(scope).as('contact_count'), versionCount.as('version_count')])

export type ShownPolicy = NonNullable<Awaited<ReturnType<typeof getPolicy>>>

const order = orderOf('policies', '-updated_at', 'name', 'created_at', 'updated_at')

export async function listPolicies(on: Sql, scope: Scope, query: QueryOf<Calls['list']>) {
  const filter = (q: ReturnType<typeof shown>) =>
    q
      .where(asked(query, 'policies', 'bp_id'))
      .$if(query.owner === 'system', (some) => some.where('policies.system_key', 'is not', null))
      .$if(query.owner === 'platform', (some) => some.where('policies.bp_id', 'is', null).where('policies.system_key', 'is', null))
      .$if(query.owner === 'organisation', (some) => some.where('policies.bp_id', 'is not', null))
      .where(matching(query.keyword, 'policies.search'))
  const all = filter(shown(on, scope))
  return pageWithTotal(paged(all, query, order), all, query)
}

export const getPolicy = (on: Sql, scope: Scope, id: string) => shown(on, scope).where('policies.id', '=', id).executeTakeFirst()

export type PolicyRow = Selectable<Tables['policies']>

/** Locked is one that the scope may change, against all that gives it, takes it back or changes what it says. */
export const { update: updatePolicy, remove: deletePolicy, lock: lockPolicy } = rowsOf('policies', 'updated_at')

/** The same for one that the scope only has to see: the platform's are given by everybody. */
export const lockSeenPolicy = (tx: Tx, scope: Scope, id: string) =>
  tx.selectFrom('policies').selectAll().where('id', '=', id).where(seesPolicy(scope)).forUpdate().executeTakeFirst()

export async function insertPolicy(tx: Tx, row: Insertable<Tables['policies']>, document: PolicyDocument): Promise<void> {
  await tx.insertInto('policies').values(row).execute()
  await insertVersion(tx, { policy_id: row.id, version: row.default_version, document, created_by: row.created_by })
}

export const insertVersion = async (tx: Tx, row: Insertable<Tables['policy_versions']>): Promise<void> => {
  await tx
    .insertInto('policy_versions')
    .values({ ...row, document: jsonb(row.document) })
    .execute()
}

export const deleteVersion = async (tx: Tx, policyId: string, version: number): Promise<void> => {
  await tx.deleteFrom('policy_versions').where('policy_id', '=', policyId).where('version', '=', version).execute()
}

/** Newest first. */
export const versionsOf = (on: Sql, policyId: string) =>
  on.selectFrom('policy_versions').selectAll().where('policy_id', '=', policyId).orderBy('version', 'desc').execute()

export const getVersion = (on: Sql, policyId: string, version: number) =>
  on.selectFrom('policy_versions').selectAll().where('policy_id', '=', policyId).where('version', '=', version).executeTakeFirst()

export const documentOf = async (on: Sql, { id, default_version }: { id: string; default_version: number }): Promise<PolicyDocument> =>
  (await on.selectFrom('policy_versions').select('document').where('policy_id', '=', id).where('version', '=', default_version).executeTakeFirstOrThrow())
    .document

export const hasContacts = async (on: Sql, policyId: string): Promise<boolean> => {
  const { count } = await on.selectFrom('policies').select(contactCount.as('count')).where('id', '=', policyId).executeTakeFirstOrThrow()
  return count > 0
}

/** Users, roles and projects that have it and the scope sees, and whose boundary it is. */
export async function listContacts(on: Sql, scope: Scope, policyId: string, query: QueryOf<Calls['contacts']>) {
  const contacts = sql<{ grant_id: string | null; kind: string; id: string; name: string; bp_id: string | null; bp_name: string | null; since: Date | null }>`(
    select held.*, organisations.name as bp_name from (
      select policy_grants.id as grant_id, 'user' as kind, users.id, users.name, users.bp_id, policy_grants.created_at as since
        from policy_grants join users on users.id = policy_grants.user_id where policy_grants.policy_id = ${policyId} and users.deleted_at is null
      union all
      select policy_grants.id, 'role', roles.id, roles.name, roles.bp_id, policy_grants.created_at
        from policy_grants join roles on roles.id = policy_grants.role_id where policy_grants.policy_id = ${policyId}
      union all
      select policy_grants.id, 'project', projects.id, projects.name, projects.bp_id, policy_grants.created_at
        from policy_grants join projects on projects.id = policy_grants.project_id where policy_grants.policy_id = ${policyId}
      union all
      select null, 'user_boundary', users.id, users.name, users.bp_id, null
        from policy_boundaries join users on users.id = policy_boundaries.user_id where policy_boundaries.policy_id = ${policyId} and users.deleted_at is null
      union all
      select null, 'organisation_boundary', owner.id, owner.name, owner.id, null
        from policy_boundaries join organisations as owner on owner.id = policy_boundaries.bp_id where policy_boundaries.policy_id = ${policyId}
    ) as held left join organisations on organisations.id = held.bp_id
  )`
  const all = on
    .selectFrom(contacts.as('contacts'))
    .selectAll()
    .where(within(scope, 'contacts.bp_id'))
    .where(asked(query, 'contacts', 'kind'))
    .where(matching(query.keyword, 'contacts.name'))
  return pageWithTotal(paged(all, query, orderOf('contacts', 'name', 'name')), all, query)
}
