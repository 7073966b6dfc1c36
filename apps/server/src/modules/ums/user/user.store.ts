import type { Role } from '@zhisuan/contract/roles'
import type { User } from '@zhisuan/contract/ums/user'
import { sql, type Insertable, type Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { holdersOf, rolesWithBases } from '../../../platform/auth/held-roles.ts'
import { iso, isoOrNull, type Sql, type Tx } from '../../../platform/db/database.ts'
import { matching, orderOf, pageWithTotal, paged, shapedPage, type PageQuery } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { sameForm } from '@zhisuan/contract/validation'
import type { UserTable } from '../ums.migrations.ts'

/** Unique indexes, see migrations. */
export const userIndexes = { name: 'users_name', phone: 'users_phone', email: 'users_email' } as const

export type UserRow = Selectable<UserTable>

const present = (on: Sql) => on.selectFrom('users').where('users.deleted_at', 'is', null)

/** By whatever they sign in with: name, phone or email. Which of them it is shows in its form, see readsAsAddress. */
export const findByLogin = (on: Sql, login: string): Promise<UserRow | undefined> => {
  const form = sameForm(login)
  // A name of before may be as it was typed then.
  const names = [...new Set([form.toLowerCase(), login.toLowerCase()])]
  return present(on)
    .selectAll('users')
    .where((where) => where.or([where(sql`lower(name)`, 'in', names), where('phone', '=', form), where(sql`lower(email)`, '=', form.toLowerCase())]))
    .orderBy(sql`lower(name) = ${login.toLowerCase()}`, 'desc')
    .executeTakeFirst()
}

export const findByPhone = (on: Sql, phone: string): Promise<UserRow | undefined> =>
  present(on).selectAll('users').where('phone', '=', phone).executeTakeFirst()

export const findByEmail = (on: Sql, email: string): Promise<UserRow | undefined> =>
  present(on)
    .selectAll('users')
    .where(sql`lower(email)`, '=', email.toLowerCase())
    .executeTakeFirst()

export const findById = (on: Sql, id: string): Promise<UserRow | undefined> => present(on).selectAll('users').where('users.id', '=', id).executeTakeFirst()

/** Held against other changes until the transaction ends. */
export const lockUser = (tx: Tx, id: string): Promise<UserRow | undefined> =>
  present(tx).selectAll('users').where('users.id', '=', id).forUpdate().executeTakeFirst()

export const insertUser = async (tx: Tx, row: Insertable<UserTable>, roles: readonly Role[]): Promise<void> => {
  await tx.insertInto('users').values(row).execute()
  if (roles.length === 0) return
  await tx
    .insertInto('user_roles')
    .values(roles.map((role) => ({ user_id: row.id, role })))
    .execute()
}

export const { update: updateUser } = rowsOf('users')

/** Whether there is or ever was anybody. */
export const anyUserEver = async (on: Sql): Promise<boolean> => (await on.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined

/** Holds others who make or delete the platform's own people until the transaction ends. */
export const lockAdministrators = async (tx: Tx): Promise<void> => {
  await sql`select pg_advisory_xact_lock(7140803)`.execute(tx)
}

/** How many others may sign in and run the platform. */
export const countOtherAdministrators = async (tx: Tx, id: string): Promise<number> => {
  const { others } = await present(tx)
    .select(sql<number>`count(*)`.as('others'))
    .where('kind', '<=', 1)
    .where('status', '=', 'active')
    .where('id', '<>', id)
    .executeTakeFirstOrThrow()
  return others
}

/** The row stays for what they did; what they signed in with is free again. */
export const markDeleted = (tx: Tx, user: UserRow, now: Date): Promise<void> =>
  updateUser(tx, user.id, { deleted_at: now, former_name: user.name, name: null, phone: null, email: null, password_hash: '' })

export const rolesOf = async (on: Sql, id: string): Promise<Role[]> =>
  (await on.selectFrom('user_roles').select('role').where('user_id', '=', id).orderBy('role').execute()).map(({ role }) => role)

const withShown = (on: Sql) =>
  present(on)
    .leftJoin('organisations', 'organisations.id', 'users.bp_id')
    .selectAll('users')
    .select(['organisations.name as bp_name', rolesWithBases('users.id').as('roles')])

export const getUser = async (on: Sql, id: string): Promise<User | undefined> => {
  const row = await withShown(on).where('users.id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : shape(row)
}

export async function listUsers(
  on: Sql,
  scope: Scope,
  query: PageQuery & {
    keyword?: string | undefined
    kind?: number | undefined
    status?: UserRow['status'] | undefined
    bp_id?: string | undefined
    role?: Role | undefined
  },
): Promise<{ total: number; items: User[] }> {
  const filters = (q: ReturnType<typeof withShown>) => {
    let filtered = q.where(within(scope, 'users.bp_id')).where(matching(query.keyword, 'users.name', 'users.nickname', 'users.phone', 'users.email'))
    if (query.kind !== undefined) filtered = filtered.where('users.kind', '=', query.kind)
    if (query.status !== undefined) filtered = filtered.where('users.status', '=', query.status)
    if (query.bp_id !== undefined) filtered = filtered.where('users.bp_id', '=', query.bp_id)
    if (query.role !== undefined) filtered = filtered.where('users.id', 'in', holdersOf(query.role))
    return filtered
  }
  const all = filters(withShown(on))
  const page = paged(all, query, orderOf('users', '-created_at', 'name', 'created_at', 'last_login_at'))
  return shapedPage(pageWithTotal(page, all, query), shape)
}

const shape = (row: UserRow & { bp_name: string | null; roles: Role[] }): User => ({
  id: row.id,
  name: row.name ?? '',
  nickname: row.nickname === '' ? (row.name ?? '') : row.nickname,
  kind: row.kind,
  status: row.status,
  phone: row.phone,
  email: row.email,
  bp_id: row.bp_id,
  bp_name: row.bp_name,
  permissions: row.roles.map((role) => ({ role })),
  description: row.description,
  created_at: iso(row.created_at),
  last_login_at: isoOrNull(row.last_login_at),
})
