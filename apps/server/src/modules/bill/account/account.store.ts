import { sql, type Generated } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'

interface AccountTable {
  /** The owner: an organisation, or a platform-level user. */
  owner_id: string
  created_at: Generated<Date>
}
interface LedgerEntryTable {
  id: string
  /** Entries of one movement; their amounts add up to zero. */
  movement_id: string
  owner_id: string
  /** In ten-thousandths of a yuan. */
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
  '20261121_12_accounts': migration(`
    create table accounts (owner_id uuid primary key, created_at timestamptz not null default now());
    create table ledger_entries (
      id uuid primary key,
      movement_id uuid not null,
      owner_id uuid not null references accounts,
      amount bigint not null check (amount <> 0),
      at timestamptz not null default now()
    );
    create index ledger_entries_owner on ledger_entries (owner_id, at);
    create function ledger_movement_balances() returns trigger language plpgsql as $$
    begin
      if (select sum(amount) from ledger_entries where movement_id = new.movement_id) <> 0 then
        raise exception 'movement % does not balance', new.movement_id;
      end if;
      return null;
    end $$;
    create constraint trigger ledger_entries_balance after insert on ledger_entries
      deferrable initially deferred for each row execute function ledger_movement_balances();
    create rule ledger_entries_no_update as on update to ledger_entries do instead nothing;
    create rule ledger_entries_no_delete as on delete to ledger_entries do instead nothing;
  `),
}

export const insertAccount = async (on: Tx | Sql, ownerId: string): Promise<void> => {
  await on.insertInto('accounts').values({ owner_id: ownerId }).onConflict((conflict) => conflict.doNothing()).execute()
}

/** Exact, in yuan with four decimals: `12.3400`. */
export const balanceOf = async (on: Sql, ownerId: string): Promise<string> => {
  const row = await on
    .selectFrom('ledger_entries')
    .select(sql<string>`(coalesce(sum(amount), 0)::numeric / 10000)::numeric(30, 4)::text`.as('balance'))
    .where('owner_id', '=', ownerId)
    .executeTakeFirstOrThrow()
  return row.balance
}
