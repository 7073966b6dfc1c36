import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { keepers, tenants } from '../roles.ts'
import { billTexts } from '../texts.ts'
import { keyword, name } from '../validation.ts'
import { billMonth } from './consume.ts'
import { amountGiven, money } from './money.ts'

const base = '/api/bill/v1/budgets'

/** Per cent of the amount at which somebody is told, once in a month. */
const percents = (least: number) =>
  z
    .array(z.int().min(1).max(1_000))
    .min(least)
    .max(10)
    .refine((all) => new Set(all).size === all.length, billTexts.thresholdTwice)
    .transform((all) => all.toSorted((one, other) => one - other))
const reached = z.array(z.object({ percent: z.int(), at: moment }))

export const budget = z.object({
  id: z.uuid(),
  organisation: z.object({ id: z.uuid(), name: z.string() }),
  name: z.string(),
  /** What a month may cost. */
  amount: money,
  /** One of the two, or neither: everything that the organisation uses. */
  project: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  product: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  thresholds: z.array(z.int()),
  /** The same of what the month is expected to come to. */
  forecast_thresholds: z.array(z.int()),
  /** The month that it is about now, and what was used in it; of everything also what was paid in advance in it, less what was given back. */
  month: billMonth,
  spent: money,
  /** Of the amount, in per cent, rounded down. */
  percent: z.int(),
  /** Thresholds that were reached in that month. */
  reached,
  /** What the month is expected to come to, as of the last look; null before the first of the month. */
  forecast: z.object({ amount: money, percent: z.int(), at: moment }).nullable(),
  forecast_reached: reached,
  created_by: z.string(),
  created_at: moment,
})
export type Budget = z.output<typeof budget>

/** Also for the console's form. */
export const budgetGiven = z.object({
  name,
  amount: amountGiven(2).refine((text) => /[1-9]/.test(text) && !text.startsWith('-'), billTexts.budgetAboveZero),
  project_id: z.uuid().nullable().default(null),
  product_id: z.uuid().nullable().default(null),
  thresholds: percents(1).default([80, 100]),
  forecast_thresholds: percents(0).default([]),
})

export const budgets = {
  list: defineCall({
    id: 'bill.budget.list',
    method: 'GET',
    path: base,
    summary: 'Budgets and what was used of them this month',
    access: tenants,
    query: listQuery(['name', 'created_at'], { keyword, bp_id: z.uuid().optional() }),
    response: listOf(budget),
  }),
  /** What a budget may be limited to: products that the organisation’s months have had or its budgets are of, and its projects. */
  scopes: defineCall({
    id: 'bill.budget.scopes',
    method: 'GET',
    path: `${base}-scopes`,
    summary: 'What a budget may be limited to',
    access: tenants,
    query: z.object({ bp_id: z.uuid().optional() }),
    response: z.object({ projects: z.array(z.object({ id: z.uuid(), name: z.string() })), products: z.array(z.object({ id: z.uuid(), name: z.string() })) }),
  }),
  /** Refused with 96040, 96041. Administrators name the organisation. */
  create: defineCall({
    id: 'bill.budget.create',
    method: 'POST',
    path: base,
    summary: 'Set a budget',
    access: keepers,
    status: 201,
    body: budgetGiven.extend({ bp_id: z.uuid().nullable().default(null) }),
    response: budget,
  }),
  /** Refused with 96040, 96041. */
  update: defineCall({
    id: 'bill.budget.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change a budget',
    access: keepers,
    params: byId,
    body: budgetGiven,
    response: budget,
  }),
  delete: defineCall({
    id: 'bill.budget.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a budget',
    access: keepers,
    params: byId,
    response: empty,
  }),
} as const
