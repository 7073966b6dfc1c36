import { z } from 'zod'
import { can } from '../can.ts'
import { byId, day, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { admins, tenants } from '../roles.ts'
import { billTexts, fieldTexts } from '../texts.ts'
import { description, email, keyword, plainLine } from '../validation.ts'
import { money } from './money.ts'
import { isTaxNumber } from './tax-number.ts'

export const titleKinds = ['company', 'personal'] as const

const line = (most: number) => z.string().trim().max(most).regex(plainLine, fieldTexts.controlCharacters)
const titleSettings = {
  kind: z.enum(titleKinds),
  name: line(100).min(1, fieldTexts.contentRequired),
  /** Of companies: see {@link isTaxNumber}. */
  tax_number: line(20).toUpperCase().default(''),
  address: line(128).default(''),
  phone: line(32).default(''),
  bank: line(64).default(''),
  bank_account: line(40).default(''),
  /** Where the invoice goes. */
  email: z.union([z.literal(''), email]).default(''),
}

export const invoiceTitle = z.object({ ...titleSettings, tax_number: z.string(), email: z.string(), id: z.uuid(), created_at: moment })
export type InvoiceTitle = z.output<typeof invoiceTitle>

const titleBody = z
  .object(titleSettings)
  .refine(({ kind, tax_number }) => kind === 'personal' || tax_number !== '', { path: ['tax_number'], error: billTexts.taxNumberRequired })
  .refine(({ tax_number }) => tax_number === '' || isTaxNumber(tax_number), { path: ['tax_number'], error: billTexts.taxNumber })
export type InvoiceTitleInput = z.input<typeof titleBody>

const base = '/api/bill/v1/invoices'
const titlesBase = '/api/bill/v1/invoice-titles'

/** Whom invoices are made out to. */
export const invoiceTitles = {
  list: defineCall({
    id: 'bill.invoiceTitle.list',
    method: 'GET',
    path: titlesBase,
    summary: 'Own invoice titles',
    access: tenants,
    response: listOf(invoiceTitle),
  }),
  /** Refused with 96039 beyond twenty. */
  create: defineCall({
    id: 'bill.invoiceTitle.create',
    method: 'POST',
    path: titlesBase,
    summary: 'Keep an invoice title',
    access: tenants,
    status: 201,
    body: titleBody,
    response: invoiceTitle,
  }),
  /** Invoices keep what stood in it when they were asked for. */
  update: defineCall({
    id: 'bill.invoiceTitle.update',
    method: 'PUT',
    path: `${titlesBase}/{id}`,
    summary: 'Change an invoice title',
    access: tenants,
    params: byId,
    body: titleBody,
    response: invoiceTitle,
  }),
  delete: defineCall({
    id: 'bill.invoiceTitle.delete',
    method: 'DELETE',
    path: `${titlesBase}/{id}`,
    summary: 'Forget an invoice title',
    access: tenants,
    params: byId,
    response: empty,
  }),
} as const

export const invoiceStatuses = ['asked', 'issued', 'rejected', 'withdrawn', 'voided'] as const
export type InvoiceStatus = (typeof invoiceStatuses)[number]

export const invoiceCan = can<InvoiceStatus>()({
  withdraw: ['asked'],
  issue: ['asked'],
  reject: ['asked'],
  void: ['issued'],
  download: ['issued', 'voided'],
})

/** Days of Beijing, both of them too. */
const span = { from: day, to: day }

/**
 * What an invoice is about: consumption of its span, and what came to light of days that stood in an
 * earlier invoice (`late`), by months. Below 0 where it turned out to be less.
 */
export const invoiceLine = z.object({ late: z.boolean(), ...span, amount: money })
export type InvoiceLine = z.output<typeof invoiceLine>

export const invoice = z.object({
  id: z.uuid(),
  owner: z.object({ id: z.uuid(), name: z.string() }),
  status: z.enum(invoiceStatuses),
  ...span,
  /** With tax. */
  amount: money,
  /** They add up to the amount. */
  lines: z.array(invoiceLine),
  /** As it stood when the invoice was asked for. */
  title: z.object({ ...titleSettings, tax_number: z.string(), email: z.string() }),
  /** The tax office's number of the invoice; empty until it is issued. */
  number: z.string(),
  note: z.string(),
  /** Why it was rejected or voided. */
  reason: z.string(),
  created_by: z.string(),
  created_at: moment,
  /** Who issued, rejected, withdrew or voided it, and when. */
  handled_by: z.string(),
  handled_at: moment.nullable(),
  issued_at: moment.nullable(),
})
export type Invoice = z.output<typeof invoice>

const reason = description.min(1, fieldTexts.contentRequired)

export const invoices = {
  list: defineCall({
    id: 'bill.invoice.list',
    method: 'GET',
    path: base,
    summary: 'Invoices, newest first; administrators see everybody’s',
    access: tenants,
    query: listQuery(['created_at', 'amount'], { keyword, status: z.enum(invoiceStatuses).optional(), owner_id: z.uuid().optional() }),
    response: listOf(invoice),
  }),
  get: defineCall({ id: 'bill.invoice.get', method: 'GET', path: `${base}/{id}`, summary: 'One invoice', access: tenants, params: byId, response: invoice }),
  available: defineCall({
    id: 'bill.invoice.available',
    method: 'GET',
    path: `${base}/available`,
    summary: 'What an invoice over a span would be about',
    access: tenants,
    query: z.object(span),
    response: z.object({
      /** Consumption of the span that stands in no invoice, and what came late of earlier ones, floored to cents. */
      uninvoiced: money,
      lines: z.array(invoiceLine),
      /** What may be invoiced in all: consumed and paid, less what is in invoices. */
      paid: money,
    }),
  }),
  /**
   * All that was consumed in the span and stands in no other invoice: usage by the hour in which it was, orders by
   * when they were paid; so an invoice of a month is what its bill says. Refused
   * with 96035, 96036, 96037.
   */
  create: defineCall({
    id: 'bill.invoice.create',
    method: 'POST',
    path: base,
    summary: 'Ask for an invoice over a span of paid consumption',
    access: tenants,
    status: 201,
    body: z
      .object({ ...span, title_id: z.uuid(), note: description.default('') })
      .refine(({ from, to }) => from <= to, { path: ['to'], error: billTexts.spanReversed }),
    response: invoice,
  }),
  withdraw: defineCall({
    id: 'bill.invoice.withdraw',
    method: 'POST',
    path: `${base}/{id}/withdraw`,
    summary: 'Take back what was asked for',
    access: tenants,
    params: byId,
    response: invoice,
  }),
  /** Refused with 96042 while the platform's settings name no seller. */
  issue: defineCall({
    id: 'bill.invoice.issue',
    method: 'POST',
    path: `${base}/{id}/issue`,
    summary: 'Issue an invoice, with the tax office’s number of it',
    access: admins,
    params: byId,
    body: z.object({
      number: z
        .string()
        .trim()
        .regex(/^\d{8,20}$/, billTexts.invoiceNumber),
    }),
    response: invoice,
  }),
  reject: defineCall({
    id: 'bill.invoice.reject',
    method: 'POST',
    path: `${base}/{id}/reject`,
    summary: 'Refuse to issue an invoice',
    access: admins,
    params: byId,
    body: z.object({ reason }),
    response: invoice,
  }),
  void: defineCall({
    id: 'bill.invoice.void',
    method: 'POST',
    path: `${base}/{id}/void`,
    summary: 'Void an invoice; what it was about may be invoiced again',
    access: admins,
    params: byId,
    body: z.object({ reason }),
    response: invoice,
  }),
  download: defineCall({
    id: 'bill.invoice.download',
    method: 'POST',
    path: `${base}/{id}/download`,
    summary: 'A link that gives the PDF; it works for ten minutes',
    access: tenants,
    params: byId,
    audit: false,
    response: z.object({ path: z.string(), expires_at: moment }),
  }),
} as const
