import type { QueryOf } from '@zhisuan/contract/define'
import type { Image, imageLibrary, imageSources, ImageStatus, imageVisibilities } from '@zhisuan/contract/nextstack/image'
import type { VmType } from '@zhisuan/contract/nextstack/vm'
import { sql, type Generated, type Insertable, type RawBuilder, type Selectable, type SelectQueryBuilder, type Updateable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged, pagedTogether } from '../../../platform/db/page.ts'
import { endOperations, openStatuses } from '../../../platform/operations.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import type { QuotaCounter } from '../quota/quota.service.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import type { OnEngineTable } from '../../../platform/resource.shape.ts'

interface ImageTable extends OnEngineTable {
  status: ImageStatus
  visibility: (typeof imageVisibilities)[number]
  source: (typeof imageSources)[number]
  /** As the engine names it; from when its bytes are known, which is before the engine has it. */
  fingerprint: string | null
  /** Of the file as it came: what was announced, and once it is here what it is. */
  sha256: string | null
  /** How its one file is called, such as `.tar.gz`; null where it may be several files. */
  suffix: string | null
  type: VmType
  os: string | null
  release: string | null
  architecture: string | null
  cloud_init: boolean
  size_bytes: number | null
  received_bytes: Generated<number>
  min_cpu_cores: number
  min_memory_bytes: number
  min_disk_bytes: number
}
interface ImageShareTable {
  image_id: string
  bp_id: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    images: ImageTable
    image_shares: ImageShareTable
  }
}
export type ImageRow = Selectable<ImageTable>
export type NewImage = Insertable<ImageTable>
export type ShownImage = ImageRow & { bp_name: string | null; operation_id: string | null; mine: boolean; shared_with: Image['shared_with']; vm_count: number }

/** Names of what the engine had of itself are as they are, such as those of two types. */
export const imageNameIndex = 'images_name'
/** Broken by the same bytes twice in one organisation; two organisations may have the same, and share what the engine has. */
export const imageContentIndex = 'images_content'

export const imageMigrations: Migrations = {
  '20261123_00_28_images': migration(`
    create table images (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      name text not null,
      description text not null,
      status text not null check (status in ('uploading', 'fetching', 'publishing', 'importing', 'active', 'deleting', 'error', 'lost')),
      error_text text,
      visibility text not null check (visibility in ('public', 'private')),
      source text not null check (source in ('upload', 'url', 'vm', 'engine')),
      fingerprint text,
      sha256 text,
      suffix text,
      type text not null check (type in ('vm', 'container')),
      os text,
      release text,
      architecture text,
      cloud_init boolean not null,
      size_bytes bigint,
      received_bytes bigint not null default 0,
      min_cpu_cores integer not null,
      min_memory_bytes bigint not null,
      min_disk_bytes bigint not null,
      -- What the keyword filter looks through: name, system, id.
      search text generated always as (name || ' ' || coalesce(os, '') || ' ' || coalesce(release, '') || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index images_name on images (cloud_id, coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name) where source <> 'engine';
    create unique index images_content on images (cloud_id, coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), fingerprint) where fingerprint is not null;
    create index images_fingerprint on images (cloud_id, fingerprint) where fingerprint is not null;
    create index images_newest on images (cloud_id, created_at desc, id desc);
    create index images_newest_bp on images (bp_id, cloud_id, created_at desc, id desc);
    create index images_everywhere_bp on images (bp_id, created_at desc, id desc);
    create index images_everywhere on images (created_at desc, id desc);
    create index images_visibility on images (cloud_id, visibility, created_at desc, id desc);
    create index images_visibility_bp on images (bp_id, cloud_id, visibility, created_at desc, id desc);
    create index images_names on images (cloud_id, name, id);
    create index images_names_bp on images (bp_id, cloud_id, name, id);
    create index images_sizes on images (cloud_id, size_bytes, id);
    create index images_sizes_bp on images (bp_id, cloud_id, size_bytes, id);
    create index images_status on images (cloud_id, status, created_at desc, id desc);
    -- For organisations, whose lists are read as parts: what is their own, and what is everybody's.
    create index images_public_newest on images (cloud_id, created_at desc, id desc, bp_id) where visibility = 'public' and status = 'active';
    create index images_public_names on images (cloud_id, name, id, bp_id) where visibility = 'public' and status = 'active';
    create index images_public_sizes on images (cloud_id, size_bytes, id, bp_id) where visibility = 'public' and status = 'active';
    create index images_public_everywhere on images (created_at desc, id desc, bp_id) where visibility = 'public' and status = 'active';
    create index images_by_status_bp on images (bp_id, cloud_id, status, id);
    create index images_uploading on images (updated_at) where status = 'uploading';
    create index images_search on images using gin (search gin_trgm_ops);
    create table image_shares (
      image_id uuid not null references images on delete cascade,
      bp_id uuid not null references organisations on delete cascade,
      primary key (image_id, bp_id)
    );
    create index image_shares_bp on image_shares (bp_id, image_id);
    create index vms_image on vms (cloud_id, image_fingerprint, bp_id);
    ${tellsChanges('images', 'nextstack.image')}
    ${tellsChanges('image_shares', 'nextstack.image')}
  `),
}

/** What the engine had of itself is nobody's. */
export const imageCounter: QuotaCounter = {
  resources: ['images', 'image_bytes'],
  async count(on, { bp_id, project_id }) {
    // Images are in no project.
    if (project_id !== null) return { images: 0, image_bytes: 0 }
    return on
      .selectFrom('images')
      .select([sql<number>`count(*)`.as('images'), sql<number>`coalesce(sum(size_bytes), 0)::bigint`.as('image_bytes')])
      .where('source', '!=', 'engine')
      .$if(bp_id !== null, (q) => q.where('bp_id', '=', bp_id))
      .executeTakeFirstOrThrow()
  },
}

/**
 * What the scope may use: its own in whatever state, and of others what is whole and public or shared
 * with it. As parts that have no row in common, so that an index answers each.
 */
function usableParts(scope: Scope): [RawBuilder<boolean>, ...RawBuilder<boolean>[]] {
  if ('everything' in scope) return [sql<boolean>`true`]
  const everybodys = sql<boolean>`images.status = 'active' and images.visibility = 'public'`
  if ('nothing' in scope) return [everybodys]
  const { bp_id } = scope
  const anothers = sql<boolean>`images.bp_id is distinct from ${bp_id}`
  const shared = sql<boolean>`images.status = 'active' and images.visibility = 'private' and images.id = any (array(select image_id from image_shares where image_shares.bp_id = ${bp_id}))`
  return [sql<boolean>`images.bp_id = ${bp_id}`, sql<boolean>`${everybodys} and ${anothers}`, sql<boolean>`${shared} and ${anothers}`]
}
const usable = (scope: Scope): RawBuilder<boolean> =>
  sql<boolean>`(${sql.join(
    usableParts(scope).map((part) => sql`(${part})`),
    sql` or `,
  )})`

const visible = (on: Sql, scope: Scope) => on.selectFrom('images').where(usable(scope))

const shown = <T>(query: SelectQueryBuilder<Tables, 'images', T>, scope: Scope) =>
  query
    .leftJoin('organisations', 'organisations.id', 'images.bp_id')
    .leftJoin('operations', (join) => join.onRef('operations.resource_id', '=', 'images.id').on('operations.status', 'in', openStatuses))
    .selectAll('images')
    .select([
      'organisations.name as bp_name',
      'operations.id as operation_id',
      sql<boolean>`coalesce(${within(scope, 'images.bp_id')}, false)`.as('mine'),
      sql<Image['shared_with']>`(
        select coalesce(json_agg(json_build_object('name', sharers.name) order by sharers.name), '[]')
        from image_shares join organisations as sharers on sharers.id = image_shares.bp_id where image_shares.image_id = images.id
      )`.as('shared_with'),
      sql<number>`(
        select count(*) from vms where vms.cloud_id = images.cloud_id and vms.image_fingerprint = images.fingerprint and ${within(scope, 'vms.bp_id')}
      )`.as('vm_count'),
    ])

const order = orderOf('images', '-created_at', 'name', 'status', 'size_bytes', 'created_at')

export async function listImages(on: Sql, scope: Scope, query: QueryOf<typeof imageLibrary.list>): Promise<{ total: number; rows: ShownImage[] }> {
  const found = (part: RawBuilder<boolean>) =>
    on
      .selectFrom('images')
      .where(part)
      .where(asked(query, 'images', 'cloud_id', 'visibility', 'status', 'type'))
      .where(matching(query.keyword, 'images.search'))
      .select('images.id')
  const [own, ...others] = usableParts(scope)
  const [first, ...rest] = [found(own), ...others.map(found)] as const
  // The page is cut out before the joins, which then touch its rows only.
  const cut = pagedTogether([first, ...rest], query, order)
  return pageWithTotal(paged(shown(on.selectFrom('images').where('images.id', 'in', cut), scope), { ...query, page_num: 1 }, order), first, query, rest)
}

export const getImage = (on: Sql, scope: Scope, id: string): Promise<ShownImage | undefined> =>
  shown(visible(on, scope).where('images.id', '=', id), scope).executeTakeFirst()

export const { insert: insertImage, update: updateImage, remove: deleteImage, lock: lockImage } = rowsOf('images', 'updated_at')

/** Nothing where somebody moved it on meanwhile. */
export const updateImageIf = async (on: Sql, id: string, status: ImageStatus, changes: Updateable<ImageTable>): Promise<void> => {
  await on
    .updateTable('images')
    .set({ ...changes, updated_at: sql`now()` })
    .where('id', '=', id)
    .where('status', '=', status)
    .execute()
}

/** Exactly these organisations. */
export async function setShares(tx: Tx, imageId: string, bpIds: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('image_shares')
    .where('image_id', '=', imageId)
    .$if(bpIds.length > 0, (q) => q.where('bp_id', 'not in', [...bpIds]))
    .execute()
  if (bpIds.length > 0)
    await tx
      .insertInto('image_shares')
      .values(bpIds.map((bp_id) => ({ image_id: imageId, bp_id })))
      .onConflict((of) => of.doNothing())
      .execute()
}

export const organisationsNamed = async (on: Sql, names: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  new Map(
    names.length === 0
      ? []
      : (
          await on
            .selectFrom('organisations')
            .select(['id', 'name'])
            .where('name', 'in', [...names])
            .execute()
        ).map(({ id, name }) => [name, id]),
  )

/** The one image of an organisation with this content. */
export const nameOfContent = async (on: Sql, { cloud_id, bp_id }: Pick<ImageRow, 'cloud_id' | 'bp_id'>, fingerprint: string): Promise<string | undefined> =>
  (
    await on
      .selectFrom('images')
      .select('name')
      .where('cloud_id', '=', cloud_id)
      .where(sql<boolean>`bp_id is not distinct from ${bp_id}`)
      .where('fingerprint', '=', fingerprint)
      .executeTakeFirst()
  )?.name

/** Whoever changes which rows name a fingerprint, and what the engine has of it, does so one after the other, until the transaction ends. */
export const lockContent = async (tx: Tx, cloudId: string, fingerprint: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`image ${cloudId} ${fingerprint}`}, 13))`.execute(tx)
}

/** Other rows whose content it is. */
export const othersWith = (on: Sql, { id, cloud_id }: Pick<ImageRow, 'id' | 'cloud_id'>, fingerprint: string): Promise<Pick<ImageRow, 'id' | 'status'>[]> =>
  on.selectFrom('images').select(['id', 'status']).where('cloud_id', '=', cloud_id).where('fingerprint', '=', fingerprint).where('id', '!=', id).execute()

export type LibraryRow = ImageRow & { usable: boolean; mine: boolean }

/** All rows with these fingerprints, whosever they are, and whether the scope may make something of each. */
export async function libraryOf(on: Sql, scope: Scope, cloudId: string, fingerprints: readonly string[]): Promise<LibraryRow[]> {
  if (fingerprints.length === 0) return []
  return on
    .selectFrom('images')
    .selectAll('images')
    .select([
      sql<boolean>`(${usable(scope)}) and images.status = 'active'`.as('usable'),
      sql<boolean>`coalesce(${within(scope, 'images.bp_id')}, false)`.as('mine'),
    ])
    .where('cloud_id', '=', cloudId)
    .where(sql<boolean>`fingerprint = any (${[...fingerprints]}::text[])`)
    .orderBy('created_at')
    .execute()
}

/** What the observer compares with the engine. */
export const restingOfCloud = (on: Sql, cloudId: string): Promise<Pick<ImageRow, 'id' | 'name' | 'status' | 'source' | 'fingerprint'>[]> =>
  on
    .selectFrom('images')
    .select(['id', 'name', 'status', 'source', 'fingerprint'])
    .where('cloud_id', '=', cloudId)
    .where('fingerprint', 'is not', null)
    .execute()

/** The engine's own, once: who was faster has it. */
export const adoptImage = async (on: Sql, row: NewImage): Promise<void> => {
  await on
    .insertInto('images')
    .values(row)
    .onConflict((of) => of.doNothing())
    .execute()
}

export const expiredUploads = (on: Sql, before: Date): Promise<{ id: string }[]> =>
  on.selectFrom('images').select('id').where('status', '=', 'uploading').where('updated_at', '<', before).execute()

/** Of these ids, those whose files are needed still. */
export const withFiles = async (on: Sql, ids: readonly string[]): Promise<Set<string>> =>
  new Set(
    ids.length === 0
      ? []
      : (
          await on
            .selectFrom('images')
            .leftJoin('operations', (join) => join.onRef('operations.resource_id', '=', 'images.id').on('operations.status', 'in', openStatuses))
            .select('images.id')
            .where('images.id', 'in', [...ids])
            .where((of) => of.or([of('images.status', '=', 'uploading'), of('operations.id', 'is not', null)]))
            .execute()
        ).map(({ id }) => id),
  )

/** Removes the records of a cloud's images, and ends their open operations. */
export async function forgetImages(tx: Tx, cloudId: string): Promise<void> {
  await endOperations(tx, tx.selectFrom('images').select('id').where('cloud_id', '=', cloudId), 'imageMissing')
  await tx.deleteFrom('images').where('cloud_id', '=', cloudId).execute()
}

/** What an image may be made of. */
export const vmFor = (on: Sql, scope: Scope, id: string) =>
  on
    .selectFrom('vms')
    .select(['id', 'cloud_id', 'bp_id', 'status', 'type', 'engine_name', 'disk_bytes'])
    .where(within(scope, 'vms.bp_id'))
    .where('id', '=', id)
    .executeTakeFirst()

export const snapshotFor = (on: Sql, vmId: string, id: string) =>
  on.selectFrom('vm_snapshots').select(['engine_name', 'status']).where('vm_id', '=', vmId).where('id', '=', id).executeTakeFirst()
