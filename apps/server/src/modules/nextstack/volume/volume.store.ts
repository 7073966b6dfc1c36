import type { QueryOf } from '@zhisuan/contract/define'
import type { VmStatus } from '@zhisuan/contract/nextstack/vm'
import { volumeTransitional, type Volume, type VolumeStatus, type volumes } from '@zhisuan/contract/nextstack/volume'
import { sql, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import { jsonObjectFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, counted, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { endOperations, openStatuses } from '../../../platform/operations.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import { countsRows } from '../quota/quota.counter.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import type { OnEngineTable } from '../../../platform/resource.shape.ts'

/** What the engine says of a volume. */
export type ObservedVolume = Extract<VolumeStatus, 'available' | 'in_use' | 'lost'>

interface VolumeTable extends OnEngineTable {
  project_id: string | null
  pool: string
  content: Volume['content']
  /** Name on the engine; never changes and never is taken from people. */
  engine_name: string
  size_bytes: number
  /** What it is being made larger to: promised already. */
  growing_to: number | null
  used_bytes: number | null
  /** The only member of a cluster that has it; null where there is no cluster, or all have it. */
  node: string | null
  /** What people see: the running operation's status, else what was last observed. */
  status: VolumeStatus
  /** The instance that has it, or is to have it while it is being attached; where it is mounted there. */
  vm_id: string | null
  path: string | null
  /** Who deletes it with its instance, once that is gone. */
  release_by: { user_id: string; name: string } | null
  /** What it is made from, so that this stays until it is made. */
  source_snapshot_id: string | null
  source_backup_id: string | null
  /** What the engine said last. Null until it was made there. */
  observed: ObservedVolume | null
  /** Counts changes by operations, so that an older observation cannot overwrite a newer state. */
  revision: Generated<number>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    volumes: VolumeTable
  }
}
export type VolumeRow = Selectable<VolumeTable>
export type ShownVolume = VolumeRow & { bp_name: string | null; operation_id: string | null; vm: { id: string; name: string } | null; snapshot_count: number }

export const volumeNameIndex = 'volumes_name'
/** Broken by a second volume at the same path of an instance. */
export const volumePathRule = 'volumes_path'

export const volumeMigrations: Migrations = {
  '20261128_28_volumes_released_with_instances': migration('alter table volumes add column release_by jsonb'),
  '20261123_00_20_volumes': migration(`
    create table volumes (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      pool text not null,
      node text,
      content text not null check (content in ('filesystem', 'block')),
      engine_name text not null,
      size_bytes bigint not null,
      growing_to bigint,
      used_bytes bigint,
      status text not null,
      error_text text,
      vm_id uuid references vms,
      path text,
      source_snapshot_id uuid,
      source_backup_id uuid,
      observed text check (observed in ('available', 'in_use', 'lost')),
      revision integer not null default 0,
      -- What the keyword filter looks through: name, id.
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      -- At the end of a statement, which may record of several what others changed on the engine.
      constraint ${volumePathRule} unique (vm_id, path) deferrable initially immediate
    );
    create unique index ${volumeNameIndex} on volumes (cloud_id, coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create unique index volumes_engine_name on volumes (cloud_id, engine_name);
    create index volumes_project on volumes (project_id) where project_id is not null;
    create index volumes_being_made on volumes (id) where status = 'creating';
    create index volumes_pool on volumes (cloud_id, pool) include (size_bytes, growing_to);
    create index volumes_of_organisation on volumes (bp_id) include (size_bytes, growing_to);
    create index volumes_newest_all on volumes (created_at, id);
    create index volumes_newest on volumes (cloud_id, created_at, id);
    create index volumes_newest_bp on volumes (bp_id, cloud_id, created_at, id);
    create index volumes_by_name on volumes (cloud_id, name, id);
    create index volumes_by_name_bp on volumes (bp_id, cloud_id, name, id);
    create index volumes_by_status on volumes (cloud_id, status, id);
    create index volumes_by_status_bp on volumes (bp_id, cloud_id, status, id);
    create index volumes_by_size on volumes (cloud_id, size_bytes, id);
    create index volumes_by_size_bp on volumes (bp_id, cloud_id, size_bytes, id);
    create index volumes_search on volumes using gin (search gin_trgm_ops);
    ${tellsChanges('volumes', 'nextstack.volume')}
  `),
}

/** Volumes count with what they were promised, in whatever state they are. */
export const volumeCounter = countsRows('volumes', { volumes: 'count(*)', volume_bytes: 'coalesce(sum(coalesce(growing_to, size_bytes)), 0)::bigint' })

/** The only way to tenant rows: through a scope. */
const visible = (on: Sql, scope: Scope) => on.selectFrom('volumes').where(within(scope, 'volumes.bp_id'))

const shown = <T>(query: SelectQueryBuilder<Tables, 'volumes', T>) =>
  query
    .leftJoin('organisations', 'organisations.id', 'volumes.bp_id')
    .leftJoin('operations', (join) => join.onRef('operations.resource_id', '=', 'volumes.id').on('operations.status', 'in', openStatuses))
    .selectAll('volumes')
    .select((of) => [
      'organisations.name as bp_name',
      'operations.id as operation_id',
      jsonObjectFrom(of.selectFrom('vms').whereRef('vms.id', '=', 'volumes.vm_id').select(['vms.id', 'vms.name'])).as('vm'),
      sql<number>`(select count(*) from volume_snapshots where volume_snapshots.volume_id = volumes.id)`.as('snapshot_count'),
    ])

const order = orderOf('volumes', '-created_at', 'name', 'status', 'size_bytes', 'created_at')

export async function listVolumes(on: Sql, scope: Scope, query: QueryOf<typeof volumes.list>): Promise<{ total: number; rows: ShownVolume[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'volumes', 'cloud_id', 'vm_id', 'pool', 'status', 'bp_id'))
    .where(matching(query.keyword, 'volumes.search'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('volumes').where('volumes.id', 'in', ids)))
}

export const getVolume = (on: Sql, scope: Scope, id: string): Promise<ShownVolume | undefined> =>
  shown(visible(on, scope).where('volumes.id', '=', id)).executeTakeFirst()

/** Locked after its instance. */
export const { insert: insertVolume, update: updateVolume, remove: deleteVolume, lock: lockVolume } = rowsOf('volumes', 'revision', 'updated_at')

/** Those of an instance, held. */
export const lockVolumesOf = (tx: Tx, vmId: string): Promise<VolumeRow[]> =>
  tx.selectFrom('volumes').selectAll().where('vm_id', '=', vmId).orderBy('id').forUpdate().execute()

/** Whether something is being made of a snapshot, of any snapshot of a volume, or of a backup. */
export async function isBeingCopied(tx: Tx, of: { snapshot_id: string } | { volume_id: string } | { backup_id: string }): Promise<boolean> {
  const row = await tx
    .selectFrom('volumes')
    .select('id')
    .where('status', '=', 'creating')
    .$if('snapshot_id' in of, (q) => q.where('source_snapshot_id', '=', 'snapshot_id' in of ? of.snapshot_id : ''))
    .$if('backup_id' in of, (q) => q.where('source_backup_id', '=', 'backup_id' in of ? of.backup_id : ''))
    .$if('volume_id' in of, (q) =>
      q.where(
        'source_snapshot_id',
        'in',
        tx
          .selectFrom('volume_snapshots')
          .select('id')
          .where('volume_id', '=', 'volume_id' in of ? of.volume_id : ''),
      ),
    )
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** An instance as far as volumes are concerned. */
export interface VolumeVm {
  id: string
  cloud_id: string
  bp_id: string | null
  type: 'vm' | 'container'
  status: VmStatus
  engine_name: string
  node: string | null
}
export const getVmOf = (on: Sql, scope: Scope, id: string): Promise<VolumeVm | undefined> =>
  on
    .selectFrom('vms')
    .where(within(scope, 'vms.bp_id'))
    .where('id', '=', id)
    .select(['id', 'cloud_id', 'bp_id', 'type', 'status', 'engine_name', 'node'])
    .executeTakeFirst()

/** Instances of a cloud by their names on the engine. */
export async function vmsByEngineName(on: Sql, cloudId: string, names: readonly string[]): Promise<ReadonlyMap<string, { id: string; bp_id: string | null }>> {
  if (names.length === 0) return new Map()
  const rows = await on.selectFrom('vms').select(['id', 'bp_id', 'engine_name']).where('cloud_id', '=', cloudId).where('engine_name', 'in', names).execute()
  return new Map(rows.map((row) => [row.engine_name, row]))
}

export const countVolumes = (on: Sql, cloudId: string): Promise<number> => counted(on.selectFrom('volumes').where('cloud_id', '=', cloudId))

/** Ends the open operations of a cloud's volumes and removes their records. */
export async function forgetVolumes(tx: Tx, cloudId: string): Promise<void> {
  await endOperations(tx, tx.selectFrom('volumes').select('id').where('cloud_id', '=', cloudId), 'volumeGone')
  await tx.deleteFrom('volumes').where('cloud_id', '=', cloudId).execute()
}

/**
 * Those that no operation works on, for whoever compares them with the engine.
 * @param only by their names on the engine, and those of these instances; null for all
 */
export const restingOfCloud = (on: Sql, cloudId: string, only: { volumes: readonly string[]; instances: readonly string[] } | null) =>
  on
    .selectFrom('volumes')
    .select(['id', 'bp_id', 'engine_name', 'pool', 'status', 'observed', 'vm_id', 'path', 'size_bytes', 'used_bytes', 'node', 'revision'])
    .where('cloud_id', '=', cloudId)
    .where('status', 'not in', volumeTransitional)
    .$if(only !== null, (q) =>
      q.where((of) =>
        of.or([
          of('engine_name', '=', sql<string>`any(${only?.volumes ?? []})`),
          of(
            'vm_id',
            'in',
            of
              .selectFrom('vms')
              .select('id')
              .where('cloud_id', '=', cloudId)
              .where('engine_name', '=', sql<string>`any(${only?.instances ?? []})`),
          ),
        ]),
      ),
    )
    .execute()

/** What the engine has, in our terms. */
export interface VolumeFacts {
  observed: ObservedVolume
  vm_id: string | null
  path: string | null
  size_bytes: number
  used_bytes: number | null
  node: string | null
}

/** Records what was seen on the engine, but of rows that a request or an operation changed since they were read. */
export async function recordObservations(on: Sql, observations: readonly (VolumeFacts & { id: string; revision: number })[]): Promise<void> {
  for (let from = 0; from < observations.length; from += 2_000) {
    const part = JSON.stringify(observations.slice(from, from + 2_000))
    await sql`
      update volumes set
        observed = seen.observed,
        status = seen.observed,
        vm_id = seen.vm_id,
        path = seen.path,
        size_bytes = seen.size_bytes,
        used_bytes = seen.used_bytes,
        node = seen.node,
        -- What is said of a failure holds until its state changes.
        error_text = case when volumes.status = seen.observed and volumes.vm_id is not distinct from seen.vm_id then volumes.error_text end,
        updated_at = now()
      from jsonb_to_recordset(${part}::jsonb) as seen (id uuid, revision integer, observed text, vm_id uuid, path text, size_bytes bigint, used_bytes bigint, node text)
      where volumes.id = seen.id and volumes.revision = seen.revision
    `.execute(on)
  }
}
