import type { configs } from '@zhisuan/contract/cis/container'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, counted, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { replaceRows, rowsOf } from '../../../platform/db/rows.ts'
import type { OwnedTable } from '../../../platform/resource.shape.ts'

interface ConfigTable extends OwnedTable {
  /** Sealed: configs often hold passwords. */
  content: string
  revision: Generated<number>
}
/** A config that a container has as a file. */
interface ConfigUseTable {
  container_id: string
  path: string
  config_id: string
  /** What is in the file; 0 before it is there. */
  revision: number
  /** Whether the container is to be restarted once it has the new text. */
  restart: Generated<boolean>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    container_configs: ConfigTable
    container_config_uses: ConfigUseTable
  }
}
export type ConfigRow = Selectable<ConfigTable>
export type ShownConfig = ConfigRow & { used_by: number }

export const configMigrations: Migrations = {
  '20261123_00_39_container_configs': migration(`
    create table container_configs (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      description text not null,
      content text not null,
      revision integer not null default 1,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index container_configs_name on container_configs (bp_id, name) nulls not distinct;
    create table container_config_uses (
      container_id uuid not null references containers on delete cascade,
      path text not null,
      config_id uuid not null references container_configs,
      revision integer not null,
      restart boolean not null default false,
      primary key (container_id, path)
    );
    create index container_config_uses_config on container_config_uses (config_id);
    create trigger container_configs_tell_config after insert or update or delete on container_configs for each row execute function tell_change('cis.config');
  `),
}

const visible = (on: Sql, scope: Scope) => on.selectFrom('container_configs').where(within(scope, 'container_configs.bp_id'))

const shown = <T>(query: SelectQueryBuilder<Tables, 'container_configs', T>) =>
  query
    .selectAll('container_configs')
    .select(sql<number>`(select count(distinct container_id) from container_config_uses where config_id = container_configs.id)`.as('used_by'))

const order = orderOf('container_configs', '-updated_at', 'name', 'updated_at')

export async function listConfigs(on: Sql, scope: Scope, query: QueryOf<typeof configs.list>): Promise<{ total: number; rows: ShownConfig[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'container_configs', 'id'))
    .where(matching(query.keyword, sql<string>`container_configs.name || ' ' || container_configs.description`))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}

export const getConfig = (on: Sql, scope: Scope, id: string): Promise<ShownConfig | undefined> =>
  shown(visible(on, scope).where('container_configs.id', '=', id)).executeTakeFirst()

export const { insert: insertConfig, remove: deleteConfig, lock: lockConfig } = rowsOf('container_configs')

/** Held until the transaction ends, so that none is deleted while it is given to a container. */
export const shareConfigs = async (tx: Tx, scope: Scope, ids: readonly string[]): Promise<string[]> =>
  ids.length === 0
    ? []
    : (
        await visible(tx, scope)
          .select('id')
          .where('id', 'in', [...ids])
          .forKeyShare()
          .execute()
      ).map(({ id }) => id)

export const changeConfig = async (tx: Tx, id: string, changes: Pick<ConfigRow, 'name' | 'description' | 'content'>): Promise<void> => {
  await tx
    .updateTable('container_configs')
    .set({ ...changes, revision: sql`revision + 1`, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute()
}

export const usesOf = (on: Sql, configId: string): Promise<number> =>
  counted(on.selectFrom('container_config_uses').where('config_id', '=', configId), 'distinct container_id')

/** What a container is to have from now on; what stays the same keeps what is known of it only where nothing is made anew. */
export async function setUses(tx: Tx, containerId: string, uses: readonly { path: string; config_id: string }[]): Promise<void> {
  await replaceRows(tx, 'container_config_uses', { container_id: containerId, revision: 0 }, uses)
}

export const wishRestart = async (tx: Tx, configId: string): Promise<void> => {
  await tx.updateTable('container_config_uses').set({ restart: true }).where('config_id', '=', configId).execute()
}

export interface StaleFile {
  container_id: string
  path: string
  config_id: string
  content: string
  revision: number
  restart: boolean
}

/** Files of containers of a node that have not the newest text yet, of those that nobody works on; of one container whatever it has. */
export const staleFiles = (on: Sql, of: { edge_id: string }): Promise<StaleFile[]> =>
  on
    .selectFrom('container_config_uses as uses')
    .innerJoin('container_configs as configs', 'configs.id', 'uses.config_id')
    .innerJoin('containers', 'containers.id', 'uses.container_id')
    .where('containers.edge_id', '=', of.edge_id)
    .where('containers.status', 'in', ['running', 'exited', 'paused', 'restarting'])
    .where(({ eb, or }) => or([eb('uses.revision', '<', sql<number>`configs.revision`), eb('uses.restart', '=', true)]))
    .select(['uses.container_id', 'uses.path', 'uses.config_id', 'configs.content', 'configs.revision', 'uses.restart'])
    .execute()

export const filesOf = (on: Sql, containerId: string): Promise<StaleFile[]> =>
  on
    .selectFrom('container_config_uses as uses')
    .innerJoin('container_configs as configs', 'configs.id', 'uses.config_id')
    .where('uses.container_id', '=', containerId)
    .select(['uses.container_id', 'uses.path', 'uses.config_id', 'configs.content', 'configs.revision', 'uses.restart'])
    .execute()

/** A restart that was wished for a newer text meanwhile is still wished. */
export const recordFile = async (on: Sql, { container_id, path, config_id, revision }: StaleFile): Promise<void> => {
  await on
    .updateTable('container_config_uses')
    .set({ revision, restart: sql<boolean>`restart and ${revision} < (select revision from container_configs where id = ${config_id})` })
    .where('container_id', '=', container_id)
    .where('path', '=', path)
    .execute()
}

/** Nodes on which a config is. */
export const nodesWith = async (on: Sql, configId: string): Promise<string[]> =>
  (
    await on
      .selectFrom('container_config_uses')
      .innerJoin('containers', 'containers.id', 'container_config_uses.container_id')
      .where('config_id', '=', configId)
      .select('containers.edge_id')
      .distinct()
      .execute()
  ).map(({ edge_id }) => edge_id)
