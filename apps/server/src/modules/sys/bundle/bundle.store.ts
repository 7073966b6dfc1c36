import type { QueryOf } from '@zhisuan/contract/define'
import type { BundleStatus, bundleFormats, bundles as calls } from '@zhisuan/contract/sys/bundle'
import { sql, type Generated, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

interface BundleTable {
  id: string
  name: string
  version: string
  format: (typeof bundleFormats)[number]
  sha256: string
  status: BundleStatus
  size_bytes: number | null
  /** Chinese, for people. */
  error: string | null
  created_by: string
  created_by_name: string
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    bundles: BundleTable
  }
}
export type BundleRow = Selectable<BundleTable>

export const bundleMigrations: Migrations = {
  '20261128_41_bundles': migration(`
    create table bundles (
      id uuid primary key,
      name text not null,
      version text not null,
      format text not null check (format in ('file', 'tar', 'tar.gz')),
      sha256 text not null,
      status text not null check (status in ('uploading', 'fetching', 'ready', 'error')),
      size_bytes bigint,
      error text,
      created_by uuid not null,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create unique index bundles_sha256 on bundles (sha256);
  `),
}

export const { insert: insertBundle, update: updateBundle, remove: removeBundle, lockAny: lockBundle } = rowsOf('bundles')

const order = orderOf('bundles', '-created_at', 'name', 'size_bytes', 'created_at')

export function listBundles(on: Sql, query: QueryOf<typeof calls.list>): Promise<{ total: number; rows: BundleRow[] }> {
  const filtered = on
    .selectFrom('bundles')
    .selectAll()
    .where(matching(query.keyword, sql<string>`name || ' ' || version || ' ' || sha256`))
    .where(asked(query, 'bundles', 'status'))
  return pageWithTotal(paged(filtered, query, order), filtered, query)
}

export const getBundle = (on: Sql, id: string): Promise<BundleRow | undefined> => on.selectFrom('bundles').selectAll().where('id', '=', id).executeTakeFirst()

/** One that is here. */
export const readyBundle = (on: Sql, sha256: string): Promise<BundleRow | undefined> =>
  on.selectFrom('bundles').selectAll().where('sha256', '=', sha256).where('status', '=', 'ready').executeTakeFirst()

/** Only while it is in that state: who comes second changes nothing. */
export async function updateBundleIf(
  on: Sql,
  id: string,
  status: BundleStatus,
  changes: Partial<Pick<BundleRow, 'status' | 'size_bytes' | 'error'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await on.updateTable('bundles').set(changes).where('id', '=', id).where('status', '=', status).executeTakeFirst()
  return numUpdatedRows > 0n
}
