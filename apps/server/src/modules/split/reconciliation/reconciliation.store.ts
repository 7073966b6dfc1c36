import type { CaseExit, CaseKind, CaseStatus, splitCases, splitReconciliations } from '@zhisuan/contract/split/reconciliation'
import type { PayoutStatus } from '@zhisuan/contract/split/payout'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { asked, orderOf, pageOf } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { StatementRow } from '../payout/channel.client.ts'
import { dayOf, type Difference, type OurPayout, type StatementLine } from './differences.ts'

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
  /** As the channel names the payout, which may be none of ours. */
  named: string
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
/** What the files that were read say: a payout is compared with all that is said of it, and not with one day alone. */
interface StatementLineTable {
  channel_id: string | null
  day: string
  /** From 0. */
  line: number
  payout_id: string
  reference: string
  /** The how manieth of its payment it is in its file, from 0. */
  number: number
  amount: string
  status: StatementRow['status']
  at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    split_statement_lines: StatementLineTable
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
  '20261202_25_split_statement_lines': migration(`
    create table split_statement_lines (
      channel_id uuid,
      day text not null,
      line bigint not null,
      payout_id text not null,
      reference text not null,
      number bigint not null,
      amount numeric(38, 0) not null,
      status text not null check (status in ('done', 'failed', 'returned')),
      at timestamptz not null,
      constraint split_statement_lines_once unique nulls not distinct (channel_id, day, line)
    );
    create index split_statement_lines_payout on split_statement_lines (payout_id);
    alter table split_cases add column named text;
    update split_cases set named = coalesce(payout_id::text, case kind when 'double' then regexp_replace(key, ' [^ ]* [0-9]+$', '') else key end);
    alter table split_cases alter column named set not null;
    create index split_cases_named on split_cases (named);
    -- Their lines were not kept.
    update split_reconciliations set status = 'due', tried_at = null
      where channel_id in (select id from split_channel union all select id from split_former_channels);
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

/** Payouts of a channel that its file names, and those that ended on its day; held against changes, so that who changes one afterwards finds what the file says of it. */
export async function payoutsFor(
  tx: Tx,
  channelId: string | null,
  ids: readonly string[],
  { from, to }: { from: Date; to: Date },
): Promise<Map<string, OurPayout>> {
  const rows = await tx
    .selectFrom('split_payouts')
    .select(['id', 'amount', 'status', 'reference', 'done_at', 'ended_at', 'corrected'])
    .where(sql<boolean>`channel_id is not distinct from ${channelId}`)
    .where(
      sql<boolean>`(id::text = any(${[...ids]}::text[]) or (done_at >= ${from} and done_at < ${to}) or (ended_at >= ${from} and ended_at < ${to} and status in ('failed', 'returned')))`,
    )
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

interface LineRow extends Omit<StatementLine, 'amount' | 'at'> {
  readonly amount: string
  readonly at: string | Date
}
const asLine = ({ amount, at, ...line }: LineRow): StatementLine => ({ ...line, amount: BigInt(amount), at: new Date(at) })

/** Keeps what a day's file says, in the place of what it said when it was read before. */
export async function keepLines(tx: Tx, { day, channel_id }: Pick<ReconciliationRow, 'day' | 'channel_id'>, lines: readonly StatementLine[]): Promise<void> {
  await sql`delete from split_statement_lines where day = ${day} and channel_id is not distinct from ${channel_id}`.execute(tx)
  await sql`
    insert into split_statement_lines (channel_id, day, line, payout_id, reference, number, amount, status, at)
    select ${channel_id}::uuid, ${day}, line, payout_id, reference, number, amount, status, at
    from unnest(
      ${lines.map((_, index) => index)}::bigint[], ${lines.map(({ payout_id }) => payout_id)}::text[], ${lines.map(({ reference }) => reference)}::text[],
      ${lines.map(({ number }) => number)}::bigint[], ${lines.map(({ amount }) => String(amount))}::numeric[], ${lines.map(({ status }) => status)}::text[],
      ${lines.map(({ at }) => at.toISOString())}::timestamptz[]
    ) as rows (line, payout_id, reference, number, amount, status, at)
  `.execute(tx)
}
/** What files of other days of a channel have of some payouts. */
export async function linesElsewhere(
  on: Sql,
  { day, channel_id }: Pick<ReconciliationRow, 'day' | 'channel_id'>,
  named: readonly string[],
): Promise<StatementLine[]> {
  const { rows } = await sql<LineRow>`
    select payout_id, reference, number, amount::text as amount, status, at from split_statement_lines
    where payout_id = any(${[...named]}::text[]) and channel_id is not distinct from ${channel_id} and day <> ${day}
  `.execute(on)
  return rows.map(asLine)
}
/** Minor units that were written off of payouts as a channel names them, as paid. */
export async function writtenOffOf(on: Sql, channelId: string | null, named: readonly string[]): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ named: string; amount: string }>`
    select one.named, sum(entry.amount)::text as amount
    from split_cases as one
    join split_movements as movement on movement.key = 'writtenOff ' || one.id
    join split_entries as entry on entry.movement_id = movement.id and entry.account = 'paid'
    where one.named = any(${[...named]}::text[]) and one.channel_id is not distinct from ${channelId} and one.exit = 'writtenOff'
    group by one.named
  `.execute(on)
  return new Map(rows.map((row) => [row.named, BigInt(row.amount)]))
}
/** When a file says that a payout was done by a payment. */
export async function doneAt(on: Sql, { id, channel_id }: { id: string; channel_id: string | null }, reference: string): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(at) as at from split_statement_lines
    where payout_id = ${id}::text and channel_id is not distinct from ${channel_id} and reference = ${reference} and status = 'done'
  `.execute(on)
  return rows[0]?.at ?? null
}

const casesAtOnce = 2_000
/** One that is there already stays as it is, but for one that had ended by itself. @returns how many are new, or open again */
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
      found.map(({ kind, key, named, payout_id, reference, ours, theirs, at: theirs_at }) => ({
        id: uuidv7(),
        ...of,
        kind,
        key,
        named,
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
    .onConflict((conflict) =>
      conflict
        .constraint('split_cases_once')
        .doUpdateSet((part) => ({
          status: 'open',
          exit: null,
          reason: '',
          proposed_by: null,
          proposed_by_name: null,
          decided_by: null,
          decided_by_name: null,
          closed_at: null,
          payout_id: part.ref('excluded.payout_id'),
          ours_amount: part.ref('excluded.ours_amount'),
          ours_status: part.ref('excluded.ours_status'),
        }))
        .where(sql<boolean>`split_cases.exit = 'settled' or (split_cases.kind = 'stuck' and split_cases.status = 'closed')`),
    )
    .returning('id')
    .execute()
  return rows.length
}
/** Those of channels' messages begin so: no file says them, so none takes them back. */
export const saidKey = 'said '
/** Closes what a day's file says no more that it differs; what somebody is just deciding about, they end. */
export const closeOthers = async (
  tx: Tx,
  { day, channel_id }: Pick<ReconciliationRow, 'day' | 'channel_id'>,
  found: readonly Pick<Difference, 'kind' | 'key'>[],
  at: Date,
): Promise<void> => {
  await sql`
    update split_cases set status = 'closed', exit = 'settled', closed_at = ${at} where id in (
      select id from split_cases
      where day = ${day} and channel_id is not distinct from ${channel_id} and status <> 'closed' and kind <> 'stuck' and not starts_with(key, ${saidKey})
        and not (kind || ' ' || key) = any(${found.map(({ kind, key }) => `${kind} ${key}`)}::text[])
      for update skip locked
    )
  `.execute(tx)
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
      -- Beside midnight a file of another day may have it.
      when 'oursOnly' then exists (
        select from split_statement_lines as line where line.payout_id = one.named and line.channel_id is not distinct from one.channel_id
          and line.number = 0 and line.status = one.ours_status and line.amount = one.ours_amount and line.reference = one.reference
      )
      else false end
  `.execute(on)
}

/** All days whose files say something of a payout, or on which it ended, now or as it was before, are compared again with what became of it. */
export const dueAgain = async (
  tx: Tx,
  payout: { id: string; channel_id: string | null; done_at: Date | null; ended_at: Date | null },
  ...at: readonly Date[]
): Promise<void> => {
  const { id, channel_id, done_at, ended_at } = payout
  const days = [done_at, ended_at, ...at].flatMap((moment) => (moment === null ? [] : [dayOf(moment)]))
  // Also where it is being read: who does so waits until this is there. In one order, so that nobody waits for each other.
  await sql`
    update split_reconciliations set status = 'due', tried_at = case when status = 'due' then tried_at end where id in (
      select id from split_reconciliations
      where channel_id is not distinct from ${channel_id} and day in (
        select unnest(${days}::text[])
        union all select day from split_statement_lines where payout_id = ${id}::text and channel_id is not distinct from ${channel_id}
        union all select day from split_cases where named = ${id}::text and channel_id is not distinct from ${channel_id}
      )
      order by id for update
    )
  `.execute(tx)
}
/** Payouts that were sent before a moment, have not ended, and are no open case yet. */
export const stuckPayouts = (on: Sql, before: Date): Promise<{ id: string; amount: string; claimed_at: Date | null; channel_id: string | null }[]> =>
  on
    .selectFrom('split_payouts')
    .select(['id', 'amount', 'claimed_at', 'channel_id'])
    .where('status', 'in', ['claimed', 'sent'])
    .where('claimed_at', '<=', before)
    .where(sql<boolean>`not exists (select from split_cases as one where one.payout_id = split_payouts.id and one.kind = 'stuck' and one.status <> 'closed')`)
    .execute()

export type ShownCase = CaseRow & {
  provider_id: string | null
  provider_name: string | null
  /** Its payout, as it is by now. */
  payout_amount: string | null
  payout_status: PayoutStatus | null
  payout_reference: string | null
  payout_ended_at: Date | null
  /** What all files have of it, and what was written off of it. */
  lines: readonly LineRow[]
  written_off: string
  /** Whether it is a payout of ours that may be sent through this channel, or was. */
  is_ours: boolean
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
      'split_payouts.ended_at as payout_ended_at',
      sql<readonly LineRow[]>`coalesce((
        select jsonb_agg(jsonb_build_object('payout_id', line.payout_id, 'reference', line.reference, 'number', line.number, 'amount', line.amount::text,
          'status', line.status, 'at', line.at) order by line.at, line.status = 'returned', line.line)
        from split_statement_lines as line where line.payout_id = split_cases.named and line.channel_id is not distinct from split_cases.channel_id
      ), '[]')`.as('lines'),
      sql<string>`coalesce((
        select sum(entry.amount) from split_cases as other
        join split_movements as movement on movement.key = 'writtenOff ' || other.id
        join split_entries as entry on entry.movement_id = movement.id and entry.account = 'paid'
        where other.named = split_cases.named and other.channel_id is not distinct from split_cases.channel_id and other.exit = 'writtenOff'
      ), 0)::text`.as('written_off'),
      sql<boolean>`exists (
        select from split_payouts as named where named.id = case when split_cases.named ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then split_cases.named::uuid end and named.status <> 'withdrawn'
          and (named.channel_id is null or named.channel_id is not distinct from split_cases.channel_id)
      )`.as('is_ours'),
    ])
/** What else is known of what a case is about. */
export const knownOf = ({ lines, written_off, is_ours, theirs_at }: ShownCase) => ({
  lines: lines.map(asLine),
  writtenOff: BigInt(written_off),
  isOurs: is_ours,
  at: theirs_at,
})
export const listCases = (on: Sql, query: QueryOf<(typeof splitCases)['list']>): Promise<{ total: number; rows: ShownCase[] }> =>
  pageOf(
    on.selectFrom('split_cases').where(asked(query, 'split_cases', 'status', 'kind', 'day')),
    query,
    orderOf('split_cases', '-created_at', 'created_at', 'day'),
    (ids) => shownCases(on).where('split_cases.id', 'in', ids),
  )
export const getCase = (on: Sql, id: string): Promise<ShownCase | undefined> => shownCases(on).where('split_cases.id', '=', id).executeTakeFirst()
/** Those of payments beside ours that have not ended. */
export const openBeside = (on: Sql): Promise<ShownCase[]> =>
  shownCases(on).where('split_cases.kind', 'in', ['double', 'theirsOnly']).where('split_cases.status', '<>', 'closed').execute()
/** Who decides about what is none of ours waits for who does so at the same time. */
export const holdNamed = async (tx: Tx, named: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`split case ${named}`}, 13))`.execute(tx)
}
