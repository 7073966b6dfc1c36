import type { LedgerAccount, LedgerKind } from '@zhisuan/contract/bill/account'
import { ownersAccounts } from '@zhisuan/contract/bill/account'
import { billingZone } from '@zhisuan/contract/bill/meter'
import { sql, type ColumnType, type Generated, type RawBuilder, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { uuidv7 } from '../../../platform/ids.ts'

/** Minor units (contract, bill/money.ts). Numeric, not bigint: text on the way, so that no number of ours ever holds money. */
type Minor = ColumnType<string, string, never>

interface LedgerAccountTable {
  owner_id: string
  account: LedgerAccount
  /** The sum of the account's entries, kept by a trigger. Written by nothing else. */
  balance: ColumnType<string, never, never>
  /** What the balance never leaves; null is open. Of `credit` the lowest is the limit, below 0. */
  lowest: string | null
  highest: string | null
}
interface LedgerTransactionTable {
  id: string
  owner_id: string
  kind: LedgerKind
  /** The same key of the same owner again is the same movement. */
  key: string
  /** What was asked for, to tell a repeated request from another under the same key. */
  request: string
  note: string
  /** The hold that this captures or releases. */
  ends: string | null
  created_by: string | null
  created_by_name: string
  /** The day of Beijing on which it was used that this is charged for; null for what happened when it was moved. */
  used_on: ColumnType<string | null, string | null | undefined, never>
  at: Generated<Date>
}
interface LedgerEntryTable {
  id: Generated<number>
  transaction_id: string
  owner_id: string
  account: LedgerAccount
  amount: Minor
  /** Of the account, after this entry: set by a trigger. */
  balance_after: ColumnType<string, never, never>
  at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    ledger_accounts: LedgerAccountTable
    ledger_transactions: LedgerTransactionTable
    ledger_entries: LedgerEntryTable
  }
}
export type LedgerTransactionRow = Selectable<LedgerTransactionTable>

export const ledgerMigrations: Migrations = {
  '20261123_00_48_ledger': migration(`
    create table ledger_accounts (
      owner_id uuid not null references accounts,
      account text not null check (account in ('wallet', 'held', 'credit', 'receivable', 'revenue', 'funds', 'refunds', 'adjustments')),
      balance numeric(38, 0) not null default 0,
      lowest numeric(38, 0) default 0,
      highest numeric(38, 0),
      primary key (owner_id, account),
      constraint ledger_accounts_bounds check (balance >= lowest and balance <= highest)
    );
    create table ledger_transactions (
      id uuid primary key,
      owner_id uuid not null references accounts,
      kind text not null,
      key text not null,
      request text not null,
      note text not null,
      ends uuid references ledger_transactions,
      created_by uuid,
      created_by_name text not null,
      at timestamptz not null default now(),
      constraint ledger_transactions_key unique (owner_id, key),
      constraint ledger_transactions_ends unique (ends)
    );
    create table ledger_entries (
      id bigint generated always as identity primary key,
      transaction_id uuid not null references ledger_transactions,
      owner_id uuid not null,
      account text not null,
      amount numeric(38, 0) not null check (amount <> 0),
      balance_after numeric(38, 0) not null,
      at timestamptz not null default now(),
      unique (transaction_id, owner_id, account),
      foreign key (owner_id, account) references ledger_accounts
    );
    create index ledger_entries_owner on ledger_entries (owner_id, id);
    create index ledger_transactions_newest on ledger_transactions (owner_id, at);
    create index ledger_transactions_orders on ledger_transactions (owner_id, at) where kind in ('order', 'capture', 'refund');

    -- Before the entry, so that it can tell the balance that it makes.
    create function ledger_entry_counts() returns trigger language plpgsql as $$
    begin
      insert into ledger_accounts (owner_id, account, lowest, highest)
        values (
          new.owner_id,
          new.account,
          case when new.account in ('wallet', 'held', 'credit') then 0 end,
          case when new.account in ('credit', 'receivable') then 0 end
        )
        on conflict do nothing;
      update ledger_accounts set balance = balance + new.amount
        where owner_id = new.owner_id and account = new.account
        returning balance into new.balance_after;
      return new;
    end $$;
    create trigger ledger_entry_counts before insert on ledger_entries
      for each row execute function ledger_entry_counts();

    create function ledger_balance_is_derived() returns trigger language plpgsql as $$
    begin
      -- Depth 1 is a statement of somebody's; the entries' own trigger is deeper.
      if pg_trigger_depth() = 1 then
        raise exception 'a balance is the sum of its entries, and changes with them only';
      end if;
      return new;
    end $$;
    create trigger ledger_balance_is_derived before update of balance on ledger_accounts
      for each row execute function ledger_balance_is_derived();

    -- Double entry: checked when the transaction ends, so that entries may be written one by one.
    create function ledger_transaction_balances() returns trigger language plpgsql as $$
    declare
      movement uuid := case when tg_table_name = 'ledger_entries' then (to_jsonb(new) ->> 'transaction_id')::uuid else (to_jsonb(new) ->> 'id')::uuid end;
      entries integer;
      total numeric;
    begin
      select count(*), sum(amount) into entries, total from ledger_entries where transaction_id = movement;
      if entries < 2 or total <> 0 then
        raise exception 'movement % does not balance', movement;
      end if;
      if (select at from ledger_transactions where id = movement) <> now() then
        raise exception 'movement % is closed', movement;
      end if;
      return null;
    end $$;
    create constraint trigger ledger_entries_balance after insert on ledger_entries
      deferrable initially deferred for each row execute function ledger_transaction_balances();
    create constraint trigger ledger_transactions_balance after insert on ledger_transactions
      deferrable initially deferred for each row execute function ledger_transaction_balances();

    create function ledger_is_append_only() returns trigger language plpgsql as $$
    begin
      raise exception 'the ledger is append-only: correct a movement with another';
    end $$;
    create trigger ledger_is_append_only before update or delete or truncate on ledger_entries
      for each statement execute function ledger_is_append_only();
    create trigger ledger_is_append_only before update or delete or truncate on ledger_transactions
      for each statement execute function ledger_is_append_only();
  `),
  // What was posted before says its month only: the last hours of one were charged in the next.
  '20261128_22_ledger_used_on': migration(`
    alter table ledger_transactions add column used_on date;
    alter table ledger_transactions disable trigger ledger_is_append_only;
    update ledger_transactions
    set used_on = least((at at time zone '${billingZone}')::date, (date_trunc('month', (note || '-01')::timestamp) + interval '1 month - 1 day')::date)
    where kind in ('usage', 'usageCorrection') and note ~ '^20[0-9]{2}-(0[1-9]|1[0-2])$';
    alter table ledger_transactions enable trigger ledger_is_append_only;
  `),
}

/** Balances of an owner by account, in minor units; what was never used is absent. */
export type Balances = Readonly<Partial<Record<LedgerAccount, bigint>>>

export interface Standing {
  balances: Balances
  /** At least 0. */
  creditLimit: bigint
}

/**
 * Holds an owner's account until the transaction ends: who spends has to. False where there is none.
 * Its key does not change, so rows that only refer to it are written meanwhile: else who looks at
 * how an account stands and who pays from it would wait for each other.
 */
export const lockOwner = async (tx: Tx, ownerId: string): Promise<boolean> =>
  (await tx.selectFrom('accounts').select('owner_id').where('owner_id', '=', ownerId).forNoKeyUpdate().executeTakeFirst()) !== undefined

/** Of each of these owners that has an account. */
export async function standings(on: Sql, ownerIds: readonly string[]): Promise<ReadonlyMap<string, Standing>> {
  const result = new Map<string, { balances: Partial<Record<LedgerAccount, bigint>>; creditLimit: bigint }>()
  if (ownerIds.length === 0) return result
  const rows = await on
    .selectFrom('accounts')
    .leftJoin('ledger_accounts', 'ledger_accounts.owner_id', 'accounts.owner_id')
    .select(['accounts.owner_id', 'account', 'balance', 'lowest'])
    .where('accounts.owner_id', 'in', ownerIds)
    .execute()
  for (const { owner_id, account, balance, lowest } of rows) {
    const standing = result.get(owner_id) ?? { balances: {}, creditLimit: 0n }
    result.set(owner_id, standing)
    if (account === null || balance === null) continue
    standing.balances[account] = BigInt(balance)
    if (account === 'credit') standing.creditLimit = -BigInt(lowest ?? '0')
  }
  return result
}

export interface Movement {
  owner_id: string
  kind: LedgerKind
  key: string
  request: string
  note: string
  ends: string | null
  used_on: string | null
  by: { id: string | null; name: string }
}

export const movementByKey = (on: Sql, ownerId: string, key: string): Promise<LedgerTransactionRow | undefined> =>
  on.selectFrom('ledger_transactions').selectAll().where('owner_id', '=', ownerId).where('key', '=', key).executeTakeFirst()

/** Of a hold what is held, and whether something ended it. */
export async function holdOf(on: Sql, ownerId: string, id: string): Promise<{ amount: bigint; ended: boolean } | undefined> {
  const row = await on
    .selectFrom('ledger_transactions as hold')
    .innerJoin('ledger_entries as entry', (join) => join.onRef('entry.transaction_id', '=', 'hold.id').on('entry.account', '=', 'held'))
    .leftJoin('ledger_transactions as ending', 'ending.ends', 'hold.id')
    .select(['entry.amount', 'ending.id as ended'])
    .where('hold.id', '=', id)
    .where('hold.owner_id', '=', ownerId)
    .where('hold.kind', '=', 'hold')
    .executeTakeFirst()
  return row === undefined ? undefined : { amount: BigInt(row.amount), ended: row.ended !== null }
}

/**
 * What orders cost in a month, in minor units: what was paid of those that were delivered in it, less
 * what was given back in it. Below 0 where that is more.
 * @param owners the condition on `movement.owner_id`
 * @param firstDay of the month, which is one of Beijing
 */
export const spentOnOrders = (owners: RawBuilder<boolean>, firstDay: RawBuilder<unknown>): RawBuilder<string> => sql<string>`coalesce((
  select sum(entry.amount)
  from ledger_transactions as movement
  join ledger_entries as entry on entry.transaction_id = movement.id and entry.account in ('revenue', 'refunds')
  where movement.kind in ('order', 'capture', 'refund') and ${owners}
    and movement.at >= (${firstDay})::timestamp at time zone ${billingZone}
    and movement.at < ((${firstDay})::timestamp + interval '1 month') at time zone ${billingZone}
), 0)`

/** Writes a movement; amounts of 0 are left out. Answers its id. */
export async function insertMovement(tx: Tx, { by, ...movement }: Movement, amounts: Partial<Record<LedgerAccount, bigint>>): Promise<string> {
  const id = uuidv7()
  await tx
    .insertInto('ledger_transactions')
    .values({ id, ...movement, created_by: by.id, created_by_name: by.name })
    .execute()
  await tx
    .insertInto('ledger_entries')
    .values(
      // Object.entries loses the key type.
      (Object.entries(amounts) as [LedgerAccount, bigint][])
        .filter(([, amount]) => amount !== 0n)
        .map(([account, amount]) => ({ transaction_id: id, owner_id: movement.owner_id, account, amount: String(amount) })),
    )
    .execute()
  return id
}

/** @param limit at least what was used of it */
export const setLimit = async (tx: Tx, ownerId: string, limit: bigint): Promise<void> => {
  const lowest = String(-limit)
  await tx
    .insertInto('ledger_accounts')
    .values({ owner_id: ownerId, account: 'credit', lowest, highest: '0' })
    .onConflict((conflict) => conflict.columns(['owner_id', 'account']).doUpdateSet({ lowest }))
    .execute()
}

/** The owner's own money: what a balance is the sum of. */
export const isOwners = sql<boolean>`account in (${sql.join(ownersAccounts.filter((account) => account !== 'held'))})`
