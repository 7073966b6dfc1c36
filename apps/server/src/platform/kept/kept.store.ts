import type { Kind } from '@zhisuan/contract/kind'
import { sql, type Generated, type Selectable } from 'kysely'
import { migration, type Db, type Migrations, type Sql } from '../db/database.ts'
import { among } from '../db/page.ts'
import { rowsOf } from '../db/rows.ts'

/**
 * `installing`, `changing`, `uninstalling`: an operation is at it. `starting`: it runs, and it is not known yet whether it is well.
 * `crashed`: it ended by itself, could not be started, or is not on its node any more; where it is started again that is
 * said. `unreachable`: its node is not there, so nobody knows. `failed`: the operation that was to bring it, or to take it
 * away, has failed, and nothing more is tried.
 */
export const keptStatuses = [
  'installing',
  'changing',
  'starting',
  'running',
  'unhealthy',
  'stopped',
  'crashed',
  'unreachable',
  'uninstalling',
  'failed',
] as const
export type KeptStatus = (typeof keptStatuses)[number]
/** What an operation has begun it ends: whoever looks leaves these alone. */
export const settledStatuses = ['starting', 'running', 'unhealthy', 'stopped', 'crashed', 'unreachable'] as const satisfies readonly KeptStatus[]

interface KeptProgramTable {
  id: string
  node_id: string
  owner_kind: Kind
  owner_id: string
  name: string
  /** Sealed JSON text of what is wanted, and of what it is to become; digests are of the texts. */
  wanted: string
  digest: string
  wanted_version: string | null
  /** SHA-256 of the bundle that it is made of; null of one that is not. */
  bundle: string | null
  next: string | null
  next_digest: string | null
  next_version: string | null
  next_bundle: string | null
  to_run: Generated<boolean>
  /** Its owner has forgotten it: it is taken away as soon as its node is there. */
  abandoned: Generated<boolean>
  status: KeptStatus
  /** Sealed, as is the next: both may repeat what a program said. */
  reason: string | null
  observed: string | null
  observed_at: Date | null
  /** When it was brought to what is wanted the last time by whoever looked. */
  brought_at: Date | null
  revision: Generated<number>
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
declare module '../db/database.ts' {
  interface Tables {
    kept_programs: KeptProgramTable
  }
}
export type KeptRow = Selectable<KeptProgramTable>

export const keptMigrations: Migrations = {
  '20261128_40_kept_programs': migration(`
    create table kept_programs (
      id uuid primary key,
      node_id uuid not null,
      owner_kind text not null,
      owner_id uuid not null,
      name text not null,
      wanted text not null,
      digest text not null,
      wanted_version text,
      bundle text,
      next text,
      next_digest text,
      next_version text,
      next_bundle text,
      to_run boolean not null default true,
      abandoned boolean not null default false,
      status text not null check (status in (${keptStatuses.map((status) => `'${status}'`).join(', ')})),
      reason text,
      observed text,
      observed_at timestamptz,
      brought_at timestamptz,
      revision integer not null default 0,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint kept_programs_next check ((next is null) = (next_digest is null))
    );
    create index kept_programs_node on kept_programs (node_id);
    create index kept_programs_owner on kept_programs (owner_kind, owner_id);
  `),
}

export const { insert: insertKept, update: updateKept, remove: removeKept, lockAny: lockKept } = rowsOf('kept_programs', 'revision', 'updated_at')

export const getKept = (on: Sql, id: string): Promise<KeptRow | undefined> => on.selectFrom('kept_programs').selectAll().where('id', '=', id).executeTakeFirst()

export const keptOfOwner = (on: Sql, kind: Kind, id: string): Promise<KeptRow[]> =>
  on
    .selectFrom('kept_programs')
    .selectAll()
    .where('owner_kind', '=', kind)
    .where('owner_id', '=', id)
    .where('abandoned', '=', false)
    .orderBy('created_at')
    .execute()

export const keptOfNode = (on: Sql, nodeId: string): Promise<KeptRow[]> =>
  on.selectFrom('kept_programs').selectAll().where('node_id', '=', nodeId).orderBy('created_at').execute()

/** Nodes on which something is kept. */
export async function nodesWithKept(on: Sql): Promise<string[]> {
  const rows = await on.selectFrom('kept_programs').select('node_id').distinct().execute()
  return rows.map(({ node_id }) => node_id)
}

export async function countKept(on: Sql, nodeIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await on
    .selectFrom('kept_programs')
    .select(['node_id', ({ fn }) => fn.countAll<number>().as('count')])
    .where(among('node_id', nodeIds))
    .where('abandoned', '=', false)
    .groupBy('node_id')
    .execute()
  return new Map(rows.map(({ node_id, count }) => [node_id, Number(count)]))
}

/** How many are made of each of these bundles, or are to be. */
export async function bundleUses(on: Sql, sha256s: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (sha256s.length === 0) return new Map()
  const rows = await on
    .selectFrom('kept_programs')
    .select(['bundle', 'next_bundle'])
    .where(({ or, eb }) => or([eb('bundle', 'in', sha256s), eb('next_bundle', 'in', sha256s)]))
    .execute()
  const uses = new Map<string, number>()
  for (const { bundle, next_bundle } of rows)
    for (const sha256 of new Set([bundle, next_bundle])) if (sha256 !== null && sha256s.includes(sha256)) uses.set(sha256, (uses.get(sha256) ?? 0) + 1)
  return uses
}

/** What was seen. Nothing of a row that was changed since it was read, nor of one that an operation is at. */
export async function recordKept(
  on: Sql,
  { id, revision }: Pick<KeptRow, 'id' | 'revision'>,
  seen: Pick<KeptRow, 'status' | 'reason' | 'observed'>,
): Promise<boolean> {
  const { numUpdatedRows } = await on
    .updateTable('kept_programs')
    .set({ ...seen, observed_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', id)
    .where('revision', '=', revision)
    .where('status', 'in', settledStatuses)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** What was seen of one that an operation is at: its status is the operation's to say. */
export async function noteKept(on: Sql, id: string, observed: string | null): Promise<void> {
  await on
    .updateTable('kept_programs')
    .set({ observed, observed_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute()
}

/** Those of which nobody has heard for so long. @returns what they were before */
export const loseKept = (on: Db, silentMs: number): Promise<KeptRow[]> =>
  on.transaction().execute(async (tx) => {
    const rows = await tx
      .selectFrom('kept_programs')
      .selectAll()
      .where(
        'status',
        'in',
        settledStatuses.filter((status) => status !== 'unreachable'),
      )
      .where(({ fn, eb }) => eb(fn.coalesce('observed_at', 'created_at'), '<', sql<Date>`now() - make_interval(secs => ${silentMs / 1_000})`))
      .forUpdate()
      .skipLocked()
      .execute()
    if (rows.length > 0)
      await tx
        .updateTable('kept_programs')
        .set({ status: 'unreachable', reason: null, updated_at: sql`now()` })
        .where(
          among(
            'id',
            rows.map(({ id }) => id),
          ),
        )
        .execute()
    return rows
  })

/** One of those who want to bring it to what is wanted does; the others have been before for a while. */
export async function claimBringing(on: Sql, { id, revision }: Pick<KeptRow, 'id' | 'revision'>, againMs: number): Promise<boolean> {
  const { numUpdatedRows } = await on
    .updateTable('kept_programs')
    .set({ brought_at: sql`now()` })
    .where('id', '=', id)
    .where('revision', '=', revision)
    .where(({ or, eb }) => or([eb('brought_at', 'is', null), eb('brought_at', '<', sql<Date>`now() - make_interval(secs => ${againMs / 1_000})`)]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
