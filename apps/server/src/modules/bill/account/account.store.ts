import { sql, type Generated } from 'kysely'
import { migration, type Migrations, type Sql } from '../../../platform/db/database.ts'

interface AccountTable {
  /** The owner: an organisation, or a platform-level user. */
  owner_id: string
  /** In yuan: the sum of the account's ledger entries, kept by a trigger. Written by nothing else. */
  balance: Generated<string>
  created_at: Generated<Date>
}
interface LedgerEntryTable {
  id: string
  /** Entries of one movement; their amounts add up to zero. */
  movement_id: string
  owner_id: string
  /** In yuan; what comes in is positive. */
  amount: string
  at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    accounts: AccountTable
    ledger_entries: LedgerEntryTable
  }
}

export const accountMigrations: Migrations = {
  // numeric, not bigint: exact, and text on the way, so that no float ever holds money.
  '20261121_12_accounts': migration(`
    create table accounts (
      owner_id uuid primary key,
      balance numeric(24, 4) not null default 0,
      created_at timestamptz not null default now()
    );
    create table ledger_entries (
      id uuid primary key,
      movement_id uuid not null,
      owner_id uuid not null references accounts,
      amount numeric(24, 4) not null check (amount <> 0),
      at timestamptz not null default now()
    );
    create index ledger_entries_owner on ledger_entries (owner_id, at);
    create index ledger_entries_movement on ledger_entries (movement_id);

    create function ledger_entry_counts() returns trigger language plpgsql as $$
    begin
      update accounts set balance = balance + new.amount where owner_id = new.owner_id;
      return null;
    end $$;
    create trigger ledger_entry_counts after insert on ledger_entries
      for each row execute function ledger_entry_counts();

    -- Double entry: checked when the transaction ends, so that entries may be written one by one.
    create function ledger_movement_balances() returns trigger language plpgsql as $$
    begin
      if (select sum(amount) from ledger_entries where movement_id = new.movement_id) <> 0 then
        raise exception 'movement % does not balance', new.movement_id;
      end if;
      return null;
    end $$;
    create constraint trigger ledger_movement_balances after insert on ledger_entries
      deferrable initially deferred for each row execute function ledger_movement_balances();

    create function ledger_is_append_only() returns trigger language plpgsql as $$
    begin
      raise exception 'the ledger is append-only: correct a movement with another';
    end $$;
    create trigger ledger_is_append_only before update or delete or truncate on ledger_entries
      for each statement execute function ledger_is_append_only();
  `),
}

/** Once or again: there is one account for each owner. */
export const insertAccount = async (on: Sql, ownerId: string): Promise<void> => {
  await on.insertInto('accounts').values({ owner_id: ownerId }).onConflict((conflict) => conflict.doNothing()).execute()
}

/** Exact, in yuan with at least two decimals: `12.00`, `0.0001`. */
export const balanceOf = async (on: Sql, ownerId: string): Promise<string | undefined> => {
  const row = await on
    .selectFrom('accounts')
    .select(sql<string>`(case when scale(trim_scale(balance)) < 2 then round(balance, 2) else trim_scale(balance) end)::text`.as('balance'))
    .where('owner_id', '=', ownerId)
    .executeTakeFirst()
  return row?.balance
}
