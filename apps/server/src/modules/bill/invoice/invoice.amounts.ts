import type { Sql } from '../../../platform/db/database.ts'
import { ledger } from '../ledger/ledger.service.ts'
import * as store from './invoice.store.ts'

/** Days of Beijing, both included. */
export interface Span {
  from: string
  to: string
}

const cent = 1_000_000n
const floorToCents = (minor: bigint): bigint => (minor <= 0n ? 0n : minor - (minor % cent))
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/** Down, also below 0. */
const wholeCents = (minor: bigint): bigint => minor - (((minor % cent) + cent) % cent)
const sumOf = (entries: readonly store.Uninvoiced[]): bigint => entries.reduce((sum, { amount }) => sum + BigInt(amount), 0n)

export interface Invoiceable {
  /** In minor units, whole cents; the lines add up to it. */
  amount: bigint
  lines: store.InvoiceLineRow[]
  entries: readonly store.Uninvoiced[]
}

/** What an owner consumed on those days that stands in no invoice, and what came late of days that do: of each month a line of its own. */
export async function invoiceableOf(on: Sql, ownerId: string, span: Span): Promise<Invoiceable> {
  const entries = await store.uninvoiced(on, ownerId, span)
  const amount = floorToCents(sumOf(entries))
  if (amount === 0n) return { amount, lines: [], entries }
  const late = [
    ...Map.groupBy(
      entries.filter((entry) => entry.late),
      ({ day }) => day.slice(0, 7),
    ),
  ]
    .map(([, of]) => {
      const days = of.map(({ day }) => day).toSorted()
      return { late: true, from: days.at(0) ?? '', to: days.at(-1) ?? '', amount: wholeCents(sumOf(of)) }
    })
    .toSorted((one, other) => one.from.localeCompare(other.from))
  const own = { late: false, ...span, amount: amount - late.reduce((sum, line) => sum + line.amount, 0n) }
  const lines = [own, ...late].filter((line) => line.amount !== 0n).map((line) => ({ ...line, amount: String(line.amount) }))
  return { amount, lines, entries }
}

/**
 * What may be invoiced in all. Consumed is what was charged less what was given back; what is
 * owed of it was not paid; and what was paid with gifts is no payment, so money that came in is the limit.
 * In minor units, whole cents.
 */
export async function paidOf(on: Sql, ownerId: string): Promise<bigint> {
  const { balances } = await ledger.standing(on, ownerId)
  const { revenue = 0n, refunds = 0n, credit = 0n, receivable = 0n, funds = 0n } = balances
  return floorToCents(least(revenue + refunds + credit + receivable, -funds) - (await store.invoicedAmount(on, ownerId)))
}

/** What an invoice is about; one that says it by its amount only is about its span. */
export const linesOf = ({ from, to, amount, lines }: Pick<store.InvoiceRow, 'from' | 'to' | 'amount' | 'lines'>): readonly store.InvoiceLineRow[] =>
  lines.length > 0 ? lines : [{ late: false, from, to, amount }]
