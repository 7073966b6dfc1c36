import type { ImportStatus } from '@zhisuan/contract/models/import'
import { sql, type Generated, type JSONColumnType, type Selectable, type Updateable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../platform/db/database.ts'

/** A file of the hub. */
export interface PlannedFile {
  readonly path: string
  readonly size_bytes: number
  /** As the hub says; else once it is here. */
  sha256: string | null
  /** What git calls it, where it keeps it itself. */
  readonly git: string | null
  done: boolean
}
interface ModelImportTable {
  id: string
  model_id: string
  url: string
  repository: string
  revision: string
  status: Generated<ImportStatus>
  /** What the revision stood for when it began, and what is in it; null until that is known. Written once: what of it has come is said beside. */
  commit: string | null
  files: JSONColumnType<PlannedFile[]> | null
  total_bytes: number | null
  total_files: number | null
  /** Counted for its organisation, of what has not come. */
  reserved_bytes: Generated<number>
  done_bytes: Generated<number>
  done_files: Generated<number>
  error: string | null
  /** Until then some server is at it. */
  claimed_until: Date | null
  /** Counts those who took it up: what one of them says who was overtaken does not count any more. */
  claim: Generated<number>
  /** Its record among the transfers. */
  transfer_id: string | null
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  /** When something came of it last. */
  moved_at: Generated<Date>
  ended_at: Date | null
}
/** A file of one that has come and waits for the others. */
interface ModelImportFileTable {
  import_id: string
  /** Of those that were written down, from 0. */
  number: number
  sha256: string
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    model_imports: ModelImportTable
    model_import_files: ModelImportFileTable
  }
}

export const importMigrations: Migrations = {
  '20261128_93_model_imports': migration(`
    create table model_imports (
      id uuid primary key,
      model_id uuid not null references models on delete cascade,
      url text not null,
      repository text not null,
      revision text not null,
      status text not null default 'waiting' check (status in ('waiting', 'running', 'done', 'failed', 'cancelled')),
      commit text,
      files jsonb,
      total_bytes bigint,
      total_files bigint,
      done_bytes bigint not null default 0,
      done_files bigint not null default 0,
      error text,
      claimed_until timestamptz,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      ended_at timestamptz
    );
    create index model_imports_of on model_imports (model_id, created_at desc);
    -- One at a time.
    create unique index model_imports_running on model_imports (model_id) where status in ('waiting', 'running');
  `),
  '20261130_11_model_import_reserved': migration(`
    alter table model_imports add column reserved_bytes bigint not null default 0 check (reserved_bytes >= 0);
  `),
  '20261201_16_model_import_claims': migration(`
    alter table model_imports add column claim bigint not null default 0, add column transfer_id uuid;
  `),
  '20261202_32_model_import_files': migration(`
    alter table model_imports add column moved_at timestamptz not null default now();
    create table model_import_files (
      import_id uuid not null references model_imports on delete cascade,
      number integer not null,
      sha256 text not null,
      primary key (import_id, number)
    );
  `),
}

export type ImportRow = Selectable<ModelImportTable>

export const insertImport = (
  tx: Tx,
  row: Pick<ImportRow, 'id' | 'model_id' | 'url' | 'repository' | 'revision' | 'transfer_id' | 'created_by' | 'created_by_name'>,
): Promise<ImportRow> => tx.insertInto('model_imports').values(row).returningAll().executeTakeFirstOrThrow()
/** What is told of one: without all its files. */
const shown = [
  'id',
  'url',
  'repository',
  'revision',
  'status',
  'total_bytes',
  'total_files',
  'done_bytes',
  'done_files',
  'error',
  'created_by_name',
  'created_at',
  'ended_at',
] as const
export type ShownImport = Pick<ImportRow, (typeof shown)[number]>
export const importsOf = (on: Sql, modelId: string): Promise<ShownImport[]> =>
  on.selectFrom('model_imports').select(shown).where('model_id', '=', modelId).orderBy('created_at', 'desc').limit(20).execute()
/** Which files of one have come, by their numbers. */
export async function cameOf(on: Sql, id: string): Promise<ReadonlyMap<number, string>> {
  const rows = await on.selectFrom('model_import_files').select(['number', 'sha256']).where('import_id', '=', id).execute()
  return new Map(rows.map(({ number, sha256 }) => [number, sha256]))
}
/** One more has come, and so much in all. @returns false where it has ended, or somebody else took it up */
export const fileCame = (
  tx: Tx,
  of: Claimed,
  file: Pick<ModelImportFileTable, 'number' | 'sha256'>,
  done: Required<Pick<Updateable<ModelImportTable>, 'done_files' | 'done_bytes' | 'moved_at'>>,
): Promise<boolean> =>
  updateImport(tx, of, done).then(async (ours) => {
    if (ours)
      await tx
        .insertInto('model_import_files')
        .values({ import_id: of.id, ...file })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    return ours
  })
export const runningOf = (on: Sql, modelId: string): Promise<{ id: string } | undefined> =>
  on.selectFrom('model_imports').select('id').where('model_id', '=', modelId).where('status', 'in', ['waiting', 'running']).executeTakeFirst()
const unclaimed = (at: Date) => sql<boolean>`(model_imports.claimed_until is null or model_imports.claimed_until < ${at})`
/** So many of the same organisation as this one's are worked at. */
const workedAt = (at: Date) => sql<number>`(
  select count(*) from model_imports as other join models as theirs on theirs.id = other.model_id
  where theirs.bp_id is not distinct from (select bp_id from models where models.id = model_imports.model_id) and other.status = 'running' and other.claimed_until >= ${at})`
/** Those that nobody is at, of organisations of which fewer are worked at than may be; whose did least goes first, then who waits the longest. */
export const leftImports = (on: Sql, at: Date, atOnce: number): Promise<{ id: string }[]> =>
  on
    .selectFrom('model_imports')
    .select('id')
    .where('status', 'in', ['waiting', 'running'])
    .where(unclaimed(at))
    .where(sql<boolean>`${workedAt(at)} < ${atOnce}`)
    .orderBy(workedAt(at))
    .orderBy('created_at')
    .limit(20)
    .execute()
/** That nobody is at, and of which nothing came since before then. */
export const forgottenImports = (on: Sql, at: Date, before: Date): Promise<{ id: string }[]> =>
  on
    .selectFrom('model_imports')
    .select('id')
    .where('status', 'in', ['waiting', 'running'])
    .where(unclaimed(at))
    .where('moved_at', '<', before)
    .limit(100)
    .execute()
/** Which of these go on. */
export async function openAmong(on: Sql, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await on
    .selectFrom('model_imports')
    .select('id')
    .where(sql<boolean>`id::text = any(${ids}::text[])`)
    .where('status', 'in', ['waiting', 'running'])
    .execute()
  return new Set(rows.map(({ id }) => id))
}
/** Takes it up; undefined where somebody is at it, or it has ended, or as many of its organisation are worked at as may be. */
export async function claimImport(tx: Tx, id: string, at: Date, until: Date, atOnce: number): Promise<ImportRow | undefined> {
  // Two of one organisation are counted one after the other.
  await sql`select pg_advisory_xact_lock(hashtextextended('model_imports ' || coalesce(
    (select models.bp_id::text from model_imports join models on models.id = model_imports.model_id where model_imports.id = ${id}), ''), 13))`.execute(tx)
  return tx
    .updateTable('model_imports')
    .set({ status: 'running', claimed_until: until, claim: sql`claim + 1` })
    .where('id', '=', id)
    .where('status', 'in', ['waiting', 'running'])
    .where(unclaimed(at))
    .where(sql<boolean>`${workedAt(at)} < ${atOnce}`)
    .returningAll()
    .executeTakeFirst()
}
export type Claimed = Pick<ImportRow, 'id' | 'claim'>
/** Says how far it is, or only that somebody is at it. @returns false where it has ended, or somebody else took it up */
export const goOn = (on: Sql, of: Claimed, until: Date, moved?: Required<Pick<Updateable<ModelImportTable>, 'done_bytes' | 'moved_at'>>): Promise<boolean> =>
  updateImport(on, of, { claimed_until: until, ...moved })
/** @returns false where it has ended, or somebody else took it up */
export const updateImport = async (on: Sql, { id, claim }: Claimed, changes: Updateable<ModelImportTable>): Promise<boolean> => {
  const { numUpdatedRows } = await on
    .updateTable('model_imports')
    .set(changes)
    .where('id', '=', id)
    .where('claim', '=', claim)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}
/** It is over, whoever is at it. The caller holds it. */
export const endImport = async (
  tx: Tx,
  id: string,
  changes: Required<Pick<Updateable<ModelImportTable>, 'status' | 'error' | 'ended_at' | 'claimed_until' | 'reserved_bytes'>>,
): Promise<void> => {
  await tx.updateTable('model_imports').set(changes).where('id', '=', id).execute()
  await tx.deleteFrom('model_import_files').where('import_id', '=', id).execute()
}
/** Held against other changes, with whose it is; undefined where it has ended, or, with a claim, somebody else took it up. */
export const lockImport = (
  tx: Tx,
  { id, claim }: { readonly id: string; readonly claim?: number },
): Promise<
  (Pick<ImportRow, 'reserved_bytes' | 'total_bytes' | 'done_bytes' | 'transfer_id'> & { bp_id: string | null; project_id: string | null }) | undefined
> =>
  tx
    .selectFrom('model_imports')
    .innerJoin('models', 'models.id', 'model_imports.model_id')
    .select(['reserved_bytes', 'total_bytes', 'done_bytes', 'transfer_id', 'models.bp_id', 'models.project_id'])
    .where('model_imports.id', '=', id)
    .where(claim === undefined ? sql<boolean>`true` : sql<boolean>`model_imports.claim = ${claim}`)
    .where('model_imports.status', 'in', ['waiting', 'running'])
    .forUpdate('model_imports')
    .executeTakeFirst()
/** Those of a model, with what of them is counted that has not come; held, so that whoever ends one meanwhile does not give back the same. */
export const lockImports = (tx: Tx, modelId: string): Promise<Pick<ImportRow, 'reserved_bytes' | 'transfer_id'>[]> =>
  tx.selectFrom('model_imports').select(['reserved_bytes', 'transfer_id']).where('model_id', '=', modelId).orderBy('id').forUpdate().execute()
/** Of a model that something is brought into nothing that waits is forgotten. */
export const importing = sql<boolean>`exists (select from model_imports where model_imports.model_id = model_staged.model_id and model_imports.status in ('waiting', 'running'))`
