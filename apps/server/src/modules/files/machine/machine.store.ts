import type { machineCopyDirections, machineCopyStatuses, MachineKind } from '@zhisuan/contract/files/machine'
import type { ConflictWay } from '@zhisuan/contract/files/file'
import { sql, type Generated, type RawBuilder, type Selectable, type Updateable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { insertsInto } from '../../../platform/db/rows.ts'
import type { Holder } from '../files.store.ts'

interface MachineCopyTable {
  id: string
  direction: (typeof machineCopyDirections)[number]
  machine_kind: MachineKind
  machine_id: string
  machine_name: string
  /** Whose doing it is, and as whose it is found. */
  user_id: string
  user_name: string
  bp_id: string | null
  /** Of the space that it is brought to: what comes counts for it. */
  project_id: string | null
  /** The directory that it goes to, or what it brings. */
  path: string
  /** What goes to the machine. */
  entry_id: string | null
  /** Where it is brought to. */
  space_id: string | null
  parent_id: string | null
  conflict: ConflictWay
  /** What had the name in the space when it was asked for, where it is to be replaced: that they may was asked of this one. */
  replaces: string | null
  /** What it is called where it goes to: settled once, so that whoever goes on calls it the same. */
  name: string | null
  status: Generated<(typeof machineCopyStatuses)[number]>
  total_bytes: number | null
  done_bytes: Generated<number>
  skipped_count: Generated<number>
  error: string | null
  /** Its record among the transfers. */
  transfer_id: string
  /** Until then some server is at it. */
  claimed_until: Date | null
  /** Counts those who took it up: what one of them writes who was overtaken does not count any more. */
  claim: Generated<number>
  created_at: Generated<Date>
  ended_at: Date | null
}
/** What has come of a machine, and shows nowhere until all of it has. */
interface MachineCopyPartTable {
  copy_id: string
  /** Below what is brought; of that itself empty. */
  path: string
  /** Of a folder null. */
  sha256: string | null
  size_bytes: number
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    file_machine_copies: MachineCopyTable
    file_machine_copy_parts: MachineCopyPartTable
  }
}

export const machineMigrations: Migrations = {
  '20261129_31_file_machine_copies': migration(`
    create table file_machine_copies (
      id uuid primary key,
      direction text not null check (direction in ('to_machine', 'from_machine')),
      machine_kind text not null,
      machine_id uuid not null,
      machine_name text not null,
      user_id uuid not null,
      user_name text not null,
      bp_id uuid,
      path text not null,
      entry_id uuid,
      space_id uuid,
      parent_id uuid,
      conflict text not null,
      name text,
      status text not null default 'waiting' check (status in ('waiting', 'running', 'done', 'failed', 'cancelled')),
      total_bytes bigint,
      done_bytes bigint not null default 0,
      skipped_count integer not null default 0,
      error text,
      transfer_id uuid not null,
      claimed_until timestamptz,
      created_at timestamptz not null default now(),
      ended_at timestamptz
    );
    create index file_machine_copies_machine on file_machine_copies (machine_id, user_id, created_at desc);
    create index file_machine_copies_open on file_machine_copies (created_at) where status in ('waiting', 'running');
    create table file_machine_copy_parts (
      copy_id uuid not null references file_machine_copies,
      path text not null,
      sha256 text references byte_contents,
      size_bytes bigint not null,
      primary key (copy_id, path)
    );
    create index file_machine_copy_parts_content on file_machine_copy_parts (sha256) where sha256 is not null;
  `),
  '20261130_12_file_machine_copy_claims': migration(`
    alter table file_machine_copies add column claim bigint not null default 0;
    create index file_machine_copies_open_of on file_machine_copies (bp_id) where status in ('waiting', 'running');
  `),
  '20261201_12_file_machine_copy_projects': migration(`
    alter table file_machine_copies add column project_id uuid;
  `),
  '20261202_31_file_machine_copy_replaces': migration(`
    alter table file_machine_copies add column replaces uuid;
  `),
}

export type CopyRow = Selectable<MachineCopyTable>
export type PartRow = Selectable<MachineCopyPartTable>

const open = ['waiting', 'running'] as const
const goesOn = sql<boolean>`file_machine_copies.status in ('waiting', 'running')`
const unclaimed = (at: Date) => sql<boolean>`(claimed_until is null or claimed_until < ${at})`

export const insertCopy = insertsInto('file_machine_copies')
export const getCopy = (on: Sql, id: string): Promise<CopyRow | undefined> =>
  on.selectFrom('file_machine_copies').selectAll().where('id', '=', id).executeTakeFirst()
export const copyOf = (on: Sql, { user_id }: Pick<Holder, 'user_id'>, id: string): Promise<CopyRow | undefined> =>
  on.selectFrom('file_machine_copies').selectAll().where('id', '=', id).where('user_id', '=', user_id).executeTakeFirst()
/** One's own, the newest first: those that go on, and those that ended since. */
export const copiesOf = (on: Sql, { user_id }: Pick<Holder, 'user_id'>, machineId: string, endedSince: Date): Promise<CopyRow[]> =>
  on
    .selectFrom('file_machine_copies')
    .selectAll()
    .where('machine_id', '=', machineId)
    .where('user_id', '=', user_id)
    .where((where) => where.or([where('ended_at', 'is', null), where('ended_at', '>', endedSince)]))
    .orderBy('created_at', 'desc')
    .limit(50)
    .execute()
/** So many of one organisation are worked at at once. */
const workedAt = (bpId: RawBuilder<string | null>, at: Date) =>
  sql<number>`(select count(*) from file_machine_copies as other where other.bp_id is not distinct from ${bpId} and other.status = 'running' and other.claimed_until >= ${at})`
/** Those that nobody has been at since then, of organisations of which fewer are worked at than may be. */
export const leftCopies = (on: Sql, since: Date, atOnce: number): Promise<{ id: string }[]> =>
  on
    .selectFrom('file_machine_copies')
    .select('id')
    .where(goesOn)
    .where(sql<boolean>`coalesce(claimed_until, created_at) < ${since}`)
    .where(sql<boolean>`${workedAt(sql.ref('file_machine_copies.bp_id'), since)} < ${atOnce}`)
    .orderBy('created_at')
    .limit(50)
    .execute()
/** The one of an organisation that waits the longest. */
export const nextCopy = (on: Sql, bpId: string | null): Promise<{ id: string } | undefined> =>
  on
    .selectFrom('file_machine_copies')
    .select('id')
    .where(sql<boolean>`bp_id is not distinct from ${bpId}`)
    .where('status', '=', 'waiting')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
/** Whoever takes up or asks for one of this organisation waits until the transaction ends. */
export const lockCopiesOf = async (tx: Tx, bpId: string | null): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended('file_machine_copies ' || ${bpId ?? ''}::text, 13))`.execute(tx)
}
export const countOpenCopies = async (on: Sql, bpId: string | null): Promise<number> =>
  (
    await on
      .selectFrom('file_machine_copies')
      .select(sql<number>`count(*)`.as('count'))
      .where(sql<boolean>`bp_id is not distinct from ${bpId}`)
      .where(goesOn)
      .executeTakeFirstOrThrow()
  ).count
/** Takes it up; undefined where somebody is at it, or it has ended, or as many of its organisation are worked at as may be. */
export const claimCopy = async (tx: Tx, id: string, at: Date, until: Date, atOnce: number): Promise<CopyRow | undefined> => {
  const row = await getCopy(tx, id)
  if (row === undefined) return undefined
  await lockCopiesOf(tx, row.bp_id)
  return tx
    .updateTable('file_machine_copies')
    .set({ status: 'running', claimed_until: until, claim: sql`claim + 1` })
    .where('id', '=', id)
    .where(goesOn)
    .where(unclaimed(at))
    .where(sql<boolean>`${workedAt(sql`${row.bp_id}`, at)} < ${atOnce}`)
    .returningAll()
    .executeTakeFirst()
}
export type Claimed = Pick<CopyRow, 'id' | 'claim'>
/** Held against whoever would take it up until the transaction ends. @returns whether it is theirs who claimed it so */
export const holdClaimed = async (tx: Tx, { id, claim }: Claimed): Promise<boolean> =>
  (await tx.selectFrom('file_machine_copies').select('id').where('id', '=', id).where('claim', '=', claim).where(goesOn).forShare().executeTakeFirst()) !==
  undefined
/** @param of with its claim: only where nobody took it up since. @returns false where somebody did, or it has ended */
export const updateCopy = async (
  on: Sql,
  { id, claim }: { readonly id: string; readonly claim?: number },
  changes: Updateable<MachineCopyTable>,
): Promise<boolean> => {
  const { numUpdatedRows } = await on
    .updateTable('file_machine_copies')
    .set(changes)
    .where('id', '=', id)
    .where(claim === undefined ? sql<boolean>`true` : sql<boolean>`claim = ${claim}`)
    .where('status', 'in', open)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}
/** Those that ended while a part of them came. */
export const endedWithParts = (on: Sql): Promise<CopyRow[]> =>
  on
    .selectFrom('file_machine_copies')
    .selectAll()
    .where('ended_at', 'is not', null)
    .where(sql<boolean>`exists (select from file_machine_copy_parts where copy_id = file_machine_copies.id)`)
    .limit(50)
    .execute()
/** What has ended goes after a while: its record stays among the transfers. */
export const forgetCopies = async (on: Sql, endedBefore: Date): Promise<void> => {
  await on.deleteFrom('file_machine_copies').where('ended_at', '<', endedBefore).execute()
}

export const insertPart = async (tx: Tx, part: PartRow): Promise<void> => {
  await tx
    .insertInto('file_machine_copy_parts')
    .values(part)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
/** Folders before what is in them. */
export const partsOf = (on: Sql, copyId: string): Promise<PartRow[]> =>
  on
    .selectFrom('file_machine_copy_parts')
    .selectAll()
    .where('copy_id', '=', copyId)
    .orderBy(sql`string_to_array(path, '/')`)
    .execute()
export const deleteParts = (tx: Tx, copyId: string): Promise<PartRow[]> =>
  tx.deleteFrom('file_machine_copy_parts').where('copy_id', '=', copyId).returningAll().execute()
