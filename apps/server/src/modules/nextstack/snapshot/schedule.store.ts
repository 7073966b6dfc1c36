import type { QueryOf } from '@zhisuan/contract/define'
import type { SnapshotSchedule, snapshotSchedules } from '@zhisuan/contract/nextstack/snapshot'
import type { Selectable, SelectQueryBuilder } from 'kysely'
import { jsonObjectFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import type { OwnedTable } from '../../../platform/resource.shape.ts'

interface ScheduleTable extends OwnedTable {
  cloud_id: string
  vm_id: string
  rhythm: SnapshotSchedule['rhythm']
  at: string
  weekday: number | null
  time_zone: string
  keep: number
  enabled: boolean
  /** Who made or changed it last: it runs by their rights. Null where nobody is known. */
  wished_by: string | null
  last_run_at: Date | null
  last_error: string | null
  /** Null while it is not enabled. */
  next_run_at: Date | null
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    vm_snapshot_schedules: ScheduleTable
  }
}
export type ScheduleRow = Selectable<ScheduleTable>
export type ShownSchedule = ScheduleRow & { bp_name: string | null; vm: { id: string; name: string } }

export const scheduleMigrations: Migrations = {
  '20261123_00_23_vm_snapshot_schedules': migration(`
    create table vm_snapshot_schedules (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      vm_id uuid not null references vms on delete cascade,
      name text not null,
      description text not null,
      rhythm text not null check (rhythm in ('hourly', 'daily', 'weekly')),
      at text not null,
      weekday integer check (weekday between 1 and 7),
      time_zone text not null,
      keep integer not null check (keep > 0),
      enabled boolean not null,
      last_run_at timestamptz,
      last_error text,
      next_run_at timestamptz check ((next_run_at is not null) = enabled),
      -- What the keyword filter looks through: name, id.
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index vm_snapshot_schedules_due on vm_snapshot_schedules (next_run_at) where enabled;
    create index vm_snapshot_schedules_vm on vm_snapshot_schedules (vm_id, created_at, id);
    create index vm_snapshot_schedules_cloud on vm_snapshot_schedules (cloud_id, created_at, id);
    create index vm_snapshot_schedules_cloud_bp on vm_snapshot_schedules (bp_id, cloud_id, created_at, id);
    create index vm_snapshot_schedules_name on vm_snapshot_schedules (cloud_id, name, id);
    create index vm_snapshot_schedules_name_bp on vm_snapshot_schedules (bp_id, cloud_id, name, id);
    create index vm_snapshot_schedules_next on vm_snapshot_schedules (cloud_id, next_run_at, id);
    create index vm_snapshot_schedules_next_bp on vm_snapshot_schedules (bp_id, cloud_id, next_run_at, id);
    create index vm_snapshot_schedules_search on vm_snapshot_schedules using gin (search gin_trgm_ops);
    ${tellsChanges('vm_snapshot_schedules', 'nextstack.snapshot')}
  `),
  '20261128_86_schedules_run_by_rights': migration(`
    alter table vm_snapshot_schedules add column wished_by uuid;
    update vm_snapshot_schedules set wished_by = created_by;
  `),
}

const visible = (on: Sql, scope: Scope) => on.selectFrom('vm_snapshot_schedules').where(within(scope, 'vm_snapshot_schedules.bp_id'))

const shown = <T>(query: SelectQueryBuilder<Tables, 'vm_snapshot_schedules', T>) =>
  query
    .leftJoin('organisations', 'organisations.id', 'vm_snapshot_schedules.bp_id')
    .selectAll('vm_snapshot_schedules')
    .select((of) => [
      'organisations.name as bp_name',
      jsonObjectFrom(of.selectFrom('vms').whereRef('vms.id', '=', 'vm_snapshot_schedules.vm_id').select(['vms.id', 'vms.name']))
        .$notNull()
        .as('vm'),
    ])

const order = orderOf('vm_snapshot_schedules', '-created_at', 'name', 'created_at', 'next_run_at')

export async function listSchedules(on: Sql, scope: Scope, query: QueryOf<typeof snapshotSchedules.list>): Promise<{ total: number; rows: ShownSchedule[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'vm_snapshot_schedules', 'cloud_id', 'vm_id'))
    .where(matching(query.keyword, 'vm_snapshot_schedules.search'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('vm_snapshot_schedules').where('vm_snapshot_schedules.id', 'in', ids)))
}

export const getSchedule = (on: Sql, scope: Scope, id: string): Promise<ShownSchedule | undefined> =>
  shown(visible(on, scope).where('vm_snapshot_schedules.id', '=', id)).executeTakeFirst()

/** Locked after its instance, where both are. */
export const { insert: insertSchedule, update: updateSchedule, lock: lockSchedule } = rowsOf('vm_snapshot_schedules', 'updated_at')

/** False where the scope shows none. */
export const deleteSchedule = async (on: Sql, scope: Scope, id: string): Promise<boolean> =>
  (await on.deleteFrom('vm_snapshot_schedules').where('id', '=', id).where(within(scope, 'vm_snapshot_schedules.bp_id')).executeTakeFirst()).numDeletedRows > 0n

/** Whose time has come, the most overdue first. */
export const dueSchedules = (on: Sql, now: Date, limit: number): Promise<Pick<ScheduleRow, 'id' | 'vm_id' | 'cloud_id' | 'wished_by'>[]> =>
  on
    .selectFrom('vm_snapshot_schedules')
    .select(['id', 'vm_id', 'cloud_id', 'wished_by'])
    .where('enabled', '=', true)
    .where('next_run_at', '<=', now)
    .orderBy('next_run_at')
    .limit(limit)
    .execute()
