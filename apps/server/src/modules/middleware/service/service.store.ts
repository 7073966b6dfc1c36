import type { NodeFacts } from '@zhisuan/contract/agent/node'
import type { DatabaseService, databaseServices, ServiceStatus } from '@zhisuan/contract/middleware/service'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import { tellsChanges } from '../../../platform/changes.ts'
import { migration, type Migrations, type Sql, type Tables } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, paged, pageWithTotal } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

interface ServiceTable {
  id: string
  /** Always null: they are the platform's. */
  bp_id: string | null
  name: string
  description: string
  type: DatabaseService['type']
  status: ServiceStatus
  node_id: string
  port: number
  listens: DatabaseService['listens']
  memory_mb: number
  connections_most: number
  /** Sealed: the password of its administrator. */
  secret: string
  /** Sealed: the one that it was being given, where nobody saw what became of that. */
  secret_next: string | null
  health: DatabaseService['health']
  health_message: string | null
  version: string | null
  error: string | null
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    database_services: ServiceTable
  }
}

export const serviceMigrations: Migrations = {
  '20261202_61_database_services': migration(`
    create table database_services (
      id uuid primary key,
      bp_id uuid check (bp_id is null),
      name text not null constraint database_services_name unique,
      description text not null,
      type text not null check (type in ('mysql', 'postgresql', 'redis')),
      status text not null check (status in ('installing', 'active', 'stopped', 'changing', 'removing', 'error')),
      node_id uuid not null references edges,
      port integer not null check (port between 1 and 65535),
      listens text not null check (listens in ('all', 'loopback')),
      memory_mb integer not null,
      connections_most integer not null,
      secret text not null,
      secret_next text,
      health text not null,
      health_message text,
      version text,
      error text,
      created_by uuid references users on delete set null,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint database_services_port unique (node_id, port)
    );
    ${tellsChanges('database_services', 'middleware.service')}
  `),
}

export type ServiceRow = Selectable<Tables['database_services']>
export type ShownService = ServiceRow & { node_name: string; node_facts: NodeFacts | null; operation_id: string | null }

const shown = <T>(query: SelectQueryBuilder<Tables, 'database_services', T>) =>
  query
    .selectAll('database_services')
    .select([
      sql<string>`(select name from edges where edges.id = database_services.node_id)`.as('node_name'),
      sql<NodeFacts | null>`(select facts from edges where edges.id = database_services.node_id)`.as('node_facts'),
      sql<
        string | null
      >`(select id from operations where resource_type = 'middleware.service' and resource_id = database_services.id and operations.status in ('queued', 'running', 'undoing') limit 1)`.as(
        'operation_id',
      ),
    ])
const order = orderOf('database_services', '-created_at', 'name', 'created_at')

export async function listServices(on: Sql, query: QueryOf<typeof databaseServices.list>): Promise<{ total: number; rows: ShownService[] }> {
  const filtered = on
    .selectFrom('database_services')
    .where(asked(query, 'database_services', 'type', 'status', 'node_id'))
    .where(matching(query.keyword, 'database_services.name', 'database_services.description'))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}
export const showService = (on: Sql, id: string): Promise<ShownService | undefined> =>
  shown(on.selectFrom('database_services').where('database_services.id', '=', id)).executeTakeFirst()
export const serviceAtPort = (on: Sql, nodeId: string, port: number): Promise<{ name: string } | undefined> =>
  on.selectFrom('database_services').select('name').where('node_id', '=', nodeId).where('port', '=', port).executeTakeFirst()

export const { insert: insertService, update: updateService, remove: removeService, lockAny: lockService } = rowsOf('database_services', 'updated_at')
