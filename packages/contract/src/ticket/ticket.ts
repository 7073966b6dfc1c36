import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, empty, flag, listOf, listQuery, moment } from '../define.ts'
import { exportLink } from '../exports.ts'
import { kind } from '../kind.ts'
import { entryName } from '../files/file.ts'
import { reference } from '../resource.ts'
import type { Role } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, plainLine, plainText } from '../validation.ts'

export const ticketsPath = '/api/ticket/v1'

/** Who answers work orders (specification section 6), and who decides over what money or rights depend on. */
export const ticketStaff = ['COPOTE_NORMAL', 'COPOTE_REVIEWER', 'COPOTE_ADMIN', 'ADMIN'] as const satisfies readonly Role[]
export const ticketReviewers = ['COPOTE_REVIEWER', 'COPOTE_ADMIN', 'ADMIN'] as const satisfies readonly Role[]
export const ticketKeepers = ['COPOTE_ADMIN', 'ADMIN'] as const satisfies readonly Role[]

/**
 * `open`: nobody has taken it. `working`: somebody is at it. `asking`: its person has to say more. `reviewing`: a reviewer looks at what
 * was answered. `confirming`: answered, its person confirms. `done`, `withdrawn`: over.
 */
export const ticketStatuses = ['open', 'working', 'asking', 'reviewing', 'confirming', 'done', 'withdrawn'] as const
export type TicketStatus = (typeof ticketStatuses)[number]
/** Where time counts against who answers: while people are asked it stands still. */
export const ticketRunning: readonly TicketStatus[] = ['open', 'working', 'reviewing']
export const ticketOver: readonly TicketStatus[] = ['done', 'withdrawn']

export const ticketTypes = ['question', 'fault', 'billing', 'rights', 'split', 'complaint'] as const
export type TicketType = (typeof ticketTypes)[number]
/** Their answers change money or rights: a reviewer sees them before who asked does. */
export const ticketReviewed: readonly TicketType[] = ['billing', 'rights', 'split']

export const ticketPriorities = ['low', 'normal', 'high', 'urgent'] as const
export type TicketPriority = (typeof ticketPriorities)[number]

const live = ['open', 'working', 'asking', 'reviewing', 'confirming'] as const satisfies readonly TicketStatus[]
export const ticketCan = can<TicketStatus>()({
  reply: live,
  confirm: ['confirming'],
  reopen: ['confirming'],
  withdraw: ['open', 'working', 'asking'],
  urge: ['open', 'working', 'reviewing'],
  rate: ['done'],
  claim: ['open'],
  assign: live,
  // What a reviewer looks at is not said before.
  answer: ['open', 'working', 'asking', 'confirming'],
  ask: ['working'],
  resolve: ['working'],
  review: ['reviewing'],
  prioritise: live,
  // What is reviewed, or was, stays what it is.
  retype: ['open', 'working', 'asking'],
  note: ticketStatuses,
  reveal: live,
})

/** So long somebody may leave an answer unconfirmed before it counts as confirmed. */
export const ticketConfirmDays = 7
/** People may press once in that time. */
export const ticketUrgeMinutes = 30
/** So long somebody may say how it went. */
export const ticketRateDays = 30
/** So much may be said of one. */
export const ticketEntriesMost = 500
export const ticketFilesMost = 10
export const ticketFileBytesMost = 100 * 2 ** 20

const text = (most: number) =>
  z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(most).regex(plainText, fieldTexts.controlCharacters)
/** Markdown. */
export const ticketText = text(20_000)
const reason = text(500)
const title = z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(128).regex(plainLine, fieldTexts.controlCharacters)
const uploads = z.array(z.uuid()).max(ticketFilesMost).default([])
/** What only who answers may read, such as a password for a try; gone when the work order is over. */
const secret = z.string().max(4_000).regex(plainText, fieldTexts.controlCharacters).optional()
/** What it is about: a thing of the console. */
const about = z.object({ kind, id: z.uuid() })

const file = z.object({ id: z.uuid(), name: z.string(), size_bytes: z.number() })
export type TicketFile = z.output<typeof file>

/** `text`: somebody wrote. Everything else tells what was done; its text is what was said with it. */
export const ticketEntryKinds = [
  'text',
  'note',
  'created',
  'claimed',
  'assigned',
  'asked',
  'resolved',
  'accepted',
  'refused',
  'confirmed',
  'reopened',
  'withdrawn',
  'urged',
  'rated',
  'prioritised',
  'retyped',
  'escalated',
  'revealed',
] as const
export type TicketEntryKind = (typeof ticketEntryKinds)[number]

const entry = z.object({
  id: z.uuid(),
  kind: z.enum(ticketEntryKinds),
  /** Whether it is one of those who answer; null: the platform by itself. */
  staff: z.boolean().nullable(),
  by: z.string(),
  /** Markdown. */
  text: z.string(),
  /** Whether who opened it does not see it. */
  internal: z.boolean(),
  files: z.array(file),
  at: moment,
})
export type TicketEntry = z.output<typeof entry>

export const ticket = z.object({
  id: z.uuid(),
  /** As people call it: the day and a number. */
  number: z.string(),
  title: z.string(),
  type: z.enum(ticketTypes),
  status: z.enum(ticketStatuses),
  priority: z.enum(ticketPriorities),
  about: z.object({ kind, id: z.uuid(), name: z.string() }).nullable(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  created_by: z.string(),
  assignee: z.string().nullable(),
  group: reference.nullable(),
  /** Whether something came since the person who asks last looked. */
  unread: z.boolean(),
  /** By when somebody has to have answered, and have solved it; null where time stands still, or that has happened. */
  answer_due_at: moment.nullable(),
  solve_due_at: moment.nullable(),
  /** Whether one of them has passed. */
  late: z.boolean(),
  score: z.int().nullable(),
  urged_at: moment.nullable(),
  answered_at: moment.nullable(),
  ended_at: moment.nullable(),
  created_at: moment,
  updated_at: moment,
})
export type Ticket = z.output<typeof ticket>

const detail = ticket.extend({
  entries: z.array(entry),
  /** Whether there is a secret to be read. */
  has_secret: z.boolean(),
  /** Whether it is one's own, or one's organisation's: else one answers it. */
  mine: z.boolean(),
  rating: z.string(),
})
export type TicketDetail = z.output<typeof detail>

const one = { params: byId } as const
const filters = {
  keyword,
  status: z.enum(ticketStatuses).optional(),
  type: z.enum(ticketTypes).optional(),
  over: flag.optional(),
} as const

/** What people do with their own. */
export const tickets = {
  list: defineCall({
    id: 'ticket.ticket.list',
    method: 'GET',
    path: `${ticketsPath}/tickets`,
    summary: 'One’s own work orders; of an administrator of an organisation those of its people',
    access: 'all',
    query: listQuery(['created_at', 'updated_at'], filters),
    response: listOf(ticket),
  }),
  get: defineCall({
    ...one,
    id: 'ticket.ticket.get',
    method: 'GET',
    path: `${ticketsPath}/tickets/{id}`,
    summary: 'One of them with all that was said',
    access: 'all',
    response: detail,
  }),
  create: defineCall({
    id: 'ticket.ticket.create',
    method: 'POST',
    path: `${ticketsPath}/tickets`,
    summary: 'Open a work order',
    access: 'all',
    status: 201,
    perMinute: 20,
    body: z.object({
      title,
      type: z.enum(ticketTypes),
      priority: z.enum(ticketPriorities).default('normal'),
      text: ticketText,
      about: about.optional(),
      secret,
      upload_ids: uploads,
    }),
    response: ticket,
  }),
  reply: defineCall({
    ...one,
    id: 'ticket.ticket.reply',
    method: 'POST',
    path: `${ticketsPath}/tickets/{id}/replies`,
    summary: 'Say more; one that waits for that goes on',
    access: 'all',
    status: 201,
    perMinute: 20,
    body: z.object({ text: ticketText, secret, upload_ids: uploads }),
    response: detail,
  }),
  confirm: defineCall({
    ...one,
    id: 'ticket.ticket.confirm',
    method: 'POST',
    path: `${ticketsPath}/tickets/{id}/confirm`,
    summary: 'Confirm that it is solved',
    access: 'all',
    response: detail,
  }),
  reopen: defineCall({
    ...one,
    id: 'ticket.ticket.reopen',
    method: 'POST',
    path: `${ticketsPath}/tickets/{id}/reopen`,
    summary: 'Say why it is not solved; it goes on',
    access: 'all',
    body: z.object({ reason }),
    response: detail,
  }),
  withdraw: defineCall({
    ...one,
    id: 'ticket.ticket.withdraw',
    method: 'POST',
    path: `${ticketsPath}/tickets/{id}/withdraw`,
    summary: 'Take it back',
    access: 'all',
    response: detail,
  }),
  urge: defineCall({
    ...one,
    id: 'ticket.ticket.urge',
    method: 'POST',
    path: `${ticketsPath}/tickets/{id}/urge`,
    summary: `Ask for it to be hurried, once in ${ticketUrgeMinutes} minutes`,
    access: 'all',
    response: detail,
  }),
  rate: defineCall({
    ...one,
    id: 'ticket.ticket.rate',
    method: 'POST',
    path: `${ticketsPath}/tickets/{id}/rating`,
    summary: `Say how it went, once, within ${ticketRateDays} days`,
    access: 'all',
    body: z.object({ score: z.int().min(1).max(5), text: z.string().trim().max(500).regex(plainText, fieldTexts.controlCharacters).default('') }),
    response: detail,
  }),
  read: defineCall({
    ...one,
    id: 'ticket.ticket.read',
    method: 'POST',
    path: `${ticketsPath}/tickets/{id}/read`,
    summary: 'Mark what was said as read',
    access: 'all',
    audit: false,
    response: empty,
  }),
  upload: defineCall({
    id: 'ticket.ticket.upload',
    method: 'POST',
    path: `${ticketsPath}/uploads`,
    summary: 'Announce a file: its bytes are sent by tus to the address in the answer, then it is named where something is said',
    access: 'all',
    status: 201,
    audit: false,
    perMinute: 60,
    body: z.object({ name: entryName, size_bytes: z.int().min(1).max(ticketFileBytesMost) }),
    response: z.object({ id: z.uuid(), upload_path: z.string() }),
  }),
  uploaded: defineCall({
    ...one,
    id: 'ticket.ticket.uploaded',
    method: 'GET',
    path: `${ticketsPath}/uploads/{id}`,
    summary: 'Whether one’s file has come',
    access: 'all',
    response: z.object({ status: z.enum(['uploading', 'verifying', 'done', 'failed']), offset_bytes: z.number() }),
  }),
  download: defineCall({
    params: byId.extend({ file_id: z.uuid() }),
    id: 'ticket.ticket.download',
    method: 'POST',
    path: `${ticketsPath}/tickets/{id}/files/{file_id}/download`,
    summary: 'A link to a file of it',
    access: 'all',
    audit: false,
    response: exportLink,
  }),
} as const
