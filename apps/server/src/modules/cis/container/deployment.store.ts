import type { Placement, deployments } from '@zhisuan/contract/cis/container'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type ColumnType, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { insertsInto } from '../../../platform/db/rows.ts'
import { shownStatus } from './container.store.ts'

interface DeploymentTable {
  id: string
  bp_id: string | null
  name: string
  description: string
  /** As it was asked for, sealed JSON. */
  spec: string
  image: string
  placement: ColumnType<Placement, string, string>
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    container_deployments: DeploymentTable
  }
}
export type ShownDeployment = Selectable<DeploymentTable> & {
  instances: number
  running: number
  creating: number
  deleting: number
  failed: number
  lost: number
  unknown: number
  error_text: string | null
}

export const deploymentMigrations: Migrations = {
  '20261123_00_37_container_deployments': migration(`
    create table container_deployments (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      description text not null,
      spec text not null,
      image text not null,
      placement jsonb not null,
      search text generated always as (name || ' ' || image || ' ' || description) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create unique index container_deployments_name on container_deployments (bp_id, name) nulls not distinct;
    create index container_deployments_newest on container_deployments (created_at, id);
    create index container_deployments_newest_bp on container_deployments (bp_id, created_at, id);
    create index container_deployments_search on container_deployments using gin (search gin_trgm_ops);
  `),
}

const visible = (on: Sql, scope: Scope) => on.selectFrom('container_deployments').where(within(scope, 'container_deployments.bp_id'))

/** With how its containers are: of nodes that are away, none is running. */
const shown = <T>(query: SelectQueryBuilder<Tables, 'container_deployments', T>) =>
  query
    .innerJoinLateral(
      (of) =>
        of
          .selectFrom('containers')
          .innerJoin('edges', 'edges.id', 'containers.edge_id')
          .whereRef('containers.deployment_id', '=', 'container_deployments.id')
          .select([
            sql<number>`count(*)`.as('instances'),
            sql<number>`count(*) filter (where ${shownStatus} = 'running')`.as('running'),
            sql<number>`count(*) filter (where containers.status = 'creating')`.as('creating'),
            sql<number>`count(*) filter (where containers.status = 'deleting')`.as('deleting'),
            sql<number>`count(*) filter (where containers.status = 'error')`.as('failed'),
            sql<number>`count(*) filter (where ${shownStatus} = 'lost')`.as('lost'),
            sql<number>`count(*) filter (where ${shownStatus} = 'unknown')`.as('unknown'),
            sql<string | null>`min(containers.error_text)`.as('error_text'),
          ])
          .as('counts'),
      (join) => join.onTrue(),
    )
    .selectAll('container_deployments')
    .select(['counts.instances', 'counts.running', 'counts.creating', 'counts.deleting', 'counts.failed', 'counts.lost', 'counts.unknown', 'counts.error_text'])

const order = orderOf('container_deployments', '-created_at', 'name', 'created_at')

export async function listDeployments(on: Sql, scope: Scope, query: QueryOf<typeof deployments.list>): Promise<{ total: number; rows: ShownDeployment[] }> {
  const filtered = visible(on, scope)
    .$if(query.edge_id !== undefined, (q) =>
      q.where(
        'container_deployments.id',
        'in',
        on
          .selectFrom('containers')
          .select('deployment_id')
          .where('edge_id', '=', query.edge_id ?? ''),
      ),
    )
    .where(matching(query.keyword, 'container_deployments.search'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('container_deployments').where('container_deployments.id', 'in', ids)))
}

export const getDeployment = (on: Sql, scope: Scope, id: string): Promise<ShownDeployment | undefined> =>
  shown(visible(on, scope).where('container_deployments.id', '=', id)).executeTakeFirst()

export const insertDeployment = insertsInto('container_deployments')

/** One without containers is none. Held first, so that of two that remove its last two containers one sees it. */
export const dropEmptyDeployment = async (tx: Tx, id: string | null): Promise<void> => {
  if (id === null) return
  await tx.selectFrom('container_deployments').select('id').where('id', '=', id).forUpdate().execute()
  await tx
    .deleteFrom('container_deployments')
    .where('id', '=', id)
    .where(({ not, exists, selectFrom }) => not(exists(selectFrom('containers').select('id').where('deployment_id', '=', id))))
    .execute()
}
