import { z } from 'zod'
import type { NoticeKind } from '../bill/notice.ts'
import { defineCall, empty, flag, listOf, listQuery, moment } from '../define.ts'
import { kind } from '../kind.ts'
import { keyword } from '../validation.ts'

const base = '/api/sys/v1/messages'

export const messageCategories = ['money', 'security', 'resource', 'platform'] as const
export type MessageCategory = (typeof messageCategories)[number]

/** All that is told within the console, and what it is about. A kind is named here first. */
export const messageKinds = {
  'bill.low': 'money',
  'bill.arrears': 'money',
  'bill.suspensionNear': 'money',
  'bill.suspended': 'money',
  'bill.resumed': 'money',
  'bill.budget': 'money',
  'bill.budgetForecast': 'money',
  'ums.attacked': 'security',
  'iam.requested': 'security',
  'ecrm.edgeAway': 'resource',
  'ims.projectOver': 'resource',
  'market.cardSick': 'resource',
  'market.cardsFree': 'resource',
  'market.nodeWithdrawn': 'resource',
  'market.rentalFault': 'resource',
  'market.rentalStopped': 'resource',
  'market.rentalFailed': 'resource',
  'market.rentalReleasing': 'resource',
  'market.rentalEnding': 'resource',
  'market.rentalInterrupting': 'resource',
  'compute.projectLost': 'resource',
  'compute.projectWrong': 'platform',
  'cmp.cloudUnreachable': 'platform',
  'cmp.cloudReachable': 'platform',
  'split.statement': 'money',
  'split.disputed': 'platform',
  'split.bank': 'security',
  'split.payout': 'money',
  'split.case': 'platform',
  'split.channel': 'security',
  'ticket.said': 'resource',
  'ticket.came': 'resource',
  'ticket.late': 'resource',
} as const satisfies Readonly<Record<`bill.${NoticeKind}`, MessageCategory> & Record<string, MessageCategory>>
export type MessageKind = keyof typeof messageKinds

// Object.keys loses the key type, and z.enum wants to know that there is one.
const kinds = Object.keys(messageKinds) as [MessageKind, ...MessageKind[]]

/** What all members of an organisation are told; everything else only those who manage it. */
export const categoryForMembers = 'resource' satisfies MessageCategory

/** So many unread ones are counted, and more of them not told apart. */
export const unreadMost = 100

const message = z.object({
  id: z.uuid(),
  kind: z.enum(kinds),
  category: z.enum(messageCategories),
  /** As it was told. */
  text: z.string(),
  at: moment,
  /** What it is about, as it was called then. */
  about: z.object({ kind, id: z.string(), name: z.string() }),
  /** Whether the person who asks has read it. */
  read: z.boolean(),
})
export type Message = z.output<typeof message>

/**
 * A message is told to one person, to an organisation, or to the platform. An organisation's are seen by who manages it (its
 * administrators, the one person of a personal one), and those of {@link categoryForMembers} by all its members; the
 * platform's by its administrators, who do not see those of organisations. Each reads for themselves. Unread is what was
 * told since somebody is there and sees it: whoever comes later finds what was told before as read.
 * Whoever it is told to may read it, whatever roles and policies they have.
 */
export const messages = {
  list: defineCall({
    id: 'sys.message.list',
    method: 'GET',
    path: base,
    summary: 'What one was told, newest first',
    access: 'all',
    query: listQuery(['at'], { category: z.enum(messageCategories).optional(), unread: flag.optional(), keyword }),
    response: listOf(message),
  }),
  unread: defineCall({
    id: 'sys.message.unread',
    method: 'GET',
    path: `${base}/unread`,
    summary: `How many of them one has not read; ${unreadMost} where there are more`,
    access: 'all',
    response: z.object({ count: z.int() }),
  }),
  /** Nothing of those that are not told to whoever asks. */
  read: defineCall({
    id: 'sys.message.read',
    method: 'POST',
    path: `${base}/read`,
    summary: 'Mark some as read',
    access: 'all',
    audit: false,
    body: z.object({ ids: z.array(z.uuid()).min(1).max(1000) }),
    response: empty,
  }),
  readAll: defineCall({
    id: 'sys.message.readAll',
    method: 'POST',
    path: `${base}/read-all`,
    summary: 'Mark all as read, or all of a category',
    access: 'all',
    audit: false,
    body: z.object({ category: z.enum(messageCategories).optional() }),
    response: empty,
  }),
} as const
