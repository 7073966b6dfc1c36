import type { ResponseOf } from '@zhisuan/contract/define'
import type { edgeImages } from '@zhisuan/contract/ecrm/edge'
import { sql, type ColumnType, type Generated, type Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { within } from '../../../platform/db/scope.ts'

export type PulledLayer = ResponseOf<(typeof edgeImages)['pull']>['layers'][number]

interface EdgeImagePullTable {
  id: string
  edge_id: string
  image: string
  status: 'running' | 'succeeded' | 'failed'
  /** Chinese, for people. */
  error: string | null
  layers: ColumnType<PulledLayer[], string, string>
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    edge_image_pulls: EdgeImagePullTable
  }
}
export type PullRow = Selectable<EdgeImagePullTable>

export const imageMigrations: Migrations = {
  '20261123_00_33_edge_image_pulls': migration(`
    create table edge_image_pulls (
      id uuid primary key,
      edge_id uuid not null references edges on delete cascade,
      image text not null,
      status text not null check (status in ('running', 'succeeded', 'failed')),
      error text,
      layers jsonb not null,
      created_at timestamptz not null default now()
    );
    create index edge_image_pulls_edge on edge_image_pulls (edge_id, created_at);
  `),
}

/** Those that ended days ago are of no interest to anybody. */
export const insertPull = async (tx: Tx, pull: { id: string; edge_id: string; image: string }): Promise<void> => {
  await tx
    .deleteFrom('edge_image_pulls')
    .where('edge_id', '=', pull.edge_id)
    .where('status', '<>', 'running')
    .where('created_at', '<', sql<Date>`now() - interval '7 days'`)
    .execute()
  await tx
    .insertInto('edge_image_pulls')
    .values({ ...pull, status: 'running', error: null, layers: '[]' })
    .execute()
}

export const getPull = (on: Sql, scope: Scope, edgeId: string, id: string): Promise<PullRow | undefined> =>
  on
    .selectFrom('edge_image_pulls')
    .innerJoin('edges', 'edges.id', 'edge_image_pulls.edge_id')
    .selectAll('edge_image_pulls')
    .where('edge_image_pulls.id', '=', id)
    .where('edge_image_pulls.edge_id', '=', edgeId)
    .where(within(scope, 'edges.bp_id'))
    .executeTakeFirst()

export const updatePull = async (on: Sql, id: string, changes: { layers?: string; status?: PullRow['status']; error?: string | null }): Promise<void> => {
  await on.updateTable('edge_image_pulls').set(changes).where('id', '=', id).execute()
}
