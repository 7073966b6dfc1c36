import { z } from 'zod'
import { byId, day, defineCall, listOf, listQuery, moment } from '../define.ts'
import { exportFormats, exportLink } from '../exports.ts'
import { tenants } from '../roles.ts'
import { keyword } from '../validation.ts'
import { formulaPart } from './catalogue.ts'
import { meterNames } from './meter.ts'
import { money } from './money.ts'

const base = '/api/bill/v1/consumes'

/** `2026-11`, of Beijing. */
export const billMonth = z.string().regex(/^20\d{2}-(0[1-9]|1[0-2])$/)

const names = { id: z.uuid(), name: z.string() }
const named = z.object(names)
const resource = z.object({ ...names, type: z.string() })

/** From when to when something held that an amount was made of; null: until something else holds. */
const effective = { effective_from: moment, effective_to: moment.nullable() }

/** What a resource used within one hour, and what that cost, from which everybody can compute it again. */
export const usageLine = z.object({
  id: z.int(),
  organisation: named,
  resource,
  project: named.nullable(),
  product: named,
  sku: named,
  meter: z.enum(meterNames),
  variant: z.string(),
  from: moment,
  seconds: z.int(),
  /** In the meter's base unit. */
  quantity: z.int(),
  price: z.object({ id: z.uuid(), ...effective }),
  discount: z.object({ ...names, ...effective }).nullable(),
  /** The amount is the sum of units × price, × seconds ÷ 3600 × fraction, rounded half up to 10^-8 yuan. */
  formula: z.object({ parts: z.array(formulaPart), seconds: z.int(), fraction: z.string() }),
  amount: money,
})
export type UsageLineShape = z.output<typeof usageLine>

const share = <T extends z.ZodRawShape>(of: T) => z.object({ ...of, amount: money })

export const monthOverview = z.object({
  month: billMonth,
  /** Of what was used and paid by the hour, as all that follows but `prepaid`. */
  total: money,
  /** Of the month before, for comparison. */
  previous_total: money,
  /** What was paid in advance for orders that were delivered in the month, less what was given back in it, which may be more. */
  prepaid: money,
  /** Those with any, in order. */
  days: z.array(share({ day: z.iso.date() })),
  products: z.array(share(names)),
  /** What of each day is whose, of the products above. */
  products_by_day: z.array(share({ day: z.iso.date(), product_id: z.uuid() })),
  /** Without id: what is in no project. */
  projects: z.array(share({ id: z.uuid().nullable(), name: z.string() })),
  /** The most expensive ones. */
  resources: z.array(share(resource.shape)),
  resource_count: z.int(),
})
export type MonthOverview = z.output<typeof monthOverview>

/** A resource in a month. */
export const resourceShare = share({ ...resource.shape, organisation: named, previous_amount: money })
export type ResourceShare = z.output<typeof resourceShare>

/** Why a resource is metered no more, where it is not simply gone. `project_deleted`: the Keystone project in which it lies. */
export const usageEndReasons = ['project_deleted'] as const
export type UsageEndReason = (typeof usageEndReasons)[number]

/** What one meter of a resource cost in a month, and in each hour that it was used. */
export const resourceMonth = z.object({
  /** Of what is on a cloud that is its own record (`openstack`, `easystack`): which, as long as it is there. */
  resource: resource.extend({ cloud_id: z.uuid().nullable() }),
  organisation: named,
  /** Null while it is used, and where nobody has to be told why it is not. */
  ended: z.object({ at: moment, reason: z.enum(usageEndReasons) }).nullable(),
  month: billMonth,
  total: money,
  previous_total: money,
  meters: z.array(
    share({
      meter: z.enum(meterNames),
      variant: z.string(),
      sku: named,
      /** How long it was used. */
      seconds: z.int(),
      hours: z.array(share({ from: moment })),
    }),
  ),
})
export type ResourceMonth = z.output<typeof resourceMonth>

/** What is expected, and between which two it is in four of five cases; without them where too few days are known. */
const expectation = z.object({ expected: money, low: money.nullable(), high: money.nullable() })

/** What of the tariff changes in the time that is foreseen, and what that does to what is used now. */
export const tariffChange = z.object({
  at: moment,
  sku: named,
  kind: z.enum(['price', 'discount', 'both']),
  hourly_before: money,
  hourly_after: money,
})
export type TariffChange = z.output<typeof tariffChange>

/** What the running month and the next will cost, if what is used now goes on being used. */
export const usageForecast = z.object({
  month: billMonth,
  next_month: billMonth,
  /** Everything before is rated, and its amount certain. */
  rated_until: moment,
  /** Of the running month, rated. */
  used: money,
  /** What an hour costs of what is used now. */
  hourly: money,
  current: expectation,
  next: expectation,
  /** So many complete days tell how much a day differs from the one before. */
  days_known: z.int(),
  /** What is expected of each day that is not rated whole: all of it, with what is rated. */
  days: z.array(share({ day: z.iso.date() })),
  changes: z.array(tariffChange),
})
export type UsageForecast = z.output<typeof usageForecast>

/** Administrators see all organisations together, or the one they name. */
const whose = { bp_id: z.uuid().optional() }

const lineFilters = {
  ...whose,
  month: billMonth.optional(),
  day: day.optional(),
  resource_id: z.uuid().optional(),
  product_id: z.uuid().optional(),
  /** `none`: what is in no project. */
  project_id: z.union([z.uuid(), z.literal('none')]).optional(),
  meter: z.enum(meterNames).optional(),
} as const

export const consumes = {
  summary: defineCall({
    id: 'bill.consume.summary',
    method: 'GET',
    path: `${base}/summary`,
    summary: 'Overview of a month, by day, product, project and resource',
    access: tenants,
    query: z.object({ month: billMonth, ...whose }),
    response: monthOverview,
  }),
  monthly: defineCall({
    id: 'bill.consume.monthly',
    method: 'GET',
    path: `${base}/monthly`,
    summary: 'What each of the last months cost, the newest first',
    access: tenants,
    query: z.object({ months: z.coerce.number().int().min(1).max(60).default(12), ...whose }),
    response: z.object({ items: z.array(share({ month: billMonth })) }),
  }),
  forecast: defineCall({
    id: 'bill.consume.forecast',
    method: 'GET',
    path: `${base}/forecast`,
    summary: 'What this month and the next are expected to cost',
    access: tenants,
    query: z.object(whose),
    response: usageForecast,
  }),
  resources: defineCall({
    id: 'bill.consume.resources',
    method: 'GET',
    path: `${base}/resources`,
    summary: 'Resources of a month, the most expensive first',
    access: tenants,
    query: listQuery(['amount'], { month: billMonth, ...whose, keyword }),
    response: listOf(resourceShare),
  }),
  resource: defineCall({
    id: 'bill.consume.resource',
    method: 'GET',
    path: `${base}/resources/{id}`,
    summary: 'A resource in a month, by meter and hour',
    access: tenants,
    params: byId,
    query: z.object({ month: billMonth }),
    response: resourceMonth,
  }),
  /** Lines come in millions: they are read on from the last one that was seen, and not counted. */
  list: defineCall({
    id: 'bill.consume.list',
    method: 'GET',
    path: base,
    summary: 'Usage, hour by hour, the newest first, with the formula of each amount',
    access: tenants,
    query: z.object({
      ...lineFilters,
      limit: z.coerce.number().int().min(1).max(1000).default(50),
      /** `next` of the answer before. */
      after: z
        .string()
        .regex(/^\d{1,12}\.\d{1,16}$/)
        .optional(),
    }),
    response: z.object({
      items: z.array(usageLine),
      /** Null at the end. */
      next: z.string().nullable(),
      /** Of all that the filters find, where it is known without adding it up. */
      amount: money.nullable(),
    }),
  }),
  export: defineCall({
    id: 'bill.consume.export',
    method: 'POST',
    path: `${base}/exports`,
    summary: 'A file of usage lines, the oldest first',
    also: () => [{ action: 'bill.consume.list' }],
    access: tenants,
    body: z.object({ format: z.enum(exportFormats), ...lineFilters }),
    response: exportLink,
  }),
  exportMonth: defineCall({
    id: 'bill.consume.exportMonth',
    method: 'POST',
    path: `${base}/month-exports`,
    summary: 'A file of what a month cost by day, product, project and resource',
    access: tenants,
    body: z.object({ format: z.enum(exportFormats), month: billMonth, ...whose }),
    response: exportLink,
  }),
} as const
