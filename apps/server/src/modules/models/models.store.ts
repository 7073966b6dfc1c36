import type { ModelStatus, modelFrameworks, modelLicences, modelQuantisations, models, modelRevisions, ModelTask } from '@zhisuan/contract/models/model'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { sql, type Generated, type JSONColumnType, type RawBuilder, type Selectable, type Updateable } from 'kysely'
import { firstProjectKey } from '@zhisuan/contract/issue/project'
import { scopeOf, type Actor } from '../../platform/auth/actor.ts'
import { tellsChanges } from '../../platform/changes.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../platform/db/page.ts'
import { rowsOf } from '../../platform/db/rows.ts'
import { within, worksIn } from '../../platform/db/scope.ts'
import '../../platform/bytes/bytes.store.ts'
import { importing } from './imports.store.ts'

/** What is said of a model. */
export type ModelAbout = BodyOf<typeof models.update>

interface ModelTable {
  id: string
  bp_id: string | null
  project_id: string | null
  namespace: string
  name: string
  title: string
  summary: string
  task: ModelTask
  framework: (typeof modelFrameworks)[number]
  licence: (typeof modelLicences)[number]
  quantisation: (typeof modelQuantisations)[number]
  languages: string[]
  tags: string[]
  parameters: number | null
  memory_bytes: number | null
  terms: string | null
  status: Generated<ModelStatus>
  rejected_reason: string | null
  /** Markdown, of the README.md of the newest revision. */
  card: Generated<string>
  /** The newest. */
  revision_id: string | null
  size_bytes: Generated<number>
  file_count: Generated<number>
  /** Of all revisions, each content once: what it counts for the quota. */
  kept_bytes: Generated<number>
  /** What billing was told last. */
  metered_bytes: Generated<number>
  download_count: Generated<number>
  /** The revision that was accepted last, and what is told of it; null where nothing is published. */
  published_revision_id: Generated<string | null>
  published_card: Generated<string>
  published_size_bytes: Generated<number>
  published_file_count: Generated<number>
  published_at: Date | null
  /** Of what is published: what is to be said of it once that is accepted; null where all of it was. */
  pending_about: JSONColumnType<ModelAbout> | null
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
interface ModelNamespaceTable {
  /** In lower case. */
  name: string
  bp_id: string | null
}
interface ModelRevisionTable {
  /** 40 hexadecimal digits. */
  id: string
  model_id: string
  number: number
  message: string
  file_count: number
  size_bytes: number
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  /** Since when everybody may have it, while its model is published. */
  accepted_at: Generated<Date | null>
}
/** Files of a revision: all of them, so that a revision never changes. */
interface ModelFileTable {
  revision_id: string
  path: string
  sha256: string
  size_bytes: number
}
/** What has come in and no commit has taken yet. */
interface ModelStagedTable {
  upload_id: string
  model_id: string
  /** Who sent it; null where it was imported. */
  user_id: string | null
  /** Where it is to lie, where that was said. */
  path: string | null
  sha256: string
  size_bytes: number
  created_at: Generated<Date>
}
interface ModelAcceptanceTable {
  model_id: string
  user_id: string
  user_name: string
  /** What they accepted, as it stood. */
  terms: string
  accepted_at: Generated<Date>
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    models: ModelTable
    model_namespaces: ModelNamespaceTable
    model_revisions: ModelRevisionTable
    model_files: ModelFileTable
    model_staged: ModelStagedTable
    model_acceptances: ModelAcceptanceTable
  }
}

export const modelMigrations: Migrations = {
  '20261128_85_models': migration(`
    create table model_namespaces (name text primary key, bp_id uuid);
    create table models (
      id uuid primary key,
      bp_id uuid,
      namespace text not null,
      name text not null,
      title text not null,
      summary text not null,
      task text not null,
      framework text not null,
      licence text not null,
      quantisation text not null,
      languages text[] not null,
      tags text[] not null,
      parameters bigint,
      memory_bytes bigint,
      terms text,
      status text not null default 'draft' check (status in ('draft', 'review', 'published', 'rejected')),
      rejected_reason text,
      card text not null default '',
      revision_id text,
      size_bytes bigint not null default 0,
      file_count bigint not null default 0,
      kept_bytes bigint not null default 0 check (kept_bytes >= 0),
      download_count bigint not null default 0,
      published_at timestamptz,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index models_name on models (lower(namespace), lower(name));
    create index models_published on models (published_at desc, id desc) where status = 'published';
    create index models_bp on models (bp_id);
    create table model_revisions (
      id text primary key,
      model_id uuid not null references models on delete cascade,
      number bigint not null,
      message text not null,
      file_count bigint not null,
      size_bytes bigint not null,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      unique (model_id, number)
    );
    create table model_files (
      revision_id text not null references model_revisions on delete cascade,
      path text not null,
      sha256 text not null references byte_contents,
      size_bytes bigint not null,
      primary key (revision_id, path)
    );
    create index model_files_content on model_files (sha256);
    create table model_staged (
      upload_id uuid primary key,
      model_id uuid not null references models on delete cascade,
      sha256 text not null references byte_contents,
      size_bytes bigint not null,
      created_at timestamptz not null default now()
    );
    create index model_staged_content on model_staged (sha256);
    create table model_acceptances (
      model_id uuid not null references models on delete cascade,
      user_id uuid not null,
      user_name text not null,
      terms text not null,
      accepted_at timestamptz not null default now(),
      primary key (model_id, user_id)
    );
    ${tellsChanges('models', 'models.model')}
  `),
  '20261128_92_model_usage': migration(`
    alter table models add column metered_bytes bigint not null default 0;
    create function models_end_usage() returns trigger language plpgsql as $$
    begin
      if old.metered_bytes > 0 then perform record_usage('models.model', old.id, old.namespace || '/' || old.name, old.bp_id, null, '{}'); end if;
      return null;
    end $$;
    create trigger models_end_usage after delete on models for each row execute function models_end_usage();
  `),
  '20261129_45_model_published_revision': migration(`
    alter table models
      add column published_revision_id text,
      add column published_card text not null default '',
      add column published_size_bytes bigint not null default 0,
      add column published_file_count bigint not null default 0;
    alter table model_revisions add column accepted_at timestamptz;
    update models set published_revision_id = revision_id, published_card = card, published_size_bytes = size_bytes, published_file_count = file_count
      where status = 'published';
    update model_revisions set accepted_at = now() where model_id in (select id from models where status = 'published');
    drop index models_published;
    create index models_published on models (published_at desc, id desc) where published_revision_id is not null;
  `),
  '20261130_14_model_pending_about': migration(`
    alter table models add column pending_about jsonb;
    -- What somebody accepted stays told, also where they accepted other terms since.
    alter table model_acceptances drop constraint model_acceptances_pkey;
    create unique index model_acceptances_once on model_acceptances (model_id, user_id, md5(terms));
  `),
  '20261201_14_model_staged_by': migration(`
    alter table model_staged add column user_id uuid, add column path text;
    create index byte_uploads_wish on byte_uploads using gin (wish jsonb_path_ops);
  `),
  '20261201_13_model_projects': migration(`
    -- Where anything of it is kept the project is not deleted.
    alter table models add column project_id uuid references projects on delete set null;
    create or replace function models_end_usage() returns trigger language plpgsql as $$
    begin
      if old.metered_bytes > 0 then perform record_usage('models.model', old.id, old.namespace || '/' || old.name, old.bp_id, old.project_id, '{}'); end if;
      return null;
    end $$;
  `),
}

/** Tells billing what models take up, as far as that is otherwise than it was told. */
export const tellUsage = async (on: Sql): Promise<void> => {
  await sql`
    with changed as (
      update models set metered_bytes = kept_bytes where metered_bytes <> kept_bytes returning id, bp_id, project_id, namespace, name, kept_bytes
    )
    select record_usage('models.model', id, namespace || '/' || name, bp_id, project_id,
      case when kept_bytes = 0 then '{}' else jsonb_build_object('file.size', kept_bytes) end)
    from changed`.execute(on)
}

export type ModelRow = Selectable<ModelTable>
export type RevisionRow = Selectable<ModelRevisionTable>
export type FileRow = Selectable<ModelFileTable>

/** Who looks; null: nobody who is signed in, who sees what is published and no more. */
export type Viewer = Pick<Actor, 'user_id' | 'kind' | 'roles' | 'bp_id'> | null
/** As a row is found by somebody. */
export type SeenModel = ModelRow & {
  /** Whether it is one's own; else it is published, and that is all that is seen of it. */
  readonly mine: boolean
}
/** One's organisation's; of a project, as its files are, of who works in it. What the project has that an organisation begins with is the organisation's. */
const own = (viewer: Viewer): RawBuilder<boolean> => {
  if (viewer === null) return sql<boolean>`false`
  const scope = scopeOf(viewer)
  const everybody = sql<boolean>`(models.project_id is null or exists (select from projects where projects.id = models.project_id and projects.key = ${firstProjectKey}))`
  return 'bp_id' in scope
    ? sql<boolean>`(${within(scope, 'models.bp_id')} and (${everybody} or ${worksIn(viewer, 'models.bp_id', 'models.project_id')}))`
    : within(scope, 'models.bp_id')
}
/** One's own, and what is published. */
const seen = (viewer: Viewer): RawBuilder<boolean> => sql<boolean>`(${own(viewer)} or models.published_revision_id is not null)`

const order = orderOf('models', '-published_at', 'published_at', 'download_count', 'parameters', 'updated_at')
type Filters = Pick<QueryOf<typeof models.list>, 'keyword' | 'task' | 'framework' | 'licence' | 'quantisation' | 'language' | 'tag'>
const matchingModels = (on: Sql, query: Filters, own: boolean) =>
  on
    .selectFrom('models')
    .where(asked(query, 'models', 'task', 'framework', 'licence', 'quantisation'))
    .where(query.language === undefined ? sql<boolean>`true` : sql<boolean>`models.languages @> ${[query.language]}::text[]`)
    .where(query.tag === undefined ? sql<boolean>`true` : sql<boolean>`models.tags @> ${[query.tag]}::text[]`)
    .where(
      matching(
        query.keyword,
        sql<string>`models.namespace || '/' || models.name || ' ' || models.title || ' ' || models.summary || ' ' || array_to_string(models.tags, ' ')`,
        // Of one's own also by what waits to be accepted.
        ...(own ? [sql<string>`coalesce(models.pending_about ->> 'title', '') || ' ' || coalesce(models.pending_about ->> 'summary', '')`] : []),
      ),
    )

/** Of one's own, whatever their status; else of what is published. */
export const asksForOwn = ({ mine, status }: Pick<QueryOf<typeof models.list>, 'mine' | 'status'>): boolean =>
  mine || (status !== undefined && status !== 'published')

export async function listModels(on: Sql, viewer: Viewer, query: QueryOf<typeof models.list>): Promise<{ total: number; rows: SeenModel[] }> {
  const filtered = matchingModels(on, query, asksForOwn(query))
    // What waits is the administrators' to see, and its organisation's own.
    .where(asksForOwn(query) ? own(viewer) : sql<boolean>`models.published_revision_id is not null`)
    .where(query.status === undefined || !asksForOwn(query) ? sql<boolean>`true` : sql<boolean>`models.status = ${query.status}`)
  const wish = { ...query, sort: query.sort ?? (query.mine || query.status !== undefined ? '-updated_at' : undefined) }
  return pageWithTotal(paged(filtered.selectAll('models').select(own(viewer).as('mine')), wish, order), filtered, query)
}

export async function facetsOf(
  on: Sql,
  query: Filters,
): Promise<{ facet: 'task' | 'framework' | 'licence' | 'quantisation' | 'language'; value: string; count: number }[]> {
  const facets = ['task', 'framework', 'licence', 'quantisation', 'language'] as const
  const counted = await Promise.all(
    facets.map(async (facet) => {
      // Of one's own kind all stay to be chosen: so its own filter does not count.
      const { [facet]: _, ...others } = query
      const value = facet === 'language' ? sql<string>`unnest(models.languages)` : sql<string>`${sql.ref(`models.${facet}`)}`
      const rows = await matchingModels(on, others, false)
        .where('models.published_revision_id', 'is not', null)
        .select([value.as('value'), sql<number>`count(*)`.as('count')])
        .groupBy(sql`1`)
        .orderBy(sql`2`, 'desc')
        .execute()
      return rows.map(({ value: name, count }) => ({ facet, value: name, count }))
    }),
  )
  return counted.flat()
}

const seenBy = (on: Sql, viewer: Viewer) => on.selectFrom('models').selectAll().select(own(viewer).as('mine')).where(seen(viewer))
export const seenModel = (on: Sql, viewer: Viewer, id: string): Promise<SeenModel | undefined> => seenBy(on, viewer).where('id', '=', id).executeTakeFirst()
export const seenByName = (on: Sql, viewer: Viewer, namespace: string, name: string): Promise<SeenModel | undefined> =>
  seenBy(on, viewer)
    .where(sql<boolean>`lower(namespace) = lower(${namespace}) and lower(name) = lower(${name})`)
    .executeTakeFirst()
export const { insert: insertModel, remove: deleteModel, lockAny: lockAnyModel } = rowsOf('models')
/** One's own, held against other changes until the transaction ends. */
export const lockModel = (tx: Tx, viewer: Viewer, id: string): Promise<ModelRow | undefined> =>
  tx.selectFrom('models').selectAll().where(own(viewer)).where('id', '=', id).forUpdate().executeTakeFirst()
/** @param changed whether people are told that it is another since */
export const updateModel = async (on: Sql, id: string, changes: Updateable<Tables['models']>, changed = true): Promise<void> => {
  await on
    .updateTable('models')
    .set({ ...changes, ...(changed && { updated_at: sql`now()` }) })
    .where('id', '=', id)
    .execute()
}
/** Whether somebody works in a project of their organisation; held, so that it is not deleted meanwhile. */
export const worksInProject = async (tx: Tx, holder: NonNullable<Viewer>, id: string): Promise<boolean> =>
  (await tx
    .selectFrom('projects')
    .select('id')
    .where('bp_id', '=', holder.bp_id)
    .where('id', '=', id)
    .where((where) => where.or([where('key', '=', firstProjectKey), worksIn(holder, 'projects.bp_id', 'projects.id')]))
    .forKeyShare()
    .executeTakeFirst()) !== undefined
/** @returns whose it is by now */
export async function takeNamespace(tx: Tx, name: string, bpId: string | null): Promise<string | null> {
  await tx
    .insertInto('model_namespaces')
    .values({ name: name.toLowerCase(), bp_id: bpId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await tx.selectFrom('model_namespaces').select('bp_id').where('name', '=', name.toLowerCase()).executeTakeFirstOrThrow()).bp_id
}

/** @param all else those that were accepted */
export async function listRevisions(
  on: Sql,
  modelId: string,
  all: boolean,
  query: QueryOf<typeof modelRevisions.list>,
): Promise<{ total: number; rows: RevisionRow[] }> {
  const filtered = on
    .selectFrom('model_revisions')
    .where('model_id', '=', modelId)
    .where(all ? sql<boolean>`true` : sql<boolean>`accepted_at is not null`)
  return pageWithTotal(paged(filtered.selectAll(), query, orderOf('model_revisions', '-number', 'number')), filtered, query)
}
export const getRevision = (on: Sql, modelId: string, id: string): Promise<RevisionRow | undefined> =>
  on.selectFrom('model_revisions').selectAll().where('model_id', '=', modelId).where('id', '=', id).executeTakeFirst()
export const insertRevision = async (
  tx: Tx,
  row: Omit<RevisionRow, 'created_at' | 'accepted_at'>,
  files: readonly Omit<FileRow, 'revision_id'>[],
): Promise<void> => {
  await tx.insertInto('model_revisions').values(row).execute()
  if (files.length > 0)
    await tx
      .insertInto('model_files')
      .values(files.map((file) => ({ ...file, revision_id: row.id })))
      .execute()
}
/** One for everybody, or none any more. */
export const acceptRevision = async (tx: Tx, id: string, at: Date): Promise<void> => {
  await tx.updateTable('model_revisions').set({ accepted_at: at }).where('id', '=', id).execute()
}
export const takeBackRevisions = async (tx: Tx, modelId: string): Promise<void> => {
  await tx.updateTable('model_revisions').set({ accepted_at: null }).where('model_id', '=', modelId).execute()
}
export const filesOf = (on: Sql, revisionId: string): Promise<FileRow[]> =>
  on.selectFrom('model_files').selectAll().where('revision_id', '=', revisionId).orderBy('path').execute()
export const fileAt = (on: Sql, revisionId: string, path: string): Promise<FileRow | undefined> =>
  on.selectFrom('model_files').selectAll().where('revision_id', '=', revisionId).where('path', '=', path).executeTakeFirst()
/** Contents of all revisions and of what is staged. */
export async function contentsOf(on: Sql, modelId: string): Promise<{ sha256: string; size_bytes: number }[]> {
  const { rows } = await sql<{ sha256: string; size_bytes: number }>`
    select distinct sha256, size_bytes from model_files where revision_id in (select id from model_revisions where model_id = ${modelId})
    union select sha256, size_bytes from model_staged where model_id = ${modelId}`.execute(on)
  return rows
}

export const insertStaged = async (tx: Tx, row: Omit<Selectable<ModelStagedTable>, 'created_at'>): Promise<void> => {
  await tx.insertInto('model_staged').values(row).execute()
}
export const stagedOf = (on: Sql, modelId: string, uploadIds: readonly string[]): Promise<Selectable<ModelStagedTable>[]> =>
  uploadIds.length === 0
    ? Promise.resolve([])
    : on.selectFrom('model_staged').selectAll().where('model_id', '=', modelId).where('upload_id', 'in', uploadIds).execute()
/** Of one person, the oldest first. */
export const stagedBy = (on: Sql, modelId: string, userId: string): Promise<Selectable<ModelStagedTable>[]> =>
  on.selectFrom('model_staged').selectAll().where('model_id', '=', modelId).where('user_id', '=', userId).orderBy('created_at').limit(1_000).execute()
export const dropStaged = async (tx: Tx, uploadIds: readonly string[]): Promise<void> => {
  if (uploadIds.length > 0) await tx.deleteFrom('model_staged').where('upload_id', 'in', uploadIds).execute()
}
/** Of these contents none waits for a commit any more. */
export const dropStagedContents = async (tx: Tx, modelId: string, sha256s: readonly string[]): Promise<void> => {
  if (sha256s.length > 0) await tx.deleteFrom('model_staged').where('model_id', '=', modelId).where('sha256', 'in', sha256s).execute()
}
/** Came in before that, and no commit took it. */
export const forgottenStaged = (on: Sql, before: Date): Promise<Selectable<ModelStagedTable>[]> =>
  on
    .selectFrom('model_staged')
    .selectAll()
    .where('created_at', '<', before)
    .where(sql<boolean>`not ${importing}`)
    .limit(500)
    .execute()

export const hasAccepted = async (on: Sql, modelId: string, userId: string, terms: string): Promise<boolean> =>
  (await on
    .selectFrom('model_acceptances')
    .select('model_id')
    .where('model_id', '=', modelId)
    .where('user_id', '=', userId)
    .where(sql<boolean>`md5(terms) = md5(${terms})`)
    .where('terms', '=', terms)
    .executeTakeFirst()) !== undefined
/** Once for each text. */
export const recordAcceptance = async (on: Sql, row: Omit<Selectable<ModelAcceptanceTable>, 'accepted_at'>): Promise<void> => {
  await on
    .insertInto('model_acceptances')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
export const countDownload = async (on: Sql, modelId: string): Promise<void> => {
  await updateModel(on, modelId, { download_count: sql`download_count + 1` as never }, false)
}
