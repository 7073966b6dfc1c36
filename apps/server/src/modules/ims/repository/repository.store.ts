import type { KeepRule, repositories, tagBin } from '@zhisuan/contract/ims/project'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Insertable, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tables, Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import '../ims.migrations.ts'

export type RepositoryRow = Selectable<Tables['registry_repositories']>
export type ShownRepository = RepositoryRow & { project_name: string; registry_id: string; registry_name: string; address: string }
export type ManifestRow = Selectable<Tables['registry_manifests']>
export type TagRow = Selectable<Tables['registry_tags']>
export type ShownTag = TagRow & Pick<ManifestRow, 'kind' | 'media_type' | 'artifact_type' | 'platforms' | 'chart'>

const joined = (on: Sql) =>
  on.selectFrom('registry_repositories as r').innerJoin('registry_projects as p', 'p.id', 'r.project_id').innerJoin('registries as g', 'g.id', 'p.registry_id')
const readable = (scope: Scope) => sql<boolean>`(${within(scope, 'p.bp_id')} or p.visibility = 'public')`
const columns = ['p.name as project_name', 'p.registry_id', 'g.name as registry_name', 'g.address'] as const

const order = { by: { name: 'r.name', pushed_at: 'r.pushed_at', pulled_at: 'r.pulled_at', used_bytes: 'r.used_bytes' }, fallback: 'name', id: 'r.id' }

/** Of a registry, or of one of its projects, as far as the scope may pull from them. */
export async function listRepositories(
  on: Sql,
  scope: Scope,
  of: { id: string; pid?: string },
  query: QueryOf<typeof repositories.list>,
): Promise<{ total: number; rows: ShownRepository[] }> {
  const filtered = joined(on)
    .where('p.registry_id', '=', of.id)
    .$if(of.pid !== undefined, (q) => q.where('p.id', '=', of.pid ?? ''))
    .where(readable(scope))
    .where(matching(query.keyword, sql<string>`p.name || '/' || r.name || ' ' || r.description`))
  return pageWithTotal(paged(filtered.selectAll('r').select(columns), query, order), filtered, query)
}

export interface RepositoryAt {
  readonly id: string
  readonly pid: string
  readonly name: string
}
const one = (on: Sql, at: RepositoryAt) => joined(on).where('p.registry_id', '=', at.id).where('p.id', '=', at.pid).where('r.name', '=', at.name)

/** For who reads: what is public is everybody's. */
export const readRepository = (on: Sql, scope: Scope, at: RepositoryAt): Promise<ShownRepository | undefined> =>
  one(on, at).where(readable(scope)).selectAll('r').select(columns).executeTakeFirst()
/** For who changes. */
export const ownRepository = (on: Sql, scope: Scope, at: RepositoryAt): Promise<ShownRepository | undefined> =>
  one(on, at).where(within(scope, 'p.bp_id')).selectAll('r').select(columns).executeTakeFirst()

export const describeRepository = async (on: Sql, id: string, description: string): Promise<void> => {
  await on.updateTable('registry_repositories').set({ description }).where('id', '=', id).execute()
}

/** Made at its first push. */
export async function putRepository(tx: Tx, row: Insertable<Tables['registry_repositories']>): Promise<string> {
  const { id } = await tx
    .insertInto('registry_repositories')
    .values(row)
    // Changes nothing: so it is held, and cannot be taken away as an empty one before its tag is there.
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doUpdateSet({ name: row.name }))
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
/** Held while its tags change, so that its figures are those of its tags. */
export const lockRepository = (tx: Tx, id: string): Promise<RepositoryRow | undefined> =>
  tx.selectFrom('registry_repositories').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

const tagOrder = orderOf('registry_tags', '-pushed_at', 'name', 'pushed_at', 'pulled_at', 'size_bytes')
const present = (on: Sql, repositoryId: string) =>
  on.selectFrom('registry_tags').where('registry_tags.repository_id', '=', repositoryId).where('registry_tags.deleted_at', 'is', null)
const withManifest = <T>(query: SelectQueryBuilder<Tables, 'registry_tags', T>) =>
  query
    .innerJoin('registry_manifests as m', (join) =>
      join.onRef('m.repository_id', '=', 'registry_tags.repository_id').onRef('m.digest', '=', 'registry_tags.digest'),
    )
    .selectAll('registry_tags')
    .select(['m.kind', 'm.media_type', 'm.artifact_type', 'm.platforms', 'm.chart'])

export function listTags(on: Sql, repositoryId: string, query: QueryOf<typeof repositories.tags>): Promise<{ total: number; rows: ShownTag[] }> {
  const found = present(on, repositoryId)
    .where(asked(query, 'registry_tags', 'digest'))
    .where(matching(query.keyword, 'registry_tags.name'))
  return pageOf(found, query, tagOrder, (ids) => withManifest(on.selectFrom('registry_tags').where(sql<boolean>`registry_tags.id in ${ids}`)))
}

export const getTag = (on: Sql, repositoryId: string, name: string): Promise<ShownTag | undefined> =>
  withManifest(present(on, repositoryId).where('registry_tags.name', '=', name)).executeTakeFirst()
export const tagById = (on: Sql, id: string): Promise<ShownTag | undefined> =>
  withManifest(on.selectFrom('registry_tags').where('registry_tags.id', '=', id)).executeTakeFirst()
export const tagsOf = (on: Sql, repositoryId: string): Promise<TagRow[]> => present(on, repositoryId).selectAll().execute()

export const insertTag = async (tx: Tx, row: Insertable<Tables['registry_tags']>): Promise<void> => {
  await tx.insertInto('registry_tags').values(row).execute()
}
export const moveTag = async (tx: Tx, id: string, to: Pick<TagRow, 'digest' | 'size_bytes' | 'pushed_by' | 'pushed_at'>): Promise<void> => {
  await tx.updateTable('registry_tags').set(to).where('id', '=', id).execute()
}
export const forgetTags = async (tx: Tx, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0)
    await tx
      .deleteFrom('registry_tags')
      .where('id', 'in', [...ids])
      .execute()
}
/** In the bin, of that name and digest. */
export const forgetBinned = async (tx: Tx, repositoryId: string, name: string, digest: string): Promise<void> => {
  await tx
    .deleteFrom('registry_tags')
    .where('repository_id', '=', repositoryId)
    .where('name', '=', name)
    .where('digest', '=', digest)
    .where('deleted_at', 'is not', null)
    .execute()
}
export const binTag = async (tx: Tx, id: string, to: { deleted_at: Date; deleted_by: string; ends_at: Date }): Promise<void> => {
  await tx
    .updateTable('registry_tags')
    .set({ ...to, untagged_at: null })
    .where('id', '=', id)
    .execute()
}
export const untagged = async (on: Sql, id: string, at: Date): Promise<void> => {
  await on.updateTable('registry_tags').set({ untagged_at: at }).where('id', '=', id).execute()
}
export const unbinTag = async (tx: Tx, id: string): Promise<void> => {
  await tx.updateTable('registry_tags').set({ deleted_at: null, deleted_by: null, ends_at: null, untagged_at: null }).where('id', '=', id).execute()
}
/** Of that name in the bin that the registry has still under it, newest first. */
export const unfinished = (on: Sql, repositoryId: string, name: string): Promise<TagRow | undefined> =>
  on
    .selectFrom('registry_tags')
    .selectAll()
    .where('repository_id', '=', repositoryId)
    .where('name', '=', name)
    .where('deleted_at', 'is not', null)
    .where('untagged_at', 'is', null)
    .orderBy('deleted_at', 'desc')
    .executeTakeFirst()

export type BinnedRow = TagRow & { repository: string }
const binned = (on: Sql, projectId: string) =>
  on
    .selectFrom('registry_tags')
    .innerJoin('registry_repositories as r', 'r.id', 'registry_tags.repository_id')
    .where('r.project_id', '=', projectId)
    .where('registry_tags.deleted_at', 'is not', null)
export async function listBin(on: Sql, projectId: string, query: QueryOf<typeof tagBin.list>): Promise<{ total: number; rows: BinnedRow[] }> {
  const filtered = binned(on, projectId).where(matching(query.keyword, sql<string>`r.name || ':' || registry_tags.name`))
  const page = paged(
    filtered.selectAll('registry_tags').select('r.name as repository'),
    query,
    orderOf('registry_tags', '-deleted_at', 'name', 'deleted_at', 'ends_at'),
  )
  return pageWithTotal(page, filtered, query)
}
export const getBinned = (on: Sql, projectId: string, id: string): Promise<BinnedRow | undefined> =>
  binned(on, projectId).where('registry_tags.id', '=', id).selectAll('registry_tags').select('r.name as repository').executeTakeFirst()
/** Whose time in the bin is over, of all. */
export const endedBins = (on: Sql, at: Date, most: number): Promise<Pick<TagRow, 'id' | 'repository_id'>[]> =>
  on
    .selectFrom('registry_tags')
    .select(['id', 'repository_id'])
    .where('deleted_at', 'is not', null)
    .where('ends_at', '<=', at)
    .orderBy('ends_at')
    .limit(most)
    .execute()

export const getManifest = (on: Sql, repositoryId: string, digest: string): Promise<ManifestRow | undefined> =>
  on.selectFrom('registry_manifests').selectAll().where('repository_id', '=', repositoryId).where('digest', '=', digest).executeTakeFirst()

export async function putManifest(
  tx: Tx,
  row: Insertable<Tables['registry_manifests']>,
  blobs: readonly { readonly digest: string; readonly size_bytes: number }[],
): Promise<void> {
  await tx
    .insertInto('registry_manifests')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['repository_id', 'digest']).doUpdateSet({ content: row.content }).where('registry_manifests.content', 'is', null),
    )
    .execute()
  // One may be named twice, such as an empty layer.
  const distinct = [...new Map(blobs.map((blob) => [blob.digest, blob])).values()]
  if (distinct.length > 0)
    await tx
      .insertInto('registry_blobs')
      .values(distinct.map((blob) => ({ ...blob, repository_id: row.repository_id, manifest: row.digest })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
}

/** A manifest as it was described when it came, with all that it refers to; null where its bytes were not kept, or it is not known. */
export async function describedBefore(
  on: Sql,
  repositoryId: string,
  digest: string,
): Promise<{ row: Omit<ManifestRow, 'repository_id' | 'pushed_by' | 'created_at'>; blobs: { digest: string; size_bytes: number }[] } | null> {
  const manifest = await getManifest(on, repositoryId, digest)
  if (manifest?.content == null) return null
  const { repository_id: _, pushed_by: __, created_at: ___, ...row } = manifest
  const blobs = await on
    .selectFrom('registry_blobs')
    .select(['digest', 'size_bytes'])
    .where('repository_id', '=', repositoryId)
    .where('manifest', '=', digest)
    .execute()
  return { row, blobs }
}

/** What nothing has led to for the days that its project keeps what was deleted, and at least one. */
export async function looseSince(
  on: Sql,
  at: Date,
  most: number,
): Promise<{ registry_id: string; repository_id: string; project_name: string; name: string; digest: string }[]> {
  const { rows } = await sql<{ registry_id: string; repository_id: string; project_name: string; name: string; digest: string }>`
    select p.registry_id, m.repository_id, p.name as project_name, r.name, m.digest
    from registry_manifests as m join registry_repositories as r on r.id = m.repository_id join registry_projects as p on p.id = r.project_id
    where m.created_at < ${at}::timestamptz - make_interval(days => greatest(p.bin_days, 1))
      and not exists (select from registry_tags as t where t.repository_id = m.repository_id and t.digest = m.digest)
      and not exists (
        select from (select distinct repository_id, unnest(children) as digest from registry_manifests where children <> '{}') as parts
        where parts.repository_id = m.repository_id and parts.digest = m.digest
      )
    order by m.created_at limit ${most}`.execute(on)
  return rows
}

/** What nothing leads to, such as what was pushed by its digest only. */
export const looseManifests = async (on: Sql, repositoryId: string): Promise<Pick<ManifestRow, 'digest' | 'size_bytes' | 'pushed_by' | 'created_at'>[]> =>
  on
    .selectFrom('registry_manifests as m')
    .select(['m.digest', 'm.size_bytes', 'm.pushed_by', 'm.created_at'])
    .where('m.repository_id', '=', repositoryId)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('registry_tags as t').select('t.id').whereRef('t.repository_id', '=', 'm.repository_id').whereRef('t.digest', '=', 'm.digest'))),
    )
    .where(sql<boolean>`not exists (select from registry_manifests as i where i.repository_id = m.repository_id and i.children @> array[m.digest])`)
    .execute()

/** What no name leads to that is there, and no index: it is loose, or rests in the bin. Names are how all else is compared. */
export const namelessDigests = async (on: Sql, repositoryId: string): Promise<string[]> => {
  const { rows } = await sql<{ digest: string }>`
    select m.digest from registry_manifests as m
    where m.repository_id = ${repositoryId}
      and not exists (select from registry_tags as t where t.repository_id = m.repository_id and t.digest = m.digest and t.deleted_at is null)
      and not exists (
        select from (select distinct unnest(children) as digest from registry_manifests where repository_id = ${repositoryId}) as parts
        where parts.digest = m.digest
      )
  `.execute(on)
  return rows.map(({ digest }) => digest)
}

/** Nothing leads to it any more: no tag, also none in the bin, and no index. */
export const isLoose = async (on: Sql, repositoryId: string, digest: string): Promise<boolean> => {
  const { rows } = await sql<{ held: boolean }>`
    select exists (select from registry_tags where repository_id = ${repositoryId} and digest = ${digest})
      or exists (select from registry_manifests where repository_id = ${repositoryId} and children @> array[${digest}]) as held
  `.execute(on)
  return rows[0]?.held !== true
}
export const forgetManifest = async (tx: Tx, repositoryId: string, digest: string): Promise<void> => {
  await tx.deleteFrom('registry_manifests').where('repository_id', '=', repositoryId).where('digest', '=', digest).execute()
}

/** Makes the figures of a repository, and of its project, those of what is in it; one without any content goes. */
export async function countRepository(tx: Tx, id: string): Promise<void> {
  await sql`
    update registry_repositories as r set
      tag_count = (select count(*) from registry_tags where repository_id = r.id and deleted_at is null),
      used_bytes = (select coalesce(sum(size_bytes), 0) from (select distinct digest, size_bytes from registry_blobs where repository_id = r.id) as blobs),
      pushed_at = (select max(pushed_at) from registry_tags where repository_id = r.id)
    where r.id = ${id}
  `.execute(tx)
  await sql`
    insert into registry_sizes (repository_id, day, used_bytes, tag_count)
    select id, (now() at time zone 'Asia/Shanghai')::date, used_bytes, tag_count from registry_repositories where id = ${id}
    on conflict (repository_id, day) do update set used_bytes = excluded.used_bytes, tag_count = excluded.tag_count
  `.execute(tx)
  await countProjectOf(tx, id)
}
const countProjectOf = async (tx: Tx, repositoryId: string): Promise<void> => {
  // What several repositories have is there once in the registry, and counts once.
  await sql`
    update registry_projects as p set used_bytes = (
      select coalesce(sum(size_bytes), 0) from (
        select distinct b.digest, b.size_bytes from registry_blobs as b join registry_repositories as r on r.id = b.repository_id where r.project_id = p.id
      ) as blobs
    )
    where p.id = (select project_id from registry_repositories where id = ${repositoryId})
  `.execute(tx)
}
export const removeEmptyRepository = async (tx: Tx, id: string): Promise<void> => {
  await sql`
    delete from registry_repositories as r where id = ${id}
      and not exists (select from registry_tags where repository_id = r.id) and not exists (select from registry_manifests where repository_id = r.id)
  `.execute(tx)
}

export const sizesOf = async (on: Sql, id: string): Promise<{ at: Date; used_bytes: number; tag_count: number }[]> =>
  on
    .selectFrom('registry_sizes')
    .select([sql<Date>`(day + time '00:00') at time zone 'Asia/Shanghai'`.as('at'), 'used_bytes', 'tag_count'])
    .where('repository_id', '=', id)
    .orderBy('day')
    .execute()

export const notePull = async (on: Sql, repositoryId: string, tag: string | null, digest: string, at: Date): Promise<void> => {
  await on
    .updateTable('registry_repositories')
    .set({ pulled_at: at, pull_count: sql`pull_count + 1` })
    .where('id', '=', repositoryId)
    .execute()
  await on
    .updateTable('registry_tags')
    .set({ pulled_at: at })
    .where('repository_id', '=', repositoryId)
    .where('deleted_at', 'is', null)
    .where((eb) => (tag === null ? eb('digest', '=', digest) : eb('name', '=', tag)))
    .execute()
}

/** All that a project has, for rules that look at it whole. */
export const tagsOfProject = (on: Sql, projectId: string): Promise<(TagRow & { repository: string })[]> =>
  on
    .selectFrom('registry_tags')
    .innerJoin('registry_repositories as r', 'r.id', 'registry_tags.repository_id')
    .where('r.project_id', '=', projectId)
    .where('registry_tags.deleted_at', 'is', null)
    .selectAll('registry_tags')
    .select('r.name as repository')
    .orderBy('r.name')
    .orderBy('registry_tags.name')
    .execute()
export const projectsWithRules = (on: Sql): Promise<{ id: string; registry_id: string; keep_rules: KeepRule[]; immutable_tags: string[] }[]> =>
  on
    .selectFrom('registry_projects')
    .innerJoin('registries', 'registries.id', 'registry_projects.registry_id')
    .where('registries.status', '=', 'active')
    .where(sql<boolean>`registry_projects.keep_rules <> '[]'`)
    .select(['registry_projects.id', 'registry_projects.registry_id', 'registry_projects.keep_rules', 'registry_projects.immutable_tags'])
    .execute()
/** One by its id, whoever asks. */
export const repositoryById = (on: Sql, id: string): Promise<ShownRepository | undefined> =>
  joined(on).where('r.id', '=', id).selectAll('r').select(columns).executeTakeFirst()

export const repositoriesOf = (on: Sql, registryId: string): Promise<(Pick<RepositoryRow, 'id' | 'name' | 'project_id'> & { project_name: string })[]> =>
  joined(on).where('p.registry_id', '=', registryId).select(['r.id', 'r.name', 'r.project_id', 'p.name as project_name']).execute()
export type IndexedProject = Pick<Selectable<Tables['registry_projects']>, 'id' | 'name' | 'bp_id' | 'immutable_tags' | 'bin_days'>
export const projectsOf = (on: Sql, registryId: string): Promise<IndexedProject[]> =>
  on.selectFrom('registry_projects').select(['id', 'name', 'bp_id', 'immutable_tags', 'bin_days']).where('registry_id', '=', registryId).execute()

/** Names of projects that were deleted, whose content may still be there. */
export const leftProjects = (on: Sql, registryId: string): Promise<Selectable<Tables['registry_left_projects']>[]> =>
  on.selectFrom('registry_left_projects').selectAll().where('registry_id', '=', registryId).execute()
export const leaveProject = async (tx: Tx, row: Insertable<Tables['registry_left_projects']>): Promise<void> => {
  await tx
    .insertInto('registry_left_projects')
    .values(row)
    .onConflict((conflict) => conflict.columns(['registry_id', 'name']).doUpdateSet({ bp_id: row.bp_id, deleted_at: row.deleted_at }))
    .execute()
}
/** @param before those that were deleted by then */
export const forgetLeft = async (on: Sql, registryId: string, name: string, before: Date): Promise<void> => {
  await on.deleteFrom('registry_left_projects').where('registry_id', '=', registryId).where('name', '=', name).where('deleted_at', '<=', before).execute()
}
