import { z } from 'zod'
import { byId, defineCall, listOf, listQuery, moment } from '../define.ts'
import { exportFormats, exportLink } from '../exports.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword } from '../validation.ts'
import { amountGiven, money } from './money.ts'

const base = '/api/bill/v1/accounts'

/** The owner's balance: what they have, less what they owe. A decimal string in yuan, exact. */
export const account = z.object({ id: z.uuid(), balance: money })

/** What the balance is made of. */
export const wallet = z.object({
  /** The owner: an organisation, or a platform-level user. */
  id: z.uuid(),
  name: z.string(),
  /** `funds` less `credit_used` and `arrears`. */
  balance: money,
  /** Paid in and not spent. */
  funds: money,
  /** Set aside for what was ordered and not yet delivered. */
  held: money,
  /** How much may be spent beyond the funds, and how much was. */
  credit_limit: money,
  credit_used: money,
  /** What was used and could not be paid, not even on credit. */
  arrears: money,
  /** What an order may cost now: funds and what is left of the credit, nothing in arrears. */
  available: money,
})
export type Wallet = z.output<typeof wallet>

/**
 * Of an owner. Positive amounts are good for the owner in the first four (`credit` and
 * `receivable` are what they owe: never above 0), and for the platform in `revenue`. `funds` is
 * where money comes from, `adjustments` what was given or taken by hand.
 */
export const ledgerAccounts = ['wallet', 'held', 'credit', 'receivable', 'revenue', 'funds', 'refunds', 'adjustments'] as const
export type LedgerAccount = (typeof ledgerAccounts)[number]
/** What the owner themselves sees of them. */
export const ownersAccounts = ['wallet', 'held', 'credit', 'receivable'] as const satisfies readonly LedgerAccount[]

/** Why money moved. A hold ends as a capture or a release, once. */
export const ledgerKinds = ['topup', 'usage', 'usageCorrection', 'order', 'refund', 'hold', 'capture', 'release', 'adjustment'] as const
export type LedgerKind = (typeof ledgerKinds)[number]

export const ledgerEntry = z.object({
  id: z.int(),
  /** Entries of one movement; all of them, also those of the platform's side, add up to zero. */
  transaction_id: z.uuid(),
  kind: z.enum(ledgerKinds),
  account: z.enum(ledgerAccounts),
  amount: money,
  /** Of that account, after this entry. */
  balance_after: money,
  note: z.string(),
  /** Who did it; empty for the platform itself. */
  by: z.string(),
  at: moment,
})
export type LedgerEntry = z.output<typeof ledgerEntry>

const entryFilters = {
  kind: z.enum(ledgerKinds).optional(),
  account: z.enum(ownersAccounts).optional(),
  from: moment.optional(),
  to: moment.optional(),
} as const

export const accounts = {
  list: defineCall({
    id: 'bill.account.list',
    method: 'GET',
    path: base,
    summary: 'Accounts of organisations and of the platform’s people',
    access: admins,
    query: listQuery(['name', 'balance', 'created_at'], { keyword }),
    response: listOf(wallet.extend({ created_at: moment })),
  }),
  get: defineCall({
    id: 'bill.account.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'Balance by user id (kinds 0 and 1) or organisation id (others); another’s does not exist',
    access: 'all',
    params: byId,
    response: account,
  }),
  wallet: defineCall({
    id: 'bill.account.wallet',
    method: 'GET',
    path: `${base}/{id}/wallet`,
    summary: 'What a balance is made of',
    access: tenants,
    params: byId,
    response: wallet,
  }),
  /** Refused with 24014, and 96010 where the key was used for something else. */
  charge: defineCall({
    keyed: true,
    id: 'bill.account.charge',
    method: 'PUT',
    path: `${base}/{id}/charge`,
    summary: 'Pay money in: arrears and credit are paid back first',
    access: admins,
    params: byId,
    body: z.object({
      /** In yuan, up to two decimals. */
      amount: amountGiven(2),
      note: description.default(''),
      /** The same key again is the same payment, and pays nothing more. */
      key: z.uuid().optional(),
    }),
    response: wallet,
  }),
  /** Refused with 24011 where more is taken than there is, with 96012 of nothing, and 96010 where the key was used for something else. */
  adjust: defineCall({
    keyed: true,
    id: 'bill.account.adjust',
    method: 'POST',
    path: `${base}/{id}/adjustments`,
    summary: 'Correct what was paid in or charged by mistake: movements stay as they are, another sets them right',
    access: admins,
    params: byId,
    body: z.object({
      /** In yuan, up to two decimals; below 0 it is taken. */
      amount: amountGiven(2),
      /** Why: it stands in the entries, which its owner reads. */
      note: description.min(1, fieldTexts.contentRequired),
      /** The same key again is the same adjustment. */
      key: z.uuid().optional(),
    }),
    response: wallet,
  }),
  /** Refused with 96009 below what was used. */
  setCreditLimit: defineCall({
    id: 'bill.account.setCreditLimit',
    method: 'PUT',
    path: `${base}/{id}/credit-limit`,
    summary: 'How much may be spent beyond the funds',
    access: admins,
    params: byId,
    body: z.object({ credit_limit: amountGiven(2) }),
    response: wallet,
  }),
  entries: defineCall({
    id: 'bill.account.entries',
    method: 'GET',
    path: `${base}/{id}/entries`,
    summary: 'Income and expense, newest first',
    access: tenants,
    params: byId,
    query: listQuery(['id'], { ...entryFilters, transaction_id: z.uuid().optional() }),
    response: listOf(ledgerEntry),
  }),
  exportEntries: defineCall({
    id: 'bill.account.exportEntries',
    method: 'POST',
    path: `${base}/{id}/entry-exports`,
    summary: 'A file of income and expense, the oldest first',
    also: ({ params }) => [{ action: 'bill.account.entries', on: { kind: 'bill.account', id: params.id } }],
    access: tenants,
    params: byId,
    body: z.object({ format: z.enum(exportFormats), ...entryFilters }),
    response: exportLink,
  }),
} as const
