import type { stackDeployments, Stack } from '@zhisuan/contract/aos/stack'
import type { QueryOf } from '@zhisuan/contract/define'
import type { ColumnType, Generated, Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { insertsInto } from '../../../platform/db/rows.ts'

interface DeploymentTable {
  id: string
  bp_id: string | null
  name: string
  description: string
  /** Which template it was deployed from, as that was called. */
  template: ColumnType<Stack['template'], string | null, string | null>
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    stack_deployments: DeploymentTable
  }
}
export type DeploymentRow = Selectable<DeploymentTable>

export const deploymentMigrations: Migrations = {
  '20261123_00_41_stack_deployments': migration(`
    create table stack_deployments (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      description text not null,
      template jsonb,
      search text generated always as (name || ' ' || description) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create unique index stack_deployments_name on stack_deployments (bp_id, name) nulls not distinct;
    create index stack_deployments_newest on stack_deployments (created_at, id);
    create index stack_deployments_newest_bp on stack_deployments (bp_id, created_at, id);
    create index stack_deployments_search on stack_deployments using gin (search gin_trgm_ops);
  `),
}

const visible = (on: Sql, scope: Scope) => on.selectFrom('stack_deployments').where(within(scope, 'stack_deployments.bp_id'))
const order = orderOf('stack_deployments', '-created_at', 'name', 'created_at')

export async function listDeployments(on: Sql, scope: Scope, query: QueryOf<typeof stackDeployments.list>): Promise<{ total: number; rows: DeploymentRow[] }> {
  const filtered = visible(on, scope).where(matching(query.keyword, 'stack_deployments.search'))
  return pageWithTotal(paged(filtered.selectAll(), query, order), filtered, query)
}

export const getDeployment = (on: Sql, scope: Scope, id: string): Promise<DeploymentRow | undefined> =>
  visible(on, scope).selectAll().where('stack_deployments.id', '=', id).executeTakeFirst()

export const insertDeployment = insertsInto('stack_deployments')

/** One without stacks is none. Held first, so that of two that remove its last two stacks one sees it. */
export const dropEmptyDeployment = async (tx: Tx, id: string): Promise<void> => {
  await tx.selectFrom('stack_deployments').select('id').where('id', '=', id).forUpdate().execute()
  await tx
    .deleteFrom('stack_deployments')
    .where('id', '=', id)
    .where(({ not, exists, selectFrom }) => not(exists(selectFrom('stacks').select('id').where('deployment_id', '=', id))))
    .execute()
}

export const hasStackNamed = async (on: Sql, bpId: string | null, name: string): Promise<boolean> =>
  (await on.selectFrom('stack_deployments').select('id').where('bp_id', 'is not distinct from', bpId).where('name', '=', name).executeTakeFirst()) !== undefined
