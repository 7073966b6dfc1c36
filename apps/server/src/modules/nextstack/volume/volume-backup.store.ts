import type { QueryOf } from '@zhisuan/contract/define'
import type { VolumeBackup, VolumeBackupStatus, volumeBackups } from '@zhisuan/contract/nextstack/volume'
import { sql, type Selectable, type SelectQueryBuilder } from 'kysely'
import { jsonObjectFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { openStatuses } from '../../../platform/operations.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import { countsRows } from '../quota/quota.counter.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import type { OnEngineTable } from '../../../platform/resource.shape.ts'

interface VolumeBackupTable extends OnEngineTable {
  /** Null once the volume is gone. */
  volume_id: string | null
  /** Those of its volume. */
  bp_id: string | null
  project_id: string | null
  content: VolumeBackup['content']
  /** Size of the volume when it was made. */
  size_bytes: number
  /** Of the file; null until it is there. */
  file_bytes: number | null
  sha256: string | null
  status: VolumeBackupStatus
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    volume_backups: VolumeBackupTable
  }
}
export type VolumeBackupRow = Selectable<VolumeBackupTable>
export type ShownVolumeBackup = VolumeBackupRow & { bp_name: string | null; operation_id: string | null; volume: { id: string; name: string } | null }

export const volumeBackupMigrations: Migrations = {
  '20261123_00_24_volume_backups': migration(`
    create table volume_backups (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      volume_id uuid references volumes on delete set null,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      content text not null check (content in ('filesystem', 'block')),
      size_bytes bigint not null,
      file_bytes bigint,
      sha256 text,
      status text not null,
      error_text text,
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index volume_backups_volume on volume_backups (volume_id);
    create index volume_backups_project on volume_backups (project_id) where project_id is not null;
    create index volume_backups_of_organisation on volume_backups (bp_id) include (file_bytes, size_bytes);
    create index volume_backups_newest_all on volume_backups (created_at, id);
    create index volume_backups_newest on volume_backups (cloud_id, created_at, id);
    create index volume_backups_newest_bp on volume_backups (bp_id, cloud_id, created_at, id);
    create index volume_backups_by_name on volume_backups (cloud_id, name, id);
    create index volume_backups_by_name_bp on volume_backups (bp_id, cloud_id, name, id);
    create index volume_backups_by_status on volume_backups (cloud_id, status, id);
    create index volume_backups_by_status_bp on volume_backups (bp_id, cloud_id, status, id);
    create index volume_backups_by_file on volume_backups (cloud_id, file_bytes, id);
    create index volume_backups_by_file_bp on volume_backups (bp_id, cloud_id, file_bytes, id);
    create index volume_backups_search on volume_backups using gin (search gin_trgm_ops);
    ${tellsChanges('volume_backups', 'nextstack.volumeBackup')}
  `),
}

/** Files count as they are; what is being written, as much as it may become. */
export const volumeBackupCounter = countsRows('volume_backups', { backup_bytes: 'coalesce(sum(coalesce(file_bytes, size_bytes)), 0)::bigint' })

const visible = (on: Sql, scope: Scope) => on.selectFrom('volume_backups').where(within(scope, 'volume_backups.bp_id'))

const shown = <T>(query: SelectQueryBuilder<Tables, 'volume_backups', T>) =>
  query
    .leftJoin('organisations', 'organisations.id', 'volume_backups.bp_id')
    // What writes one is its volume's operation.
    .leftJoin('operations', (join) =>
      join
        .on((on) =>
          on.eb(
            'operations.resource_id',
            '=',
            sql<string>`case volume_backups.status when 'creating' then volume_backups.volume_id else volume_backups.id end`,
          ),
        )
        .on('operations.status', 'in', openStatuses),
    )
    .selectAll('volume_backups')
    .select((of) => [
      'organisations.name as bp_name',
      'operations.id as operation_id',
      jsonObjectFrom(of.selectFrom('volumes').whereRef('volumes.id', '=', 'volume_backups.volume_id').select(['volumes.id', 'volumes.name'])).as('volume'),
    ])

const order = orderOf('volume_backups', '-created_at', 'name', 'status', 'created_at', 'file_bytes')

export async function listBackups(on: Sql, scope: Scope, query: QueryOf<typeof volumeBackups.list>): Promise<{ total: number; rows: ShownVolumeBackup[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'volume_backups', 'cloud_id', 'volume_id'))
    .where(matching(query.keyword, 'volume_backups.search'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('volume_backups').where('volume_backups.id', 'in', ids)))
}

export const getBackup = (on: Sql, scope: Scope, id: string): Promise<ShownVolumeBackup | undefined> =>
  shown(visible(on, scope).where('volume_backups.id', '=', id)).executeTakeFirst()

/** Of whomever it is: for who works on it. */
export const getBackupRow = (on: Sql, id: string): Promise<VolumeBackupRow | undefined> =>
  on.selectFrom('volume_backups').selectAll().where('id', '=', id).executeTakeFirst()

export const { insert: insertBackup, update: updateBackup, remove: deleteBackup, lock: lockBackup } = rowsOf('volume_backups', 'updated_at')

/** Those that were being written of a volume, or of all of a cloud, never will be; the others stay. */
export const failBackupsOf = async (tx: Tx, of: { volume_id: string } | { cloud_id: string }, text: string): Promise<void> => {
  const [[column, value] = ['id', '']] = Object.entries(of)
  await tx
    .updateTable('volume_backups')
    .set({ status: 'error', error_text: text, updated_at: sql`now()` })
    .where(sql.ref(column), '=', value)
    .where('status', '=', 'creating')
    .execute()
}
