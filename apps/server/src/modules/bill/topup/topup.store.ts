import type { SignType, TopupMethod, TopupStatus, topups } from '@zhisuan/contract/bill/topup'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type ColumnType, type Insertable, type Selectable } from 'kysely'
import type { Actor, Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { containing, counted, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { ownerName } from '../account/account.store.ts'

/** Minor units, as the ledger has them. */
type Minor = ColumnType<string, string, string>

interface PaymentChannelTable {
  id: string
  name: string
  enabled: boolean
  gateway: string
  merchant_id: string
  sign_type: SignType
  gateway_public_key: string
  /** Sealed. */
  key: string
  created_at: Date
  updated_at: Date
}
interface TopupTable {
  id: string
  owner_id: string
  method: TopupMethod
  /** `expired` is not written: see {@link statusAt}. */
  status: Exclude<TopupStatus, 'expired'>
  amount: Minor
  received: ColumnType<string | null, string | null, string | null>
  code: string
  channel_id: string | null
  reference: string
  note: string
  created_by: string | null
  created_by_name: string
  confirmed_by_name: string
  created_at: Date
  expires_at: Date | null
  ended_at: Date | null
  /** When the gateway was last asked about it. */
  asked_at: Date | null
  transaction_id: string | null
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    payment_channels: PaymentChannelTable
    topups: TopupTable
  }
}
export type ChannelRow = Selectable<PaymentChannelTable>
export type TopupRow = Selectable<TopupTable>

export const topupMigrations: Migrations = {
  '20261123_00_54_topups': migration(`
    create table payment_channels (
      id uuid primary key,
      name text not null,
      enabled boolean not null,
      gateway text not null,
      merchant_id text not null,
      sign_type text not null,
      gateway_public_key text not null,
      key text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create unique index payment_channels_name on payment_channels (name);

    create table topups (
      id uuid primary key,
      owner_id uuid not null references accounts,
      method text not null check (method in ('remittance', 'online', 'admin')),
      status text not null check (status in ('waiting', 'confirmed', 'cancelled')),
      amount numeric(38, 0) not null check (amount > 0),
      received numeric(38, 0) check (received > 0),
      code text not null,
      channel_id uuid references payment_channels,
      reference text not null,
      note text not null,
      created_by uuid,
      created_by_name text not null,
      confirmed_by_name text not null,
      created_at timestamptz not null,
      expires_at timestamptz,
      ended_at timestamptz,
      asked_at timestamptz,
      transaction_id uuid references ledger_transactions,
      constraint topups_transaction unique (transaction_id),
      -- Money came if and only if the ledger says so.
      check ((status = 'confirmed') = (transaction_id is not null) and (status = 'confirmed') = (received is not null)),
      check ((method = 'online') = (channel_id is not null))
    );
    create unique index topups_code on topups (code) where code <> '';
    -- A payment at a gateway pays for one order.
    create unique index topups_reference on topups (channel_id, reference) where channel_id is not null and reference <> '';
    create index topups_owner on topups (owner_id, created_at, id);
    create index topups_newest on topups (created_at, id);
    create index topups_unpaid on topups (created_at) where method = 'online' and status <> 'confirmed';

    -- What administrators charged before this was kept.
    insert into topups (id, owner_id, method, status, amount, received, code, reference, note, created_by, created_by_name, confirmed_by_name, created_at, ended_at, transaction_id)
      select movement.id, movement.owner_id, 'admin', 'confirmed', -entry.amount, -entry.amount, '', '', movement.note, movement.created_by, movement.created_by_name, movement.created_by_name, movement.at, movement.at, movement.id
      from ledger_transactions as movement
      join ledger_entries as entry on entry.transaction_id = movement.id and entry.account = 'funds'
      where movement.kind = 'topup';
  `),
}

/** One that nobody paid in time has expired, without anybody having to write it down. */
const statusAt = (now: Date) => sql<TopupStatus>`case when topups.status = 'waiting' and topups.expires_at <= ${now} then 'expired' else topups.status end`

const withNames = (on: Sql, now: Date) =>
  on
    .selectFrom('topups')
    .leftJoin('organisations', 'organisations.id', 'topups.owner_id')
    .leftJoin('users', 'users.id', 'topups.owner_id')
    .leftJoin('payment_channels', 'payment_channels.id', 'topups.channel_id')
    .selectAll('topups')
    .select([ownerName.as('owner_name'), 'payment_channels.name as channel_name', statusAt(now).as('status_now')])

const order = orderOf('topups', '-created_at', 'created_at', 'amount')

export type TopupFilters = Omit<QueryOf<typeof topups.list>, 'page_num' | 'page_size' | 'sort'>

const filtered = (on: Sql, scope: Scope, { keyword, status, method, owner_id }: TopupFilters, now: Date) =>
  withNames(on, now)
    .where(within(scope, 'topups.owner_id'))
    .$if(owner_id !== undefined, (q) => q.where('topups.owner_id', '=', owner_id ?? ''))
    .$if(method !== undefined, (q) => q.where('topups.method', '=', method ?? 'admin'))
    .$if(status !== undefined, (q) => q.where(sql<boolean>`${statusAt(now)} = ${status}`))
    .$if(keyword !== undefined && keyword !== '', (q) => {
      const like = containing(keyword ?? '')
      return q.where(sql<boolean>`(topups.code ilike ${like} or topups.reference ilike ${like} or topups.note ilike ${like} or ${ownerName} ilike ${like})`)
    })

export function listTopups(on: Sql, scope: Scope, query: QueryOf<typeof topups.list>, now: Date) {
  const found = filtered(on, scope, query, now)
  return pageWithTotal(paged(found, query, order), found, query)
}

/** The oldest after one. */
export const oldestTopups = (on: Sql, scope: Scope, filters: TopupFilters, after: { id: string; place: string } | null, limit: number, now: Date) =>
  filtered(on, scope, filters, now)
    // To the microsecond, which a Date is not.
    .select(sql<string>`topups.created_at::text`.as('place'))
    .$if(after !== null, (q) => q.where(sql<boolean>`(topups.created_at, topups.id) > (${after?.place ?? ''}::timestamptz, ${after?.id ?? ''}::uuid)`))
    .orderBy('topups.created_at')
    .orderBy('topups.id')
    .limit(limit)
    .execute()
export type PlacedTopup = Awaited<ReturnType<typeof oldestTopups>>[number]
export type ShownTopup = NonNullable<Awaited<ReturnType<typeof showTopup>>>

export const showTopup = (on: Sql, scope: Scope, id: string, now: Date) =>
  withNames(on, now).where(within(scope, 'topups.owner_id')).where('topups.id', '=', id).executeTakeFirst()

/** Held until the transaction ends. */
export const lockTopup = (tx: Tx, scope: Scope, id: string): Promise<TopupRow | undefined> =>
  tx.selectFrom('topups').selectAll().where(within(scope, 'owner_id')).where('id', '=', id).forUpdate().executeTakeFirst()

export const lockByCode = (tx: Tx, method: TopupMethod, code: string): Promise<TopupRow | undefined> =>
  tx.selectFrom('topups').selectAll().where('code', '=', code).where('code', '<>', '').where('method', '=', method).forUpdate().executeTakeFirst()

export const insertTopup = async (tx: Tx, row: Insertable<TopupTable>): Promise<void> => {
  await tx
    .insertInto('topups')
    .values(row)
    .onConflict((conflict) => conflict.constraint('topups_transaction').doNothing())
    .execute()
}

/** An administrator's charge, of which the ledger knows already; the same movement again is the same charge. */
export const recordCharge = (
  tx: Tx,
  {
    owner_id,
    amount,
    note,
    by,
    transaction_id,
    at,
  }: { owner_id: string; amount: bigint; note: string; by: Pick<Actor, 'user_id' | 'name'>; transaction_id: string; at: Date },
): Promise<void> =>
  insertTopup(tx, {
    id: uuidv7(),
    owner_id,
    method: 'admin',
    status: 'confirmed',
    amount: String(amount),
    received: String(amount),
    code: '',
    reference: '',
    note,
    created_by: by.user_id,
    created_by_name: by.name,
    confirmed_by_name: by.name,
    created_at: at,
    ended_at: at,
    transaction_id,
  })

export const { update: updateTopup } = rowsOf('topups')

/** Those that somebody may still pay. */
export const countOpen = (tx: Sql, ownerId: string, method: TopupMethod, now: Date): Promise<number> =>
  counted(tx.selectFrom('topups').where('owner_id', '=', ownerId).where('method', '=', method).where('status', '=', 'waiting').where('expires_at', '>', now))

/**
 * Payments that nothing was heard of, each to be asked about by one server: soon at first, then
 * each time after a quarter of its age more, and no longer than some days.
 */
export const claimUnpaid = (
  on: Sql,
  now: Date,
  limits: { youngestMs: number; oldestMs: number; many: number },
): Promise<Pick<TopupRow, 'id' | 'code' | 'channel_id'>[]> =>
  on
    .updateTable('topups')
    .set({ asked_at: now })
    .where('id', 'in', (part) =>
      part
        .selectFrom('topups')
        .select('id')
        .where('method', '=', 'online')
        .where('status', '<>', 'confirmed')
        .where('created_at', '<=', new Date(now.getTime() - limits.youngestMs))
        .where('created_at', '>', new Date(now.getTime() - limits.oldestMs))
        .where(sql<boolean>`(asked_at is null or asked_at <= ${now}::timestamptz - (${now}::timestamptz - created_at) / 4)`)
        .orderBy(sql`asked_at nulls first`)
        .limit(limits.many)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'code', 'channel_id'])
    .execute()

export const channelNameIndex = 'payment_channels_name'

const withUse = (on: Sql) =>
  on
    .selectFrom('payment_channels')
    .selectAll('payment_channels')
    .select(sql<number>`(select count(*) from topups where topups.channel_id = payment_channels.id)`.as('topup_count'))
export type ShownChannel = Awaited<ReturnType<typeof listChannels>>[number]

export const listChannels = (on: Sql) => withUse(on).orderBy('name').execute()
export const showChannel = (on: Sql, id: string) => withUse(on).where('id', '=', id).executeTakeFirst()
export const enabledChannels = (on: Sql): Promise<{ id: string; name: string }[]> =>
  on.selectFrom('payment_channels').select(['id', 'name']).where('enabled', '=', true).orderBy('name').execute()
export const findChannel = (on: Sql, id: string): Promise<ChannelRow | undefined> =>
  on.selectFrom('payment_channels').selectAll().where('id', '=', id).executeTakeFirst()
export const { insert: insertChannel, update: updateChannel, remove: deleteChannel, lockAny: lockChannel } = rowsOf('payment_channels')
export const isUsed = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.selectFrom('topups').select('id').where('channel_id', '=', id).limit(1).executeTakeFirst()) !== undefined
