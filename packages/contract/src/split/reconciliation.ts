import { z } from 'zod'
import { money } from '../bill/money.ts'
import { can } from '../can.ts'
import { byId, day, defineCall, listOf, listQuery, moment } from '../define.ts'
import { reference } from '../resource.ts'
import { fieldTexts } from '../texts.ts'
import { passwordTyped, plainText } from '../validation.ts'
import { splitKeepers, splitPath } from './contract.ts'
import { payoutStatuses } from './payout.ts'

/**
 * What the channel's file of a day and our payouts do not agree about. `oursOnly`: ended here, and not in the file. `theirsOnly`:
 * in the file, and none of ours. `amount`: another one. `double`: paid once more. `returned`: it came back there, and here it
 * did not. `state`: ended otherwise. `stuck`: it was sent days ago, and has not ended.
 */
export const caseKinds = ['oursOnly', 'theirsOnly', 'amount', 'double', 'returned', 'state', 'stuck'] as const
export type CaseKind = (typeof caseKinds)[number]
/** `proposed`: somebody says how it is to end, and somebody else has to agree. */
export const caseStatuses = ['open', 'proposed', 'closed'] as const
export type CaseStatus = (typeof caseStatuses)[number]
/**
 * What somebody may propose. `accepted`: it stays as it is, for a reason. `writtenOff`: a movement makes up for it. `wasPaid`: the
 * payout was paid, as the channel says, and is owed no more. `wasNotPaid`: it was not, or came back, and is owed again.
 */
export const proposedExits = ['accepted', 'writtenOff', 'wasPaid', 'wasNotPaid'] as const
export type ProposedExit = (typeof proposedExits)[number]
/** `settled`: both agree by now. */
export const caseExits = ['settled', ...proposedExits] as const
export type CaseExit = (typeof caseExits)[number]
/** Where an exit moves money: what a provider is owed, what is on its way, what was paid, and what the platform bears. */
export const exitAccounts = ['payable', 'transit', 'paid', 'difference'] as const
export type ExitAccount = (typeof exitAccounts)[number]
export const caseCan = can<CaseStatus>()({ propose: ['open'], decide: ['proposed'], ask: ['open'] })
/** Which the channel can be asked about once more: of the others it can say nothing new, and its file stands against its answer. */
export const caseAskable: readonly CaseKind[] = ['returned', 'state', 'stuck']

export const splitCase = z.object({
  id: z.uuid(),
  day,
  kind: z.enum(caseKinds),
  status: z.enum(caseStatuses),
  /** Null of what is none of ours. */
  payout_id: z.uuid().nullable(),
  provider: reference.nullable(),
  /** What the channel calls the payment; empty where it knows of none. */
  reference: z.string(),
  ours: z.object({ amount: money, status: z.string() }).nullable(),
  theirs: z.object({ amount: money, status: z.string() }).nullable(),
  /** How it ended, or is to end as somebody proposed. */
  exit: z.enum(caseExits).nullable(),
  /** How it may end as things are now, and what that would change; of one that is closed none. */
  exits: z.array(
    z.object({
      exit: z.enum(proposedExits),
      /** What the payout would be then; null: what it is. */
      status: z.enum(payoutStatuses).nullable(),
      moves: z.array(z.object({ account: z.enum(exitAccounts), amount: money })),
    }),
  ),
  reason: z.string(),
  proposed_by: z.string().nullable(),
  decided_by: z.string().nullable(),
  created_at: moment,
  closed_at: moment.nullable(),
})
export type SplitCase = z.output<typeof splitCase>

/** `due`: its file is to be read. */
export const reconciliationStatuses = ['due', 'done'] as const
export const splitReconciliation = z.object({
  id: z.uuid(),
  day,
  /** Whose file, by our merchant id there. */
  merchant_id: z.string(),
  status: z.enum(reconciliationStatuses),
  row_count: z.int(),
  case_count: z.int(),
  open_count: z.int(),
  /** SHA-256 of the file; null until it was read. */
  file_hash: z.string().nullable(),
  /** Whether its file could not be read the last time. */
  failed: z.boolean(),
  finished_at: moment.nullable(),
})
export type SplitReconciliation = z.output<typeof splitReconciliation>

const one = { params: byId } as const
const reason = z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(500).regex(plainText, fieldTexts.controlCharacters)

export const splitCases = {
  list: defineCall({
    id: 'split.case.list',
    method: 'GET',
    path: `${splitPath}/cases`,
    summary: 'Differences between the channel’s files and our payouts',
    access: splitKeepers,
    query: listQuery(['created_at', 'day'], {
      status: z.enum(caseStatuses).optional(),
      kind: z.enum(caseKinds).optional(),
      day: day.optional(),
    }),
    response: listOf(splitCase),
  }),
  /** Refused with 90010, 98214, 98216, 98218, 98221, 98223. */
  propose: defineCall({
    ...one,
    id: 'split.case.propose',
    method: 'POST',
    path: `${splitPath}/cases/{id}/propose`,
    summary: 'Say how it is to end, and why',
    access: splitKeepers,
    body: z.object({ exit: z.enum(proposedExits), reason }),
    response: splitCase,
  }),
  /** By somebody else than who proposed it, who proves to be they to agree. Refused with 1120, 90010, 91125, 98209, 98214, 98216, 98218, 98221, 98222, 98223. */
  decide: defineCall({
    ...one,
    id: 'split.case.decide',
    method: 'POST',
    path: `${splitPath}/cases/{id}/decide`,
    summary: 'Agree with how it is to end, or not: then it is open again',
    access: splitKeepers,
    personal: true,
    perMinute: 60,
    body: z.object({ agree: z.boolean(), password: passwordTyped.optional() }),
    response: splitCase,
  }),
  /** Refused with 90010, 98214, 98216, 98217, 98219. */
  ask: defineCall({
    ...one,
    id: 'split.case.ask',
    method: 'POST',
    path: `${splitPath}/cases/{id}/ask`,
    summary: 'Ask the channel again; where both agree by now it is closed',
    access: splitKeepers,
    perMinute: 60,
    response: splitCase,
  }),
} as const

export const splitReconciliations = {
  list: defineCall({
    id: 'split.reconciliation.list',
    method: 'GET',
    path: `${splitPath}/reconciliations`,
    summary: 'Days whose files of the channel were read',
    access: splitKeepers,
    query: listQuery(['day'], {}),
    response: listOf(splitReconciliation),
  }),
  /** The same file again changes nothing. Refused with 98214, 98220. */
  create: defineCall({
    id: 'split.reconciliation.create',
    method: 'POST',
    path: `${splitPath}/reconciliations`,
    summary: 'Read the channel’s file of a day that is over, again',
    access: splitKeepers,
    status: 202,
    perMinute: 60,
    body: z.object({ day }),
    response: splitReconciliation,
  }),
} as const
