import type { QueryOf } from '@zhisuan/contract/define'
import type { serviceAgents } from '@zhisuan/contract/ecrm/edge'
import { sql, type Generated, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { insertsInto } from '../../../platform/db/rows.ts'

interface EdgeServiceAgentTable {
  id: string
  edge_id: string
  name: string
  description: string
  target_port: number
  listen_port: number
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    edge_service_agents: EdgeServiceAgentTable
  }
}
export type ServiceAgentRow = Selectable<EdgeServiceAgentTable>
export type ShownServiceAgent = ServiceAgentRow & { edge_name: string; edge_online: boolean }

export const serviceAgentMigrations: Migrations = {
  '20261123_00_35_edge_service_agents': migration(`
    create table edge_service_agents (
      id uuid primary key,
      edge_id uuid not null references edges on delete cascade,
      name text not null,
      description text not null,
      target_port integer not null,
      listen_port integer not null,
      created_at timestamptz not null default now()
    );
    create unique index edge_service_agents_name on edge_service_agents (name);
    create unique index edge_service_agents_port on edge_service_agents (listen_port);
    create index edge_service_agents_edge on edge_service_agents (edge_id);
  `),
}

const shown = (on: Sql) =>
  on
    .selectFrom('edge_service_agents')
    .innerJoin('edges', 'edges.id', 'edge_service_agents.edge_id')
    .selectAll('edge_service_agents')
    .select(['edges.name as edge_name', sql<boolean>`edges.status = 'online'`.as('edge_online')])

const order = orderOf('edge_service_agents', '-created_at', 'name', 'created_at')

export async function listServiceAgents(on: Sql, query: QueryOf<typeof serviceAgents.list>): Promise<{ total: number; rows: ShownServiceAgent[] }> {
  const filtered = shown(on)
    .where(matching(query.keyword, sql<string>`edge_service_agents.name || ' ' || edge_service_agents.description`))
    .where(asked(query, 'edge_service_agents', 'edge_id'))
  return pageWithTotal(paged(filtered, query, order), filtered, query)
}

export const getServiceAgent = (on: Sql, id: string): Promise<ShownServiceAgent | undefined> =>
  shown(on).where('edge_service_agents.id', '=', id).executeTakeFirst()

export const allServiceAgents = (on: Sql): Promise<ServiceAgentRow[]> => on.selectFrom('edge_service_agents').selectAll().execute()

export const insertServiceAgent = insertsInto('edge_service_agents')

/** False where there is none. */
export const deleteServiceAgent = async (on: Sql, id: string): Promise<boolean> =>
  (await on.deleteFrom('edge_service_agents').where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n

export const hasServiceAgentNamed = async (on: Sql, name: string): Promise<boolean> =>
  (await on.selectFrom('edge_service_agents').select('id').where('name', '=', name).executeTakeFirst()) !== undefined
