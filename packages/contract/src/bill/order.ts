import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, flag, listOf, listQuery, moment } from '../define.ts'
import { rentals } from '../market/rental.ts'
import { eips } from '../nextstack/eip.ts'
import { createVmBody } from '../nextstack/vm.ts'
import { volumes } from '../nextstack/volume.ts'
import { exportFormats, exportLink } from '../exports.ts'
import { kind, type Kind } from '../kind.ts'
import { tenants } from '../roles.ts'
import { billTexts } from '../texts.ts'
import { keyword } from '../validation.ts'
import { quoteLine } from './catalogue.ts'
import { money } from './money.ts'

const base = '/api/bill/v1/orders'
const prepaidBase = '/api/bill/v1/prepaid'

/** What can be paid for in advance. */
export const prepaidKinds = ['nextstack.vm', 'nextstack.volume', 'nextstack.eip', 'market.rental'] as const satisfies readonly Kind[]
export type PrepaidKind = (typeof prepaidKinds)[number]
export const prepaidPeriods = ['day', 'week', 'month', 'year'] as const
export type PrepaidPeriod = (typeof prepaidPeriods)[number]
/** That of an order by the hour is the hour. */
export const orderPeriods = ['hour', ...prepaidPeriods] as const

/** Paid by the hour from its first use on; something new in advance; something that was paid by the hour; more time of what is paid in advance already. */
export const orderKinds = ['onDemand', 'purchase', 'conversion', 'renewal'] as const
export type OrderKind = (typeof orderKinds)[number]

/**
 *   unpaid → paid → delivered → refunded (what was not used of it)
 *      ↓       ↘ refunded (it could not be delivered)
 *   cancelled, expired
 *   by the hour: charging ⇄ ended (nothing of it is used any more)
 */
export const orderStatuses = ['unpaid', 'paid', 'delivered', 'refunded', 'cancelled', 'expired', 'charging', 'ended'] as const
export type OrderStatus = (typeof orderStatuses)[number]

/** What may be done to an order in which status. */
export const orderCan = can<OrderStatus>()({
  pay: ['unpaid'],
  cancel: ['unpaid'],
  renew: ['delivered'],
  refund: ['delivered'],
})

/** How long an order waits to be paid; then paying it answers 24044. */
export const payWithinMinutes = 30
/** How long before its end something is renewed by itself. */
export const renewBeforeHours = 24

const span = z.object({ from: moment, to: moment })

export const order = z.object({
  id: z.uuid(),
  /** What people call it by; counted up. */
  number: z.string(),
  bp_id: z.uuid(),
  bp_name: z.string(),
  kind: z.enum(orderKinds),
  status: z.enum(orderStatuses),
  /** Without id until it is made. */
  resource: z.object({ type: kind, id: z.uuid().nullable(), name: z.string() }),
  period: z.enum(orderPeriods),
  count: z.int(),
  auto_renew: z.boolean(),
  /** Made by the platform, because somebody wanted it renewed. */
  automatic: z.boolean(),
  /** Both 0 by the hour: what it comes to is in the bills. */
  list_amount: money,
  amount: money,
  /** What came back of it. */
  refunded_amount: money.nullable(),
  /** What it pays for, once it is delivered. */
  covers: span.nullable(),
  /** Chinese text of what went wrong the last time. */
  error: z.string().nullable(),
  /** Unpaid it ends then. */
  expires_at: moment,
  /** Empty: the platform itself. */
  created_by: z.string(),
  created_at: moment,
  paid_at: moment.nullable(),
})
export type Order = z.output<typeof order>

export const orderEvents = ['created', 'paid', 'delivered', 'failed', 'cancelled', 'expired', 'refunded', 'renewalFailed'] as const
export type OrderEvent = (typeof orderEvents)[number]

export const orderDetail = order.extend({
  /** The quote that it was made at: so its amount is explained for ever. By the hour: the prices of one, as they were when it began. */
  lines: z.array(quoteLine),
  history: z.array(z.object({ what: z.enum(orderEvents), by: z.string(), note: z.string(), at: moment })),
})
export type OrderDetail = z.output<typeof orderDetail>

/** What is paid in advance of a resource, and until when. */
export const prepaid = z.object({
  resource: z.object({ type: z.enum(prepaidKinds), id: z.uuid(), name: z.string() }),
  /** Null where it is paid by the hour. */
  ends_at: moment.nullable(),
  auto_renew: z.boolean(),
  /** By how much it is renewed. */
  period: z.enum(prepaidPeriods).nullable(),
  count: z.int().nullable(),
  /** When it is renewed, or tried again. */
  renews_at: moment.nullable(),
  /** Why it was not renewed the last time. */
  error: z.string().nullable(),
  /** Spans that are not over, with the quantities of each meter (`vm.gpu/NVIDIA A100`) that are paid in them. */
  spans: z.array(span.extend({ order_id: z.uuid(), usage: z.record(z.string(), z.int()) })),
})
export type Prepaid = z.output<typeof prepaid>

const count = z.int().min(1).max(36)
const term = { period: z.enum(prepaidPeriods), count: count.default(1), auto_renew: z.boolean().default(false) }

/** One of the two: what is to be made, as its own call takes it, or what there is. */
const wishFor = <T extends PrepaidKind, C extends z.ZodType>(type: T, create: C) =>
  z.object({ resource_type: z.literal(type), create: create.optional(), resource_id: z.uuid().optional(), ...term })

export const createOrderBody = z
  .discriminatedUnion('resource_type', [
    wishFor('nextstack.vm', createVmBody),
    wishFor('nextstack.volume', volumes.create.body),
    wishFor('nextstack.eip', eips.allocate.body),
    wishFor('market.rental', rentals.create.body),
  ])
  .refine((body) => (body.create === undefined) !== (body.resource_id === undefined), { path: ['resource_id'], message: billTexts.orderSubject })
  .refine((body) => body.create === undefined || !('count' in body.create) || body.create.count === 1, {
    path: ['create', 'count'],
    message: billTexts.orderOfOne,
  })

/** What makes it, whoever orders it. */
const makes = {
  'nextstack.vm': 'nextstack.vm.create',
  'nextstack.volume': 'nextstack.volume.create',
  'nextstack.eip': 'nextstack.eip.allocate',
  'market.rental': 'market.rental.create',
} as const satisfies Record<PrepaidKind, string>

const one = { access: tenants, params: byId, response: orderDetail } as const

const filters = {
  /** Part of the number, or of the resource's name. */
  keyword,
  status: z.enum(orderStatuses).optional(),
  kind: z.enum(orderKinds).optional(),
  resource_type: kind.optional(),
  resource_id: z.uuid().optional(),
  bp_id: z.uuid().optional(),
} as const

export const orders = {
  list: defineCall({
    id: 'bill.order.list',
    method: 'GET',
    path: base,
    summary: 'Orders, the newest first',
    access: tenants,
    query: listQuery(['number', 'amount', 'status', 'created_at'], {
      ...filters,
      /** Those that the platform made, and that could not be paid. */
      failed: flag.optional(),
    }),
    response: listOf(order),
  }),
  export: defineCall({
    id: 'bill.order.export',
    method: 'POST',
    path: `${base}/exports`,
    summary: 'A file of orders, the oldest first',
    also: () => [{ action: 'bill.order.list' }],
    access: tenants,
    body: z.object({ format: z.enum(exportFormats), ...filters }),
    response: exportLink,
  }),
  get: defineCall({ ...one, id: 'bill.order.get', method: 'GET', path: `${base}/{id}`, summary: 'One order, with its lines and what became of it' }),
  /** Refused as the call would be that makes the resource, by fields of `create`; with 24007, 96020, 96021, 96022. */
  create: defineCall({
    keyed: true,
    id: 'bill.order.create',
    method: 'POST',
    path: base,
    summary: 'Order a day, week, month or year in advance, of something new or of what is there; it waits half an hour to be paid',
    also: ({ body }) => (body?.create === undefined ? [] : [{ action: makes[body.resource_type] }]),
    access: tenants,
    status: 201,
    body: createOrderBody,
    response: orderDetail,
  }),
  /** Refused with 24044, 24011, 96022, 90010. */
  pay: defineCall({
    ...one,
    keyed: true,
    id: 'bill.order.pay',
    method: 'POST',
    path: `${base}/{id}/pay`,
    summary: 'Pay from the balance; what is new is made then',
  }),
  cancel: defineCall({ ...one, id: 'bill.order.cancel', method: 'POST', path: `${base}/{id}/cancel`, summary: 'Cancel an order that is not paid' }),
  /** Refused with 24007, 96021, 96022. */
  renew: defineCall({
    ...one,
    keyed: true,
    id: 'bill.order.renew',
    method: 'POST',
    path: `${base}/{id}/renew`,
    status: 201,
    summary: 'Order more time of what was delivered, as large as it is now',
    body: z.object({ period: z.enum(prepaidPeriods), count: count.default(1) }),
  }),
  /** Refused with 96023, 96024. */
  refundPreview: defineCall({
    id: 'bill.order.refundPreview',
    method: 'GET',
    path: `${base}/{id}/refund`,
    summary: 'What would come back now: the unused seconds’ share of what was paid, rounded down',
    access: tenants,
    params: byId,
    response: z.object({ amount: money, paid: money, unused_seconds: z.int(), total_seconds: z.int() }),
  }),
  /** Refused with 96023, 96024. */
  refund: defineCall({
    ...one,
    keyed: true,
    id: 'bill.order.refund',
    method: 'POST',
    path: `${base}/{id}/refund`,
    summary: 'Give back what was not used; the resource goes on by the hour',
  }),
} as const

export const prepaids = {
  get: defineCall({
    id: 'bill.prepaid.get',
    method: 'GET',
    path: `${prepaidBase}/{id}`,
    summary: 'What is paid in advance of a resource',
    access: tenants,
    params: byId,
    response: prepaid,
  }),
  /** Refused with 96025 where nothing is paid in advance. */
  setAutoRenew: defineCall({
    id: 'bill.prepaid.setAutoRenew',
    method: 'PUT',
    path: `${prepaidBase}/{id}/auto-renew`,
    summary: 'Whether it is renewed by itself a day before it ends, and for how long',
    also: ({ body }) => (body?.auto_renew === true ? [{ action: 'bill.order.renew' }] : []),
    access: tenants,
    params: byId,
    body: z.object({ auto_renew: z.boolean(), period: z.enum(prepaidPeriods).default('month'), count: count.default(1) }),
    response: prepaid,
  }),
} as const
