import type { SignType } from '@zhisuan/contract/bill/topup'
import type { PayoutStatus, splitPayouts } from '@zhisuan/contract/split/payout'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Generated, type Insertable, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, orderOf, pageOf } from '../../../platform/db/page.ts'
import { insertsInto, rowsOf } from '../../../platform/db/rows.ts'
import { ofProvider, type SplitScope } from '../scope.ts'

interface PayoutTable {
  /** The key that the channel pays it under, once. */
  id: string
  provider_id: string
  /** Minor units, whole fen. */
  amount: string
  status: PayoutStatus
  /** Whether it is above what one person may decide. */
  four_eyes: boolean
  approved_by: string | null
  approved_by_name: string | null
  bank_id: string | null
  /** Through which channel it was sent; null until it is. */
  channel_id: string | null
  reference: string
  reason: string
  asked_by: string
  asked_by_name: string
  created_at: Date
  claimed_at: Date | null
  sent_at: Date | null
  done_at: Date | null
  ended_at: Date | null
  /** When the channel was last asked about it. */
  queried_at: Date | null
  /** How often two people said that it is otherwise than the channel did. */
  corrected: Generated<number>
}
interface PartTable {
  payout_id: string
  run_id: string
  amount: string
}
interface ChannelTable {
  only_one: boolean
  id: string
  enabled: boolean
  gateway: string
  merchant_id: string
  sign_type: SignType
  gateway_public_key: string
  /** Sealed. */
  key: string
  updated_at: Date
}
/** Channels that another one took the place of: they are still asked about what went through them. */
interface FormerChannelTable {
  id: string
  gateway: string
  merchant_id: string
  sign_type: SignType
  gateway_public_key: string
  /** Sealed. */
  key: string
  until: Date
}
/** What is to become the channel once somebody else approves it. */
interface WaitingChannelTable extends Omit<ChannelTable, 'updated_at'> {
  asked_by: string
  asked_by_name: string
  created_at: Date
}
interface NonceTable {
  nonce: string
  at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    split_payouts: PayoutTable
    split_payout_parts: PartTable
    split_channel: ChannelTable
    split_former_channels: FormerChannelTable
    split_waiting_channel: WaitingChannelTable
    split_channel_nonces: NonceTable
  }
}
export type PayoutRow = Selectable<PayoutTable>
export type ChannelRow = Selectable<ChannelTable>
type WaitingRow = Selectable<WaitingChannelTable>
export type FormerChannelRow = Selectable<FormerChannelTable>

export const payoutMigrations: Migrations = {
  '20261201_42_split_payouts': migration(`
    create table split_payouts (
      id uuid primary key,
      provider_id uuid not null references market_providers,
      -- Banks know no less than a fen.
      amount numeric(38, 0) not null check (amount > 0 and amount % 1000000 = 0),
      status text not null check (status in ('asked', 'claimed', 'sent', 'done', 'failed', 'returned', 'withdrawn')),
      four_eyes boolean not null,
      approved_by uuid,
      approved_by_name text,
      bank_id uuid references split_bank_details,
      reference text not null,
      reason text not null,
      asked_by uuid not null,
      asked_by_name text not null,
      created_at timestamptz not null,
      claimed_at timestamptz,
      sent_at timestamptz,
      done_at timestamptz,
      ended_at timestamptz,
      queried_at timestamptz,
      constraint split_payouts_two check (approved_by <> asked_by),
      constraint split_payouts_claimed check (status in ('asked', 'withdrawn') or (claimed_at is not null and bank_id is not null)),
      constraint split_payouts_approved check (status in ('asked', 'withdrawn') or not four_eyes or approved_by is not null)
    );
    create index split_payouts_provider on split_payouts (provider_id, created_at, id);
    create index split_payouts_newest on split_payouts (created_at, id);
    create index split_payouts_open on split_payouts (claimed_at) where status in ('asked', 'claimed', 'sent');
    create index split_payouts_done on split_payouts (done_at);
    create index split_payouts_ended on split_payouts (ended_at);
    -- A payment of the channel is of one payout.
    create unique index split_payouts_reference on split_payouts (reference) where reference <> '';
    create table split_payout_parts (
      payout_id uuid not null references split_payouts,
      run_id uuid not null references split_runs,
      amount numeric(38, 0) not null check (amount <> 0),
      primary key (payout_id, run_id)
    );
    create index split_payout_parts_run on split_payout_parts (run_id);
    create table split_channel (
      only_one boolean primary key default true check (only_one),
      id uuid not null,
      enabled boolean not null,
      gateway text not null,
      merchant_id text not null,
      sign_type text not null,
      gateway_public_key text not null,
      key text not null,
      updated_at timestamptz not null
    );
    create table split_channel_nonces (nonce text primary key, at timestamptz not null);
    create index split_channel_nonces_at on split_channel_nonces (at);
    create index split_movements_run on split_movements (run_id);
  `),
  '20261202_21_split_former_channels': migration(`
    create table split_former_channels (
      id uuid primary key,
      gateway text not null,
      merchant_id text not null,
      sign_type text not null,
      gateway_public_key text not null,
      key text not null,
      until timestamptz not null
    );
    alter table split_payouts add column channel_id uuid;
    update split_payouts set channel_id = (select id from split_channel) where status not in ('asked', 'withdrawn');
    create index split_payouts_channel on split_payouts (channel_id, claimed_at);
    -- Channels number their payments each for itself.
    drop index split_payouts_reference;
    create unique index split_payouts_reference on split_payouts (channel_id, reference) nulls not distinct where reference <> '';
    alter table split_reconciliations add column channel_id uuid;
    update split_reconciliations set channel_id = (select id from split_channel);
    alter table split_reconciliations drop constraint split_reconciliations_day,
      add constraint split_reconciliations_day unique nulls not distinct (day, channel_id);
    alter table split_cases add column channel_id uuid;
    update split_cases set channel_id = (select id from split_channel);
    alter table split_cases drop constraint split_cases_once, add constraint split_cases_once unique nulls not distinct (day, kind, key, channel_id);
  `),
  '20261202_22_split_waiting_channel': migration(`
    create table split_waiting_channel (
      only_one boolean primary key default true check (only_one),
      id uuid not null,
      enabled boolean not null,
      gateway text not null,
      merchant_id text not null,
      sign_type text not null,
      gateway_public_key text not null,
      key text not null,
      asked_by uuid not null,
      asked_by_name text not null,
      created_at timestamptz not null
    );
  `),
}

export const { insert: insertPayout, update: updatePayout, lockAny: lockPayoutOf } = rowsOf('split_payouts')
export const insertParts: (tx: Tx, rows: readonly Insertable<Tables['split_payout_parts']>[]) => Promise<void> = insertsInto('split_payout_parts')
export const lockPayout = (tx: Tx, scope: SplitScope, id: string): Promise<PayoutRow | undefined> =>
  tx.selectFrom('split_payouts').selectAll().where('id', '=', id).where(ofProvider(scope, 'provider_id')).forUpdate().executeTakeFirst()

/** Holds what a provider is owed until the transaction ends: who decides about it has to. False where there is no such provider. */
export const lockOwed = async (tx: Tx, providerId: string): Promise<boolean> =>
  (await tx.selectFrom('market_providers').select('id').where('id', '=', providerId).forNoKeyUpdate().executeTakeFirst()) !== undefined

interface ShownPart {
  readonly id: string
  readonly period: string
  /** As text: JSON knows no numbers of that size. */
  readonly amount: string
}
export type ShownPayout = PayoutRow & { provider_name: string; bank: string | null; account: string | null; runs: readonly ShownPart[] }
const shownPayouts = (on: Sql) =>
  on
    .selectFrom('split_payouts')
    .innerJoin('market_providers', 'market_providers.id', 'split_payouts.provider_id')
    .leftJoin('split_bank_details', 'split_bank_details.id', 'split_payouts.bank_id')
    .selectAll('split_payouts')
    .select([
      'market_providers.name as provider_name',
      'split_bank_details.bank',
      'split_bank_details.account',
      sql<readonly ShownPart[]>`coalesce((
        select jsonb_agg(jsonb_build_object('id', run.id, 'period', run.period, 'amount', part.amount::text) order by run.period, run.id)
        from split_payout_parts as part join split_runs as run on run.id = part.run_id where part.payout_id = split_payouts.id
      ), '[]')`.as('runs'),
    ])
export const listPayouts = (on: Sql, scope: SplitScope, query: QueryOf<(typeof splitPayouts)['list']>): Promise<{ total: number; rows: ShownPayout[] }> =>
  pageOf(
    on
      .selectFrom('split_payouts')
      .where(ofProvider(scope, 'split_payouts.provider_id'))
      .where(asked(query, 'split_payouts', 'provider_id', 'status')),
    query,
    orderOf('split_payouts', '-created_at', 'created_at', 'amount'),
    (ids) => shownPayouts(on).where('split_payouts.id', 'in', ids),
  )
export const getPayout = (on: Sql, scope: SplitScope, id: string): Promise<ShownPayout | undefined> =>
  shownPayouts(on).where('split_payouts.id', '=', id).where(ofProvider(scope, 'split_payouts.provider_id')).executeTakeFirst()

/** What of each party of a run is not paid, minor units; of the provider also how much of it is asked to be paid. */
export interface OpenRun {
  readonly id: string
  readonly contract_id: string
  readonly status: string
  readonly created_by: string
  readonly open: readonly bigint[]
  /** Of the provider, in payouts that have not ended. */
  readonly asked: bigint
}
/** Of statements that were confirmed, the oldest first. @param runIds of these only */
export async function openRuns(on: Sql, providerId: string, runIds?: readonly string[]): Promise<OpenRun[]> {
  const { rows } = await sql<{ id: string; contract_id: string; status: string; created_by: string; open: string[]; asked: string }>`
    select run.id, run.contract_id, run.status, run.created_by,
      (select array_agg((case when share.number = 1 then 0 else share.amount
        - coalesce((select sum(entry.amount) from split_movements as movement join split_entries as entry on entry.movement_id = movement.id
            where movement.run_id = run.id and movement.kind = 'noted' and entry.account = 'paid' and entry.party = share.number - 1), 0)
        - case when share.number = 2 then parts.done + parts.asked else 0 end end)::text order by share.number)
        from unnest(run.amounts) with ordinality as share (amount, number)) as open,
      parts.asked::text as asked
    from split_runs as run
    cross join lateral (
      select coalesce(sum(part.amount) filter (where payout.status = 'done'), 0) as done,
        coalesce(sum(part.amount) filter (where payout.status in ('asked', 'claimed', 'sent')), 0) as asked
      from split_payout_parts as part join split_payouts as payout on payout.id = part.payout_id where part.run_id = run.id
    ) as parts
    where run.provider_id = ${providerId} and run.status in ('confirmed', 'paid')
      and ${runIds === undefined ? sql`true` : sql`run.id = any(${[...runIds]}::uuid[])`}
    order by run.period, run.id
  `.execute(on)
  return rows.map(({ open, asked: waits, ...run }) => ({ ...run, open: open.map(BigInt), asked: BigInt(waits) }))
}
export const bankOf = (on: Sql, id: string) => on.selectFrom('split_bank_details').select(['id', 'sealed']).where('id', '=', id).executeTakeFirst()
export const channelOf = async (on: Sql, id: string): Promise<string | null | undefined> =>
  (await on.selectFrom('split_payouts').select('channel_id').where('id', '=', id).executeTakeFirst())?.channel_id
export const runsOfPayout = async (on: Sql, payoutId: string): Promise<string[]> =>
  (await on.selectFrom('split_payout_parts').select('run_id').where('payout_id', '=', payoutId).execute()).map(({ run_id }) => run_id)

export const deleteParts = async (tx: Tx, payoutId: string): Promise<void> => {
  await tx.deleteFrom('split_payout_parts').where('payout_id', '=', payoutId).execute()
}

/** Those that may be sent, held; who else looks passes them over. */
export const sendable = (tx: Tx, limit: number): Promise<PayoutRow[]> =>
  tx
    .selectFrom('split_payouts')
    .selectAll()
    .where('status', '=', 'asked')
    .where(sql<boolean>`(not four_eyes or approved_by is not null)`)
    .where(sql<boolean>`exists (select from market_providers as provider where provider.id = provider_id and provider.status <> 'disabled')`)
    .orderBy('created_at')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute()

/** What a provider is to be paid by what one person alone decided, since a moment; minor units. */
export async function decidedAlone(on: Sql, providerId: string, since: Date): Promise<bigint> {
  const { amount } = await on
    .selectFrom('split_payouts')
    .select(sql<string>`coalesce(sum(amount), 0)::text`.as('amount'))
    .where('provider_id', '=', providerId)
    .where('four_eyes', '=', false)
    .where('status', 'not in', ['withdrawn', 'failed'])
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow()
  return BigInt(amount)
}

/** Open ones that nothing was heard of for a while, each to be asked about by one server: soon at first, then each time after a quarter of its age more. */
export const claimSilent = (on: Sql, now: Date, limits: { readonly youngestMs: number; readonly many: number }): Promise<PayoutRow[]> =>
  on
    .updateTable('split_payouts')
    .set({ queried_at: now })
    .where('id', 'in', (part) =>
      part
        .selectFrom('split_payouts')
        .select('id')
        .where('status', 'in', ['claimed', 'sent'])
        .where('claimed_at', '<=', new Date(now.getTime() - limits.youngestMs))
        .where(sql<boolean>`(queried_at is null or queried_at <= ${now}::timestamptz - least((${now}::timestamptz - claimed_at) / 4, interval '6 hours'))`)
        .orderBy(sql`queried_at nulls first`)
        .limit(limits.many)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .execute()

export const getChannel = (on: Sql): Promise<ChannelRow | undefined> => on.selectFrom('split_channel').selectAll().executeTakeFirst()
/** Held so that it stays what it is until the transaction ends; others may hold it, too. */
export const holdChannel = (tx: Tx): Promise<ChannelRow | undefined> => tx.selectFrom('split_channel').selectAll().forShare().executeTakeFirst()
export const lockChannel = (tx: Tx): Promise<ChannelRow | undefined> => tx.selectFrom('split_channel').selectAll().forUpdate().executeTakeFirst()
export const writeChannel = async (tx: Tx, row: Insertable<ChannelTable>): Promise<void> => {
  await tx
    .insertInto('split_channel')
    .values(row)
    .onConflict((conflict) => conflict.column('only_one').doUpdateSet(row))
    .execute()
}
export const getWaiting = (on: Sql): Promise<WaitingRow | undefined> => on.selectFrom('split_waiting_channel').selectAll().executeTakeFirst()
export const lockWaiting = (tx: Tx, id: string): Promise<WaitingRow | undefined> =>
  tx.selectFrom('split_waiting_channel').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
/** In the place of what waited before. */
export const writeWaiting = async (tx: Tx, row: Insertable<WaitingChannelTable>): Promise<void> => {
  await tx
    .insertInto('split_waiting_channel')
    .values(row)
    .onConflict((conflict) => conflict.column('only_one').doUpdateSet(row))
    .execute()
}
export const deleteWaiting = async (tx: Tx): Promise<void> => {
  await tx.deleteFrom('split_waiting_channel').execute()
}
export const { insert: insertFormerChannel } = rowsOf('split_former_channels')
/** The newest first. */
export const formerChannels = (on: Sql): Promise<FormerChannelRow[]> => on.selectFrom('split_former_channels').selectAll().orderBy('until', 'desc').execute()
/** Payouts that the channel may have, and that have not ended. */
export const countOpen = async (on: Sql): Promise<number> =>
  Number(
    (
      await on
        .selectFrom('split_payouts')
        .select(sql<string>`count(*)`.as('count'))
        .where('status', 'in', ['claimed', 'sent'])
        .executeTakeFirstOrThrow()
    ).count,
  )

/** False where it was said before. */
export const rememberNonce = async (tx: Tx, nonce: string, at: Date): Promise<boolean> =>
  (await tx
    .insertInto('split_channel_nonces')
    .values({ nonce, at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('nonce')
    .executeTakeFirst()) !== undefined
export const forgetNonces = async (on: Sql, before: Date): Promise<void> => {
  await on.deleteFrom('split_channel_nonces').where('at', '<', before).execute()
}
