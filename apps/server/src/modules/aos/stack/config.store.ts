import type { StackFile, stackConfigs } from '@zhisuan/contract/aos/stack'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { asked, counted, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { replaceRows } from '../../../platform/db/rows.ts'

/** A config that a stack has as a file. */
interface StackConfigTable {
  stack_id: string
  path: string
  config_id: string
  /** Whose text is on the node; 0 before it is there. */
  revision: number
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    stack_configs: StackConfigTable
  }
}

export const stackConfigMigrations: Migrations = {
  '20261123_00_45_stack_configs': migration(`
    create table stack_configs (
      stack_id uuid not null references stacks on delete cascade,
      path text not null,
      config_id uuid not null references container_configs,
      revision integer not null,
      primary key (stack_id, path)
    );
    create index stack_configs_config on stack_configs (config_id);
  `),
}

export type ShownStackConfig = Selectable<StackConfigTable> & {
  stack_name: string
  config_name: string
  newest_revision: number
  edge: { id: string; name: string; online: boolean }
}

const order = { by: { path: 'stack_configs.path' }, fallback: 'path', id: 'stack_configs.stack_id' }

export async function listStackConfigs(on: Sql, scope: Scope, query: QueryOf<typeof stackConfigs.list>): Promise<{ total: number; rows: ShownStackConfig[] }> {
  const filtered = on
    .selectFrom('stack_configs')
    .innerJoin('stacks', 'stacks.id', 'stack_configs.stack_id')
    .innerJoin('edges', 'edges.id', 'stacks.edge_id')
    .innerJoin('container_configs', 'container_configs.id', 'stack_configs.config_id')
    .where(within(scope, 'stacks.bp_id'))
    .where(asked(query, 'stack_configs', 'stack_id', 'config_id'))
  const page = filtered
    .selectAll('stack_configs')
    .select(['stacks.name as stack_name', 'container_configs.name as config_name', 'container_configs.revision as newest_revision'])
    .select(sql<ShownStackConfig['edge']>`jsonb_build_object('id', edges.id, 'name', edges.name, 'online', edges.status = 'online')`.as('edge'))
  return pageWithTotal(paged(page, query, order), filtered, query)
}

/** What a stack is to have from now on: what is the same keeps what is known of it. Held so against their deletion. */
export async function setStackConfigs(tx: Tx, stackId: string, configs: readonly StackFile[]): Promise<void> {
  const before = new Map(
    (await tx.selectFrom('stack_configs').selectAll().where('stack_id', '=', stackId).execute()).map((row) => [`${row.path} ${row.config_id}`, row.revision]),
  )
  const now = configs.map(({ path, config_id }) => ({ path, config_id, revision: before.get(`${path} ${config_id}`) ?? 0 }))
  await replaceRows(tx, 'stack_configs', { stack_id: stackId }, now)
}

export const recordStackConfig = async (
  on: Sql,
  { stack_id, config_id, revision }: Pick<Selectable<StackConfigTable>, 'stack_id' | 'config_id' | 'revision'>,
): Promise<void> => {
  await on.updateTable('stack_configs').set({ revision }).where('stack_id', '=', stack_id).where('config_id', '=', config_id).execute()
}

export const usesOfConfig = (on: Sql, configId: string): Promise<number> =>
  counted(on.selectFrom('stack_configs').where('config_id', '=', configId), 'distinct stack_id')
