import type { NodeFacts } from '@zhisuan/contract/agent/node'
import type { QueryOf } from '@zhisuan/contract/define'
import type { DockerTrouble, edges, EdgeStatus, Label, sharedWith, ShareLimits, Taint } from '@zhisuan/contract/ecrm/edge'
import { sql, type ColumnType, type Generated, type GeneratedAlways, type RawBuilder, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { among, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

type Json<T> = ColumnType<T, string, string>

/** What was agreed with a node; whether it is connected is another matter. */
type Binding = 'pending' | 'unconfirmed' | 'bound' | 'unbound'

interface EdgeTable {
  id: string
  bp_id: string | null
  name: string
  description: string
  site_id: string | null
  binding: Binding
  activation: Generated<'active' | 'deactive'>
  /** Whether somebody has to look at it before it is let in. */
  confirm: 'auto' | 'manual'
  labels: Json<Label[]>
  taints: Json<Taint[]>
  /** SHA-256 of the token that it may enrol with, hex. Emptied when it is unbound. */
  token_hash: string | null
  token_expires_at: Date | null
  /** The agent's own key. Only who has it connects as this node. */
  public_key: string | null
  /** The run of a server that has its tunnel; null while it has none. */
  server_id: string | null
  /** Follows from binding and server_id, in the database: no code can set it otherwise. */
  status: GeneratedAlways<EdgeStatus>
  /** It is connected, and no Docker answers there: what runs on it is not known. */
  docker_away: Generated<boolean>
  /** Why; of what was away before this was kept nobody knows. */
  docker_trouble: Generated<DockerTrouble | null>
  facts: ColumnType<NodeFacts | null, string | null, string | null>
  agent_version: string | null
  seen_at: Date | null
  /** It was told that it is away; of the next time nobody was told yet. */
  away_told: Generated<boolean>
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  shared_with: Generated<(typeof sharedWith)[number]>
  shared_bp_ids: Generated<string[]>
  share_limits: ColumnType<ShareLimits | null, string | null | undefined, string | null>
}
/** A run of a server, as long as it says so. */
interface EdgeServerTable {
  id: string
  seen_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    edges: EdgeTable
    edge_servers: EdgeServerTable
  }
}
export type EdgeRow = Selectable<EdgeTable>
export type ShownEdge = EdgeRow & { bp_name: string | null; site_name: string | null; region_id: string | null; region_name: string | null }

export const edgeMigrations: Migrations = {
  '20261123_00_31_edges': migration(`
    create table edges (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      description text not null,
      site_id uuid constraint edges_site references sites,
      binding text not null check (binding in ('pending', 'unconfirmed', 'bound', 'unbound')),
      activation text not null default 'active' check (activation in ('active', 'deactive')),
      confirm text not null check (confirm in ('auto', 'manual')),
      labels jsonb not null,
      taints jsonb not null,
      token_hash text,
      token_expires_at timestamptz,
      public_key text,
      server_id uuid,
      docker_away boolean not null default false,
      status text not null generated always as (case when binding <> 'bound' then binding when server_id is null then 'offline' else 'online' end) stored,
      facts jsonb,
      agent_version text,
      seen_at timestamptz,
      -- What the keyword filter looks through.
      search text generated always as (name || ' ' || description || ' ' || coalesce(facts ->> 'host_name', '')) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create unique index edges_name on edges (coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create unique index edges_token on edges (token_hash);
    create index edges_server on edges (server_id) where server_id is not null;
    create index edges_site on edges (site_id);
    create index edges_newest on edges (created_at, id);
    create index edges_newest_bp on edges (bp_id, created_at, id);
    create index edges_by_name on edges (name, id);
    create index edges_by_name_bp on edges (bp_id, name, id);
    create index edges_by_status on edges (status, id);
    create index edges_by_seen on edges (seen_at, id);
    create index edges_labels on edges using gin (labels jsonb_path_ops);
    create index edges_search on edges using gin (search gin_trgm_ops);
    create trigger edges_tell_edge after insert or update or delete on edges for each row execute function tell_change('ecrm.edge');
    create table edge_servers (id uuid primary key, seen_at timestamptz not null default now());
  `),
  '20261126_60_docker_trouble': migration(`
    alter table edges add column docker_trouble text check (docker_trouble in ('missing', 'stopped', 'denied'));
  `),
  '20261128_73_shared_nodes': migration(`
    alter table edges
      add column shared_with text not null default 'none' check (shared_with in ('none', 'all', 'named')),
      add column shared_bp_ids uuid[] not null default '{}',
      add column share_limits jsonb,
      add constraint edges_shared check (shared_with = 'none' or (bp_id is null and share_limits is not null));
    create index edges_sharing on edges (id) where shared_with <> 'none';
  `),
  // Those that are away already are no news.
  '20261126_82_edge_away': migration(`
    alter table edges add column away_told boolean not null default false;
    update edges set away_told = true where server_id is null and seen_at is not null;
    create index edges_away on edges (seen_at) where status = 'offline' and not away_told;
  `),
}

const visible = (on: Sql, scope: Scope) => on.selectFrom('edges').where(within(scope, 'edges.bp_id'))

/** Those that are the scope's, and those of the platform that are shared with it. */
const usable = (scope: Scope): RawBuilder<boolean> =>
  'bp_id' in scope
    ? sql<boolean>`(${within(scope, 'edges.bp_id')} or edges.shared_with = 'all' or (edges.shared_with = 'named' and ${scope.bp_id} = any(edges.shared_bp_ids)))`
    : within(scope, 'edges.bp_id')

/** Whether there is any. */
export const hasEdges = async (on: Sql, scope: Scope): Promise<boolean> => (await visible(on, scope).select('id').limit(1).executeTakeFirst()) !== undefined

const shown = <T>(query: SelectQueryBuilder<Tables, 'edges', T>) =>
  query
    .leftJoin('organisations', 'organisations.id', 'edges.bp_id')
    .leftJoin('sites', 'sites.id', 'edges.site_id')
    .leftJoin('regions', 'regions.id', 'sites.region_id')
    .selectAll('edges')
    .select(['organisations.name as bp_name', 'sites.name as site_name', 'regions.id as region_id', 'regions.name as region_name'])

const order = orderOf('edges', '-created_at', 'name', 'status', 'created_at', 'seen_at')

/** `a=1,b`: labels that are all there; without a value whatever value. */
const labelSelector = (text: string): { key: string; value?: string }[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      return at < 0 ? { key: part } : { key: part.slice(0, at).trim(), value: part.slice(at + 1).trim() }
    })

export async function listEdges(on: Sql, scope: Scope, query: QueryOf<typeof edges.list>): Promise<{ total: number; rows: ShownEdge[] }> {
  const { keyword, status, activation, site_id, region_id, bp_id, gpu, labels } = query
  const filtered = on
    .selectFrom('edges')
    .where(query.usable === true ? usable(scope) : within(scope, 'edges.bp_id'))
    .where(matching(keyword, 'edges.search'))
    .$if(status !== undefined, (q) => q.where('edges.status', '=', status ?? 'online'))
    .$if(activation !== undefined, (q) => q.where('edges.activation', '=', activation ?? 'active'))
    .$if(site_id !== undefined, (q) => q.where('edges.site_id', '=', site_id ?? ''))
    .$if(region_id !== undefined, (q) =>
      q.where(
        'edges.site_id',
        'in',
        on
          .selectFrom('sites')
          .select('id')
          .where('region_id', '=', region_id ?? ''),
      ),
    )
    .$if(bp_id !== undefined, (q) => q.where('edges.bp_id', '=', bp_id ?? ''))
    .$if(gpu !== undefined, (q) => q.where(sql<boolean>`(jsonb_array_length(coalesce(edges.facts -> 'gpus', '[]')) > 0) = ${gpu}`))
    .$if(labels !== undefined, (q) => q.where(sql<boolean>`edges.labels @> ${JSON.stringify(labelSelector(labels ?? ''))}::jsonb`))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('edges').where('edges.id', 'in', ids)))
}

export const getEdge = (on: Sql, scope: Scope, id: string): Promise<ShownEdge | undefined> =>
  shown(visible(on, scope).where('edges.id', '=', id)).executeTakeFirst()

export const getEdges = (on: Sql, scope: Scope, ids: readonly string[]): Promise<ShownEdge[]> =>
  ids.length === 0 ? Promise.resolve([]) : shown(visible(on, scope).where('edges.id', 'in', [...ids])).execute()

/** The same, with those of the platform that are shared with the scope. */
export const getUsableEdges = (on: Sql, scope: Scope, ids: readonly string[]): Promise<ShownEdge[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : shown(
        on
          .selectFrom('edges')
          .where(usable(scope))
          .where('edges.id', 'in', [...ids]),
      ).execute()

/** Held until the transaction ends. */
export const lockEdges = (tx: Tx, scope: Scope, ids: readonly string[]): Promise<EdgeRow[]> =>
  visible(tx, scope)
    .selectAll('edges')
    .where('edges.id', 'in', [...ids])
    .orderBy('edges.id')
    .forUpdate()
    .execute()

/** Nodes that take new containers and have all of these labels. */
export const edgesLabelled = (on: Sql, scope: Scope, labels: readonly Label[], shared: boolean): Promise<ShownEdge[]> =>
  shown(
    (shared ? on.selectFrom('edges').where(usable(scope)) : visible(on, scope))
      .where('edges.status', '=', 'online')
      .where('edges.activation', '=', 'active')
      .where(sql<boolean>`edges.labels @> ${JSON.stringify(labels)}::jsonb`),
  )
    .orderBy('edges.name')
    .execute()

/** The platform's own node of that name. Two servers that start at once make one. */
export async function localEdge(tx: Tx, name: string): Promise<Pick<EdgeRow, 'id' | 'binding'> | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended('local edge', 13))`.execute(tx)
  return tx.selectFrom('edges').select(['id', 'binding']).where('bp_id', 'is', null).where('name', '=', name).executeTakeFirst()
}

export const { insert: insertEdge, update: updateEdge, remove: deleteEdge } = rowsOf('edges')

/** The node that a token was made for, where it holds still. Held until the transaction ends. */
export const edgeOfToken = (tx: Tx, hash: string): Promise<EdgeRow | undefined> =>
  tx
    .selectFrom('edges')
    .selectAll()
    .where('token_hash', '=', hash)
    .where('token_expires_at', '>', sql<Date>`now()`)
    .forUpdate()
    .executeTakeFirst()

/** With which keys nodes may connect; of those that may not, or that there are not, there is none. */
export async function keysOfEdges(on: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await on.selectFrom('edges').select(['id', 'public_key']).where(among('id', ids)).where('binding', 'in', ['unconfirmed', 'bound']).execute()
  return new Map(rows.flatMap(({ id, public_key }) => (public_key === null ? [] : [[id, public_key] as const])))
}

/** The first of these organisations that there is not; null where all are there. */
export async function missingOrganisation(on: Sql, ids: readonly string[]): Promise<string | null> {
  const there = new Set(
    ids.length === 0
      ? []
      : (
          await on
            .selectFrom('organisations')
            .select('id')
            .where('id', 'in', [...ids])
            .execute()
        ).map(({ id }) => id),
  )
  return ids.find((id) => !there.has(id)) ?? null
}

/** In an organisation; null is the platform itself. */
export const hasEdgeNamed = async (on: Sql, bpId: string | null, name: string): Promise<boolean> =>
  (await on.selectFrom('edges').select('id').where('bp_id', 'is not distinct from', bpId).where('name', '=', name).executeTakeFirst()) !== undefined

/** Values in use that begin so: of labels `key=value`, of taints `key=value:effect`. */
export async function suggestMarks(on: Sql, scope: Scope, column: 'labels' | 'taints', beginning: string): Promise<string[]> {
  const text =
    column === 'labels' ? sql`mark ->> 'key' || '=' || (mark ->> 'value')` : sql`mark ->> 'key' || '=' || (mark ->> 'value') || ':' || (mark ->> 'effect')`
  const { rows } = await sql<{ text: string }>`
    select distinct ${text} as text from edges, jsonb_array_elements(${sql.ref(`edges.${column}`)}) as mark
    where ${within(scope, 'edges.bp_id')} and starts_with(lower(${text}), lower(${beginning})) order by 1 limit 20`.execute(on)
  return rows.map((row) => row.text)
}
