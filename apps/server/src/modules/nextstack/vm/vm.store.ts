import type { QueryOf } from '@zhisuan/contract/define'
import type { VmStatus, VmType, vms } from '@zhisuan/contract/nextstack/vm'
import { sql, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { endOperations, openStatuses } from '../../../platform/operations.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import type { OnEngineTable } from '../../../platform/resource.shape.ts'
import { countsRows } from '../quota/quota.counter.ts'

export interface Address {
  family: 4 | 6
  address: string
}

interface VmTable extends OnEngineTable {
  project_id: string | null
  type: VmType
  /** What people see: the running operation's status, else what was last observed. */
  status: VmStatus
  /** Name on the engine; never changes and never is taken from people. */
  engine_name: string
  image_fingerprint: string
  image_name: string
  flavor_id: string | null
  flavor_name: string
  cpu_cores: number
  memory_bytes: number
  disk_bytes: number
  network: string
  /** What the engine said last, also while an operation runs. Null until first seen there. */
  observed: VmStatus | null
  addresses: Address[]
  node: string | null
  /** The snapshot that it began as, which may be gone since; null where it began as an image. */
  source_snapshot_id: Generated<string | null>
  /** Counts changes by operations, so that an older observation cannot overwrite a newer state. */
  revision: Generated<number>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    vms: VmTable
  }
}
export type VmRow = Selectable<VmTable>
export type ShownVm = VmRow & { bp_name: string | null; operation_id: string | null; gpus: { model: string; count: number }[] }

export const vmMigrations: Migrations = {
  '20261123_00_09_vms': migration(`
    create extension if not exists pg_trgm;
    create table vms (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      type text not null check (type in ('vm', 'container')),
      status text not null,
      error_text text,
      engine_name text not null,
      image_fingerprint text not null,
      image_name text not null,
      source_snapshot_id uuid,
      flavor_id uuid,
      flavor_name text not null,
      cpu_cores integer not null,
      memory_bytes bigint not null,
      disk_bytes bigint not null,
      network text not null,
      observed text,
      addresses jsonb not null default '[]',
      -- What the keyword filter looks through: name, addresses, id.
      search text generated always as (name || ' ' || coalesce(jsonb_path_query_array(addresses, '$[*].address')::text, '') || ' ' || id::text) stored,
      node text,
      revision integer not null default 0,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index vms_name on vms (cloud_id, coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create unique index vms_engine_name on vms (cloud_id, engine_name);
    create index vms_newest on vms (cloud_id, created_at desc, id desc);
    create index vms_newest_bp on vms (bp_id, cloud_id, created_at desc, id desc);
    create index vms_status on vms (cloud_id, status, created_at desc, id desc);
    create index vms_status_bp on vms (bp_id, cloud_id, status, created_at desc, id desc);
    create index vms_search on vms using gin (search gin_trgm_ops);
    create index vms_type on vms (cloud_id, type, created_at desc, id desc);
    create index vms_type_bp on vms (bp_id, cloud_id, type, created_at desc, id desc);
    create index vms_project on vms (project_id) where project_id is not null;
    ${tellsChanges('vms', 'nextstack.vm')}
    create index vms_source on vms (source_snapshot_id) where source_snapshot_id is not null;
  `),
}

/** Instances count with what they were promised, in whatever state they are. */
export const vmCounter = countsRows('vms', {
  vms: 'count(*)',
  cpu_cores: 'coalesce(sum(cpu_cores), 0)',
  memory_bytes: 'coalesce(sum(memory_bytes), 0)::bigint',
})

const visible = (on: Sql, scope: Scope) => on.selectFrom('vms').where(within(scope, 'vms.bp_id'))

const shown = <T>(query: SelectQueryBuilder<Tables, 'vms', T>) =>
  query
    .leftJoin('organisations', 'organisations.id', 'vms.bp_id')
    .leftJoin('operations', (join) => join.onRef('operations.resource_id', '=', 'vms.id').on('operations.status', 'in', openStatuses))
    .selectAll('vms')
    .select((of) => [
      'organisations.name as bp_name',
      'operations.id as operation_id',
      jsonArrayFrom(
        of
          .selectFrom('host_gpus')
          .whereRef('host_gpus.vm_id', '=', 'vms.id')
          .select(['model', sql<number>`count(*)`.as('count')])
          .groupBy('model')
          .orderBy('model'),
      ).as('gpus'),
    ])

export async function listVms(on: Sql, scope: Scope, query: QueryOf<typeof vms.list>): Promise<{ total: number; rows: ShownVm[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'vms', 'cloud_id', 'status', 'type', 'bp_id'))
    .$if(query.vpc_id !== undefined, (q) =>
      q.where((of) =>
        of.exists(
          of
            .selectFrom('vpc_addresses')
            .whereRef('vpc_addresses.vm_id', '=', 'vms.id')
            .where('vpc_id', '=', query.vpc_id ?? ''),
        ),
      ),
    )
    .$if(query.host_id !== undefined, (q) =>
      q.where((of) =>
        of.exists(
          of
            .selectFrom('hosts')
            .where('hosts.id', '=', query.host_id ?? '')
            .whereRef('hosts.cloud_id', '=', 'vms.cloud_id')
            // Where there is no cluster, engines name no place.
            .where((on) => on.or([on('hosts.clustered', '=', false), on('hosts.name', '=', on.ref('vms.node'))])),
        ),
      ),
    )
    .where(matching(query.keyword, 'vms.search'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('vms').where('vms.id', 'in', ids)))
}

const order = orderOf('vms', '-created_at', 'name', 'status', 'created_at', 'cpu_cores', 'memory_bytes')

export const getVm = (on: Sql, scope: Scope, id: string): Promise<ShownVm | undefined> => shown(visible(on, scope).where('vms.id', '=', id)).executeTakeFirst()

/** Of whomever they are: for who made them. */
export const getVms = (tx: Tx, ids: readonly string[]): Promise<ShownVm[]> => shown(tx.selectFrom('vms').where('vms.id', 'in', ids)).execute()

export const { insert: insertVms, update: updateVm, remove: deleteVm, lock: lockVm } = rowsOf('vms', 'revision', 'updated_at')

/** Of an organisation, those in these states. */
export const withStatuses = (on: Sql, bpId: string, statuses: readonly VmStatus[]): Promise<Pick<VmRow, 'id' | 'name' | 'status'>[]> =>
  on.selectFrom('vms').select(['id', 'name', 'status']).where('bp_id', '=', bpId).where('status', 'in', statuses).orderBy('id').execute()

export async function countByCloud(on: Sql, cloudIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (cloudIds.length === 0) return new Map()
  const rows = await on
    .selectFrom('vms')
    .select(['cloud_id', sql<number>`count(*)`.as('count')])
    .where('cloud_id', 'in', cloudIds)
    .groupBy('cloud_id')
    .execute()
  return new Map(rows.map((row) => [row.cloud_id, row.count]))
}

/** Removes the records of a cloud's instances, and ends their open operations. */
export async function forgetCloud(tx: Tx, cloudId: string): Promise<void> {
  await endOperations(tx, tx.selectFrom('vms').select('id').where('cloud_id', '=', cloudId), 'vmGone')
  await tx.deleteFrom('vms').where('cloud_id', '=', cloudId).execute()
}

/** What the reconciler compares with the engine. */
export const rowsOfCloud = (on: Sql, cloudId: string, engineNames: readonly string[] | null) =>
  on
    .selectFrom('vms')
    .select(['id', 'engine_name', 'status', 'observed', 'addresses', 'node', 'revision', 'created_at'])
    .where('cloud_id', '=', cloudId)
    .$if(engineNames !== null, (q) => q.where('engine_name', 'in', engineNames ?? []))
    .execute()

export interface Observation {
  id: string
  revision: number
  observed: VmStatus
  addresses: readonly Address[]
  node: string | null
}

/**
 * Records what was seen on the engine. Rows that an operation changed since they were read are
 * left alone; the status that people see follows only where no operation is running.
 */
export async function recordObservations(on: Sql, observations: readonly Observation[]): Promise<void> {
  for (let from = 0; from < observations.length; from += 2_000) {
    const part = JSON.stringify(observations.slice(from, from + 2_000))
    await sql`
      update vms set
        observed = seen.observed,
        addresses = seen.addresses,
        node = seen.node,
        status = case when exists (
          select from operations where operations.resource_id = vms.id and operations.status in ('queued', 'running', 'undoing')
        ) then vms.status else seen.observed end,
        error_text = case when seen.observed = 'error' then vms.error_text else null end,
        updated_at = now()
      from jsonb_to_recordset(${part}::jsonb) as seen (id uuid, revision integer, observed text, addresses jsonb, node text)
      where vms.id = seen.id and vms.revision = seen.revision
    `.execute(on)
  }
}
