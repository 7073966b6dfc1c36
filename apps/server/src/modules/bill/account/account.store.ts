import type { LedgerEntry, accounts } from '@zhisuan/contract/bill/account'
import { ownersAccounts } from '@zhisuan/contract/bill/account'
import { toDecimal } from '@zhisuan/contract/bill/money'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Generated } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { iso, migration, type Migrations, type Sql } from '../../../platform/db/database.ts'
import { containing, orderOf, pageWithTotal, paged, shapedPage } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { isOwners } from '../ledger/ledger.store.ts'

interface AccountTable {
  /** The owner: an organisation, or a platform-level user. */
  owner_id: string
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    accounts: AccountTable
  }
}

export const accountMigrations: Migrations = {
  '20261123_00_05_accounts': migration(`
    create table accounts (
      owner_id uuid primary key,
      created_at timestamptz not null default now()
    );
  `),
}

/** Once or again: there is one account for each owner. */
export const insertAccount = async (on: Sql, ownerId: string): Promise<void> => {
  await on
    .insertInto('accounts')
    .values({ owner_id: ownerId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export const ownerName = sql<string>`coalesce(organisations.name, users.name, '')`

/** Accounts with who owns them. */
const withOwner = (on: Sql) =>
  on.selectFrom('accounts').leftJoin('organisations', 'organisations.id', 'accounts.owner_id').leftJoin('users', 'users.id', 'accounts.owner_id')

const order = { by: { name: 'name', balance: 'balance', created_at: 'accounts.created_at' }, fallback: '-created_at', id: 'accounts.owner_id' }

export async function listAccounts(on: Sql, query: QueryOf<typeof accounts.list>) {
  const filtered = withOwner(on).$if(query.keyword !== undefined && query.keyword !== '', (q) =>
    q.where(sql<boolean>`${ownerName} ilike ${containing(query.keyword ?? '')}`),
  )
  const page = filtered.select([
    'accounts.owner_id',
    'accounts.created_at',
    ownerName.as('name'),
    sql<string>`(select coalesce(sum(balance), 0) from ledger_accounts where ledger_accounts.owner_id = accounts.owner_id and ${isOwners})`.as('balance'),
  ])
  return pageWithTotal(paged(page, query, order), filtered, query)
}

/** What each organisation has, in minor units. */
export const balancesOfOrganisations = (on: Sql): Promise<{ bp_id: string; name: string; balance: string }[]> =>
  on
    .selectFrom('accounts')
    .innerJoin('organisations', 'organisations.id', 'accounts.owner_id')
    .select([
      'organisations.id as bp_id',
      'organisations.name',
      sql<string>`(select coalesce(sum(balance), 0) from ledger_accounts where ledger_accounts.owner_id = accounts.owner_id and ${isOwners})`.as('balance'),
    ])
    .execute()

export const nameOfOwner = (on: Sql, ownerId: string): Promise<{ name: string } | undefined> =>
  withOwner(on).select(ownerName.as('name')).where('accounts.owner_id', '=', ownerId).executeTakeFirst()

/** What the owner sees of their ledger. */
export type EntryFilters = Omit<QueryOf<typeof accounts.entries>, 'page_num' | 'page_size' | 'sort'>

const entriesOf = (on: Sql, scope: Scope, ownerId: string, { kind, account, transaction_id, from, to }: EntryFilters) =>
  on
    .selectFrom('ledger_entries as entry')
    .innerJoin('ledger_transactions as movement', 'movement.id', 'entry.transaction_id')
    .where(within(scope, 'entry.owner_id'))
    .where('entry.owner_id', '=', ownerId)
    .where('entry.account', 'in', account === undefined ? ownersAccounts : [account])
    .$if(kind !== undefined, (q) => q.where('movement.kind', '=', kind ?? 'topup'))
    .$if(transaction_id !== undefined, (q) => q.where('entry.transaction_id', '=', transaction_id ?? ''))
    .$if(from !== undefined, (q) => q.where('entry.at', '>=', new Date(from ?? 0)))
    .$if(to !== undefined, (q) => q.where('entry.at', '<', new Date(to ?? 0)))
    .select([
      'entry.id',
      'entry.transaction_id',
      'movement.kind',
      'entry.account',
      'entry.amount',
      'entry.balance_after',
      'movement.note',
      'movement.created_by_name as by',
      'entry.at',
    ])

const shapeEntry = <Row extends { amount: string; balance_after: string; at: Date }>(row: Row) => ({
  ...row,
  amount: toDecimal(BigInt(row.amount)),
  balance_after: toDecimal(BigInt(row.balance_after)),
  at: iso(row.at),
})

export async function listEntries(
  on: Sql,
  scope: Scope,
  ownerId: string,
  query: QueryOf<typeof accounts.entries>,
): Promise<{ total: number; items: LedgerEntry[] }> {
  const found = entriesOf(on, scope, ownerId, query)
  return shapedPage(pageWithTotal(paged(found, query, orderOf('entry', '-id', 'id')), found, query), shapeEntry)
}

/** The oldest after one. */
export const oldestEntries = async (on: Sql, scope: Scope, ownerId: string, filters: EntryFilters, after: number, limit: number): Promise<LedgerEntry[]> =>
  (await entriesOf(on, scope, ownerId, filters).where('entry.id', '>', after).orderBy('entry.id').limit(limit).execute()).map(shapeEntry)
