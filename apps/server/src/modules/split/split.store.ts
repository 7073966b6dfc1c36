import type { ContractStatus, RunStatus, SplitLine, SplitTerms, splitContracts, splitRuns } from '@zhisuan/contract/split/contract'
import type { splitFigures } from '@zhisuan/contract/split/provider'
import type { QueryOf } from '@zhisuan/contract/define'
import type { Role } from '@zhisuan/contract/roles'
import { sql, type ColumnType, type Generated, type Insertable, type RawBuilder, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../platform/db/database.ts'
import { asked, matching, orderOf, pageOf } from '../../platform/db/page.ts'
import { insertsInto, rowsOf } from '../../platform/db/rows.ts'
import { providerParty } from './ledger/movements.ts'
import { ofProvider, type SplitScope } from './scope.ts'

interface ContractTable {
  id: string
  name: string
  provider_id: string
  status: Generated<ContractStatus>
  ended_after: string | null
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
}
/** What is signed never changes; the one that is not is being written. */
interface VersionTable {
  id: string
  contract_id: string
  number: number
  from_period: string
  terms: ColumnType<SplitTerms, string, string>
  signed_at: Date | null
  signed_by: string | null
}
interface RunTable {
  id: string
  contract_id: string
  provider_id: string
  version_number: number
  period: string
  status: Generated<RunStatus>
  /** Minor units; of this month's own lines, from which its step follows. */
  own_base: string
  step: number
  base: string
  line_count: number
  late_count: number
  adjustment: string
  amounts: string[]
  hash: string
  previous_hash: string | null
  confirm_by: Date
  confirmed_at: Date | null
  confirmed_by: string | null
  dispute: string | null
  answer: string | null
  paid_at: Date | null
  paid_by: string | null
  paid_reference: string | null
  created_by: string
  created_by_name: string
  created_at: Generated<Date>
}
/** A line of a statement, with all that it says: what it was made of may change, it does not. */
interface LineTable {
  id: Generated<number>
  run_id: string
  /** Its place in its statement, from 1. */
  line: number
  /** The month that it counts to, by whose terms it was shared out. */
  period: string
  kind: SplitLine['kind']
  usage_line_id: number | null
  original_id: number | null
  /** The same as people read it: `2026-01/3`. */
  original: string | null
  version_number: number
  from: Date | null
  meter: string | null
  model: string | null
  cards: string[]
  rental_id: string | null
  rental_name: string | null
  payer: string | null
  base: string
  amounts: string[]
}
/** Who is a provider's person: each account of one provider's only. */
interface AccountTable {
  user_id: string
  provider_id: string
  created_at: Generated<Date>
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    split_contracts: ContractTable
    split_versions: VersionTable
    split_runs: RunTable
    split_lines: LineTable
    split_accounts: AccountTable
  }
}

export const splitMigrations: Migrations = {
  '20261128_99_01_split': migration(`
    create function sum_of(amounts numeric[]) returns numeric language sql immutable strict as $$ select coalesce(sum(one), 0) from unnest(amounts) as one $$;
    create table split_contracts (
      id uuid primary key,
      name text not null,
      provider_id uuid not null references market_providers,
      status text not null default 'draft' check (status in ('draft', 'active', 'ended')),
      ended_after text,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create unique index split_contracts_name on split_contracts (name);
    create index split_contracts_provider on split_contracts (provider_id);
    create table split_versions (
      id uuid primary key,
      contract_id uuid not null references split_contracts on delete cascade,
      number bigint not null,
      from_period text not null,
      terms jsonb not null,
      signed_at timestamptz,
      signed_by text,
      unique (contract_id, number)
    );
    create table split_runs (
      id uuid primary key,
      contract_id uuid not null references split_contracts,
      provider_id uuid not null references market_providers,
      version_number bigint not null,
      period text not null,
      status text not null default 'stated' check (status in ('stated', 'disputed', 'confirmed', 'paid')),
      own_base numeric not null,
      step bigint not null,
      base numeric not null,
      line_count bigint not null,
      late_count bigint not null,
      adjustment numeric not null,
      amounts numeric[] not null,
      hash text not null,
      previous_hash text,
      confirm_by timestamptz not null,
      confirmed_at timestamptz,
      confirmed_by text,
      dispute text,
      answer text,
      paid_at timestamptz,
      paid_by text,
      paid_reference text,
      created_by uuid not null,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      constraint split_runs_once unique (contract_id, period)
    );
    create index split_runs_provider on split_runs (provider_id, period);
    create index split_runs_waiting on split_runs (confirm_by) where status = 'stated';
    create table split_lines (
      id bigint generated always as identity primary key,
      run_id uuid not null references split_runs,
      period text not null,
      kind text not null check (kind in ('use', 'late', 'refund', 'adjustment')),
      usage_line_id bigint,
      original_id bigint references split_lines,
      version_number bigint not null,
      "from" timestamptz,
      meter text,
      model text,
      cards text[] not null,
      rental_id uuid,
      rental_name text,
      payer text,
      base numeric not null,
      amounts numeric[] not null,
      -- What is shared out is all of the base, and an adjustment only moves.
      constraint split_lines_add_up check (base = sum_of(amounts))
    );
    create unique index split_lines_use_once on split_lines (usage_line_id) where kind in ('use', 'late');
    create unique index split_lines_refund_once on split_lines (original_id) where kind = 'refund';
    create index split_lines_run on split_lines (run_id, "from", id);
    create table split_accounts (
      user_id uuid primary key references users on delete cascade,
      provider_id uuid not null references market_providers on delete cascade,
      created_at timestamptz not null default now()
    );
    create index split_accounts_provider on split_accounts (provider_id);
  `),
  '20261201_50_split_lines_in_order': migration(`
    -- A statement is read in the order of its lines, from any of them on.
    alter table split_lines add column line bigint;
    update split_lines set line = placed.line
      from (select id, row_number() over (partition by run_id order by id) as line from split_lines) as placed where placed.id = split_lines.id;
    alter table split_lines alter column line set not null;
    create unique index split_lines_in_order on split_lines (run_id, line);
    drop index split_lines_run;
  `),
  '20261201_54_split_lines_of_runs': migration(`
    -- Lines are only made in the transaction that makes their run, and no run is ever deleted: to look for it a million times says nothing new.
    alter table split_lines drop constraint split_lines_run_id_fkey;
  `),
  '20261201_52_split_lines_named': migration(`
    -- What a line takes back is told by statement and place: numbers that count up over all would tell of others.
    alter table split_lines add column original text;
    update split_lines set original = run.period || '/' || taken.line
      from split_lines as taken join split_runs as run on run.id = taken.run_id where taken.id = split_lines.original_id;
  `),
}

export type ContractRow = Selectable<ContractTable>
export type VersionRow = Selectable<VersionTable>
export type RunRow = Selectable<RunTable>
export type LineRow = Selectable<LineTable>

export const { insert: insertContract, update: updateContract, remove: removeContract, lockAny: lockContract } = rowsOf('split_contracts')
export const { insert: insertVersion, update: updateVersion, remove: removeVersion } = rowsOf('split_versions')
export const { update: updateRun, lockAny: lockAnyRun } = rowsOf('split_runs')
export const insertRun: (on: Sql, row: Insertable<Tables['split_runs']>) => Promise<void> = insertsInto('split_runs')

export const getProvider = (on: Sql, id: string) =>
  on.selectFrom('market_providers').select(['id', 'name', 'status', 'bp_id']).where('id', '=', id).executeTakeFirst()

export type ShownContract = ContractRow & { provider_name: string }
const shownContracts = (on: Sql) =>
  on
    .selectFrom('split_contracts')
    .innerJoin('market_providers', 'market_providers.id', 'split_contracts.provider_id')
    .selectAll('split_contracts')
    .select('market_providers.name as provider_name')
export const listContracts = (on: Sql, query: QueryOf<(typeof splitContracts)['list']>): Promise<{ total: number; rows: ShownContract[] }> =>
  pageOf(
    on
      .selectFrom('split_contracts')
      .where(asked(query, 'split_contracts', 'provider_id', 'status'))
      .where(matching(query.keyword, 'split_contracts.name')),
    query,
    orderOf('split_contracts', '-created_at', 'name', 'created_at'),
    (ids) => shownContracts(on).where('split_contracts.id', 'in', ids),
  )
export const getContract = (on: Sql, id: string): Promise<ShownContract | undefined> =>
  shownContracts(on).where('split_contracts.id', '=', id).executeTakeFirst()
/** The newest first. */
export const versionsOf = (on: Sql, contractIds: readonly string[]): Promise<VersionRow[]> =>
  on
    .selectFrom('split_versions')
    .selectAll()
    .where(sql<boolean>`contract_id = any(${[...contractIds]}::uuid[])`)
    .orderBy('number', 'desc')
    .execute()

export type ShownRun = RunRow & { provider_name: string; contract_name: string; terms: SplitTerms }
const shownRuns = (on: Sql) =>
  on
    .selectFrom('split_runs')
    .innerJoin('market_providers', 'market_providers.id', 'split_runs.provider_id')
    .innerJoin('split_contracts', 'split_contracts.id', 'split_runs.contract_id')
    .innerJoin('split_versions', (join) =>
      join.onRef('split_versions.contract_id', '=', 'split_runs.contract_id').onRef('split_versions.number', '=', 'split_runs.version_number'),
    )
    .selectAll('split_runs')
    .select(['market_providers.name as provider_name', 'split_contracts.name as contract_name', 'split_versions.terms'])
export const listRuns = (on: Sql, scope: SplitScope, query: QueryOf<(typeof splitRuns)['list']>): Promise<{ total: number; rows: ShownRun[] }> =>
  pageOf(
    on
      .selectFrom('split_runs')
      .where(ofProvider(scope, 'split_runs.provider_id'))
      .where(asked(query, 'split_runs', 'provider_id', 'contract_id', 'period', 'status')),
    query,
    orderOf('split_runs', '-period', 'period', 'created_at'),
    (ids) => shownRuns(on).where('split_runs.id', 'in', ids),
  )
export const getRun = (on: Sql, scope: SplitScope, id: string): Promise<ShownRun | undefined> =>
  shownRuns(on).where('split_runs.id', '=', id).where(ofProvider(scope, 'split_runs.provider_id')).executeTakeFirst()
export const lockRun = (tx: Tx, scope: SplitScope, id: string): Promise<RunRow | undefined> =>
  tx.selectFrom('split_runs').selectAll().where('id', '=', id).where(ofProvider(scope, 'split_runs.provider_id')).forUpdate().executeTakeFirst()
export const runsOf = (on: Sql, contractId: string): Promise<RunRow[]> =>
  on.selectFrom('split_runs').selectAll().where('contract_id', '=', contractId).orderBy('period').execute()
export const overdue = (tx: Tx, now: Date): Promise<RunRow[]> =>
  tx.selectFrom('split_runs').selectAll().where('status', '=', 'stated').where('confirm_by', '<', now).limit(100).forUpdate().skipLocked().execute()

/** By what its user has a machine: it is one for as long as they have it. @param resource column of the machine's id */
const orderFor = (resource: string): RawBuilder<{ id: string; number: string } | null> => sql`
  (select jsonb_build_object('id', ordered.id, 'number', ordered.number::text) from bill_orders as ordered
   where ordered.resource_id = ${sql.ref(resource)} and ordered.kind in ('onDemand', 'purchase') order by ordered.created_at limit 1)`
export type ShownLine = LineRow & { order: { id: string; number: string } | null }
const shownLines = (on: Sql, runId: string) =>
  on.selectFrom('split_lines').selectAll().select(orderFor('split_lines.rental_id').as('order')).where('run_id', '=', runId)
/** In the order of the statement. */
export async function listLines(on: Sql, runId: string, query: QueryOf<(typeof splitRuns)['lines']>): Promise<{ total: number; rows: ShownLine[] }> {
  const { kind, model, sort = 'line', page_num, page_size } = query
  if (kind !== undefined || model !== undefined)
    return pageOf(
      on
        .selectFrom('split_lines')
        .where('run_id', '=', runId)
        .where(asked(query, 'split_lines', 'kind', 'model')),
      query,
      orderOf('split_lines', 'line', 'line'),
      (ids) => shownLines(on, runId).where(sql<boolean>`split_lines.id in ${ids}`),
    )
  // Where each line is known, none is counted: of a million lines the last page is read as fast as the first.
  const total = (await on.selectFrom('split_runs').select('line_count').where('id', '=', runId).executeTakeFirst())?.line_count ?? 0
  const before = (page_num - 1) * page_size
  const [first, last] = sort === 'line' ? [before + 1, before + page_size] : [total - before - page_size + 1, total - before]
  const rows = await shownLines(on, runId)
    .where('line', '>=', first)
    .where('line', '<=', last)
    .orderBy('line', sort === 'line' ? 'asc' : 'desc')
    .execute()
  return { total, rows }
}
/** In the order of the statement, some at a time. */
export const linesAfter = (on: Sql, runId: string, last: number, limit: number): Promise<LineRow[]> =>
  on.selectFrom('split_lines').selectAll().where('run_id', '=', runId).where('line', '>', last).orderBy('line').limit(limit).execute()

/** Use, as a split decides over it. */
export interface UsageRow {
  readonly id: number
  readonly period: string
  readonly meter: string
  readonly model: string | null
  readonly amount: string
}
/** `2026-11` of a moment, as bills count. */
const periodOf = sql`to_char(line."from" at time zone 'Asia/Shanghai', 'YYYY-MM')`
const modelOf = sql`line.attributes -> 'cards' -> 0 ->> 'model'`
/** Use of a provider's machines, from the first of a month to the last of another. */
const usageWithin = (providerId: string, since: string, until: string): RawBuilder<boolean> => sql<boolean>`
  line.attributes is not null and line.attributes ->> 'provider_id' = ${providerId} and line.voided_at is null
  and line."from" < ((${until}::text || '-01')::date + interval '1 month')::timestamp at time zone 'Asia/Shanghai'
  and line."from" >= (${since}::text || '-01')::timestamp at time zone 'Asia/Shanghai'`
/** What a month has of it by meter and model, whatever was shared out and is paid: for trials. */
export async function usageSums(
  on: Sql,
  providerId: string,
  period: string,
): Promise<{ period: string; meter: string; model: string | null; amount: string; count: number }[]> {
  const { rows } = await sql<{ period: string; meter: string; model: string | null; amount: string; count: number }>`
    select ${period} as period, line.meter, ${modelOf} as model, sum(line.amount)::text as amount, count(*) as count
    from usage_lines as line where ${usageWithin(providerId, period, period)} group by 2, 3
  `.execute(on)
  return rows
}
/** The lines of that, by the hour. @param after the last that was read; null: from the first */
export async function usageOf(
  on: Sql,
  { providerId, period, after, limit }: { providerId: string; period: string; after: { from: Date; id: number } | null; limit: number },
): Promise<(UsageRow & { from: Date })[]> {
  const { rows } = await sql<UsageRow & { from: Date }>`
    select line.id, line."from", ${period} as period, line.meter, ${modelOf} as model, line.amount
    from usage_lines as line
    where ${usageWithin(providerId, period, period)} and ${after === null ? sql`true` : sql`(line."from", line.id) > (${after.from}, ${after.id})`}
    order by line."from", line.id limit ${limit}
  `.execute(on)
  return rows
}
/** Whether something of a month was used of a provider's machines that is not rated yet. */
export async function isUnrated(on: Sql, providerId: string, period: string): Promise<boolean> {
  const end = sql`((${period}::text || '-01')::date + interval '1 month')::timestamp at time zone 'Asia/Shanghai'`
  const { rows } = await sql<{ unrated: boolean }>`
    select exists (
      select from metered_resources as resource join usage_intervals as used on used.resource_id = resource.id
      where resource.rated_until < ${end} and (resource.rate_to is null or resource.rated_until < resource.rate_to)
        and used.attributes ->> 'provider_id' = ${providerId} and used."from" < ${end}
        and resource.rated_until < least(${end}, coalesce(used."to", 'infinity'), coalesce(resource.rate_to, 'infinity'))
    ) as unrated
  `.execute(on)
  return rows[0]?.unrated ?? false
}
/** Holds a provider: what is done by its contracts is done one after the other. */
export const lockProvider = async (tx: Tx, id: string): Promise<void> => {
  await tx.selectFrom('market_providers').select('id').where('id', '=', id).forNoKeyUpdate().execute()
}
export const contractsOf = (on: Sql, providerId: string): Promise<ContractRow[]> =>
  on.selectFrom('split_contracts').selectAll().where('provider_id', '=', providerId).execute()
/** Notes what of a provider's use is paid and not shared out yet, until the end of a month, for the rest of the transaction. */
export async function takeUsage(tx: Tx, { providerId, since, until }: { providerId: string; since: string; until: string }): Promise<void> {
  const unpaid = sql`exists (select from ledger_accounts as account where account.owner_id = line.bp_id and account.account in ('receivable', 'credit') and account.balance < 0)`
  await sql`
    create temporary table split_taken on commit drop as
    select line.id, line."from", ${periodOf} as period, line.meter, ${modelOf} as model,
      coalesce((select array_agg(card ->> 'uuid') from jsonb_array_elements(line.attributes -> 'cards') as card), '{}') as cards,
      line.resource_id as rental_id, coalesce(rental.name, '') as rental_name, coalesce(payer.name, '') as payer, line.amount
    from usage_lines as line
    left join market_rentals as rental on rental.id = line.resource_id
    left join organisations as payer on payer.id = line.bp_id
    where ${usageWithin(providerId, since, until)} and not ${unpaid}
      and not exists (select from split_lines as taken where taken.usage_line_id = line.id and taken.kind in ('use', 'late'))
  `.execute(tx)
  await sql`create unique index on split_taken (id)`.execute(tx)
  await sql`analyze split_taken`.execute(tx)
}
/** What was noted, by month, meter and model. */
export async function sumsTaken(tx: Tx): Promise<Omit<UsageRow, 'id'>[]> {
  const { rows } = await sql<Omit<UsageRow, 'id'>>`select period, meter, model, sum(amount)::text as amount from split_taken group by 1, 2, 3`.execute(tx)
  return rows
}
export async function takenAfter(tx: Tx, after: number, limit: number): Promise<UsageRow[]> {
  const { rows } = await sql<UsageRow>`select id, period, meter, model, amount from split_taken where id > ${after} order by id limit ${limit}`.execute(tx)
  return rows
}
/** What was shared out by a contract and is no use any more, since it was rated anew or given back. */
export async function noUseAnyMore(
  on: Sql,
  { id, provider_id }: Pick<ContractRow, 'id' | 'provider_id'>,
  { after, limit }: { after: number; limit: number },
): Promise<LineRow[]> {
  const { rows } = await sql<LineRow>`
    select taken.* from split_lines as taken
    join split_runs as run on run.id = taken.run_id
    join usage_lines as line on line.id = taken.usage_line_id
    where run.contract_id = ${id} and taken.kind in ('use', 'late') and taken.id > ${after}
      and line.attributes is not null and line.attributes ->> 'provider_id' = ${provider_id} and line.voided_at is not null
      and not exists (select from split_lines as refund where refund.original_id = taken.id and refund.kind = 'refund')
    order by taken.id
    limit ${limit}
  `.execute(on)
  return rows
}
/** Arrays as texts: the driver takes those of a million numbers apart slowly, and none of arrays. */
const arrayOf = (of: readonly (string | number | bigint)[]): string => `{${of.join(',')}}`
const arraysOf = (of: readonly (readonly (string | bigint)[])[]): string => `{${of.map((one) => `"{${one.join(',')}}"`).join(',')}}`
const lineColumns = sql.raw(
  'run_id, line, period, kind, usage_line_id, original_id, original, version_number, "from", meter, model, cards, rental_id, rental_name, payer, base, amounts',
)
/** In which statement lines stand, behind so many others. */
export interface Place {
  readonly run_id: string
  readonly after: number
}
/** Keeps what was noted with its shares. */
export async function insertUses(
  tx: Tx,
  { run_id, after }: Place,
  of: readonly { usage_line_id: number; kind: 'use' | 'late'; version_number: number; amounts: readonly bigint[] }[],
): Promise<LineRow[]> {
  if (of.length === 0) return []
  const { rows } = await sql<LineRow>`
    insert into split_lines (${lineColumns})
    select ${run_id}::uuid, ${after} + row_number() over (order by taken.id), taken.period, share.kind, taken.id, null, null, share.version_number, taken."from", taken.meter, taken.model, taken.cards,
      taken.rental_id, taken.rental_name, taken.payer, taken.amount, share.amounts::numeric[]
    from unnest(${arrayOf(of.map((one) => one.usage_line_id))}::bigint[], ${arrayOf(of.map((one) => one.kind))}::text[],
      ${arrayOf(of.map((one) => one.version_number))}::bigint[], ${arraysOf(of.map((one) => one.amounts))}::text[]) as share (id, kind, version_number, amounts)
    join split_taken as taken on taken.id = share.id
    order by taken.id
    returning *
  `.execute(tx)
  return rows
}
/** Keeps what takes lines back. */
export async function insertRefunds(
  tx: Tx,
  { run_id, after }: Place,
  of: readonly { original_id: number; base: string; amounts: readonly string[] }[],
): Promise<LineRow[]> {
  const { rows } = await sql<LineRow>`
    insert into split_lines (${lineColumns})
    select ${run_id}::uuid, ${after} + row_number() over (order by line.id), line.period, 'refund', null, line.id, run.period || '/' || line.line, line.version_number, line."from", line.meter, line.model, line.cards,
      line.rental_id, line.rental_name, line.payer, refund.base, refund.amounts::numeric[]
    from unnest(${arrayOf(of.map((one) => one.original_id))}::bigint[], ${arrayOf(of.map((one) => one.base))}::numeric[],
      ${arraysOf(of.map((one) => one.amounts))}::text[]) as refund (id, base, amounts)
    join split_lines as line on line.id = refund.id
    join split_runs as run on run.id = line.run_id
    order by line.id
    returning *
  `.execute(tx)
  return rows
}
/** Keeps what floor or cap moves. */
export const insertAdjustment = (
  tx: Tx,
  { run_id, after }: Place,
  { period, version_number, amounts }: { period: string; version_number: number; amounts: string[] },
): Promise<LineRow> =>
  tx
    .insertInto('split_lines')
    .values({
      run_id,
      line: after + 1,
      period,
      kind: 'adjustment',
      usage_line_id: null,
      original_id: null,
      original: null,
      version_number,
      from: null,
      meter: null,
      model: null,
      cards: [],
      rental_id: null,
      rental_name: null,
      payer: null,
      base: '0',
      amounts,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
/** What a provider had of each month by a contract, with what floor and cap have moved so far. */
export async function earnedByPeriod(on: Sql, contractId: string): Promise<{ period: string; version_number: number; earned: string; moved: string }[]> {
  const { rows } = await sql<{ period: string; version_number: number; earned: string; moved: string }>`
    select line.period, max(line.version_number) as version_number,
      coalesce(sum(line.amounts[2]) filter (where line.kind <> 'adjustment'), 0)::text as earned,
      coalesce(sum(line.amounts[2]) filter (where line.kind = 'adjustment'), 0)::text as moved
    from split_lines as line join split_runs as run on run.id = line.run_id
    where run.contract_id = ${contractId}
    group by line.period
  `.execute(on)
  return rows
}

export const accountsOf = (on: Sql, providerId: string) =>
  on
    .selectFrom('split_accounts')
    .innerJoin('users', 'users.id', 'split_accounts.user_id')
    .select(['users.id', sql<string>`coalesce(users.name, users.former_name, '')`.as('name'), 'split_accounts.created_at'])
    .where('provider_id', '=', providerId)
    .orderBy('users.name')
    .execute()
export const insertAccount: (on: Sql, row: Insertable<Tables['split_accounts']>) => Promise<void> = insertsInto('split_accounts')
export const removeAccount = async (on: Sql, providerId: string, userId: string): Promise<boolean> =>
  (await on.deleteFrom('split_accounts').where('provider_id', '=', providerId).where('user_id', '=', userId).returning('user_id').executeTakeFirst()) !==
  undefined
/** Where mail to somebody goes; null where it goes nowhere. */
export const addressOf = async (on: Sql, userId: string): Promise<string | null> =>
  (await on.selectFrom('users').select('email').where('id', '=', userId).where('status', '=', 'active').where('deleted_at', 'is', null).executeTakeFirst())
    ?.email ?? null
export const rolesOf = async (on: Sql, userId: string): Promise<Role[]> =>
  (await on.selectFrom('user_roles').select('role').where('user_id', '=', userId).execute()).map(({ role }) => role)

interface ProviderRow {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly bp_name: string | null
  readonly card_count: number
  readonly contract_count: number
  readonly account_count: number
  readonly paid: string
  readonly waiting: string
  readonly created_at: Date
}
/** Providers with what they have and had. */
export async function providersShown(on: Sql, scope: SplitScope): Promise<ProviderRow[]> {
  const { rows } = await sql<ProviderRow>`
    select provider.id, provider.name, provider.status, organisation.name as bp_name, provider.created_at,
      (select count(*) from market_stock as stock where stock.provider_id = provider.id) as card_count,
      (select count(*) from split_contracts where provider_id = provider.id) as contract_count,
      (select count(*) from split_accounts where provider_id = provider.id) as account_count,
      coalesce((select sum(amount) from split_entries where provider_id = provider.id and party = ${providerParty} and account = 'paid'), 0)::text as paid,
      coalesce((select sum(amount) from split_entries where provider_id = provider.id and party = ${providerParty} and account in ('pending', 'payable', 'transit')), 0)::text as waiting
    from market_providers as provider
    left join organisations as organisation on organisation.id = provider.bp_id
    where ${ofProvider(scope, 'provider.id')}
    order by provider.name
  `.execute(on)
  return rows
}

/** What machines were sold for: by day, by model, and by hour of the week. Card hours, and yuan in minor units. */
export async function sold(on: Sql, scope: SplitScope, { from, model }: { from: Date; model: string | null }) {
  const lines = sql`
    select line."from" at time zone 'Asia/Shanghai' as at, (line.attributes ->> 'provider_id')::uuid as provider_id, line.attributes -> 'cards' -> 0 ->> 'model' as model,
      case when line.meter = 'market.card' then line.quantity * line.seconds / 3600.0 else 0 end as hours, line.amount::numeric as amount
    from usage_lines as line
    where line.attributes is not null and line.voided_at is null and line."from" >= ${from}
      and ${scope !== null && 'provider_id' in scope ? sql`line.attributes ->> 'provider_id' = ${scope.provider_id}` : sql`${scope !== null}::boolean`}
      and ${model === null ? sql`true` : sql`line.attributes -> 'cards' -> 0 ->> 'model' = ${model}`}
  `
  const days = await sql<{ day: string; hours: number; amount: string }>`
    select to_char(at, 'YYYY-MM-DD') as day, sum(hours)::float8 as hours, sum(amount)::text as amount from (${lines}) as sold group by 1 order by 1
  `.execute(on)
  const models = await sql<{ provider_id: string; provider_name: string; model: string; hours: number; amount: string; cards: number }>`
    select sold.provider_id, coalesce(provider.name, '') as provider_name, sold.model, sum(hours)::float8 as hours, sum(amount)::text as amount,
      (select count(*) from market_stock as stock where stock.provider_id = sold.provider_id and stock.model = sold.model) as cards
    from (${lines}) as sold left join market_providers as provider on provider.id = sold.provider_id
    where sold.model is not null
    group by 1, 2, 3 order by sum(amount) desc
  `.execute(on)
  const week = await sql<{ weekday: number; hour: number; hours: number }>`
    select extract(isodow from at)::int as weekday, extract(hour from at)::int as hour, sum(hours)::float8 as hours from (${lines}) as sold group by 1, 2
  `.execute(on)
  return { days: days.rows, models: models.rows, week: week.rows }
}

export interface SoldLine {
  readonly from: Date
  readonly meter: string
  readonly variant: string
  readonly provider_id: string
  readonly provider_name: string
  readonly model: string | null
  readonly cards: string[]
  readonly rental_id: string
  readonly rental_name: string
  readonly order: { id: string; number: string } | null
  readonly payer: string
  readonly amount: string
}
/** The lines of use that such figures are of. */
export async function soldLines(
  on: Sql,
  scope: SplitScope,
  since: Date,
  { provider_id, model, day, sort, page_num, page_size }: QueryOf<(typeof splitFigures)['lines']>,
): Promise<{ total: number; rows: SoldLine[] }> {
  const found = sql`
    from usage_lines as line
    where line.attributes is not null and line.voided_at is null and line."from" >= ${since}
      and ${scope !== null && 'provider_id' in scope ? sql`line.attributes ->> 'provider_id' = ${scope.provider_id}` : sql`${scope !== null}::boolean`}
      and ${provider_id === undefined ? sql`true` : sql`line.attributes ->> 'provider_id' = ${provider_id}`}
      and ${model === undefined ? sql`true` : sql`${modelOf} = ${model}`}
      and ${day === undefined ? sql`true` : sql`line."from" >= ${day}::date::timestamp at time zone 'Asia/Shanghai' and line."from" < (${day}::date + 1)::timestamp at time zone 'Asia/Shanghai'`}
  `
  const wish = sort ?? '-from'
  const order = sql`line.${sql.ref(wish.replace('-', ''))} ${sql.raw(wish.startsWith('-') ? 'desc' : 'asc')}, line.id`
  const counted = await sql<{ total: number }>`select count(*) as total ${found}`.execute(on)
  const { rows } = await sql<SoldLine>`
    select line."from", line.meter, line.variant, (line.attributes ->> 'provider_id') as provider_id, coalesce(provider.name, '') as provider_name, ${modelOf} as model,
      coalesce((select array_agg(card ->> 'uuid') from jsonb_array_elements(line.attributes -> 'cards') as card), '{}') as cards,
      line.resource_id as rental_id, coalesce(rental.name, '') as rental_name, ${orderFor('line.resource_id')} as order, coalesce(payer.name, '') as payer, line.amount
    from (select line.* ${found} order by ${order} limit ${page_size} offset ${(page_num - 1) * page_size}) as line
    left join market_providers as provider on provider.id::text = line.attributes ->> 'provider_id'
    left join market_rentals as rental on rental.id = line.resource_id
    left join organisations as payer on payer.id = line.bp_id
    order by ${order}
  `.execute(on)
  return { total: counted.rows[0]?.total ?? 0, rows }
}
