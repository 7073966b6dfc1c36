import { sql, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { ofProvider, type SplitScope } from '../scope.ts'

interface BankTable {
  id: string
  provider_id: string
  /** Holder, bank and account as they were said, sealed for this row. */
  sealed: string
  /** What is shown of them. */
  holder: string
  bank: string
  account: string
  counts_from: Date
  set_by: string
  set_by_name: string
  approved_by: string | null
  approved_by_name: string | null
  withdrawn_at: Date | null
  created_at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    split_bank_details: BankTable
  }
}
export type BankRow = Selectable<BankTable>

export const bankMigrations: Migrations = {
  '20261201_40_split_bank': migration(`
    create table split_bank_details (
      id uuid primary key,
      provider_id uuid not null references market_providers,
      sealed text not null,
      holder text not null,
      bank text not null,
      account text not null,
      counts_from timestamptz not null,
      set_by uuid not null,
      set_by_name text not null,
      approved_by uuid,
      approved_by_name text,
      withdrawn_at timestamptz,
      created_at timestamptz not null,
      -- Four eyes.
      constraint split_bank_details_two check (approved_by <> set_by)
    );
    create index split_bank_details_provider on split_bank_details (provider_id, created_at desc, id desc);
  `),
}

export const { insert: insertBank, update: updateBank } = rowsOf('split_bank_details')

/** The newest first. */
export const listBanks = (on: Sql, scope: SplitScope, providerId: string): Promise<BankRow[]> =>
  on
    .selectFrom('split_bank_details')
    .selectAll()
    .where('provider_id', '=', providerId)
    .where(ofProvider(scope, 'provider_id'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(banksShown)
    .execute()
const banksShown = 50

/** Held until the transaction ends. */
export const lockBank = (tx: Tx, scope: SplitScope, id: string): Promise<BankRow | undefined> =>
  tx.selectFrom('split_bank_details').selectAll().where('id', '=', id).where(ofProvider(scope, 'provider_id')).forUpdate().executeTakeFirst()

/** Where the money of a provider goes at a moment: the newest that counts. */
export const currentBank = (on: Sql, providerId: string, at: Date): Promise<BankRow | undefined> =>
  on
    .selectFrom('split_bank_details')
    .selectAll()
    .where('provider_id', '=', providerId)
    .where('withdrawn_at', 'is', null)
    .where(sql<boolean>`(approved_by is not null or counts_from <= ${at})`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst()
