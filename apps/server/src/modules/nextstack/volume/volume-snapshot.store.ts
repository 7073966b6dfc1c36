import type { QueryOf } from '@zhisuan/contract/define'
import type { VolumeSnapshotStatus, volumeSnapshots } from '@zhisuan/contract/nextstack/volume'
import { sql, type Selectable, type SelectQueryBuilder } from 'kysely'
import { jsonObjectFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { asked, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { endOperations, openStatuses } from '../../../platform/operations.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import { countsRows } from '../quota/quota.counter.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import type { OnEngineTable } from '../../../platform/resource.shape.ts'

interface VolumeSnapshotTable extends OnEngineTable {
  volume_id: string
  /** Those of its volume. */
  bp_id: string | null
  project_id: string | null
  engine_name: string
  /** Size of the volume when it was made. */
  size_bytes: number
  status: VolumeSnapshotStatus
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    volume_snapshots: VolumeSnapshotTable
  }
}
export type VolumeSnapshotRow = Selectable<VolumeSnapshotTable>
export type ShownVolumeSnapshot = VolumeSnapshotRow & { bp_name: string | null; operation_id: string | null; volume: { id: string; name: string } }

export const snapshotNameIndex = 'volume_snapshots_name'

export const volumeSnapshotMigrations: Migrations = {
  '20261123_00_22_volume_snapshots': migration(`
    create table volume_snapshots (
      id uuid primary key,
      volume_id uuid not null references volumes,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      engine_name text not null,
      size_bytes bigint not null,
      status text not null,
      error_text text,
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index ${snapshotNameIndex} on volume_snapshots (volume_id, name);
    create index volume_snapshots_project on volume_snapshots (project_id) where project_id is not null;
    create index volume_snapshots_newest_all on volume_snapshots (created_at, id);
    create index volume_snapshots_newest on volume_snapshots (cloud_id, created_at, id);
    create index volume_snapshots_newest_bp on volume_snapshots (bp_id, cloud_id, created_at, id);
    create index volume_snapshots_by_name on volume_snapshots (cloud_id, name, id);
    create index volume_snapshots_by_name_bp on volume_snapshots (bp_id, cloud_id, name, id);
    create index volume_snapshots_by_status on volume_snapshots (cloud_id, status, id);
    create index volume_snapshots_by_status_bp on volume_snapshots (bp_id, cloud_id, status, id);
    create index volume_snapshots_search on volume_snapshots using gin (search gin_trgm_ops);
    -- Volumes show how many they have.
    ${tellsChanges('volume_snapshots', 'nextstack.volumeSnapshot', 'nextstack.volume')}
  `),
}

export const volumeSnapshotCounter = countsRows('volume_snapshots', { volume_snapshots: 'count(*)' })

const visible = (on: Sql, scope: Scope) => on.selectFrom('volume_snapshots').where(within(scope, 'volume_snapshots.bp_id'))

const shown = <T>(query: SelectQueryBuilder<Tables, 'volume_snapshots', T>) =>
  query
    .leftJoin('organisations', 'organisations.id', 'volume_snapshots.bp_id')
    .leftJoin('operations', (join) => join.onRef('operations.resource_id', '=', 'volume_snapshots.id').on('operations.status', 'in', openStatuses))
    .selectAll('volume_snapshots')
    .select((of) => [
      'organisations.name as bp_name',
      'operations.id as operation_id',
      jsonObjectFrom(of.selectFrom('volumes').whereRef('volumes.id', '=', 'volume_snapshots.volume_id').select(['volumes.id', 'volumes.name']))
        .$notNull()
        .as('volume'),
    ])

const order = orderOf('volume_snapshots', '-created_at', 'name', 'status', 'created_at')

export async function listSnapshots(
  on: Sql,
  scope: Scope,
  query: QueryOf<typeof volumeSnapshots.list>,
): Promise<{ total: number; rows: ShownVolumeSnapshot[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'volume_snapshots', 'cloud_id', 'volume_id', 'status'))
    .where(matching(query.keyword, 'volume_snapshots.search'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('volume_snapshots').where('volume_snapshots.id', 'in', ids)))
}

export const getSnapshot = (on: Sql, scope: Scope, id: string): Promise<ShownVolumeSnapshot | undefined> =>
  shown(visible(on, scope).where('volume_snapshots.id', '=', id)).executeTakeFirst()

/** Locked after its volume. */
export const { insert: insertSnapshot, update: updateSnapshot, remove: deleteSnapshot, lock: lockSnapshot } = rowsOf('volume_snapshots', 'updated_at')

/** What a volume that is made of it is a copy of, by names on the engine. */
export const getSnapshotSource = (on: Sql, id: string): Promise<{ volume: string; snapshot: string } | undefined> =>
  on
    .selectFrom('volume_snapshots')
    .innerJoin('volumes', 'volumes.id', 'volume_snapshots.volume_id')
    .where('volume_snapshots.id', '=', id)
    .select(['volumes.engine_name as volume', 'volume_snapshots.engine_name as snapshot'])
    .executeTakeFirst()

/** While one of a volume's is made or deleted, nothing is done to the volume. @throws Refusal 90011 */
export async function refuseWhileBusy(tx: Tx, volumeId: string): Promise<void> {
  if (await isBusy(tx, volumeId)) throw new Refusal('operationRunning')
}

/** Whether one of a volume's is being made or deleted. */
export async function isBusy(tx: Tx, volumeId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('volume_snapshots')
    .select('id')
    .where('volume_id', '=', volumeId)
    .where('status', 'in', ['creating', 'deleting'])
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** They went with their volume. */
export const deleteSnapshotsOf = async (tx: Tx, volumeId: string): Promise<void> => {
  await tx.deleteFrom('volume_snapshots').where('volume_id', '=', volumeId).execute()
}

/** Ends the open operations of a cloud's snapshots and removes their records. */
export async function forgetSnapshots(tx: Tx, cloudId: string): Promise<void> {
  await endOperations(tx, tx.selectFrom('volume_snapshots').select('id').where('cloud_id', '=', cloudId), 'volumeGone')
  await tx.deleteFrom('volume_snapshots').where('cloud_id', '=', cloudId).execute()
}

/** Those that no operation works on, of some volumes. */
export const restingOf = async (on: Sql, volumeIds: readonly string[]): Promise<Pick<VolumeSnapshotRow, 'id' | 'volume_id' | 'engine_name' | 'status'>[]> =>
  volumeIds.length === 0
    ? []
    : on
        .selectFrom('volume_snapshots')
        .select(['id', 'volume_id', 'engine_name', 'status'])
        .where('volume_id', 'in', volumeIds)
        .where('status', 'in', ['available', 'lost'])
        .execute()

/** Records what was seen, but of those whose status changed since they were read. */
export const recordSnapshot = async (on: Sql, id: string, from: VolumeSnapshotStatus, to: VolumeSnapshotStatus): Promise<void> => {
  await on
    .updateTable('volume_snapshots')
    .set({ status: to, updated_at: sql`now()` })
    .where('id', '=', id)
    .where('status', '=', from)
    .execute()
}
