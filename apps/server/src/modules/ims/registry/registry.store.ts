import type { registries, registryUsers } from '@zhisuan/contract/ims/registry'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Insertable, type Selectable, type SelectQueryBuilder, type Updateable } from 'kysely'
import type { Sql, Tables, Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import '../ims.migrations.ts'

export type RegistryRow = Selectable<Tables['registries']>
export type ShownRegistry = RegistryRow & {
  region_name: string | null
  node_name: string | null
  project_count: number
  repository_count: number
  tag_count: number
  used_bytes: number
  operation_id: string | null
}

const shown = <T>(query: SelectQueryBuilder<Tables, 'registries', T>) =>
  query
    .selectAll('registries')
    .select([
      sql<string | null>`(select name from regions where regions.id = registries.region_id)`.as('region_name'),
      sql<string | null>`(select name from edges where edges.id = registries.node_id)`.as('node_name'),
      sql<number>`(select count(*) from registry_projects as p where p.registry_id = registries.id)`.as('project_count'),
      sql<number>`(select count(*) from registry_repositories as r join registry_projects as p on p.id = r.project_id where p.registry_id = registries.id)`.as(
        'repository_count',
      ),
      sql<number>`(select coalesce(sum(r.tag_count), 0)::bigint from registry_repositories as r join registry_projects as p on p.id = r.project_id where p.registry_id = registries.id)`.as(
        'tag_count',
      ),
      sql<number>`(select coalesce(sum(p.used_bytes), 0)::bigint from registry_projects as p where p.registry_id = registries.id)`.as('used_bytes'),
      sql<
        string | null
      >`(select id from operations where resource_type = 'ims.registry' and resource_id = registries.id and status in ('queued', 'running', 'undoing') limit 1)`.as(
        'operation_id',
      ),
    ])

const order = {
  ...orderOf('registries', '-created_at', 'name', 'created_at'),
  by: { name: 'registries.name', created_at: 'registries.created_at', used_bytes: 'used_bytes' },
}

export async function listRegistries(on: Sql, query: QueryOf<typeof registries.list>): Promise<{ total: number; rows: ShownRegistry[] }> {
  const filtered = on
    .selectFrom('registries')
    .where(asked(query, 'registries', 'region_id', 'engine', 'status'))
    .where(matching(query.keyword, sql<string>`registries.name || ' ' || registries.description || ' ' || registries.address`))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}

export const allRegistries = (on: Sql): Promise<RegistryRow[]> => on.selectFrom('registries').selectAll().orderBy('created_at').execute()
export const getRegistry = (on: Sql, id: string): Promise<RegistryRow | undefined> =>
  on.selectFrom('registries').selectAll().where('id', '=', id).executeTakeFirst()
export const showRegistry = (on: Sql, id: string): Promise<ShownRegistry | undefined> =>
  shown(on.selectFrom('registries').where('registries.id', '=', id)).executeTakeFirst()
/** Those that people may use, with their regions. */
export const usableRegistries = (on: Sql): Promise<ShownRegistry[]> =>
  shown(on.selectFrom('registries').where('status', '=', 'active'))
    .orderBy('name')
    .execute()

export const { insert: insertRegistry, update: updateRegistry, remove: deleteRegistry, lockAny: lockRegistry } = rowsOf('registries', 'updated_at')
export type NewRegistry = Insertable<Tables['registries']>

/** With its projects, and what they have. */
export async function forgetRegistry(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('registry_projects').where('registry_id', '=', id).execute()
  await deleteRegistry(tx, id)
}

/**
 * Records that somebody has a token to push by until then.
 * @returns false where space is being freed: nobody is given one
 */
export async function notePush(on: Sql, id: string, now: Date, until: Date): Promise<boolean> {
  const { numUpdatedRows } = await on
    .updateTable('registries')
    .set({ push_until: sql<Date>`greatest(push_until, ${until}::timestamptz)` })
    .where('id', '=', id)
    .where(({ or, eb }) => or([eb('collecting_until', 'is', null), eb('collecting_until', '<=', now)]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Nobody is given a token to push by until then. @returns false where somebody has one */
export async function claimQuiet(on: Sql, id: string, now: Date, until: Date): Promise<boolean> {
  const { numUpdatedRows } = await on
    .updateTable('registries')
    .set({ collecting_until: until })
    .where('id', '=', id)
    .where(({ or, eb }) => or([eb('push_until', 'is', null), eb('push_until', '<=', now)]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** What was deleted for good, and lies there until space is freed. */
export const noteCollectable = async (on: Sql, id: string, bytes: number): Promise<void> => {
  await on
    .updateTable('registries')
    .set({ collectable_bytes: sql<number>`collectable_bytes + ${bytes}` })
    .where('id', '=', id)
    .execute()
}

/** What a look found: nothing of one that is reached otherwise meanwhile. */
export const recordRegistry = async (
  on: Sql,
  row: Pick<RegistryRow, 'id' | 'connection'>,
  changes: Updateable<Tables['registries']>,
): Promise<RegistryRow | undefined> => {
  await on.updateTable('registries').set(changes).where('id', '=', row.id).where('connection', '=', row.connection).execute()
  return getRegistry(on, row.id)
}

export interface ShownUser {
  user_id: string
  name: string
  bp_id: string | null
  bp_name: string | null
  set_at: Date
  used_at: Date | null
}

export async function listUsers(on: Sql, query: QueryOf<typeof registryUsers.list>): Promise<{ total: number; rows: ShownUser[] }> {
  const filtered = on
    .selectFrom('registry_users')
    .innerJoin('users', 'users.id', 'registry_users.user_id')
    .leftJoin('organisations', 'organisations.id', 'users.bp_id')
    .where('users.deleted_at', 'is', null)
    .where(asked(query, 'users', 'bp_id'))
    .where(matching(query.keyword, 'users.name', 'users.nickname'))
  const page = paged(
    filtered.select([
      'registry_users.user_id',
      sql<string>`coalesce(users.name, '')`.as('name'),
      'users.bp_id',
      'organisations.name as bp_name',
      'registry_users.set_at',
      'registry_users.used_at',
    ]),
    query,
    { by: { username: 'users.name', set_at: 'registry_users.set_at', used_at: 'registry_users.used_at' }, fallback: 'username', id: 'registry_users.user_id' },
  )
  return pageWithTotal(page, filtered, query)
}

export const getUser = (on: Sql, userId: string): Promise<Selectable<Tables['registry_users']> | undefined> =>
  on.selectFrom('registry_users').selectAll().where('user_id', '=', userId).executeTakeFirst()
/** By what stands behind `docker login -u`. */
export const userNamed = (on: Sql, name: string): Promise<{ user_id: string; hash: string } | undefined> =>
  on
    .selectFrom('registry_users')
    .innerJoin('users', 'users.id', 'registry_users.user_id')
    .where('users.name', '=', name)
    .where('users.deleted_at', 'is', null)
    .select(['registry_users.user_id', 'registry_users.hash'])
    .executeTakeFirst()
export const putUser = async (on: Sql, row: Insertable<Tables['registry_users']>): Promise<void> => {
  await on
    .insertInto('registry_users')
    .values(row)
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ hash: row.hash, set_at: row.set_at }))
    .execute()
}
export const removeUser = async (on: Sql, userId: string): Promise<boolean> =>
  (await on.deleteFrom('registry_users').where('user_id', '=', userId).executeTakeFirst()).numDeletedRows > 0n
export const noteUse = async (on: Sql, userId: string, at: Date): Promise<void> => {
  await on.updateTable('registry_users').set({ used_at: at }).where('user_id', '=', userId).execute()
}

export const countProjects = async (tx: Tx, registryId: string): Promise<{ projects: number; repositories: number; tags: number }> =>
  tx
    .selectFrom('registry_projects')
    .leftJoin('registry_repositories', 'registry_repositories.project_id', 'registry_projects.id')
    .where('registry_projects.registry_id', '=', registryId)
    .select([
      sql<number>`count(distinct registry_projects.id)`.as('projects'),
      sql<number>`count(registry_repositories.id)`.as('repositories'),
      sql<number>`coalesce(sum(registry_repositories.tag_count), 0)::bigint`.as('tags'),
    ])
    .executeTakeFirstOrThrow()
