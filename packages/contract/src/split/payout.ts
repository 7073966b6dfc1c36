import { z } from 'zod'
import { amountGiven, money } from '../bill/money.ts'
import { signTypes } from '../bill/topup.ts'
import { can } from '../can.ts'
import { byId, defineCall, listOf, listQuery, moment } from '../define.ts'
import { reference } from '../resource.ts'
import { admins } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { passwordTyped, plainLine, plainText } from '../validation.ts'
import { splitKeepers, splitPath, splitReaders } from './contract.ts'

/**
 * `asked`: waits for approval, or to be sent. `claimed`: is being sent. `sent`: the channel has it. `done`: paid. `failed`: it
 * was not paid, and is owed again. `returned`: it was paid and came back, and is owed again. `withdrawn`: before it was sent.
 */
export const payoutStatuses = ['asked', 'claimed', 'sent', 'done', 'failed', 'returned', 'withdrawn'] as const
export type PayoutStatus = (typeof payoutStatuses)[number]
export const payoutCan = can<PayoutStatus>()({ approve: ['asked'], withdraw: ['asked'], query: ['claimed', 'sent', 'done'] })

export const splitPayout = z.object({
  id: z.uuid(),
  provider: reference,
  amount: money,
  status: z.enum(payoutStatuses),
  /** Whether somebody else has to approve it, and has not. */
  needs_approval: z.boolean(),
  approved_by: z.string().nullable(),
  /** Where it goes, hidden but for some characters, as it was when somebody asked for it. */
  account: z.string().nullable(),
  /** What the channel calls it; empty until it is done. */
  reference: z.string(),
  /** Why the channel did not pay it, or why it came back. */
  reason: z.string(),
  asked_by: z.string(),
  created_at: moment,
  claimed_at: moment.nullable(),
  sent_at: moment.nullable(),
  /** As the channel says. */
  done_at: moment.nullable(),
  /** When it failed or came back. */
  ended_at: moment.nullable(),
  /** The statements that it pays, wholly or in part. */
  runs: z.array(z.object({ id: z.uuid(), period: z.string(), amount: money })),
})
export type SplitPayout = z.output<typeof splitPayout>

/** Of a provider itself, not of the agents of its contracts. */
const balance = z.object({
  /** Of statements that are not confirmed. */
  pending: money,
  /** Owed. */
  payable: money,
  transit: money,
  paid: money,
  /** The least and the most of one payout, and above what somebody else has to approve. */
  least: money,
  most: money,
  approved_above: money,
})
export type SplitBalance = z.output<typeof balance>

const one = { params: byId } as const

export const splitPayouts = {
  balance: defineCall({
    ...one,
    id: 'split.payout.balance',
    method: 'GET',
    path: `${splitPath}/providers/{id}/balance`,
    summary: 'What a provider is owed and was paid',
    access: splitReaders,
    response: balance,
  }),
  list: defineCall({
    id: 'split.payout.list',
    method: 'GET',
    path: `${splitPath}/payouts`,
    summary: 'Payouts; of a provider its own',
    access: splitReaders,
    query: listQuery(['created_at', 'amount'], { provider_id: z.uuid().optional(), status: z.enum(payoutStatuses).optional() }),
    response: listOf(splitPayout),
  }),
  get: defineCall({
    ...one,
    id: 'split.payout.get',
    method: 'GET',
    path: `${splitPath}/payouts/{id}`,
    summary: 'One payout',
    access: splitReaders,
    response: splitPayout,
  }),
  /** Refused with 26018, 98210, 98211, 98212, 98214. */
  create: defineCall({
    keyed: true,
    id: 'split.payout.create',
    method: 'POST',
    path: `${splitPath}/payouts`,
    summary: 'Ask for some of what a provider is owed to be paid, the oldest statements first',
    access: splitKeepers,
    status: 201,
    body: z.object({ provider_id: z.uuid(), amount: amountGiven(2) }),
    response: splitPayout,
  }),
  /** By somebody else than who asked for it. Refused with 1120, 90010, 91125, 98209. */
  approve: defineCall({
    ...one,
    id: 'split.payout.approve',
    method: 'POST',
    path: `${splitPath}/payouts/{id}/approve`,
    summary: 'Approve a payout that is above what one person may decide',
    access: splitKeepers,
    personal: true,
    perMinute: 60,
    body: z.object({ password: passwordTyped.optional() }),
    response: splitPayout,
  }),
  withdraw: defineCall({
    ...one,
    id: 'split.payout.withdraw',
    method: 'POST',
    path: `${splitPath}/payouts/{id}/withdraw`,
    summary: 'Take it back before it is sent',
    access: splitKeepers,
    response: splitPayout,
  }),
  /** Refused with 90010, 98214, 98216. */
  query: defineCall({
    ...one,
    id: 'split.payout.query',
    method: 'POST',
    path: `${splitPath}/payouts/{id}/query`,
    summary: 'Ask the channel what became of it',
    access: splitKeepers,
    perMinute: 60,
    response: splitPayout,
  }),
} as const

const line = (most: number) =>
  z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(most).regex(plainLine, fieldTexts.controlCharacters)
const pem = z.string().trim().max(16_384).regex(plainText, fieldTexts.controlCharacters)

const channelShape = {
  enabled: z.boolean().default(false),
  /** `/payouts`, `/query` and `/statements` stand below it. Required to be https but for this machine's own in development. */
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
const payoutChannel = z.object({
  ...channelShape,
  gateway: z.string(),
  gateway_public_key: z.string(),
  /** To be told to the channel; null while the platform has no public address. */
  notify_url: z.string().nullable(),
  /** Payouts that it has and that have not ended. */
  open_count: z.int(),
  updated_at: moment,
})
export type PayoutChannel = z.output<typeof payoutChannel>

/** Another channel, or another way to sign, that somebody else has to approve. */
const waitingChannel = z.object({
  id: z.uuid(),
  ...channelShape,
  gateway: z.string(),
  gateway_public_key: z.string(),
  asked_by: z.string(),
  created_at: moment,
})
export type WaitingChannel = z.output<typeof waitingChannel>
const channelState = z.object({ channel: payoutChannel.nullable(), waiting: waitingChannel.nullable() })
export type ChannelState = z.output<typeof channelState>

/** Through what payouts go: docs/payout-channel.md. */
export const splitChannel = {
  get: defineCall({
    id: 'split.channel.get',
    method: 'GET',
    path: `${splitPath}/payout-channel`,
    summary: 'The channel of payouts, and what waits to take its place; null while there is none',
    access: splitKeepers,
    response: channelState,
  }),
  /** Whether it is enabled counts at once. `key`: the common secret (HMAC), or our private key as PEM (RSA); never answered, and left out it stays. Refused with 1120, 91125, 96035, 96038, 98215. */
  set: defineCall({
    id: 'split.channel.set',
    method: 'PUT',
    path: `${splitPath}/payout-channel`,
    summary: 'Set up the channel of payouts, which somebody else approves; another one only while it has no open ones',
    access: admins,
    personal: true,
    perMinute: 60,
    body: z.object({ ...channelShape, key: pem.min(16).optional(), password: passwordTyped.optional() }),
    response: channelState,
  }),
  /** By somebody else than who set it up. Refused with 1120, 91125, 98209, 98215. */
  approve: defineCall({
    ...one,
    id: 'split.channel.approve',
    method: 'POST',
    path: `${splitPath}/payout-channel/{id}/approve`,
    summary: 'Approve what waits: from then on payouts go through it',
    access: splitKeepers,
    personal: true,
    perMinute: 60,
    body: z.object({ password: passwordTyped.optional() }),
    response: channelState,
  }),
  withdraw: defineCall({
    ...one,
    id: 'split.channel.withdraw',
    method: 'POST',
    path: `${splitPath}/payout-channel/{id}/withdraw`,
    summary: 'Take back what waits to be approved',
    access: splitKeepers,
    response: channelState,
  }),
} as const
