import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { exportFormats, exportLink } from '../exports.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, plainLine, plainText } from '../validation.ts'
import { amountGiven, money } from './money.ts'

/** `admin`: an administrator's charge, without anybody asking. */
export const topupMethods = ['remittance', 'online', 'admin'] as const
export type TopupMethod = (typeof topupMethods)[number]

/** `expired` follows from {@link topup}'s `expires_at`. What was paid online is credited even then. */
export const topupStatuses = ['waiting', 'confirmed', 'expired', 'cancelled'] as const
export type TopupStatus = (typeof topupStatuses)[number]

export const topupCan = can<TopupStatus>()({
  cancel: ['waiting'],
  confirm: ['waiting'],
  /** The gateway's page again. */
  pay: ['waiting'],
})

/** So many may wait at once of one owner and method, so that codes are not asked for in heaps. */
export const openTopups = 5
export const remittanceDays = 7
export const paymentMinutes = 120

export const topup = z.object({
  id: z.uuid(),
  owner: z.object({ id: z.uuid(), name: z.string() }),
  method: z.enum(topupMethods),
  status: z.enum(topupStatuses),
  /** As asked for. */
  amount: money,
  /** What really came; null while nothing did. */
  received: money.nullable(),
  /** What stands on the transfer, or names the payment to the gateway; empty of an administrator's charge. */
  code: z.string(),
  /** Of online payments. */
  channel: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  /** What bank or gateway calls the payment. */
  reference: z.string(),
  note: z.string(),
  created_by: z.string(),
  /** Who confirmed it; empty for the platform itself. */
  confirmed_by: z.string(),
  created_at: moment,
  expires_at: moment.nullable(),
  /** When it was confirmed or cancelled. */
  ended_at: moment.nullable(),
  /** The movement in the ledger. */
  transaction_id: z.uuid().nullable(),
})
export type Topup = z.output<typeof topup>

/** Where money is sent to, as administrators set it. */
export const bankAccount = z.object({ receiver: z.string(), bank: z.string(), account: z.string() })

const base = '/api/bill/v1/topups'
const amount = amountGiven(2)

const filters = { keyword, status: z.enum(topupStatuses).optional(), method: z.enum(topupMethods).optional(), owner_id: z.uuid().optional() } as const

export const topups = {
  ways: defineCall({
    id: 'bill.topup.ways',
    method: 'GET',
    path: `${base}/ways`,
    summary: 'How money can be paid in',
    access: tenants,
    response: z.object({
      /** Null while administrators have not set it. */
      bank: bankAccount.nullable(),
      channels: z.array(z.object({ id: z.uuid(), name: z.string() })),
    }),
  }),
  list: defineCall({
    id: 'bill.topup.list',
    method: 'GET',
    path: base,
    summary: 'Top-ups, newest first; administrators see everybody’s',
    access: tenants,
    query: listQuery(['created_at', 'amount'], filters),
    response: listOf(topup),
  }),
  export: defineCall({
    id: 'bill.topup.export',
    method: 'POST',
    path: `${base}/exports`,
    summary: 'A file of top-ups, the oldest first',
    also: () => [{ action: 'bill.topup.list' }],
    access: tenants,
    body: z.object({ format: z.enum(exportFormats), ...filters }),
    response: exportLink,
  }),
  get: defineCall({ id: 'bill.topup.get', method: 'GET', path: `${base}/{id}`, summary: 'One top-up', access: tenants, params: byId, response: topup }),
  /** Refused with 24014, 96012, 96030, 96031. */
  remit: defineCall({
    keyed: true,
    id: 'bill.topup.remit',
    method: 'POST',
    path: `${base}/remittances`,
    summary: 'Ask for a code to write on a bank transfer',
    access: tenants,
    status: 201,
    body: z.object({ amount }),
    response: topup,
  }),
  /** Refused with 24014, 96012, 96030, 96034. */
  pay: defineCall({
    keyed: true,
    id: 'bill.topup.pay',
    method: 'POST',
    path: `${base}/payments`,
    summary: 'Begin an online payment; `url` leads to the gateway',
    access: tenants,
    status: 201,
    body: z.object({ amount, channel_id: z.uuid() }),
    response: z.object({ topup, url: z.string() }),
  }),
  /** Refused with 90010, 96034. */
  resume: defineCall({
    id: 'bill.topup.resume',
    method: 'POST',
    path: `${base}/{id}/resume`,
    summary: 'The gateway’s page of a payment that waits',
    access: tenants,
    params: byId,
    response: z.object({ url: z.string() }),
  }),
  cancel: defineCall({
    id: 'bill.topup.cancel',
    method: 'POST',
    path: `${base}/{id}/cancel`,
    summary: 'Give up a top-up that waits',
    access: tenants,
    params: byId,
    response: topup,
  }),
  /** Refused with 24014, 24047, 24048, 90010, 96012. */
  confirm: defineCall({
    keyed: true,
    id: 'bill.topup.confirm',
    method: 'POST',
    path: `${base}/confirmations`,
    summary: 'A transfer arrived: credit what really came, by the code that stands on it',
    access: admins,
    body: z.object({
      code: z.string().trim().min(1).max(32).regex(plainLine, fieldTexts.controlCharacters),
      received: amount,
      /** The bank's number of the transfer. */
      reference: z.string().trim().max(64).regex(plainLine, fieldTexts.controlCharacters).default(''),
      note: description.default(''),
    }),
    response: topup,
  }),
} as const

/** How requests and callbacks of a gateway are signed: docs/payment-gateway.md. */
export const signTypes = ['HMAC-SHA256', 'RSA-SHA256'] as const
export type SignType = (typeof signTypes)[number]

const line = (most: number) =>
  z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(most).regex(plainLine, fieldTexts.controlCharacters)
const pem = z.string().trim().max(16_384).regex(plainText, fieldTexts.controlCharacters)

const channelSettings = {
  name: line(64),
  enabled: z.boolean().default(false),
  /** `/pay` and `/query` stand below it. Required to be https but for this machine's own in development. */
  gateway: z
    .string(fieldTexts.contentRequired)
    .trim()
    .min(1, fieldTexts.contentRequired)
    .pipe(
      z
        .url({ protocol: /^https?$/, error: fieldTexts.cloudUrl })
        .max(1024)
        .regex(/^[^?#\s@]+$/, fieldTexts.cloudUrl),
    ),
  merchant_id: line(128),
  sign_type: z.enum(signTypes),
  /** RSA only: PEM. */
  gateway_public_key: pem.default(''),
}

export const paymentChannel = z.object({
  ...channelSettings,
  gateway: z.string(),
  gateway_public_key: z.string(),
  id: z.uuid(),
  /** To be told to the gateway; null while the platform has no public address. */
  notify_url: z.string().nullable(),
  topup_count: z.int(),
  created_at: moment,
  updated_at: moment,
})
export type PaymentChannel = z.output<typeof paymentChannel>

/** `key`: the common secret (HMAC), or our private key as PEM (RSA); never answered. */
const createChannel = z.object({ ...channelSettings, key: pem.min(16) })
const updateChannel = z.object({ ...channelSettings, key: pem.min(16).optional() })
export type PaymentChannelInput = z.input<typeof updateChannel>

const channelsBase = '/api/bill/v1/payment-channels'

/** Gateways that people pay through. */
export const paymentChannels = {
  list: defineCall({
    id: 'bill.paymentChannel.list',
    method: 'GET',
    path: channelsBase,
    summary: 'Gateways for online payment',
    access: admins,
    response: listOf(paymentChannel),
  }),
  /** Refused with 96032, 96035, 96038. */
  create: defineCall({
    id: 'bill.paymentChannel.create',
    method: 'POST',
    path: channelsBase,
    summary: 'Set up a gateway',
    access: admins,
    perMinute: 60,
    status: 201,
    body: createChannel,
    response: paymentChannel,
  }),
  /** Without `key` the one before stays, where `sign_type` does. Refused with 96032, 96035, 96038. */
  update: defineCall({
    id: 'bill.paymentChannel.update',
    method: 'PUT',
    path: `${channelsBase}/{id}`,
    summary: 'Change a gateway',
    access: admins,
    perMinute: 60,
    params: byId,
    body: updateChannel,
    response: paymentChannel,
  }),
  /** Refused with 96033 once something was paid through it. */
  delete: defineCall({
    id: 'bill.paymentChannel.delete',
    method: 'DELETE',
    path: `${channelsBase}/{id}`,
    summary: 'Remove a gateway that nobody used',
    access: admins,
    params: byId,
    response: empty,
  }),
} as const
