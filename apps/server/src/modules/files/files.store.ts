import type { fileShares, fileSpaces, fileTransfers, SpaceKind, TransferKind, TransferOutcome, TransferPlace } from '@zhisuan/contract/files/file'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Generated, type RawBuilder, type Selectable } from 'kysely'
import { tellsChanges } from '../../platform/changes.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../platform/db/page.ts'
import { insertsInto } from '../../platform/db/rows.ts'
import { worksIn } from '../../platform/db/scope.ts'
import { found } from '../../platform/errors.ts'
import { firstProjectKey } from '@zhisuan/contract/issue/project'
import '../../platform/bytes/bytes.store.ts'
import { publishedText, spaceTexts } from './files.texts.ts'

interface FileSpaceTable {
  id: string
  kind: SpaceKind
  bp_id: string | null
  /** Of a personal one. */
  user_id: string | null
  /** Of a project's. */
  project_id: string | null
  used_bytes: Generated<number>
  file_count: Generated<number>
  /** What billing was told last. */
  metered_bytes: Generated<number>
}
interface FileEntryTable {
  id: string
  space_id: string
  /** As its space's, for what tells of changes. */
  bp_id: string | null
  parent_id: string | null
  kind: 'folder' | 'file'
  name: string
  sha256: string | null
  size_bytes: number | null
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
  /** Of what was deleted, and all within it: whose deletion took it along. Null: it is there. */
  bin_id: string | null
  /** Only of that one itself. */
  deleted_at: Date | null
  deleted_by_name: string | null
  /** Where it was, as people read it. */
  deleted_from: string | null
  /** Folders that it lay in and that have gone for good since: what is denied of them goes on being denied of it, until it is brought back. */
  lay_in: Generated<string[]>
  /** Of what somebody published: their organisation, which it counts for. */
  counts_for: string | null
}
/** What an organisation has in the public space, which is nobody's. */
interface FilePublicationTable {
  bp_id: string
  /** As billing knows it. */
  id: Generated<string>
  used_bytes: number
  /** What billing was told last. */
  metered_bytes: Generated<number>
}
interface FileShareTable {
  id: string
  entry_id: string
  /** SHA-256 of what stands in the link. */
  token_hash: Buffer
  /** Sealed, so that whoever made it can copy it again. */
  token: string
  /** argon2id. */
  password: string | null
  ends_at: Date | null
  downloads_left: number | null
  download_count: Generated<number>
  created_by: string
  created_by_name: string
  created_at: Generated<Date>
}
/** Of one link that a share gave: what was fetched by it counts as one download. */
interface FileShareUseTable {
  id: string
  share_id: string
  /** Whether it was fetched from its beginning. */
  begun: boolean
  /** Bytes that were asked for, less those that did not go. */
  asked_bytes: number
  created_at: Generated<Date>
}
/** What a link leads to whose wish is longer than an address may be. */
interface FileArchiveWishTable {
  id: string
  wish: unknown
  /** As its link does. */
  expires_at: Date
}
interface FileTransferTable {
  id: string
  kind: TransferKind
  /** Of an upload its own id. */
  upload_id: string | null
  name: string
  space_kind: TransferPlace
  bp_id: string | null
  user_id: string | null
  user_name: string | null
  /** Of what lies in a personal space: whose that is. Its name is nobody else's to read. */
  owner_id: string | null
  ip: string
  size_bytes: number | null
  bytes: Generated<number>
  sha256: string | null
  outcome: TransferOutcome
  reason: string | null
  /** Which, and where on it. */
  machine: string | null
  started_at: Generated<Date>
  ended_at: Date | null
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    file_spaces: FileSpaceTable
    file_entries: FileEntryTable
    file_publications: FilePublicationTable
    file_shares: FileShareTable
    file_share_uses: FileShareUseTable
    file_archive_wishes: FileArchiveWishTable
    file_transfers: FileTransferTable
  }
}

export const fileMigrations: Migrations = {
  '20261128_81_files': migration(`
    create table file_spaces (
      id uuid primary key,
      kind text not null check (kind in ('personal', 'organisation', 'public')),
      bp_id uuid,
      user_id uuid,
      used_bytes bigint not null default 0 check (used_bytes >= 0),
      file_count bigint not null default 0 check (file_count >= 0)
    );
    create unique index file_spaces_personal on file_spaces (user_id) where kind = 'personal';
    create unique index file_spaces_organisation on file_spaces (bp_id) where kind = 'organisation';
    create unique index file_spaces_public on file_spaces (kind) where kind = 'public';
    create table file_entries (
      id uuid primary key,
      space_id uuid not null references file_spaces,
      bp_id uuid,
      parent_id uuid references file_entries,
      kind text not null check (kind in ('folder', 'file')),
      name text not null,
      sha256 text references byte_contents,
      size_bytes bigint,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      bin_id uuid,
      deleted_at timestamptz,
      deleted_by_name text,
      deleted_from text,
      check ((kind = 'file') = (sha256 is not null and size_bytes is not null))
    );
    create unique index file_entries_name on file_entries (space_id, parent_id, name) nulls not distinct where bin_id is null;
    create index file_entries_named on file_entries (space_id, parent_id, kind desc, name, id) where bin_id is null;
    create index file_entries_parent on file_entries (parent_id);
    create index file_entries_content on file_entries (sha256) where sha256 is not null;
    create index file_entries_bin on file_entries (bin_id) where bin_id is not null;
    create index file_entries_deleted on file_entries (space_id, deleted_at) where deleted_at is not null;
    create table file_shares (
      id uuid primary key,
      entry_id uuid not null references file_entries on delete cascade,
      token_hash bytea not null,
      token text not null,
      password text,
      ends_at timestamptz,
      downloads_left bigint check (downloads_left >= 0),
      download_count bigint not null default 0,
      created_by uuid not null,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create unique index file_shares_token on file_shares (token_hash);
    create index file_shares_entry on file_shares (entry_id);
    create table file_transfers (
      id uuid primary key,
      kind text not null check (kind in ('upload', 'download', 'publish', 'share')),
      upload_id uuid,
      name text not null,
      space_kind text not null,
      bp_id uuid,
      user_id uuid,
      user_name text,
      ip text not null,
      size_bytes bigint,
      bytes bigint not null default 0,
      sha256 text,
      outcome text not null check (outcome in ('running', 'done', 'failed', 'cancelled')),
      reason text,
      started_at timestamptz not null default now(),
      ended_at timestamptz
    );
    create index file_transfers_started on file_transfers (started_at desc, id desc);
    create unique index file_transfers_upload on file_transfers (upload_id) where upload_id is not null;
    ${tellsChanges('file_entries', 'files.entry')}
    ${tellsChanges('file_transfers', 'files.transfer')}
  `),
  '20261128_91_file_usage': migration(`
    -- What billing was told last: not of each file, but of what is there every few minutes, and at once when it goes.
    alter table file_spaces add column metered_bytes bigint not null default 0;
    create function usage_name(space file_spaces) returns text language sql stable as $$
      select case space.kind when 'personal'
        then '${spaceTexts.personal}（' || coalesce((select coalesce(name, former_name) from users where id = space.user_id), '') || '）'
        else '${spaceTexts.organisation}' end
    $$;
    create function file_spaces_end_usage() returns trigger language plpgsql as $$
    begin
      if old.metered_bytes > 0 then perform record_usage('files.space', old.id, usage_name(old), old.bp_id, null, '{}'); end if;
      return null;
    end $$;
    create trigger file_spaces_end_usage after delete on file_spaces for each row execute function file_spaces_end_usage();
  `),
  '20261129_30_file_transfers_of_machines': migration(`
    alter table file_transfers add column machine text;
    alter table file_transfers drop constraint file_transfers_kind_check;
    alter table file_transfers add constraint file_transfers_kind_check
      check (kind in ('upload', 'download', 'publish', 'share', 'to_machine', 'from_machine'));
  `),
  '20261130_10_file_share_uses': migration(`
    create table file_share_uses (
      id uuid primary key,
      share_id uuid not null references file_shares on delete cascade,
      begun boolean not null,
      asked_bytes bigint not null,
      created_at timestamptz not null default now()
    );
    create index file_share_uses_share on file_share_uses (share_id);
    create index file_share_uses_created on file_share_uses (created_at);
  `),
  '20261130_13_file_transfer_owners': migration(`
    alter table file_transfers add column owner_id uuid;
    update file_transfers set owner_id = user_id where space_kind = 'personal';
  `),
  '20261130_15_file_archive_wishes': migration(`
    create table file_archive_wishes (
      id uuid primary key,
      wish jsonb not null,
      expires_at timestamptz not null
    );
    create index file_archive_wishes_expires on file_archive_wishes (expires_at);
  `),
  '20261201_18_file_entries_counted': migration(`
    -- How many there are in a folder: all of one look the same here, so that a hundred thousand take little room.
    create index file_entries_counted on file_entries (space_id, parent_id) where bin_id is null;
  `),
  '20261201_15_file_transfers_of_models': migration(`
    alter table file_transfers drop constraint file_transfers_kind_check;
    alter table file_transfers add constraint file_transfers_kind_check
      check (kind in ('upload', 'download', 'publish', 'share', 'to_machine', 'from_machine', 'import'));
  `),
  '20261201_11_file_projects': migration(`
    alter table file_spaces add column project_id uuid references projects on delete cascade;
    alter table file_spaces drop constraint file_spaces_kind_check;
    alter table file_spaces add constraint file_spaces_kind_check check (kind in ('personal', 'organisation', 'project', 'public'));
    create unique index file_spaces_project on file_spaces (project_id) where kind = 'project';
    -- A project that nothing is kept of any more goes with its empty folders.
    alter table file_entries drop constraint file_entries_space_id_fkey;
    alter table file_entries add constraint file_entries_space_id_fkey foreign key (space_id) references file_spaces on delete cascade;
    create or replace function usage_name(space file_spaces) returns text language sql stable as $$
      select case space.kind
        when 'personal' then '${spaceTexts.personal}（' || coalesce((select coalesce(name, former_name) from users where id = space.user_id), '') || '）'
        when 'project' then '${spaceTexts.project}（' || coalesce((select name from projects where id = space.project_id), '') || '）'
        else '${spaceTexts.organisation}' end
    $$;
    create or replace function file_spaces_end_usage() returns trigger language plpgsql as $$
    begin
      if old.metered_bytes > 0 then perform record_usage('files.space', old.id, usage_name(old), old.bp_id, old.project_id, '{}'); end if;
      return null;
    end $$;
  `),
  '20261202_30_file_publications': migration(`
    alter table file_entries add column counts_for uuid;
    create table file_publications (
      bp_id uuid primary key,
      id uuid not null default gen_random_uuid(),
      used_bytes bigint not null check (used_bytes >= 0),
      metered_bytes bigint not null default 0
    );
  `),
  '20261202_34_file_entries_lay_in': migration(`
    alter table file_entries add column lay_in uuid[] not null default '{}';
  `),
}

/** Tells billing what spaces take up, and what was published, as far as that is otherwise than it was told. */
export const tellUsage = async (on: Sql): Promise<void> => {
  await sql`
    with changed as (
      update file_spaces set metered_bytes = used_bytes where metered_bytes <> used_bytes returning file_spaces
    )
    select record_usage('files.space', (file_spaces).id, usage_name(file_spaces), (file_spaces).bp_id, (file_spaces).project_id,
      case when (file_spaces).used_bytes = 0 then '{}' else jsonb_build_object('file.size', (file_spaces).used_bytes) end)
    from changed`.execute(on)
  await sql`
    with changed as (
      update file_publications set metered_bytes = used_bytes where metered_bytes <> used_bytes returning id, bp_id, used_bytes
    )
    select record_usage('files.space', id, ${publishedText}, bp_id, null, case when used_bytes = 0 then '{}' else jsonb_build_object('file.size', used_bytes) end)
    from changed`.execute(on)
}

export type SpaceRow = Selectable<FileSpaceTable>
export type EntryRow = Selectable<FileEntryTable>
export type ShareRow = Selectable<FileShareTable>

/** Whose spaces they are: not an organisation alone, since a person's own is nobody else's, also not an administrator's. */
export interface Holder {
  readonly user_id: string
  readonly bp_id: string | null
}

/** The condition that a space is one that somebody reads: the only way to what is in it. */
const readBy = (holder: Holder): RawBuilder<boolean> =>
  sql<boolean>`(file_spaces.kind = 'public' or (file_spaces.kind = 'personal' and file_spaces.user_id = ${holder.user_id})
    or (file_spaces.kind = 'organisation' and file_spaces.bp_id = ${holder.bp_id})
    or (file_spaces.kind = 'project' and ${worksIn(holder, 'file_spaces.bp_id', 'file_spaces.project_id')}))`

/** Whether somebody is told what an entry is called: what lies in a personal space only whose that is. */
export const toldTo = (userId: string | null): RawBuilder<boolean> =>
  sql<boolean>`not exists (select from file_spaces where file_spaces.id = file_entries.space_id and file_spaces.kind = 'personal' and file_spaces.user_id is distinct from ${userId}::uuid)`
export type ShownSpace = SpaceRow & { project_name: string | null }
/**
 * Makes those that somebody has and that are not there yet, and answers them: the personal one, then the organisation's, those of
 * the projects that they work in, then the public one. What the project has that an organisation begins with is the organisation's.
 */
export async function spacesOf(on: Sql, holder: Holder, newId: () => string): Promise<ShownSpace[]> {
  await on
    .insertInto('file_spaces')
    .values([
      { id: newId(), kind: 'personal', bp_id: holder.bp_id, user_id: holder.user_id, project_id: null },
      { id: newId(), kind: 'public', bp_id: null, user_id: null, project_id: null },
      ...(holder.bp_id === null ? [] : [{ id: newId(), kind: 'organisation' as const, bp_id: holder.bp_id, user_id: null, project_id: null }]),
    ])
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await on
    .insertInto('file_spaces')
    .columns(['id', 'kind', 'bp_id', 'project_id'])
    .expression(
      on
        .selectFrom('projects')
        .select([sql<string>`gen_random_uuid()`.as('id'), sql<SpaceKind>`'project'`.as('kind'), 'bp_id', 'projects.id as project_id'])
        .where(worksIn(holder, 'projects.bp_id', 'projects.id'))
        .where('projects.key', '!=', firstProjectKey)
        .where(sql<boolean>`not exists (select from file_spaces where file_spaces.project_id = projects.id)`),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return on
    .selectFrom('file_spaces')
    .leftJoin('projects', 'projects.id', 'file_spaces.project_id')
    .selectAll('file_spaces')
    .select('projects.name as project_name')
    .where(readBy(holder))
    .orderBy(sql`array_position(array['personal', 'organisation', 'project', 'public'], kind)`)
    .orderBy('projects.name')
    .execute()
}
export const getSpace = (on: Sql, holder: Holder, id: string): Promise<SpaceRow | undefined> =>
  on.selectFrom('file_spaces').selectAll().where(readBy(holder)).where('id', '=', id).executeTakeFirst()
export const publicSpace = (on: Sql): Promise<SpaceRow> => on.selectFrom('file_spaces').selectAll().where('kind', '=', 'public').executeTakeFirstOrThrow()
/** Of whomever; for what goes on for somebody who asked before. */
export const anySpace = (on: Sql, id: string): Promise<SpaceRow | undefined> => on.selectFrom('file_spaces').selectAll().where('id', '=', id).executeTakeFirst()
/** Held against all other changes of what is in it: of its tree, and of what it counts. @throws Refusal notFound where it has gone with whose it was */
export const lockSpace = async (tx: Tx, id: string): Promise<void> => {
  found(await tx.selectFrom('file_spaces').select('id').where('id', '=', id).forUpdate().executeTakeFirst())
}
export const countIn = async (tx: Tx, spaceId: string, by: { bytes: number; files: number }): Promise<void> => {
  await tx
    .updateTable('file_spaces')
    .set({ used_bytes: sql`used_bytes + ${by.bytes}`, file_count: sql`file_count + ${by.files}` })
    .where('id', '=', spaceId)
    .execute()
}
/** What of an organisation lies in the public space is so much more; below 0: less. */
export const countPublished = async (tx: Tx, bpId: string, bytes: number): Promise<void> => {
  await sql`insert into file_publications as here (bp_id, used_bytes) values (${bpId}, greatest(0, ${bytes}::bigint))
    on conflict (bp_id) do update set used_bytes = here.used_bytes + ${bytes}::bigint`.execute(tx)
}

const order = orderOf('file_entries', 'name', 'name', 'updated_at', 'size_bytes')
/** What of a folder (null: the top) is there. */
const inFolder = (on: Sql, spaceId: string, parentId: string | null) =>
  on
    .selectFrom('file_entries')
    .where('file_entries.space_id', '=', spaceId)
    .where(parentId === null ? sql<boolean>`parent_id is null` : sql<boolean>`parent_id = ${parentId}`)
    .where('bin_id', 'is', null)

export async function listEntries(on: Sql, spaceId: string, query: QueryOf<typeof fileSpaces.entries>): Promise<{ total: number; rows: EntryRow[] }> {
  const whole = on.selectFrom('file_entries').where('file_entries.space_id', '=', spaceId)
  const filtered = query.bin
    ? whole.where('deleted_at', 'is not', null).where(matching(query.keyword, 'file_entries.name'))
    : query.keyword === undefined || query.keyword === ''
      ? inFolder(on, spaceId, query.parent_id ?? null)
      : whole.where('bin_id', 'is', null).where(matching(query.keyword, 'file_entries.name'))
  return pageWithTotal(paged(filtered.selectAll('file_entries').orderBy('file_entries.kind', 'desc'), query, order), filtered, query)
}

export const entryOf = (on: Sql, holder: Holder, id: string): Promise<(EntryRow & { space_kind: SpaceKind }) | undefined> =>
  on
    .selectFrom('file_entries')
    .innerJoin('file_spaces', 'file_spaces.id', 'file_entries.space_id')
    .selectAll('file_entries')
    .select('file_spaces.kind as space_kind')
    .where(readBy(holder))
    .where('file_entries.id', '=', id)
    .executeTakeFirst()
/** Those of these that somebody reads, by name. */
export const entriesOf = (on: Sql, holder: Holder, ids: readonly string[]): Promise<EntryRow[]> =>
  on
    .selectFrom('file_entries')
    .innerJoin('file_spaces', 'file_spaces.id', 'file_entries.space_id')
    .selectAll('file_entries')
    .where(readBy(holder))
    .where(sql<boolean>`file_entries.id = any(${ids}::uuid[])`)
    .orderBy('file_entries.name')
    .execute()
export const anyEntry = (on: Sql, id: string): Promise<EntryRow | undefined> =>
  on.selectFrom('file_entries').selectAll().where('id', '=', id).executeTakeFirst()
export const folderIn = (on: Sql, spaceId: string, id: string): Promise<EntryRow | undefined> =>
  on
    .selectFrom('file_entries')
    .selectAll()
    .where('space_id', '=', spaceId)
    .where('id', '=', id)
    .where('kind', '=', 'folder')
    .where('bin_id', 'is', null)
    .executeTakeFirst()
export const entryNamed = (on: Sql, spaceId: string, parentId: string | null, name: string): Promise<EntryRow | undefined> =>
  inFolder(on, spaceId, parentId).selectAll().where('name', '=', name).executeTakeFirst()

/** Which of these names are taken there. */
export async function namesTaken(on: Sql, spaceId: string, parentId: string | null, names: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await inFolder(on, spaceId, parentId)
    .select('name')
    .where(sql<boolean>`name = any(${names}::text[])`)
    .execute()
  return new Set(rows.map(({ name }) => name))
}

/** Folders that something lies in, the outermost first, without itself. */
export async function pathOf(on: Sql, id: string): Promise<{ id: string; name: string }[]> {
  const { rows } = await sql<{ id: string; name: string }>`
    with recursive up as (
      select id, name, parent_id, 0 as depth from file_entries where id = ${id}
      union all select e.id, e.name, e.parent_id, up.depth + 1 from file_entries as e join up on e.id = up.parent_id
    ) select id, name from up where depth > 0 order by depth desc`.execute(on)
  return rows
}

/** Folders that any of these lies in, or, in the bin, lay in before they went for good; each once. */
export async function entriesAbove(on: Sql, ids: readonly string[]): Promise<{ id: string }[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive up as (
      select parent_id, lay_in from file_entries where id = any(${ids}::uuid[])
      union select e.parent_id, e.lay_in from file_entries as e join up on e.id = up.parent_id
    ) select parent_id as id from up where parent_id is not null union select unnest(lay_in) from up`.execute(on)
  return rows
}

/** Something and all within it: of what is there where `bin` is null, else of that deletion. The outermost first; at most so many. */
export async function treeOf(on: Sql, ids: readonly string[], bin: string | null, limit: number): Promise<(EntryRow & { depth: number })[]> {
  const { rows } = await sql<EntryRow & { depth: number }>`
    with recursive down as (
      select *, 0 as depth from file_entries where id = any(${ids}::uuid[])
      union all select e.*, down.depth + 1 from file_entries as e join down on e.parent_id = down.id and e.bin_id is not distinct from ${bin}::uuid
    ) select * from down order by depth, name, id limit ${limit}`.execute(on)
  return rows
}

/** All that lies within some of them, themselves left out. @param bin of what their deletion took; else of what is there */
export async function entriesWithin(on: Sql, ids: readonly string[], bin: boolean): Promise<{ id: string; name: string }[]> {
  const { rows } = await (
    bin
      ? sql<{ id: string; name: string }>`select id, name from file_entries where bin_id = any(${ids}::uuid[]) and id <> bin_id`
      : sql<{ id: string; name: string }>`
    with recursive down as (
      select id, name from file_entries where parent_id = any(${ids}::uuid[]) and bin_id is null
      union select e.id, e.name from file_entries as e join down on e.parent_id = down.id and e.bin_id is null
    ) select id, name from down`
  ).execute(on)
  return rows
}

export const insertEntries = insertsInto('file_entries')
export const updateEntry = async (
  tx: Tx,
  id: string,
  changes: Partial<Pick<EntryRow, 'name' | 'parent_id' | 'bin_id' | 'deleted_at' | 'deleted_by_name' | 'deleted_from' | 'lay_in'>>,
): Promise<void> => {
  await tx
    .updateTable('file_entries')
    .set({ ...changes, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute()
}
/** In the bin for longer than that. */
export const binnedBefore = (on: Sql, at: Date, limit: number): Promise<EntryRow[]> =>
  on.selectFrom('file_entries').selectAll().where('deleted_at', '<', at).orderBy('deleted_at').limit(limit).execute()

export const insertShare = insertsInto('file_shares')
export type ShownShare = ShareRow & { entry_name: string; entry_kind: 'folder' | 'file' }
const shareOrder = orderOf('file_shares', '-created_at', 'created_at', 'download_count')
const sharesOf = (on: Sql, holder: Holder) =>
  on
    .selectFrom('file_shares')
    .innerJoin('file_entries', 'file_entries.id', 'file_shares.entry_id')
    .innerJoin('file_spaces', 'file_spaces.id', 'file_entries.space_id')
    // What lies in the public space may be shared by many, of whom each sees their own.
    .where(sql<boolean>`(file_shares.created_by = ${holder.user_id} or (file_spaces.kind in ('organisation', 'project') and ${readBy(holder)}))`)
    .where('file_entries.bin_id', 'is', null)
export async function listShares(on: Sql, holder: Holder, query: QueryOf<typeof fileShares.list>): Promise<{ total: number; rows: ShownShare[] }> {
  const filtered = sharesOf(on, holder)
    .where(asked(query, 'file_shares', 'entry_id'))
    .where(matching(query.keyword, 'file_entries.name'))
  const shown = filtered.selectAll('file_shares').select(['file_entries.name as entry_name', 'file_entries.kind as entry_kind'])
  return pageWithTotal(paged(shown, query, shareOrder), filtered, query)
}
export const shareOf = (on: Sql, holder: Holder, id: string): Promise<ShownShare | undefined> =>
  sharesOf(on, holder)
    .selectAll('file_shares')
    .select(['file_entries.name as entry_name', 'file_entries.kind as entry_kind'])
    .where('file_shares.id', '=', id)
    .executeTakeFirst()
export const deleteShare = async (tx: Sql, id: string): Promise<void> => {
  await tx.deleteFrom('file_shares').where('id', '=', id).execute()
}
/** By what stands in the link; only of what is there. */
export const shareByToken = (on: Sql, hash: Buffer) =>
  on
    .selectFrom('file_shares')
    .innerJoin('file_entries', 'file_entries.id', 'file_shares.entry_id')
    .innerJoin('file_spaces', 'file_spaces.id', 'file_entries.space_id')
    .selectAll('file_shares')
    .select([
      'file_entries.name as entry_name',
      'file_entries.kind as entry_kind',
      'file_entries.size_bytes',
      'file_entries.sha256',
      'file_spaces.kind as space_kind',
      'file_spaces.bp_id',
    ])
    .where('token_hash', '=', hash)
    .where('file_entries.bin_id', 'is', null)
    .executeTakeFirst()
/** Counts a download. @returns false where none is left */
export async function takeDownload(on: Sql, id: string): Promise<boolean> {
  const { numUpdatedRows } = await on
    .updateTable('file_shares')
    .set({ downloads_left: sql`downloads_left - 1`, download_count: sql`download_count + 1` })
    .where('id', '=', id)
    .where((where) => where.or([where('downloads_left', 'is', null), where('downloads_left', '>', 0)]))
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}
export const anyShare = (on: Sql, id: string): Promise<ShareRow | undefined> => on.selectFrom('file_shares').selectAll().where('id', '=', id).executeTakeFirst()
/** Held against other uses of it until the transaction ends. */
export const lockShare = (tx: Tx, id: string): Promise<ShareRow | undefined> =>
  tx.selectFrom('file_shares').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
export const shareUse = (on: Sql, id: string): Promise<Selectable<FileShareUseTable> | undefined> =>
  on.selectFrom('file_share_uses').selectAll().where('id', '=', id).executeTakeFirst()
export const putShareUse = async (tx: Tx, row: Omit<Selectable<FileShareUseTable>, 'created_at'>): Promise<void> => {
  const { begun, asked_bytes } = row
  await tx
    .insertInto('file_share_uses')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ begun, asked_bytes }))
    .execute()
}
export const giveBackShareUse = async (on: Sql, id: string, bytes: number): Promise<void> => {
  await on
    .updateTable('file_share_uses')
    .set({ asked_bytes: sql`greatest(0, asked_bytes - ${bytes})` })
    .where('id', '=', id)
    .execute()
}
export const forgetShareUses = async (on: Sql, before: Date): Promise<void> => {
  await on.deleteFrom('file_share_uses').where('created_at', '<', before).execute()
}

export const insertArchiveWish = async (on: Sql, row: { readonly id: string; readonly wish: object; readonly expires_at: Date }): Promise<void> => {
  await on
    .insertInto('file_archive_wishes')
    .values({ ...row, wish: JSON.stringify(row.wish) })
    .execute()
}
export const archiveWish = (on: Sql, id: string): Promise<{ wish: unknown } | undefined> =>
  on.selectFrom('file_archive_wishes').select('wish').where('id', '=', id).executeTakeFirst()
export const forgetArchiveWishes = async (on: Sql, at: Date): Promise<void> => {
  await on.deleteFrom('file_archive_wishes').where('expires_at', '<', at).execute()
}

export const insertTransfer = insertsInto('file_transfers')
export const endTransfer = async (
  on: Sql,
  which: { readonly id: string } | { readonly upload_id: string },
  ended: { outcome: TransferOutcome; reason?: string | null; bytes?: number; size_bytes?: number; sha256?: string },
): Promise<void> => {
  const [[column, id] = ['id', '']] = Object.entries(which)
  await on
    .updateTable('file_transfers')
    .set({ ...ended, ended_at: sql`clock_timestamp()` })
    .where(sql.ref(column), '=', id)
    .where('outcome', '=', 'running')
    .execute()
}
/** Downloads whose server ended without a word. */
export const forgetRunning = async (on: Sql, before: Date, reason: string): Promise<void> => {
  await on
    .updateTable('file_transfers')
    .set({ outcome: 'failed', reason, ended_at: sql`now()` })
    .where('outcome', '=', 'running')
    .where('upload_id', 'is', null)
    // Those of machines go on, and are ended by what does.
    .where('machine', 'is', null)
    .where('started_at', '<', before)
    .execute()
}

export type ShownTransfer = Selectable<Tables['file_transfers']> & {
  bp_name: string | null
  /** What it was of is not theirs to know who look. */
  hidden: boolean
}
/** Who looks at them. */
export interface Viewer {
  readonly user_id: string
}
const hiddenFrom = ({ user_id }: Viewer) => sql<boolean>`(file_transfers.space_kind = 'personal' and file_transfers.owner_id is distinct from ${user_id}::uuid)`
const transferOrder = orderOf('file_transfers', '-started_at', 'started_at', 'bytes')
export type TransferFilters = Pick<QueryOf<typeof fileTransfers.list>, 'keyword' | 'kind' | 'outcome' | 'bp_id' | 'from' | 'to'>
const transfers = (on: Sql, viewer: Viewer, query: TransferFilters) =>
  on
    .selectFrom('file_transfers')
    .where(asked(query, 'file_transfers', 'kind', 'outcome', 'bp_id'))
    .where(
      matching(
        query.keyword,
        sql<string>`case when ${hiddenFrom(viewer)} then '' else file_transfers.name end`,
        sql<string>`coalesce(file_transfers.user_name, '')`,
        'file_transfers.ip',
      ),
    )
    // Days of Beijing.
    .where(query.from === undefined ? sql<boolean>`true` : sql<boolean>`started_at >= (${query.from}::date)::timestamp at time zone 'Asia/Shanghai'`)
    .where(query.to === undefined ? sql<boolean>`true` : sql<boolean>`started_at < (${query.to}::date + 1)::timestamp at time zone 'Asia/Shanghai'`)
const bpName = sql<string | null>`(select name from organisations where organisations.id = file_transfers.bp_id)`
export async function listTransfers(on: Sql, viewer: Viewer, query: QueryOf<typeof fileTransfers.list>): Promise<{ total: number; rows: ShownTransfer[] }> {
  const filtered = transfers(on, viewer, query)
  const shown = filtered.selectAll('file_transfers').select([bpName.as('bp_name'), hiddenFrom(viewer).as('hidden')])
  return pageWithTotal(paged(shown, query, transferOrder), filtered, query)
}
/** For files: the newest first, on from the last of those before. */
export const transfersOn = (on: Sql, viewer: Viewer, query: TransferFilters, last: ShownTransfer | null): Promise<ShownTransfer[]> =>
  transfers(on, viewer, query)
    .selectAll('file_transfers')
    .select([bpName.as('bp_name'), hiddenFrom(viewer).as('hidden')])
    .where(last === null ? sql<boolean>`true` : sql<boolean>`(started_at, id) < (${last.started_at}, ${last.id}::uuid)`)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1_000)
    .execute()

/** Sends something and all within it that is there to the bin, as one deletion. */
export const binTree = async (tx: Tx, id: string): Promise<void> => {
  await sql`
    with recursive down as (
      select id from file_entries where id = ${id}
      union all select e.id from file_entries as e join down on e.parent_id = down.id where e.bin_id is null
    ) update file_entries set bin_id = ${id}::uuid where id in (select id from down)`.execute(tx)
}
/** The same back, of one deletion. */
export const unbinTree = async (tx: Tx, binId: string): Promise<void> => {
  await tx.updateTable('file_entries').set({ bin_id: null }).where('bin_id', '=', binId).execute()
}
/** Deletes all of one deletion. What was deleted out of it before has no folder to go back to then, and keeps which folders it lay in. */
export async function purgeTree(tx: Tx, binId: string): Promise<{ sha256: string; size_bytes: number; counts_for: string | null }[]> {
  await sql`
    with recursive up as (
      select e.id as entry, e.parent_id, e.lay_in from file_entries as e join file_entries as folder on e.parent_id = folder.id
        where folder.bin_id = ${binId}::uuid and e.bin_id is distinct from ${binId}::uuid
      union select up.entry, e.parent_id, e.lay_in from file_entries as e join up on e.id = up.parent_id
    ), above as (
      select entry, array_agg(id) as ids from (
        select entry, parent_id as id from up where parent_id is not null union select entry, unnest(lay_in) from up
      ) as each group by entry
    ) update file_entries set parent_id = null, lay_in = above.ids from above where id = above.entry`.execute(tx)
  const { rows } = await sql<{ sha256: string | null; size_bytes: number | null; counts_for: string | null }>`
    delete from file_entries where bin_id = ${binId}::uuid returning sha256, size_bytes, counts_for`.execute(tx)
  return rows.flatMap(({ sha256, size_bytes, counts_for }) => (sha256 === null || size_bytes === null ? [] : [{ sha256, size_bytes, counts_for }]))
}
/** A person's own space with all that is in it; undefined where they never had one. */
export async function deletePersonalSpace(
  tx: Tx,
  userId: string,
): Promise<(Pick<SpaceRow, 'bp_id' | 'project_id' | 'used_bytes'> & { sha256s: string[] }) | undefined> {
  const space = await tx.selectFrom('file_spaces').selectAll().where('kind', '=', 'personal').where('user_id', '=', userId).forUpdate().executeTakeFirst()
  if (space === undefined) return undefined
  const { rows } = await sql<{ sha256: string | null }>`delete from file_entries where space_id = ${space.id} returning sha256`.execute(tx)
  await tx.deleteFrom('file_spaces').where('id', '=', space.id).execute()
  return { ...space, sha256s: [...new Set(rows.flatMap(({ sha256 }) => (sha256 === null ? [] : [sha256])))] }
}
/** How deep folders within something reach: 0 where it has none. */
export async function depthWithin(on: Sql, id: string): Promise<number> {
  const { rows } = await sql<{ depth: number }>`
    with recursive down as (
      select id, 0 as depth from file_entries where id = ${id}
      union all select e.id, down.depth + 1 from file_entries as e join down on e.parent_id = down.id where e.bin_id is null and e.kind = 'folder'
    ) select max(depth) as depth from down`.execute(on)
  return rows[0]?.depth ?? 0
}
