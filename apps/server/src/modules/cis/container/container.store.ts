import type { Container, ContainerStatus, containers, deployments } from '@zhisuan/contract/cis/container'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type ColumnType, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import { jsonObjectFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { openStatuses } from '../../../platform/operations.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

export type Port = Container['ports'][number]

interface ContainerTable {
  id: string
  edge_id: string
  /** Null of one that is rented, and of one that a service of a stack made: see {@link file://./service.containers.ts}. */
  deployment_id: string | null
  service_id: string | null
  service_name: string | null
  bp_id: string | null
  name: string
  /** What it is made from, sealed JSON: variables of the environment often are passwords. Null of a service's. */
  spec: string | null
  image: string
  ports: ColumnType<Port[], string, string>
  /** Counts what it was made from; on Docker it is a label, so that the old and the new can be told apart. */
  generation: Generated<number>
  /** As it was seen last; what is shown also depends on the node. */
  status: ContainerStatus
  /** Docker's own; null until it is made. */
  docker_id: string | null
  health: Container['health']
  exit_code: number | null
  /** Its end was that it used more memory than it may. */
  out_of_memory: Generated<boolean>
  restart_count: Generated<number>
  started_at: Date | null
  error_text: string | null
  /** At most, of a node that the organisation shares with others: what it pays for while it runs. Null on one of its own. */
  shared_cpu: ColumnType<number | null, number | null | undefined, number | null>
  shared_memory_bytes: ColumnType<number | null, number | null | undefined, number | null>
  /** Of what is rented in the market: it is changed only there, and paid for there. */
  rental_id: ColumnType<string | null, string | null | undefined, never>
  /** The cards that it has, by uuid, and no others; null: as many as its specification says. */
  cards: ColumnType<string[] | null, string[] | null | undefined, string[] | null>
  /** Counts what operations changed: who looked before does not overwrite it. */
  revision: Generated<number>
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    containers: ContainerTable
  }
}
export type ContainerRow = Selectable<ContainerTable>
export type ShownContainer = Omit<ContainerRow, 'status'> & {
  shown_status: ContainerStatus
  edge: { id: string; name: string; online: boolean }
  deployment: { id: string; name: string } | null
}

export const containerMigrations: Migrations = {
  '20261123_00_38_containers': migration(`
    create table containers (
      id uuid primary key,
      edge_id uuid not null constraint containers_edge references edges,
      deployment_id uuid references container_deployments,
      bp_id uuid,
      name text not null,
      spec text,
      service_id uuid,
      service_name text,
      image text not null,
      ports jsonb not null,
      generation integer not null default 1,
      status text not null,
      docker_id text,
      health text,
      exit_code integer,
      out_of_memory boolean not null default false,
      restart_count integer not null default 0,
      started_at timestamptz,
      error_text text,
      revision integer not null default 0,
      search text generated always as (name || ' ' || image || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      constraint containers_of_one check ((deployment_id is null) <> (service_id is null))
    );
    create unique index containers_name on containers (edge_id, name) where service_id is null;
    create unique index containers_of_service on containers (service_id, docker_id) where service_id is not null;
    create index containers_deployment on containers (deployment_id);
    create index containers_newest on containers (created_at, id);
    create index containers_newest_bp on containers (bp_id, created_at, id);
    create index containers_by_name_bp on containers (bp_id, name, id);
    create index containers_search on containers using gin (search gin_trgm_ops);
    -- A look that sees what was known tells nobody.
    create trigger containers_tell_container after insert or delete on containers for each row execute function tell_change('cis.container');
    create trigger containers_tell_stack after insert or delete on containers for each row execute function tell_change('aos.stack');
    create trigger containers_tell_container_changed after update on containers for each row when (old is distinct from new) execute function tell_change('cis.container');
    create trigger containers_tell_stack_changed after update on containers for each row when (old is distinct from new) execute function tell_change('aos.stack');
    create trigger container_deployments_tell_container after insert or update or delete on container_deployments for each row execute function tell_change('cis.container');
  `),
  '20261128_74_shared_containers': migration(`
    alter table containers add column shared_cpu double precision, add column shared_memory_bytes bigint;
    -- The meters are those of the contract (bill/meter.ts): thousandths of a processor, and bytes.
    create function usage_of(container containers) returns jsonb language sql stable as $$
      select case
        when container.shared_cpu is null or container.status not in ('running', 'paused', 'restarting') then '{}'
        else jsonb_build_object('container.vcpu', ceil(container.shared_cpu * 1000)::bigint, 'container.memory', container.shared_memory_bytes)
      end
    $$;
    create trigger containers_tell_usage after insert or delete or update of status, shared_cpu, shared_memory_bytes, bp_id, name on containers
      for each row execute function tell_usage('cis.container');
  `),
  '20261128_95_rented_containers': migration(`
    alter table containers add column rental_id uuid, add column cards text[];
    alter table containers drop constraint containers_of_one;
    alter table containers add constraint containers_of_one check (num_nonnulls(deployment_id, service_id, rental_id) = 1);
    create index containers_rental on containers (rental_id) where rental_id is not null;
    create or replace function usage_of(container containers) returns jsonb language sql stable as $$
      select case
        when container.rental_id is not null or container.shared_cpu is null or container.status not in ('running', 'paused', 'restarting') then '{}'
        else jsonb_build_object('container.vcpu', ceil(container.shared_cpu * 1000)::bigint, 'container.memory', container.shared_memory_bytes)
      end
    $$;
  `),
}

/**
 * What is said of a container: what was seen last, unless nobody can see it now: its node is away,
 * or no Docker answers there. A node that was
 * sent away does not come back with what it had.
 */
export const shownStatus = sql<ContainerStatus>`case
  when (edges.status = 'online' and not edges.docker_away) or containers.status in ('creating', 'deleting', 'error', 'lost') then containers.status
  when edges.status = 'unbound' then 'lost'
  else 'unknown' end`

const visible = (on: Sql, scope: Scope) =>
  on.selectFrom('containers').innerJoin('edges', 'edges.id', 'containers.edge_id').where(within(scope, 'containers.bp_id'))

const shown = <T>(query: SelectQueryBuilder<Tables, 'containers' | 'edges', T>) =>
  query
    .selectAll('containers')
    .select((of) => [
      shownStatus.as('shown_status'),
      sql<ShownContainer['edge']>`jsonb_build_object('id', edges.id, 'name', edges.name, 'online', edges.status = 'online')`.as('edge'),
      jsonObjectFrom(
        of
          .selectFrom('container_deployments')
          .whereRef('container_deployments.id', '=', 'containers.deployment_id')
          .select(['container_deployments.id', 'container_deployments.name']),
      ).as('deployment'),
    ])

const order = orderOf('containers', '-created_at', 'name', 'status', 'created_at')

export async function listContainers(
  on: Sql,
  scope: Scope,
  query: QueryOf<typeof deployments.instances> & Partial<Pick<QueryOf<typeof containers.list>, 'edge_id' | 'deployment_id'>> & { service_id?: string },
): Promise<{ total: number; rows: ShownContainer[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'containers', 'edge_id', 'deployment_id', 'service_id'))
    .$if(query.status !== undefined, (q) => q.where(sql<boolean>`${shownStatus} = ${query.status ?? ''}`))
    .where(matching(query.keyword, 'containers.search'))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}

export const getContainer = (on: Sql, scope: Scope, id: string): Promise<ShownContainer | undefined> =>
  shown(visible(on, scope).where('containers.id', '=', id)).executeTakeFirst()

export const getContainers = (on: Sql, scope: Scope, ids: readonly string[]): Promise<ShownContainer[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : shown(visible(on, scope).where('containers.id', 'in', [...ids]))
        .orderBy('edges.name')
        .execute()

/** Of whomever it is: for who works on it. */
export const getContainerRow = (on: Sql, id: string): Promise<ContainerRow | undefined> =>
  on.selectFrom('containers').selectAll().where('id', '=', id).executeTakeFirst()

/** Held against other changes until the transaction ends. */
export const lockContainer = (tx: Tx, scope: Scope, id: string): Promise<ShownContainer | undefined> =>
  shown(visible(tx, scope).where('containers.id', '=', id))
    .forUpdate('containers')
    .executeTakeFirst()

export const lockContainersOf = (tx: Tx, scope: Scope, deploymentId: string): Promise<ShownContainer[]> =>
  shown(visible(tx, scope).where('containers.deployment_id', '=', deploymentId))
    .orderBy('containers.id')
    .forUpdate('containers')
    .execute()

/** Of an organisation, those that people deployed and that were last seen in these states. */
export const withStatuses = (on: Sql, bpId: string, statuses: readonly ContainerStatus[]): Promise<Pick<ContainerRow, 'id' | 'name' | 'status'>[]> =>
  on
    .selectFrom('containers')
    .select(['id', 'name', 'status'])
    .where('bp_id', '=', bpId)
    .where('service_id', 'is', null)
    .where('rental_id', 'is', null)
    .where('status', 'in', statuses)
    .orderBy('id')
    .execute()

export const { insert: insertContainer, update: updateContainer, remove: deleteContainer } = rowsOf('containers', 'revision')

/** As Docker has one. */
export type Observation = Pick<ContainerRow, 'status' | 'docker_id' | 'health' | 'exit_code' | 'out_of_memory' | 'restart_count' | 'started_at'>

/** Rows of a node that no operation is about to change; all, or some. */
export const settledOn = (on: Sql, edgeId: string, ids: readonly string[] | null): Promise<ContainerRow[]> =>
  on
    .selectFrom('containers')
    .selectAll()
    .where('edge_id', '=', edgeId)
    .where('service_id', 'is', null)
    .where('status', 'not in', ['creating', 'deleting'])
    .$if(ids !== null, (q) => q.where('id', 'in', [...(ids ?? [])]))
    .execute()

/** Only where nobody changed it since it was read: whoever did, looks themselves. */
export const recordObservation = async (on: Sql, { id, revision }: Pick<ContainerRow, 'id' | 'revision'>, seen: Partial<Observation>): Promise<void> => {
  await on
    .updateTable('containers')
    .set(seen)
    .where('id', '=', id)
    .where('revision', '=', revision)
    .where('status', 'not in', ['creating', 'deleting'])
    .execute()
}

/** Whether nothing is being done to it, nor was since it was read. Held until the transaction ends. */
export const holdSettled = async (tx: Tx, { id, revision }: Pick<ContainerRow, 'id' | 'revision'>): Promise<boolean> =>
  (await tx
    .selectFrom('containers')
    .select('id')
    .where('id', '=', id)
    .where('revision', '=', revision)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('operations').select('operations.id').whereRef('operations.resource_id', '=', 'containers.id').where('operations.finished_at', 'is', null),
        ),
      ),
    )
    .forUpdate('containers')
    .executeTakeFirst()) !== undefined

/** Which nodes have containers of ours and are there now. */
export const nodesToWatch = async (on: Sql): Promise<string[]> =>
  (
    await on
      .selectFrom('edges')
      .select('id')
      .where('status', '=', 'online')
      .where(({ exists, selectFrom }) => exists(selectFrom('containers').select('id').whereRef('containers.edge_id', '=', 'edges.id')))
      .execute()
  ).map(({ id }) => id)

export const countByEdge = async (on: Sql, edgeIds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
  if (edgeIds.length === 0) return new Map()
  const rows = await on
    .selectFrom('containers')
    .select(['edge_id', sql<number>`count(*)`.as('count')])
    .where('edge_id', 'in', [...edgeIds])
    .groupBy('edge_id')
    .execute()
  return new Map(rows.map(({ edge_id, count }) => [edge_id, count]))
}

/** Whose containers are on a node. */
export const ownersOnEdge = (on: Sql, edgeId: string): Promise<{ bp_id: string | null; count: number }[]> =>
  on
    .selectFrom('containers')
    .select(['bp_id', sql<number>`count(*)::int`.as('count')])
    .where('edge_id', '=', edgeId)
    .groupBy('bp_id')
    .execute()

/** What an organisation has of a node that it shares with others, but for one thing: its containers, and what is kept for its stacks, whose containers these are. */
export const shareOf = async (
  on: Sql,
  edgeId: string,
  bpId: string | null,
  except: string | null,
): Promise<{ containers: number; cpu: number; memory: number }> => {
  const own = await on
    .selectFrom('containers')
    .select([
      sql<number>`count(*)::int`.as('containers'),
      sql<number>`coalesce(sum(shared_cpu), 0)::float8`.as('cpu'),
      sql<number>`coalesce(sum(shared_memory_bytes), 0)::float8`.as('memory'),
    ])
    .where('edge_id', '=', edgeId)
    .where('bp_id', 'is not distinct from', bpId)
    .where('rental_id', 'is', null)
    .where('service_id', 'is', null)
    .$if(except !== null, (q) => q.where('id', '!=', except ?? ''))
    .executeTakeFirstOrThrow()
  const kept = await on
    .selectFrom('node_shares')
    .select([
      sql<number>`coalesce(sum(containers), 0)::int`.as('containers'),
      sql<number>`coalesce(sum(cpu), 0)::float8`.as('cpu'),
      sql<number>`coalesce(sum(memory_bytes), 0)::float8`.as('memory'),
    ])
    .where('edge_id', '=', edgeId)
    .where('bp_id', 'is not distinct from', bpId)
    .$if(except !== null, (q) => q.where('holder', '!=', except ?? ''))
    .executeTakeFirstOrThrow()
  return { containers: own.containers + kept.containers, cpu: own.cpu + kept.cpu, memory: own.memory + kept.memory }
}

/** Ports that containers of ours have or are to have on nodes, of whichever organisation. One that never came to be has none. */
export const portsOn = (on: Sql, edgeIds: readonly string[]): Promise<Pick<ContainerRow, 'id' | 'edge_id' | 'bp_id' | 'service_id' | 'name' | 'ports'>[]> =>
  edgeIds.length === 0
    ? Promise.resolve([])
    : on
        .selectFrom('containers')
        .select(['id', 'edge_id', 'bp_id', 'service_id', 'name', 'ports'])
        .where('edge_id', 'in', [...edgeIds])
        .where('ports', '!=', sql<Port[]>`'[]'::jsonb`)
        .where((where) => where.or([where('status', '!=', 'error'), where('docker_id', 'is not', null)]))
        .execute()

/** At which step the open operation of each is; of those without one there is none. */
export const openSteps = async (on: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  new Map(
    ids.length === 0
      ? []
      : (
          await on
            .selectFrom('operations')
            .select(['resource_id', 'step'])
            .where('resource_id', 'in', [...ids])
            .where('status', 'in', openStatuses)
            .execute()
        ).map(({ resource_id, step }) => [resource_id, step ?? '']),
  )

/** Containers that people deployed on a node: those of rents are not. */
export const deployedOn = (on: Sql, edgeId: string): Promise<ContainerRow[]> =>
  on.selectFrom('containers').selectAll().where('edge_id', '=', edgeId).where('service_id', 'is', null).where('rental_id', 'is', null).execute()

/** Ports of a node are given away by one at a time, until the transaction ends. Always in the same order. */
export async function holdPorts(tx: Tx, edgeIds: readonly string[]): Promise<void> {
  for (const id of edgeIds.toSorted()) await sql`select pg_advisory_xact_lock(hashtextextended(${id}, 23))`.execute(tx)
}
