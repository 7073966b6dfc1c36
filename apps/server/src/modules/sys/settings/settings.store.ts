import type { ConfigChange, configs } from '@zhisuan/contract/sys/sys'
import type { QueryOf } from '@zhisuan/contract/define'
import type { Selectable } from 'kysely'
import { iso, migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { shapedPage, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { insertsInto } from '../../../platform/db/rows.ts'

interface ConfigTable {
  key: string
  value: string
  updated_at: Date
  /** Null where it was set before this was kept. */
  updated_by: string | null
}
/** Outlives the setting: what it was before is read here. */
interface ConfigChangeTable {
  id: string
  key: string
  /** Null: back to the default. */
  value: string | null
  actor_id: string
  actor_name: string
  created_at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    configs: ConfigTable
    config_changes: ConfigChangeTable
  }
}
export type ConfigRow = Selectable<ConfigTable>

export const settingsMigrations: Migrations = {
  '20261123_00_03_configs': migration(`
    create table configs (key text primary key, value text not null, updated_at timestamptz not null default now(), updated_by text);
    create table config_changes (id uuid primary key, key text not null, value text, actor_id uuid not null, actor_name text not null, created_at timestamptz not null);
    create index config_changes_key on config_changes (key, created_at desc, id desc);
  `),
}

export const allConfigs = (on: Sql): Promise<ConfigRow[]> => on.selectFrom('configs').selectAll().orderBy('key').execute()

export const writeConfig = (tx: Tx, row: ConfigRow): Promise<ConfigRow> =>
  tx
    .insertInto('configs')
    .values(row)
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: row.value, updated_at: row.updated_at, updated_by: row.updated_by }))
    .returningAll()
    .executeTakeFirstOrThrow()

/** @returns whether it was set */
export const deleteConfig = async (tx: Tx, key: string): Promise<boolean> =>
  (await tx.deleteFrom('configs').where('key', '=', key).executeTakeFirstOrThrow()).numDeletedRows > 0n

export const insertChange = insertsInto('config_changes')

/** Null: the default. */
export async function valuesSince(on: Sql, key: string, at: Date): Promise<(string | null)[]> {
  const of = on.selectFrom('config_changes').select('value').where('key', '=', key)
  const later = await of.where('created_at', '>', at).execute()
  const before = await of.where('created_at', '<=', at).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return [...later, before ?? { value: null }].map(({ value }) => value)
}

export async function listChanges(on: Sql, query: QueryOf<(typeof configs)['changes']>): Promise<{ total: number; items: ConfigChange[] }> {
  const { key } = query
  const filtered = on.selectFrom('config_changes').$if(key !== undefined, (q) => q.where('key', '=', key ?? ''))
  const page = paged(filtered.select(['id', 'key', 'value', 'actor_name', 'created_at']), query, {
    by: { created_at: 'created_at' },
    fallback: '-created_at',
    id: 'id',
  })
  return shapedPage(pageWithTotal(page, filtered, query), (row) => ({ ...row, created_at: iso(row.created_at) }))
}
