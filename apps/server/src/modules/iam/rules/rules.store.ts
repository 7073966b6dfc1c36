import type { PolicySource } from '@zhisuan/contract/policy/evaluate'
import type { Role } from '@zhisuan/contract/roles'
import { sql, type RawBuilder } from 'kysely'
import type { Sql } from '../../../platform/db/database.ts'

/** A policy in the version that counts. */
export interface CountingPolicy extends PolicySource {
  readonly version: number
  /** Of a boundary: not what one may do, but the most of it. */
  readonly boundary: boolean
}

/** Whom a document speaks about: those who have it by a user, role or project, or all who have a policy or are bounded by it. */
export type Reached =
  | { readonly user_id: string }
  | { readonly role_id: string }
  | { readonly project_id: string }
  | { readonly bp_id: string }
  | { readonly policy_id: string }

const holdersOf = (reached: Reached): RawBuilder<unknown> => {
  if ('policy_id' in reached) {
    return sql`select user_id, role_id, project_id, null::uuid as bp_id from policy_grants where policy_id = ${reached.policy_id}
      union all select user_id, null, null, bp_id from policy_boundaries where policy_id = ${reached.policy_id}`
  }
  const { user_id = null, role_id = null, project_id = null, bp_id = null } = reached as Partial<Record<'user_id' | 'role_id' | 'project_id' | 'bp_id', string>>
  return sql`select ${user_id}::uuid as user_id, ${role_id}::uuid as role_id, ${project_id}::uuid as project_id, ${bp_id}::uuid as bp_id`
}

/** Roles that any of them has, with the bases of others: what one of them might be allowed by whatever document. */
export async function rolesReached(on: Sql, reached: Reached): Promise<readonly Role[]> {
  const { rows } = await sql<{ role: Role }>`
    with holders as (${holdersOf(reached)}),
    people as (
      select users.id, users.kind from users where users.deleted_at is null and (
        users.id in (select user_id from holders)
        or users.bp_id in (select bp_id from holders)
        or users.id in (select role_members.user_id from role_members join holders on holders.role_id = role_members.role_id)
        or users.id in (select user_roles.user_id from user_roles join roles on roles.built_in and roles.name = user_roles.role join holders on holders.role_id = roles.id)
        or users.id in (select project_members.user_id from project_members join holders on holders.project_id = project_members.project_id)
      )
    )
    select user_roles.role from user_roles join people on people.id = user_roles.user_id
    union select roles.base from role_members join people on people.id = role_members.user_id join roles on roles.id = role_members.role_id
    union select roles.base from roles join holders on holders.role_id = roles.id
    union select 'ADMIN' from people where kind <= 1
  `.execute(on)
  return rows.map(({ role }) => role)
}

/** All that speaks about somebody: what they have, what their roles and projects have, and their boundaries. */
export async function policiesOf(on: Sql, userId: string, roles: readonly Role[], bpId: string | null): Promise<readonly CountingPolicy[]> {
  const { rows } = await sql<CountingPolicy>`
    select policies.id, policies.default_version as version, policy_versions.document, held.boundary
    from (
      select policy_id, false as boundary from policy_grants
      where user_id = ${userId}
        or role_id in (select role_id from role_members where user_id = ${userId})
        or role_id in (select id from roles where built_in and name = any(${[...roles]}::text[]))
        or project_id in (select project_id from project_members where user_id = ${userId})
      union
      select policy_id, true from policy_boundaries where user_id = ${userId} or bp_id = ${bpId}::uuid
    ) as held
    join policies on policies.id = held.policy_id
    join policy_versions on policy_versions.policy_id = policies.id and policy_versions.version = policies.default_version
    order by held.boundary, policies.id
  `.execute(on)
  return rows
}
