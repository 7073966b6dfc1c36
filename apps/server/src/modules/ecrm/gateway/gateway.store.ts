import type { QueryOf } from '@zhisuan/contract/define'
import type { gateways } from '@zhisuan/contract/ecrm/edge'
import { sql, type Generated, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { among, asked, matching, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

interface EdgeGatewayTable {
  id: string
  edge_id: string
  site_id: string
  name: string
  description: string
  address: string
  port: number
  /** What was decided; whether it is so its node says. */
  wanted: 'active' | 'deactive'
  /** Told to begin anew, and has not yet. */
  rebooting: Generated<boolean>
  /** Chinese text of why its node does not do so. */
  error: string | null
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    edge_gateways: EdgeGatewayTable
  }
}
export type GatewayRow = Selectable<EdgeGatewayTable>
export type GatewayStatus = 'active' | 'deactive' | 'rebooting' | 'offline'
export type ShownGateway = GatewayRow & { edge_name: string; site_name: string; status: GatewayStatus }

export const gatewayMigrations: Migrations = {
  '20261123_00_36_edge_gateways': migration(`
    create table edge_gateways (
      id uuid primary key,
      edge_id uuid not null references edges on delete cascade,
      site_id uuid not null references sites,
      name text not null,
      description text not null,
      address text not null,
      port integer not null,
      wanted text not null check (wanted in ('active', 'deactive')),
      rebooting boolean not null default false,
      error text,
      created_at timestamptz not null default now()
    );
    create unique index edge_gateways_name on edge_gateways (name);
    create unique index edge_gateways_edge on edge_gateways (edge_id);
    create index edge_gateways_site on edge_gateways (site_id);
  `),
}

const status = sql<GatewayStatus>`case when edges.status <> 'online' then 'offline' when edge_gateways.rebooting then 'rebooting' else edge_gateways.wanted end`

const shown = (on: Sql) =>
  on
    .selectFrom('edge_gateways')
    .innerJoin('edges', 'edges.id', 'edge_gateways.edge_id')
    .innerJoin('sites', 'sites.id', 'edge_gateways.site_id')
    .selectAll('edge_gateways')
    .select(['edges.name as edge_name', 'sites.name as site_name', status.as('status')])

const order = { by: { name: 'edge_gateways.name', status: 'status', created_at: 'edge_gateways.created_at' }, fallback: '-created_at', id: 'edge_gateways.id' }

export async function listGateways(on: Sql, query: QueryOf<typeof gateways.list>): Promise<{ total: number; rows: ShownGateway[] }> {
  const filtered = shown(on)
    .where(matching(query.keyword, sql<string>`edge_gateways.name || ' ' || edge_gateways.description || ' ' || edge_gateways.address`))
    .where(asked(query, 'edge_gateways', 'site_id'))
    .$if(query.status !== undefined, (q) => q.where(status, '=', query.status ?? 'active'))
  return pageWithTotal(paged(filtered, query, order), filtered, query)
}

export const getGateway = (on: Sql, id: string): Promise<ShownGateway | undefined> => shown(on).where('edge_gateways.id', '=', id).executeTakeFirst()

/** By nodes; most have none. */
export async function gatewaysOfEdges(on: Sql, edgeIds: readonly string[]): Promise<ReadonlyMap<string, GatewayRow>> {
  const rows = await on.selectFrom('edge_gateways').selectAll().where(among('edge_id', edgeIds)).execute()
  return new Map(rows.map((row) => [row.edge_id, row]))
}

/** Held until the transaction ends. */
export const lockGateway = async (tx: Tx, id: string): Promise<void> => {
  await tx.selectFrom('edge_gateways').select('id').where('id', '=', id).forUpdate().execute()
}

export const { insert: insertGateway, update: updateGateway, remove: deleteGateway } = rowsOf('edge_gateways')

export const hasGatewayNamed = async (on: Sql, name: string): Promise<boolean> =>
  (await on.selectFrom('edge_gateways').select('id').where('name', '=', name).executeTakeFirst()) !== undefined
