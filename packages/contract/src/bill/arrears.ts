import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { kind } from '../kind.ts'
import { admins, tenants } from '../roles.ts'
import { billTexts } from '../texts.ts'
import { keyword } from '../validation.ts'
import { amountGiven, money } from './money.ts'

const base = '/api/bill/v1'

/**
 * How an organisation stands with its account: follows from its balances, its policy and the time.
 *
 *   normal ⇄ low → arrears → suspended → normal
 *
 * `arrears` begins with the first usage that nothing could pay, and has a grace; `suspended` lasts
 * until nothing is owed any more.
 */
export const standingStates = ['normal', 'low', 'arrears', 'suspended'] as const
export type StandingState = (typeof standingStates)[number]

const hours = z.int().min(0).max(8_760)

/** What an administrator decides about accounts that run dry. */
const decisions = {
  /** Hours from the first unpaid usage to the suspension. */
  grace_hours: hours,
  /** So many hours before the suspension it is told once more; 0 tells nothing. */
  warning_hours: hours,
  /** Whether there is a suspension at all. */
  suspends: z.boolean(),
  /** What a suspension stops; starting and creating is refused (24018) either way. */
  stop_vms: z.boolean(),
  /** Containers and applications on nodes. */
  stop_containers: z.boolean(),
  /** Whether new resources are refused (24011) from the beginning of arrears. */
  refuse_new: z.boolean(),
  /** Whether what was stopped starts by itself once everything is paid. */
  resume: z.boolean(),
} as const

export const arrearsPolicy = z.object({
  /** The organisation's; null for the platform's. */
  id: z.uuid().nullable(),
  /** Null: the platform's, which holds for everybody without an exception. */
  organisation: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  /** An account with less than this available is low; `0.00`: none is. */
  low_balance: money,
  /** With less than this available nothing that is paid by the hour may be made (96043); `0.00`: it may. What is paid in advance may, always. */
  least_balance: money,
  ...decisions,
  updated_by: z.string(),
  /** Null: as it came, nobody changed it. */
  updated_at: moment.nullable(),
})
export type ArrearsPolicy = z.output<typeof arrearsPolicy>

/** Also for the console's form. */
export const arrearsPolicyGiven = z.object({
  low_balance: amountGiven(2).refine((text) => !text.startsWith('-'), billTexts.lowBalanceNegative),
  least_balance: amountGiven(2)
    .refine((text) => !text.startsWith('-'), billTexts.leastBalanceNegative)
    .default('0'),
  ...decisions,
})

/** An exception overrides the platform's policy as a whole. */
export const arrearsPolicies = {
  get: defineCall({
    id: 'bill.arrearsPolicy.get',
    method: 'GET',
    path: `${base}/arrears-policy`,
    summary: 'What happens to accounts that run dry',
    access: admins,
    response: arrearsPolicy,
  }),
  set: defineCall({
    id: 'bill.arrearsPolicy.set',
    method: 'PUT',
    path: `${base}/arrears-policy`,
    summary: 'Change it for everybody without an exception',
    access: admins,
    body: arrearsPolicyGiven,
    response: arrearsPolicy,
  }),
  exceptions: defineCall({
    id: 'bill.arrearsPolicy.exceptions',
    method: 'GET',
    path: `${base}/arrears-exceptions`,
    summary: 'Organisations with a policy of their own',
    access: admins,
    query: listQuery(['name', 'updated_at'], { keyword }),
    response: listOf(arrearsPolicy),
  }),
  setException: defineCall({
    id: 'bill.arrearsPolicy.setException',
    method: 'PUT',
    path: `${base}/arrears-exceptions/{id}`,
    summary: 'Give an organisation a policy of its own',
    access: admins,
    params: byId,
    body: arrearsPolicyGiven,
    response: arrearsPolicy,
  }),
  removeException: defineCall({
    id: 'bill.arrearsPolicy.removeException',
    method: 'DELETE',
    path: `${base}/arrears-exceptions/{id}`,
    summary: 'Take it back',
    access: admins,
    params: byId,
    response: empty,
  }),
} as const

export const standing = z.object({
  /** The organisation's. */
  id: z.uuid(),
  organisation: z.object({ id: z.uuid(), name: z.string() }),
  state: z.enum(standingStates),
  /** Since when it is in this state; null: it never was in another. */
  since: moment.nullable(),
  /** When arrears began, and when they lead to the suspension; null where there are none, or no suspension follows. */
  arrears_since: moment.nullable(),
  grace_until: moment.nullable(),
  /** What is owed, and what an order may cost now. */
  arrears: money,
  available: money,
  /** What has to be available before something that is paid by the hour is made; see {@link arrearsPolicy}. */
  least_balance: money,
  /** What the suspension works on; null where there is none. */
  suspension: z
    .object({
      phase: z.enum(['suspending', 'suspended', 'resuming']),
      stopped: z.int(),
      /** Of them or of what is still to be stopped: what did not succeed yet. */
      failing: z.int(),
    })
    .nullable(),
})
export type Standing = z.output<typeof standing>

export const standingChange = z.object({
  id: z.int(),
  from: z.enum(standingStates),
  to: z.enum(standingStates),
  at: moment,
  balance: money,
  grace_until: moment.nullable(),
})
export type StandingChange = z.output<typeof standingChange>

/** `left`: it is no longer the suspension's, as somebody started, stopped or deleted it since. */
export const suspendedStates = ['stopping', 'stopped', 'starting', 'started', 'left'] as const
export const suspendedResource = z.object({
  kind,
  id: z.uuid(),
  name: z.string(),
  state: z.enum(suspendedStates),
  tries: z.int(),
  /** Why the last try did not succeed; it is tried again. */
  error: z.string().nullable(),
  updated_at: moment,
})
export type SuspendedResource = z.output<typeof suspendedResource>

export const standings = {
  list: defineCall({
    id: 'bill.standing.list',
    method: 'GET',
    path: `${base}/standings`,
    summary: 'How organisations stand with their accounts',
    access: admins,
    query: listQuery(['name', 'since', 'grace_until'], { keyword, state: z.enum(standingStates).optional() }),
    response: listOf(standing),
  }),
  get: defineCall({
    id: 'bill.standing.get',
    method: 'GET',
    path: `${base}/standings/{id}`,
    summary: 'How an organisation stands with its account',
    access: tenants,
    params: byId,
    response: standing,
  }),
  history: defineCall({
    id: 'bill.standing.history',
    method: 'GET',
    path: `${base}/standings/{id}/history`,
    summary: 'How its standing changed, newest first',
    access: tenants,
    params: byId,
    query: listQuery(['id'], {}),
    response: listOf(standingChange),
  }),
  resources: defineCall({
    id: 'bill.standing.resources',
    method: 'GET',
    path: `${base}/standings/{id}/resources`,
    summary: 'What the last suspension stopped',
    access: tenants,
    params: byId,
    query: listQuery(['name', 'updated_at'], { state: z.enum(suspendedStates).optional() }),
    response: listOf(suspendedResource),
  }),
} as const
