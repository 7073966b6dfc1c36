import type { Role } from '@zhisuan/contract/roles'
import { sql, type RawBuilder } from 'kysely'

/** The built-in roles of the user whose id this column is. */
export const rolesGiven = (userId: string): RawBuilder<Role[]> =>
  sql<Role[]>`(select coalesce(array_agg(role order by role), '{}') from user_roles where user_roles.user_id = ${sql.ref(userId)})`

/** And with them the bases of the others: what they may be allowed at most. */
export const rolesWithBases = (userId: string): RawBuilder<Role[]> =>
  sql<Role[]>`(select coalesce(array_agg(role order by role), '{}') from (
    select role from user_roles where user_roles.user_id = ${sql.ref(userId)}
    union select roles.base from role_members join roles on roles.id = role_members.role_id where role_members.user_id = ${sql.ref(userId)}
  ) as held)`

/** Ids of those who have it, also by a role of which it is the base. */
export const holdersOf = (role: Role): RawBuilder<string> =>
  sql<string>`(select user_id from user_roles where role = ${role} union select role_members.user_id from role_members join roles on roles.id = role_members.role_id where roles.base = ${role})`
