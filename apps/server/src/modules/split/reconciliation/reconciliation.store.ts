import type { CaseExit, CaseKind, CaseStatus, splitCases, splitReconciliations } from '@zhisuan/contract/split/reconciliation'
import type { PayoutStatus } from '@zhisuan/contract/split/payout'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { asked, orderOf, pageOf } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Difference, OurPayout } from './differences.ts'

interface ReconciliationTable {
  id: string
  /** Whose file; null of what there was before a channel was set up. */
  channel_id: string | null
  day: string
  status: 'due' | 'done'
  row_count: number
  file_hash: string | null
  failed: boolean
  /** When its file was last asked for. */
  tried_at: Date | null
  finished_at: Date | null
}
interface CaseTable {
  id: string
  channel_id: string | null
  day: string
  kind: CaseKind
  key: string
  status: CaseStatus
  payout_id: string | null
  reference: string
  ours_amount: string | null
  ours_status: string | null
  theirs_amount: string | null
  theirs_status: string | null
  /** When that came to be, as the file says. */
  theirs_at: Date | null
  exit: CaseExit | null
  reason: string
  proposed_by: string | null
  proposed_by_name: string | null
  decided_by: string | null
  decided_by_name: string | null
  created_at: Date
  closed_at: Date | null
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    split_reconciliations: ReconciliationTable
    split_cases: CaseTable
  }
}
export type ReconciliationRow = Selectable<ReconciliationTable>
export type CaseRow = Selectable<CaseTable>

export const reconciliationMigrations: Migrations = {
  '20261201_43_split_cases': migration(`
    create table split_reconciliations (
      id uuid primary key,
      day text not null,
      status text not null check (status in ('due', 'done')),
      row_count bigint not null,
      file_hash text,
      failed boolean not null,
      tried_at timestamptz,
      finished_at timestamptz,
      constraint split_reconciliations_day unique (day)
    );
    create table split_cases (
      id uuid primary key,
      day text not null,
      kind text not null check (kind in ('oursOnly', 'theirsOnly', 'amount', 'double', 'returned', 'state')),
      key text not null,
      status text not null check (status in ('open', 'proposed', 'closed')),
      payout_id uuid references split_payouts,
      reference text not null,
      ours_amount numeric(38, 0),
      ours_status text,
      theirs_amount numeric(38, 0),
      theirs_status text,
      exit text check (exit in ('settled', 'accepted', 'writtenOff')),
      reason text not null,
      proposed_by uuid,
      proposed_by_name text,
      decided_by uuid,
      decided_by_name text,
      created_at timestamptz not null,
      closed_at timestamptz,
      -- However often a file is read.
      constraint split_cases_once unique (day, kind, key),
      constraint split_cases_two check (decided_by <> proposed_by),
      constraint split_cases_ended check ((status = 'closed') = (closed_at is not null)),
      constraint split_cases_decided check (status <> 'closed' or exit = 'settled' or decided_by is not null)
    );
    create index split_cases_newest on split_cases (created_at, id);
    create index split_cases_open on split_cases (day) where status <> 'closed';
  `),
  '20261202_20_split_exits': migration(`
    alter table split_cases add column theirs_at timestamptz;
    alter table split_cases drop constraint split_cases_kind_check, drop constraint split_cases_exit_check;
    alter table split_cases
      add constraint split_cases_kind_check check (kind in ('oursOnly', 'theirsOnly', 'amount', 'double', 'returned', 'state', 'stuck')),
      add constraint split_cases_exit_check check (exit in ('settled', 'accepted', 'writtenOff', 'wasPaid', 'wasNotPaid'));
    create index split_cases_payout on split_cases (payout_id);
    alter table split_movements drop constraint split_movements_kind_check;
    alter table split_movements add constraint split_movements_kind_check
      check (kind in ('stated', 'confirmed', 'noted', 'asked', 'done', 'failed', 'returned', 'withdrawn', 'writtenOff', 'wasPaid', 'wasNotPaid'));
    -- How often two people said that it is otherwise than the channel did.
    alter table split_payouts add column corrected bigint not null default 0;
  `),
}

export const { update: updateReconciliation, lockAny: lockReconciliation } = rowsOf('split_reconciliations')
export const { update: updateCase, lockAny: lockCase } = rowsOf('split_cases')

/** Days of Beijing before a day on which something of a channel may have ended and whose file nobody asked for, the oldest first. */
export async function daysMissing(on: Sql, channelId: string, before: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select day from (
      select to_char(generate_series(min(claimed_at at time zone 'Asia/Shanghai')::date, ${before}::date - 1, '1 day'), 'YYYY-MM-DD') as day
      from split_payouts where channel_id = ${channelId}
    ) as days
    where not exists (select from split_reconciliations as one where one.day = days.day and one.channel_id = ${channelId})
    order by day
    limit ${limit}
  `.execute(on)
  return rows.map(({ day }) => day)
}
/** Days that are to be read; one that is there already stays as it is, unless it is to be read again. */
export async function addDays(on: Sql, channelId: string, days: readonly string[], again: boolean): Promise<void> {
  if (days.length === 0) return
  await on
    .insertInto('split_reconciliations')
    .values(
      days.map((day) => ({
        id: uuidv7(),
        channel_id: channelId,
        day,
        status: 'due' as const,
        row_count: 0,
        file_hash: null,
        failed: false,
        tried_at: null,
        finished_at: null,
      })),
    )
    .onConflict((conflict) =>
      again
        ? conflict.constraint('split_reconciliations_day').doUpdateSet({ status: 'due', tried_at: null })
        : conflict.constraint('split_reconciliations_day').doNothing(),
    )
    .execute()
}
/** Takes the oldest day of some channels whose file is to be read; one that nobody came back with for a while is anybody's again. */
export const claimDay = (on: Sql, channelIds: readonly string[], now: Date, patienceMs: number): Promise<ReconciliationRow | undefined> =>
  on
    .updateTable('split_reconciliations')
    .set({ tried_at: now })
    .where('id', '=', (part) =>
      part
        .selectFrom('split_reconciliations')
        .select('id')
        .where('status', '=', 'due')
        .where('channel_id', 'in', channelIds)
        .where((where) => where.or([where('tried_at', 'is', null), where('tried_at', '<=', new Date(now.getTime() - patienceMs))]))
        .orderBy('day')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .executeTakeFirst()

export type ShownReconciliation = ReconciliationRow & { merchant_id: string; case_count: number; open_count: number }
const ofDay = sql`one.day = split_reconciliations.day and one.channel_id is not distinct from split_reconciliations.channel_id`
const shownDays = (on: Sql) =>
  on
    .selectFrom('split_reconciliations')
    .selectAll()
    .select([
      sql<string>`coalesce((select merchant_id from split_channel as one where one.id = split_reconciliations.channel_id),
        (select merchant_id from split_former_channels as one where one.id = split_reconciliations.channel_id), '')`.as('merchant_id'),
      sql<number>`(select count(*) from split_cases as one where ${ofDay})`.as('case_count'),
      sql<number>`(select count(*) from split_cases as one where ${ofDay} and one.status <> 'closed')`.as('open_count'),
    ])
export const listReconciliations = (on: Sql, query: QueryOf<(typeof splitReconciliations)['list']>): Promise<{ total: number; rows: ShownReconciliation[] }> =>
  pageOf(on.selectFrom('split_reconciliations'), query, orderOf('split_reconciliations', '-day', 'day'), (ids) =>
    shownDays(on).where('split_reconciliations.id', 'in', ids),
  )
export const getReconciliation = (on: Sql, day: string): Promise<ShownReconciliation | undefined> =>
  shownDays(on).where('day', '=', day).orderBy('id', 'desc').executeTakeFirst()

/** Payouts of a channel that its file names, and those that ended on its day. */
export async function payoutsFor(
  on: Sql,
  channelId: string | null,
  ids: readonly string[],
  { from, to }: { from: Date; to: Date },
): Promise<Map<string, OurPayout>> {
  const rows = await on
    .selectFrom('split_payouts')
    .select(['id', 'amount', 'status', 'reference', 'done_at', 'ended_at', 'corrected'])
    .where(sql<boolean>`channel_id is not distinct from ${channelId}`)
    .where(
      sql<boolean>`(id::text = any(${[...ids]}::text[]) or (done_at >= ${from} and done_at < ${to}) or (ended_at >= ${from} and ended_at < ${to} and status in ('failed', 'returned')))`,
    )
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

const casesAtOnce = 2_000
/** @returns how many are new */
export async function insertCases(
  tx: Tx,
  of: { readonly day: string; readonly channel_id: string | null },
  found: readonly Difference[],
  at: Date,
): Promise<number> {
  if (found.length === 0) return 0
  // PostgreSQL takes 65,535 parameters at once.
  if (found.length > casesAtOnce)
    return (await insertCases(tx, of, found.slice(0, casesAtOnce), at)) + (await insertCases(tx, of, found.slice(casesAtOnce), at))
  const rows = await tx
    .insertInto('split_cases')
    .values(
      found.map(({ kind, key, payout_id, reference, ours, theirs, at: theirs_at }) => ({
        id: uuidv7(),
        ...of,
        kind,
        key,
        status: 'open' as const,
        payout_id,
        reference,
        ours_amount: ours === null ? null : String(ours.amount),
        ours_status: ours?.status ?? null,
        theirs_amount: theirs === null ? null : String(theirs.amount),
        theirs_status: theirs?.status ?? null,
        theirs_at,
        exit: null,
        reason: '',
        proposed_by: null,
        proposed_by_name: null,
        decided_by: null,
        decided_by_name: null,
        created_at: at,
        closed_at: null,
      })),
    )
    .onConflict((conflict) => conflict.constraint('split_cases_once').doNothing())
    .returning('id')
    .execute()
  return rows.length
}
/** Closes those that nobody has to look at any more: the payout stands now as the channel said. */
export const settleCases = async (on: Sql, at: Date): Promise<void> => {
  await sql`
    update split_cases as one set status = 'closed', exit = 'settled', closed_at = ${at}
    from split_payouts as payout
    where payout.id = one.payout_id and one.status <> 'closed' and case one.kind
      when 'stuck' then payout.status not in ('claimed', 'sent')
      when 'state' then payout.status = one.theirs_status and payout.amount = one.theirs_amount and (payout.status = 'failed' or payout.reference = one.reference)
      when 'returned' then payout.status = one.theirs_status and payout.amount = one.theirs_amount and payout.reference = one.reference
      else false end
  `.execute(on)
}

/** What a day's file said is compared again with what became of payouts since. */
export const dueAgain = async (tx: Tx, day: string, channelId: string | null): Promise<void> => {
  // Also where it is being read: who does so waits until this is there.
  await tx
    .updateTable('split_reconciliations')
    .set({ status: 'due', tried_at: sql`case when status = 'due' then tried_at end` })
    .where('day', '=', day)
    .where(sql<boolean>`channel_id is not distinct from ${channelId}`)
    .execute()
}
/** Payouts that were sent before a moment, have not ended, and are no case yet. */
export const stuckPayouts = (on: Sql, before: Date): Promise<{ id: string; amount: string; claimed_at: Date | null; channel_id: string | null }[]> =>
  on
    .selectFrom('split_payouts')
    .select(['id', 'amount', 'claimed_at', 'channel_id'])
    .where('status', 'in', ['claimed', 'sent'])
    .where('claimed_at', '<=', before)
    .where(sql<boolean>`not exists (select from split_cases as one where one.payout_id = split_payouts.id and one.kind = 'stuck')`)
    .execute()

export type ShownCase = CaseRow & {
  provider_id: string | null
  provider_name: string | null
  /** Its payout, as it is by now. */
  payout_amount: string | null
  payout_status: PayoutStatus | null
  payout_reference: string | null
}
const shownCases = (on: Sql) =>
  on
    .selectFrom('split_cases')
    .leftJoin('split_payouts', 'split_payouts.id', 'split_cases.payout_id')
    .leftJoin('market_providers', 'market_providers.id', 'split_payouts.provider_id')
    .selectAll('split_cases')
    .select([
      'market_providers.id as provider_id',
      'market_providers.name as provider_name',
      'split_payouts.amount as payout_amount',
      'split_payouts.status as payout_status',
      'split_payouts.reference as payout_reference',
    ])
export const listCases = (on: Sql, query: QueryOf<(typeof splitCases)['list']>): Promise<{ total: number; rows: ShownCase[] }> =>
  pageOf(
    on.selectFrom('split_cases').where(asked(query, 'split_cases', 'status', 'kind', 'day')),
    query,
    orderOf('split_cases', '-created_at', 'created_at', 'day'),
    (ids) => shownCases(on).where('split_cases.id', 'in', ids),
  )
export const getCase = (on: Sql, id: string): Promise<ShownCase | undefined> => shownCases(on).where('split_cases.id', '=', id).executeTakeFirst()
