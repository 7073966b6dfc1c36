import { billingZone } from '@zhisuan/contract/bill/meter'
import type { Invoice, InvoiceLine, invoices, InvoiceStatus, InvoiceTitle } from '@zhisuan/contract/bill/invoice'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type ColumnType, type Selectable, type Updateable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { containing, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { insertsInto } from '../../../platform/db/rows.ts'
import { ownerName } from '../account/account.store.ts'

/** Who invoices are from, as it stood when one was issued. */
export interface Seller {
  name: string
  tax_number: string
  bank: string
  bank_account: string
  /** In percent, contained in the amount. */
  tax_rate: number
}

/** {@link Invoice.lines}, in minor units and whole cents. */
export interface InvoiceLineRow extends Omit<InvoiceLine, 'amount'> {
  amount: string
}

interface InvoiceTitleTable extends Omit<InvoiceTitle, 'created_at'> {
  owner_id: string
  created_at: Date
}
interface InvoiceTable {
  id: string
  owner_id: string
  status: InvoiceStatus
  from: string
  to: string
  /** Minor units, whole cents. */
  amount: ColumnType<string, string, never>
  /** Of invoices that were asked for before there were any, none. */
  lines: InvoiceLineRow[]
  title: Invoice['title']
  seller: Seller | null
  number: string
  note: string
  reason: string
  created_by: string
  created_by_name: string
  created_at: Date
  handled_by_name: string
  handled_at: Date | null
  issued_at: Date | null
}
/** What an invoice that was not taken back is about: an entry stands in one at most. */
interface InvoiceEntryTable {
  entry_id: number
  invoice_id: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    invoice_titles: InvoiceTitleTable
    invoices: InvoiceTable
    invoice_entries: InvoiceEntryTable
  }
}
export type InvoiceRow = Selectable<InvoiceTable>

export const invoiceMigrations: Migrations = {
  '20261123_00_55_invoices': migration(`
    create table invoice_titles (
      id uuid primary key,
      owner_id uuid not null references accounts,
      kind text not null check (kind in ('company', 'personal')),
      name text not null,
      tax_number text not null,
      address text not null,
      phone text not null,
      bank text not null,
      bank_account text not null,
      email text not null,
      created_at timestamptz not null
    );
    create index invoice_titles_owner on invoice_titles (owner_id, created_at);
    create table invoices (
      id uuid primary key,
      owner_id uuid not null references accounts,
      status text not null check (status in ('asked', 'issued', 'rejected', 'withdrawn', 'voided')),
      "from" date not null,
      "to" date not null,
      amount numeric(38, 0) not null check (amount > 0),
      title jsonb not null,
      seller jsonb,
      number text not null,
      note text not null,
      reason text not null,
      created_by uuid not null,
      created_by_name text not null,
      created_at timestamptz not null,
      handled_by_name text not null,
      handled_at timestamptz,
      issued_at timestamptz,
      check ("from" <= "to")
    );
    create unique index invoices_number on invoices (number) where number <> '';
    create index invoices_owner on invoices (owner_id, created_at, id);
    create index invoices_newest on invoices (created_at, id);
    create table invoice_entries (
      entry_id bigint primary key references ledger_entries,
      invoice_id uuid not null references invoices
    );
    create index invoice_entries_invoice on invoice_entries (invoice_id);
    create index ledger_entries_consumption on ledger_entries (owner_id, at) where account in ('revenue', 'refunds');
  `),
  '20261128_23_invoice_lines': migration(`alter table invoices add column lines jsonb not null default '[]'`),
}

export const listTitles = (on: Sql, ownerId: string) =>
  on.selectFrom('invoice_titles').selectAll().where('owner_id', '=', ownerId).orderBy('created_at').orderBy('id').execute()
export const findTitle = (on: Sql, ownerId: string, id: string) =>
  on.selectFrom('invoice_titles').selectAll().where('owner_id', '=', ownerId).where('id', '=', id).executeTakeFirst()
export const insertTitle = insertsInto('invoice_titles')
export const updateTitle = async (on: Sql, ownerId: string, id: string, change: Updateable<InvoiceTitleTable>): Promise<boolean> =>
  (await on.updateTable('invoice_titles').set(change).where('owner_id', '=', ownerId).where('id', '=', id).executeTakeFirstOrThrow()).numUpdatedRows > 0n
export const deleteTitle = async (on: Sql, ownerId: string, id: string): Promise<boolean> =>
  (await on.deleteFrom('invoice_titles').where('owner_id', '=', ownerId).where('id', '=', id).executeTakeFirstOrThrow()).numDeletedRows > 0n

/** Days as text: the driver would make moments of them. */
const days = [sql<string>`to_char(invoices."from", 'YYYY-MM-DD')`.as('from'), sql<string>`to_char(invoices."to", 'YYYY-MM-DD')`.as('to')] as const

const withNames = (on: Sql) =>
  on
    .selectFrom('invoices')
    .leftJoin('organisations', 'organisations.id', 'invoices.owner_id')
    .leftJoin('users', 'users.id', 'invoices.owner_id')
    .select([
      'invoices.id',
      'invoices.owner_id',
      'invoices.status',
      'invoices.amount',
      'invoices.lines',
      'invoices.title',
      'invoices.seller',
      'invoices.number',
      'invoices.note',
      'invoices.reason',
      'invoices.created_by_name',
      'invoices.created_at',
      'invoices.handled_by_name',
      'invoices.handled_at',
      'invoices.issued_at',
      ownerName.as('owner_name'),
      ...days,
    ])

const order = orderOf('invoices', '-created_at', 'created_at', 'amount')

export function listInvoices(on: Sql, scope: Scope, query: QueryOf<typeof invoices.list>) {
  const { keyword, status, owner_id } = query
  const filtered = withNames(on)
    .where(within(scope, 'invoices.owner_id'))
    .$if(owner_id !== undefined, (q) => q.where('invoices.owner_id', '=', owner_id ?? ''))
    .$if(status !== undefined, (q) => q.where('invoices.status', '=', status ?? 'asked'))
    .$if(keyword !== undefined && keyword !== '', (q) => {
      const like = containing(keyword ?? '')
      return q.where(
        sql<boolean>`(invoices.number ilike ${like} or invoices.title ->> 'name' ilike ${like} or invoices.title ->> 'tax_number' ilike ${like} or ${ownerName} ilike ${like})`,
      )
    })
  return pageWithTotal(paged(filtered, query, order), filtered, query)
}
export const showInvoice = (on: Sql, scope: Scope, id: string) =>
  withNames(on).where(within(scope, 'invoices.owner_id')).where('invoices.id', '=', id).executeTakeFirst()
export type ShownInvoice = NonNullable<Awaited<ReturnType<typeof showInvoice>>>

export const lockInvoice = (tx: Tx, scope: Scope, id: string): Promise<Pick<InvoiceRow, 'id' | 'status'> | undefined> =>
  tx.selectFrom('invoices').select(['id', 'status']).where(within(scope, 'owner_id')).where('id', '=', id).forUpdate().executeTakeFirst()

export const numberIndex = 'invoices_number'

export const insertInvoice = async (tx: Tx, { title, lines, ...row }: InvoiceRow): Promise<void> => {
  await tx
    .insertInto('invoices')
    .values({ ...row, title: jsonb(title), lines: jsonb(lines), seller: null })
    .execute()
}

export const updateInvoice = async (
  tx: Tx,
  id: string,
  { seller, ...change }: Partial<Pick<InvoiceRow, 'status' | 'number' | 'reason' | 'handled_by_name' | 'handled_at' | 'issued_at' | 'seller'>>,
): Promise<void> => {
  await tx
    .updateTable('invoices')
    .set({ ...change, ...(seller !== undefined && { seller: jsonb(seller) }) })
    .where('id', '=', id)
    .execute()
}

export interface Uninvoiced {
  entry_id: number
  /** The day of Beijing that it is of. */
  day: string
  /** The day stands in another invoice. */
  late: boolean
  amount: string
}

/**
 * An owner's consumption that stands in no invoice, charged less given back: of those days, and of earlier ones
 * that were invoiced before it was known. Usage is of the day on which it was, all else of the day on which it was paid.
 */
export async function uninvoiced(on: Sql, ownerId: string, { from, to }: { from: string; to: string }): Promise<Uninvoiced[]> {
  const { rows } = await sql<Uninvoiced>`
    select consumed.id as entry_id, to_char(day, 'YYYY-MM-DD') as day, covered as late, amount
    from (
      select entry.id, entry.amount, coalesce(movement.used_on, (entry.at at time zone ${billingZone})::date) as day
      from ledger_entries as entry join ledger_transactions as movement on movement.id = entry.transaction_id
      where entry.owner_id = ${ownerId} and entry.account in ('revenue', 'refunds')
        and not exists (select from invoice_entries where invoice_entries.entry_id = entry.id)
    ) as consumed
    cross join lateral (
      select exists (
        select from invoices where owner_id = ${ownerId} and status in ('asked', 'issued') and consumed.day between invoices."from" and invoices."to"
      ) as covered
    ) as invoiced
    where day <= ${to}::date and (day >= ${from}::date or covered)
    order by 1
  `.execute(on)
  return rows
}

/** Puts them into an invoice. */
export const claimEntries = async (tx: Tx, entries: readonly Pick<Uninvoiced, 'entry_id'>[], invoiceId: string): Promise<void> => {
  await sql`insert into invoice_entries (entry_id, invoice_id) select entry, ${invoiceId} from unnest(${`{${entries.map(({ entry_id }) => entry_id).join(',')}}`}::bigint[]) as entry`.execute(
    tx,
  )
}

export const releaseEntries = async (tx: Tx, invoiceId: string): Promise<void> => {
  await tx.deleteFrom('invoice_entries').where('invoice_id', '=', invoiceId).execute()
}

/** What invoices that were not taken back are about. */
export const invoicedAmount = async (on: Sql, ownerId: string): Promise<bigint> =>
  BigInt(
    (
      await on
        .selectFrom('invoices')
        .select(sql<string>`coalesce(sum(amount), 0)`.as('amount'))
        .where('owner_id', '=', ownerId)
        .where('status', 'in', ['asked', 'issued'])
        .executeTakeFirstOrThrow()
    ).amount,
  )
