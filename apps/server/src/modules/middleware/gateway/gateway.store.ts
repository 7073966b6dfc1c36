import type { NodeFacts } from '@zhisuan/contract/agent/node'
import type { GatewayStatus, PortSpec, PortStatus, serviceGateways, ServiceGateway, servicePorts } from '@zhisuan/contract/middleware/gateway'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type ColumnType, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import { tellsChanges } from '../../../platform/changes.ts'
import { migration, type Migrations, type Sql, type Tables } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, paged, pageWithTotal } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

interface GatewayTable {
  id: string
  /** Always null: they are the platform's. */
  bp_id: string | null
  name: string
  description: string
  status: GatewayStatus
  node_id: string
  control_port: number
  connections_most: number
  drain_minutes: number
  /** Sealed: by which its statistics are asked for. */
  secret: string
  health: ServiceGateway['health']
  health_message: string | null
  version: string | null
  error: string | null
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
interface PortTable {
  id: string
  bp_id: string | null
  gateway_id: string
  name: string
  description: string
  status: PortStatus
  error: string | null
  port: number
  protocol: PortSpec['protocol']
  /** What is served, or was asked for of one that is not. */
  spec: ColumnType<PortSpec, string, string>
  /** Whether it is served. */
  served: boolean
  revision: Generated<number>
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    service_gateways: GatewayTable
    service_ports: PortTable
  }
}

export const gatewayMigrations: Migrations = {
  '20261202_60_service_gateways': migration(`
    create table service_gateways (
      id uuid primary key,
      bp_id uuid check (bp_id is null),
      name text not null constraint service_gateways_name unique,
      description text not null,
      status text not null check (status in ('installing', 'active', 'changing', 'removing', 'error')),
      node_id uuid not null references edges constraint service_gateways_node unique,
      control_port integer not null,
      connections_most integer not null,
      drain_minutes integer not null,
      secret text not null,
      health text not null,
      health_message text,
      version text,
      error text,
      created_by uuid references users on delete set null,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create table service_ports (
      id uuid primary key,
      bp_id uuid check (bp_id is null),
      gateway_id uuid not null references service_gateways on delete cascade,
      name text not null,
      description text not null,
      status text not null check (status in ('creating', 'active', 'changing', 'deleting', 'error')),
      error text,
      port integer not null check (port between 1 and 65535),
      protocol text not null check (protocol in ('tcp', 'http')),
      spec jsonb not null,
      served boolean not null,
      revision integer not null default 1,
      created_by uuid references users on delete set null,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint service_ports_name unique (gateway_id, name),
      constraint service_ports_port unique (gateway_id, port)
    );
    ${tellsChanges('service_gateways', 'middleware.gateway')}
    ${tellsChanges('service_ports', 'middleware.port')}
  `),
}

export type GatewayRow = Selectable<Tables['service_gateways']>
export type PortRow = Selectable<Tables['service_ports']>
export type ShownGateway = GatewayRow & { node_name: string; node_facts: NodeFacts | null; port_count: number; operation_id: string | null }
export type ShownPort = PortRow & { gateway_name: string; gateway_status: GatewayStatus; operation_id: string | null }

const running = sql`operations.status in ('queued', 'running', 'undoing')`
const shown = <T>(query: SelectQueryBuilder<Tables, 'service_gateways', T>) =>
  query
    .selectAll('service_gateways')
    .select([
      sql<string>`(select name from edges where edges.id = service_gateways.node_id)`.as('node_name'),
      sql<NodeFacts | null>`(select facts from edges where edges.id = service_gateways.node_id)`.as('node_facts'),
      sql<number>`(select count(*)::int from service_ports where gateway_id = service_gateways.id)`.as('port_count'),
      sql<
        string | null
      >`(select id from operations where resource_type = 'middleware.gateway' and resource_id = service_gateways.id and ${running} limit 1)`.as('operation_id'),
    ])
const shownPort = <T>(query: SelectQueryBuilder<Tables, 'service_ports', T>) =>
  query.selectAll('service_ports').select([
    sql<string>`(select name from service_gateways where id = service_ports.gateway_id)`.as('gateway_name'),
    sql<GatewayStatus>`(select status from service_gateways where id = service_ports.gateway_id)`.as('gateway_status'),
    sql<string | null>`(
        select id from operations
        where service_ports.status in ('creating', 'changing', 'deleting') and resource_type = 'middleware.gateway'
          and resource_id = service_ports.gateway_id and ${running} limit 1
      )`.as('operation_id'),
  ])

const gatewayOrder = orderOf('service_gateways', '-created_at', 'name', 'created_at')
const portOrder = orderOf('service_ports', 'port', 'name', 'port', 'created_at')

export async function listGateways(on: Sql, query: QueryOf<typeof serviceGateways.list>): Promise<{ total: number; rows: ShownGateway[] }> {
  const filtered = on
    .selectFrom('service_gateways')
    .where(asked(query, 'service_gateways', 'status', 'node_id'))
    .where(matching(query.keyword, 'service_gateways.name', 'service_gateways.description'))
  return pageWithTotal(paged(shown(filtered), query, gatewayOrder), filtered, query)
}
export const allGateways = (on: Sql): Promise<ShownGateway[]> => shown(on.selectFrom('service_gateways')).orderBy('service_gateways.name').execute()
export const showGateway = (on: Sql, id: string): Promise<ShownGateway | undefined> =>
  shown(on.selectFrom('service_gateways').where('service_gateways.id', '=', id)).executeTakeFirst()
export const gatewayOnNode = (on: Sql, nodeId: string): Promise<{ name: string } | undefined> =>
  on.selectFrom('service_gateways').select('name').where('node_id', '=', nodeId).executeTakeFirst()

export async function listPorts(on: Sql, query: QueryOf<typeof servicePorts.list>): Promise<{ total: number; rows: ShownPort[] }> {
  const filtered = on
    .selectFrom('service_ports')
    .where(asked(query, 'service_ports', 'status', 'protocol', 'gateway_id'))
    .where(matching(query.keyword, 'service_ports.name', 'service_ports.description'))
  return pageWithTotal(paged(shownPort(filtered), query, portOrder), filtered, query)
}
export const showPort = (on: Sql, id: string): Promise<ShownPort | undefined> =>
  shownPort(on.selectFrom('service_ports').where('service_ports.id', '=', id)).executeTakeFirst()
export const portsOf = (on: Sql, gatewayIds: readonly string[]): Promise<PortRow[]> =>
  on
    .selectFrom('service_ports')
    .selectAll()
    .where('gateway_id', 'in', [...gatewayIds])
    .orderBy('port')
    .execute()

export const { insert: insertGateway, update: updateGateway, remove: removeGateway, lockAny: lockGateway } = rowsOf('service_gateways', 'updated_at')
export const { insert: insertPort, update: updatePort, remove: removePort, lockAny: lockPort } = rowsOf('service_ports', 'updated_at')
