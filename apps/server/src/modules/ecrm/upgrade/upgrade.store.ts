import type { Edge } from '@zhisuan/contract/ecrm/edge'
import { sql, type Generated, type Selectable } from 'kysely'
import { iso, migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'

type Shown = NonNullable<Edge['upgrade']>

/** The last upgrade of each node. */
interface EdgeUpgradeTable {
  edge_id: string
  /** Specification section 4: see upgradeStatuses of the contract. */
  status: Shown['status']
  from_version: string
  to_version: string
  confirm: 'auto' | 'manual'
  /** When the agent was told to change; null before. */
  ordered_at: Date | null
  /** Chinese, for people. */
  error: string | null
  changed_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    edge_upgrades: EdgeUpgradeTable
  }
}
export type UpgradeRow = Selectable<EdgeUpgradeTable>

export const upgradeMigrations: Migrations = {
  '20261123_00_34_edge_upgrades': migration(`
    create table edge_upgrades (
      edge_id uuid primary key references edges on delete cascade,
      status integer not null check (status in (1, 2, 3, 4, 5, 20, 40)),
      from_version text not null,
      to_version text not null,
      confirm text not null check (confirm in ('auto', 'manual')),
      ordered_at timestamptz,
      error text,
      changed_at timestamptz not null default now()
    );
  `),
}

export const upgradesOf = async (on: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, Shown>> => {
  if (ids.length === 0) return new Map()
  const rows = await on
    .selectFrom('edge_upgrades')
    .selectAll()
    .where('edge_id', 'in', [...ids])
    .execute()
  return new Map(
    rows.map((row) => [row.edge_id, { status: row.status, from: row.from_version, to: row.to_version, error: row.error, changed_at: iso(row.changed_at) }]),
  )
}

export const getUpgrade = (on: Sql, edgeId: string): Promise<UpgradeRow | undefined> =>
  on.selectFrom('edge_upgrades').selectAll().where('edge_id', '=', edgeId).executeTakeFirst()

/** In the place of the one before. */
export const putUpgrade = async (tx: Tx, row: Pick<UpgradeRow, 'edge_id' | 'status' | 'from_version' | 'to_version' | 'confirm'>): Promise<void> => {
  const fresh = { ...row, ordered_at: null, error: null, changed_at: sql<Date>`now()` }
  await tx
    .insertInto('edge_upgrades')
    .values(fresh)
    .onConflict((conflict) => conflict.column('edge_id').doUpdateSet(fresh))
    .execute()
}

export const updateUpgrade = async (on: Sql, edgeId: string, changes: Partial<Pick<UpgradeRow, 'status' | 'error' | 'ordered_at'>>): Promise<void> => {
  await on
    .updateTable('edge_upgrades')
    .set({ ...changes, changed_at: sql`now()` })
    .where('edge_id', '=', edgeId)
    .execute()
}
