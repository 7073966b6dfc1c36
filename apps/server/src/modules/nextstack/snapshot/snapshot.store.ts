import type { QueryOf } from '@zhisuan/contract/define'
import type { SnapshotStatus, snapshots } from '@zhisuan/contract/nextstack/snapshot'
import { sql, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import { jsonObjectFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, counted, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { openStatuses } from '../../../platform/operations.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import type { QuotaCounter } from '../quota/quota.service.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import type { OnEngineTable } from '../../../platform/resource.shape.ts'

interface SnapshotTable extends OnEngineTable {
  vm_id: string
  status: SnapshotStatus
  /** Name on the engine. */
  engine_name: string
  size_bytes: number | null
  /** The schedule that made it, which may be gone since. */
  schedule_id: string | null
  /** Made by somebody on the engine itself: goes as it came. */
  foreign_made: Generated<boolean>
  /** Counts changes, so that an older observation cannot overwrite a newer state. */
  revision: Generated<number>
  /** A person's, or a schedule's; empty where nobody of ours made it. */
  created_by_name: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    vm_snapshots: SnapshotTable
  }
}
export type SnapshotRow = Selectable<SnapshotTable>
export type ShownSnapshot = SnapshotRow & { bp_name: string | null; operation_id: string | null; vm: { id: string; name: string } }

export const snapshotMigrations: Migrations = {
  // Snapshots go with their instance, on the engine too.
  '20261123_00_21_vm_snapshots': migration(`
    create table vm_snapshots (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      vm_id uuid not null references vms on delete cascade,
      name text not null,
      description text not null,
      status text not null check (status in ('creating', 'available', 'restoring', 'deleting', 'error', 'lost')),
      error_text text,
      engine_name text not null,
      size_bytes bigint,
      schedule_id uuid,
      foreign_made boolean not null default false,
      revision integer not null default 0,
      -- What the keyword filter looks through: name, id.
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index vm_snapshots_name on vm_snapshots (vm_id, name);
    create unique index vm_snapshots_engine_name on vm_snapshots (vm_id, engine_name);
    create index vm_snapshots_of_vm on vm_snapshots (vm_id, created_at, id);
    create index vm_snapshots_schedule on vm_snapshots (schedule_id, created_at, id) where schedule_id is not null;
    create index vm_snapshots_newest on vm_snapshots (created_at, id);
    create index vm_snapshots_newest_bp on vm_snapshots (bp_id, created_at, id);
    create index vm_snapshots_cloud on vm_snapshots (cloud_id, created_at, id);
    create index vm_snapshots_cloud_bp on vm_snapshots (bp_id, cloud_id, created_at, id);
    create index vm_snapshots_cloud_name on vm_snapshots (cloud_id, name, id);
    create index vm_snapshots_cloud_name_bp on vm_snapshots (bp_id, cloud_id, name, id);
    create index vm_snapshots_cloud_size on vm_snapshots (cloud_id, size_bytes, id);
    create index vm_snapshots_cloud_size_bp on vm_snapshots (bp_id, cloud_id, size_bytes, id);
    create index vm_snapshots_cloud_status on vm_snapshots (cloud_id, status, id);
    create index vm_snapshots_cloud_status_bp on vm_snapshots (bp_id, cloud_id, status, id);
    create index vm_snapshots_status on vm_snapshots (cloud_id, status, created_at, id);
    create index vm_snapshots_search on vm_snapshots using gin (search gin_trgm_ops);
    ${tellsChanges('vm_snapshots', 'nextstack.snapshot')}
  `),
}

export const snapshotCounter: QuotaCounter = {
  resources: ['vm_snapshots'],
  async count(on, { bp_id, project_id }) {
    const { vm_snapshots } = await on
      .selectFrom('vm_snapshots')
      .select(sql<number>`count(*)`.as('vm_snapshots'))
      .$if(bp_id !== null, (q) => q.where('vm_snapshots.bp_id', '=', bp_id))
      .$if(project_id !== null, (q) => q.innerJoin('vms', 'vms.id', 'vm_snapshots.vm_id').where('vms.project_id', '=', project_id))
      .executeTakeFirstOrThrow()
    return { vm_snapshots }
  },
}

const visible = (on: Sql, scope: Scope) => on.selectFrom('vm_snapshots').where(within(scope, 'vm_snapshots.bp_id'))

/** Making and setting back hold the instance, deleting the snapshot alone. */
const workedOn = sql<string>`case vm_snapshots.status when 'creating' then vm_snapshots.vm_id when 'restoring' then vm_snapshots.vm_id when 'deleting' then vm_snapshots.id end`

const shown = <T>(query: SelectQueryBuilder<Tables, 'vm_snapshots', T>) =>
  query
    .leftJoin('organisations', 'organisations.id', 'vm_snapshots.bp_id')
    .leftJoin('operations', (join) => join.on('operations.resource_id', '=', workedOn).on('operations.status', 'in', openStatuses))
    .selectAll('vm_snapshots')
    .select((of) => [
      'organisations.name as bp_name',
      'operations.id as operation_id',
      jsonObjectFrom(of.selectFrom('vms').whereRef('vms.id', '=', 'vm_snapshots.vm_id').select(['vms.id', 'vms.name']))
        .$notNull()
        .as('vm'),
    ])

const order = orderOf('vm_snapshots', '-created_at', 'name', 'status', 'created_at', 'size_bytes')

export async function listSnapshots(on: Sql, scope: Scope, query: QueryOf<typeof snapshots.list>): Promise<{ total: number; rows: ShownSnapshot[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'vm_snapshots', 'cloud_id', 'vm_id', 'status'))
    .where(matching(query.keyword, 'vm_snapshots.search'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('vm_snapshots').where('vm_snapshots.id', 'in', ids)))
}

export const getSnapshot = (on: Sql, scope: Scope, id: string): Promise<ShownSnapshot | undefined> =>
  shown(visible(on, scope).where('vm_snapshots.id', '=', id)).executeTakeFirst()

/** Locked after its instance, where both are. */
export const { insert: insertSnapshot, update: updateSnapshot, remove: deleteSnapshot, lock: lockSnapshot } = rowsOf('vm_snapshots', 'revision', 'updated_at')

/** The one of an instance that its operation makes, or sets it back to. At most one operation holds an instance. */
export const snapshotInWork = (on: Sql, vmId: string): Promise<SnapshotRow | undefined> =>
  on.selectFrom('vm_snapshots').selectAll().where('vm_id', '=', vmId).where('status', 'in', ['creating', 'restoring']).executeTakeFirst()

export const isNameTaken = async (on: Sql, vmId: string, name: string): Promise<boolean> =>
  (await on.selectFrom('vm_snapshots').select('id').where('vm_id', '=', vmId).where('name', '=', name).executeTakeFirst()) !== undefined

/** Whether one of an instance is being deleted. */
export const isDeleting = async (on: Sql, vmId: string): Promise<boolean> =>
  (await on.selectFrom('vm_snapshots').select('id').where('vm_id', '=', vmId).where('status', '=', 'deleting').executeTakeFirst()) !== undefined

/** Whether a clone is being made of a snapshot, or of any of an instance: until it is made, that has to stay. */
export const isCopied = async (on: Sql, of: { id: string } | { vm_id: string }): Promise<boolean> => {
  const clone = await on
    .selectFrom('vm_snapshots')
    .innerJoin('vms', 'vms.source_snapshot_id', 'vm_snapshots.id')
    .select('vms.id')
    .where('id' in of ? 'vm_snapshots.id' : 'vm_snapshots.vm_id', '=', 'id' in of ? of.id : of.vm_id)
    .where('vms.status', '=', 'creating')
    .executeTakeFirst()
  return clone !== undefined
}

/** How many of an instance the engine has, as far as is known. */
export const countOnEngine = (on: Sql, vmId: string): Promise<number> =>
  counted(on.selectFrom('vm_snapshots').where('vm_id', '=', vmId).where('status', 'not in', ['error', 'lost']))

/** Those that a schedule made, beyond the newest that it keeps; held. */
export const beyondKept = (tx: Tx, scheduleId: string, keep: number): Promise<SnapshotRow[]> =>
  tx
    .selectFrom('vm_snapshots')
    .selectAll()
    .where('schedule_id', '=', scheduleId)
    .where('status', '=', 'available')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(keep)
    .forUpdate()
    .execute()

/** An instance whose snapshots are to be compared with the engine's. */
export interface Watched {
  id: string
  cloud_id: string
  bp_id: string | null
  engine_name: string
}

/**
 * Those with these names; else those with snapshots, and where there are few of them all of a
 * cloud: who looks has to ask the engine about each. Those that come or go are left out.
 */
export async function watched(on: Sql, cloudId: string, engineNames: readonly string[] | null, few: number): Promise<Watched[]> {
  const there = on
    .selectFrom('vms')
    .select(['vms.id', 'vms.cloud_id', 'vms.bp_id', 'vms.engine_name'])
    .where('vms.cloud_id', '=', cloudId)
    .where('vms.status', 'not in', ['creating', 'deleting'])
  if (engineNames !== null) return there.where('engine_name', 'in', engineNames).execute()
  const all = await there.limit(few + 1).execute()
  if (all.length <= few) return all
  return there.where((of) => of.exists(of.selectFrom('vm_snapshots').whereRef('vm_snapshots.vm_id', '=', 'vms.id'))).execute()
}

export type KnownSnapshot = Pick<SnapshotRow, 'id' | 'vm_id' | 'name' | 'engine_name' | 'status' | 'size_bytes' | 'foreign_made' | 'revision'>

export const snapshotsOf = (on: Sql, vmIds: readonly string[]): Promise<KnownSnapshot[]> =>
  vmIds.length === 0
    ? Promise.resolve([])
    : on
        .selectFrom('vm_snapshots')
        .select(['id', 'vm_id', 'name', 'engine_name', 'status', 'size_bytes', 'foreign_made', 'revision'])
        .where('vm_id', 'in', vmIds)
        .execute()

/** Records what was seen of one, unless it was changed since it was read. */
export const recordSeen = async (on: Sql, row: Pick<KnownSnapshot, 'id' | 'revision'>, seen: Pick<SnapshotRow, 'status' | 'size_bytes'>): Promise<void> => {
  await on
    .updateTable('vm_snapshots')
    .set({ ...seen, updated_at: sql`now()` })
    .where('id', '=', row.id)
    .where('revision', '=', row.revision)
    .execute()
}

/** What came on the engine and went there. */
export const forgetSeen = async (on: Sql, row: Pick<KnownSnapshot, 'id' | 'revision'>): Promise<void> => {
  await on.deleteFrom('vm_snapshots').where('id', '=', row.id).where('revision', '=', row.revision).execute()
}

/** One that somebody made on the engine. Nothing where its instance is gone, or somebody else has recorded it. */
export const adopt = async (
  on: Sql,
  vm: Watched,
  made: { id: string; name: string; engine_name: string; size_bytes: number | null; created_at: Date | null },
): Promise<void> => {
  await on
    .insertInto('vm_snapshots')
    .columns([
      'id',
      'cloud_id',
      'bp_id',
      'vm_id',
      'name',
      'description',
      'status',
      'engine_name',
      'size_bytes',
      'foreign_made',
      'created_by_name',
      'created_at',
    ])
    .expression((of) =>
      of
        .selectFrom('vms')
        .where('vms.id', '=', vm.id)
        .select([
          sql<string>`${made.id}::uuid`.as('id'),
          'vms.cloud_id',
          'vms.bp_id',
          'vms.id as vm_id',
          sql<string>`${made.name}::text`.as('name'),
          sql<string>`''`.as('description'),
          sql<SnapshotStatus>`'available'`.as('status'),
          sql<string>`${made.engine_name}::text`.as('engine_name'),
          sql<number | null>`${made.size_bytes}::bigint`.as('size_bytes'),
          sql<boolean>`true`.as('foreign_made'),
          sql<string>`''`.as('created_by_name'),
          sql<Date>`coalesce(${made.created_at}::timestamptz, now())`.as('created_at'),
        ]),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
