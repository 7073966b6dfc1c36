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
  /** What the revision stood for when it began, and what is in it; null until that is known. */
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
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  ended_at: Date | null
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    model_imports: ModelImportTable
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
}

export type ImportRow = Selectable<ModelImportTable>

export const insertImport = (
  tx: Tx,
  row: Pick<ImportRow, 'id' | 'model_id' | 'url' | 'repository' | 'revision' | 'created_by' | 'created_by_name'>,
): Promise<ImportRow> => tx.insertInto('model_imports').values(row).returningAll().executeTakeFirstOrThrow()
export const importsOf = (on: Sql, modelId: string): Promise<ImportRow[]> =>
  on.selectFrom('model_imports').selectAll().where('model_id', '=', modelId).orderBy('created_at', 'desc').limit(20).execute()
export const runningOf = (on: Sql, modelId: string): Promise<{ id: string } | undefined> =>
  on.selectFrom('model_imports').select('id').where('model_id', '=', modelId).where('status', 'in', ['waiting', 'running']).executeTakeFirst()
/** Those that nobody is at. */
export const leftImports = (on: Sql, at: Date): Promise<{ id: string }[]> =>
  on
    .selectFrom('model_imports')
    .select('id')
    .where('status', 'in', ['waiting', 'running'])
    .where((where) => where.or([where('claimed_until', 'is', null), where('claimed_until', '<', at)]))
    .limit(20)
    .execute()
/** Takes it up; undefined where somebody is at it, or it has ended. */
export const claimImport = (on: Sql, id: string, at: Date, until: Date): Promise<ImportRow | undefined> =>
  on
    .updateTable('model_imports')
    .set({ status: 'running', claimed_until: until })
    .where('id', '=', id)
    .where('status', 'in', ['waiting', 'running'])
    .where((where) => where.or([where('claimed_until', 'is', null), where('claimed_until', '<', at)]))
    .returningAll()
    .executeTakeFirst()
/** Says how far it is. @returns false where it was cancelled meanwhile */
export const goOn = async (on: Sql, id: string, doneBytes: number, until: Date): Promise<boolean> => {
  const { numUpdatedRows } = await on
    .updateTable('model_imports')
    .set({ done_bytes: doneBytes, claimed_until: until })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}
export const updateImport = async (on: Sql, id: string, changes: Updateable<ModelImportTable>): Promise<void> => {
  await on.updateTable('model_imports').set(changes).where('id', '=', id).execute()
}
/** Held against other changes, with whose it is; undefined where it has ended. */
export const lockImport = (tx: Tx, id: string): Promise<(ImportRow & { bp_id: string | null }) | undefined> =>
  tx
    .selectFrom('model_imports')
    .innerJoin('models', 'models.id', 'model_imports.model_id')
    .selectAll('model_imports')
    .select('models.bp_id')
    .where('model_imports.id', '=', id)
    .where('model_imports.status', 'in', ['waiting', 'running'])
    .forUpdate('model_imports')
    .executeTakeFirst()
/** What of a model is counted that has not come; held, so that whoever ends an import meanwhile does not give back the same. */
export const lockReserved = async (tx: Tx, modelId: string): Promise<number> => {
  const rows = await tx.selectFrom('model_imports').select('reserved_bytes').where('model_id', '=', modelId).orderBy('id').forUpdate().execute()
  return rows.reduce((sum, { reserved_bytes }) => sum + reserved_bytes, 0)
}
/** Of a model that something is brought into nothing that waits is forgotten. */
export const importing = sql<boolean>`exists (select from model_imports where model_imports.model_id = model_staged.model_id and model_imports.status in ('waiting', 'running'))`
