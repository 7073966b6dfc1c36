import type { Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'

interface ConfigTable {
  key: string
  value: string
  updated_at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    configs: ConfigTable
  }
}
export type ConfigRow = Selectable<ConfigTable>

export const settingsMigrations: Migrations = {
  '20261121_10_configs': migration(`
    create table configs (key text primary key, value text not null, updated_at timestamptz not null default now());
  `),
}

export const allConfigs = (on: Sql): Promise<ConfigRow[]> => on.selectFrom('configs').selectAll().orderBy('key').execute()

export const writeConfig = (tx: Tx, row: ConfigRow): Promise<ConfigRow> =>
  tx
    .insertInto('configs')
    .values(row)
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: row.value, updated_at: row.updated_at }))
    .returningAll()
    .executeTakeFirstOrThrow()

export const deleteConfig = async (tx: Tx, key: string): Promise<void> => {
  await tx.deleteFrom('configs').where('key', '=', key).execute()
}
