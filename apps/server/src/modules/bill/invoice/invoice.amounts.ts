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

/** What an owner consumed on those days that stands in no invoice. In minor units, whole cents. */
export const uninvoicedOf = async (on: Sql, ownerId: string, span: Span): Promise<bigint> => floorToCents(await store.uninvoicedAmount(on, ownerId, span))

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
