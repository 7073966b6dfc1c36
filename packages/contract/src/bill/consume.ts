import { z } from 'zod'
import { defineCall, listOf, listQuery, moment } from '../define.ts'
import { tenants } from '../roles.ts'
import { formulaPart } from './catalogue.ts'
import { meterNames } from './meter.ts'
import { money } from './money.ts'

const base = '/api/bill/v1/consumes'

/** `2026-11`, of Beijing. */
export const billMonth = z.string().regex(/^20\d{2}-(0[1-9]|1[0-2])$/)

/** What a resource used within one hour, and what that cost, from which everybody can compute it again. */
export const usageLine = z.object({
  id: z.int(),
  bp_id: z.uuid(),
  resource: z.object({ id: z.uuid(), type: z.string(), name: z.string() }),
  project: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  product: z.object({ id: z.uuid(), name: z.string() }),
  sku: z.object({ id: z.uuid(), name: z.string() }),
  meter: z.enum(meterNames),
  variant: z.string(),
  from: moment,
  seconds: z.int(),
  /** In the meter's base unit. */
  quantity: z.int(),
  price_id: z.uuid(),
  discount_id: z.uuid().nullable(),
  /** The amount is the sum of units × price, × seconds ÷ 3600 × fraction, rounded half up to 10^-8 yuan. */
  formula: z.object({ parts: z.array(formulaPart), seconds: z.int(), fraction: z.string() }),
  amount: money,
})
export type UsageLineShape = z.output<typeof usageLine>

const share = <T extends z.ZodRawShape>(of: T) => z.object({ ...of, amount: money })
const names = { id: z.uuid(), name: z.string() }

export const monthOverview = z.object({
  month: billMonth,
  total: money,
  /** Of the month before, for comparison. */
  previous_total: money,
  /** Those with any, in order. */
  days: z.array(share({ day: z.iso.date() })),
  products: z.array(share(names)),
  /** Without id: what is in no project. */
  projects: z.array(share({ id: z.uuid().nullable(), name: z.string() })),
  /** The most expensive ones. */
  resources: z.array(share({ ...names, type: z.string() })),
  resource_count: z.int(),
})
export type MonthOverview = z.output<typeof monthOverview>

/** Administrators see all organisations together, or the one they name. */
const whose = { bp_id: z.uuid().optional() }

export const consumes = {
  summary: defineCall({ id: 'bill.consume.summary', method: 'GET', path: `${base}/summary`, summary: 'Overview of a month, by day, product, project and resource', access: tenants, query: z.object({ month: billMonth, ...whose }), response: monthOverview }),
  monthly: defineCall({ id: 'bill.consume.monthly', method: 'GET', path: `${base}/monthly`, summary: 'What each of the last months cost, the newest first', access: tenants, query: z.object({ months: z.coerce.number().int().min(1).max(60).default(12), ...whose }), response: z.object({ items: z.array(share({ month: billMonth })) }) }),
  list: defineCall({
    id: 'bill.consume.list',
    method: 'GET',
    path: base,
    summary: 'Usage, hour by hour, with the formula of each amount',
    access: tenants,
    query: listQuery(['from'], { ...whose, month: billMonth.optional(), day: z.iso.date().optional(), resource_id: z.uuid().optional(), product_id: z.uuid().optional(), project_id: z.uuid().optional() }),
    response: listOf(usageLine),
  }),
} as const
