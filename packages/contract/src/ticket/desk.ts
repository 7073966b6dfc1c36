import { z } from 'zod'
import { byId, day, defineCall, empty, flag, listOf, listQuery, moment } from '../define.ts'
import { reference } from '../resource.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, name, plainLine, plainText } from '../validation.ts'
import {
  ticket,
  ticketKeepers,
  ticketPriorities,
  ticketReviewers,
  ticketsPath,
  ticketStaff,
  ticketStatuses,
  ticketText,
  ticketTypes,
  tickets,
} from './ticket.ts'

const desk = `${ticketsPath}/desk`
const one = { params: byId } as const
const detail = tickets.get.response
const reason = z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(500).regex(plainText, fieldTexts.controlCharacters)
const uploads = tickets.reply.body.shape.upload_ids

/** Who answers: where it is theirs, their group's, or anybody's. */
export const deskQueues = ['mine', 'group', 'unassigned', 'all'] as const

/** What those do who answer. They see all work orders, and what is said among them. */
export const ticketDesk = {
  list: defineCall({
    id: 'ticket.desk.list',
    method: 'GET',
    path: `${desk}/tickets`,
    summary: 'Work orders of everybody, those that are due first',
    access: ticketStaff,
    query: listQuery(['due_at', 'created_at', 'updated_at', 'priority'], {
      keyword,
      queue: z.enum(deskQueues).default('all'),
      status: z.enum(ticketStatuses).optional(),
      type: z.enum(ticketTypes).optional(),
      priority: z.enum(ticketPriorities).optional(),
      late: flag.optional(),
      over: flag.optional(),
    }),
    response: listOf(ticket),
  }),
  get: defineCall({
    ...one,
    id: 'ticket.desk.get',
    method: 'GET',
    path: `${desk}/tickets/{id}`,
    summary: 'One of them with all that was said, among those who answer too',
    access: ticketStaff,
    response: detail,
  }),
  claim: defineCall({
    ...one,
    id: 'ticket.desk.claim',
    method: 'POST',
    path: `${desk}/tickets/{id}/claim`,
    summary: 'Take one that nobody has taken',
    access: ticketStaff,
    response: detail,
  }),
  assign: defineCall({
    ...one,
    id: 'ticket.desk.assign',
    method: 'POST',
    path: `${desk}/tickets/{id}/assign`,
    summary: 'Hand it on to somebody, or to a group in which anybody may take it',
    access: ticketStaff,
    body: z.object({
      to: z.discriminatedUnion('kind', [z.object({ kind: z.literal('person'), id: z.uuid() }), z.object({ kind: z.literal('group'), id: z.uuid() })]),
      text: z.string().trim().max(500).regex(plainText, fieldTexts.controlCharacters).default(''),
    }),
    response: detail,
  }),
  answer: defineCall({
    ...one,
    id: 'ticket.desk.answer',
    also: ({ params }) => [{ action: 'ticket.desk.claim', on: { kind: 'ticket.desk', id: params.id } }],
    method: 'POST',
    path: `${desk}/tickets/{id}/answers`,
    summary: 'Write to who opened it; whoever does so first has taken it. `ask`: they have to say more; `resolve`: it is solved, and they confirm',
    access: ticketStaff,
    status: 201,
    body: z.object({ text: ticketText, next: z.enum(['stay', 'ask', 'resolve']).default('stay'), upload_ids: uploads }),
    response: detail,
  }),
  note: defineCall({
    ...one,
    id: 'ticket.desk.note',
    method: 'POST',
    path: `${desk}/tickets/{id}/notes`,
    summary: 'Write to others who answer; who opened it does not see it',
    access: ticketStaff,
    status: 201,
    body: z.object({ text: ticketText, upload_ids: uploads }),
    response: detail,
  }),
  review: defineCall({
    ...one,
    id: 'ticket.desk.review',
    method: 'POST',
    path: `${desk}/tickets/{id}/review`,
    summary: 'Let an answer that changes money or rights go out, or send it back; never one’s own',
    access: ticketReviewers,
    body: z.discriminatedUnion('accept', [z.object({ accept: z.literal(true) }), z.object({ accept: z.literal(false), reason })]),
    response: detail,
  }),
  prioritise: defineCall({
    ...one,
    id: 'ticket.desk.prioritise',
    method: 'POST',
    path: `${desk}/tickets/{id}/priority`,
    summary: 'Say how urgent it is; by when it is due follows',
    access: ticketStaff,
    body: z.object({ priority: z.enum(ticketPriorities) }),
    response: detail,
  }),
  /** Refused with 98412 where a reviewer has to do it. */
  retype: defineCall({
    ...one,
    id: 'ticket.desk.retype',
    method: 'POST',
    path: `${desk}/tickets/{id}/type`,
    summary: 'Say what it is about: whether its answers are reviewed follows; only reviewers take it out of what is',
    access: ticketStaff,
    body: z.object({ type: z.enum(ticketTypes) }),
    response: detail,
  }),
  reveal: defineCall({
    ...one,
    id: 'ticket.desk.reveal',
    method: 'POST',
    path: `${desk}/tickets/{id}/secret`,
    summary: 'Read what was sent in confidence; that it was read is recorded, and shown to who sent it',
    access: ticketStaff,
    response: z.object({ secret: z.string() }),
  }),
  figures: defineCall({
    id: 'ticket.desk.figures',
    method: 'GET',
    path: `${desk}/figures`,
    summary: 'How many are open and late, how soon people were answered, and of which types, in the last days',
    access: ticketReviewers,
    query: z.object({ days: z.coerce.number().int().min(1).max(366).default(30) }),
    response: z.object({
      open: z.int(),
      unassigned: z.int(),
      late: z.int(),
      asking: z.int(),
      reviewing: z.int(),
      created: z.int(),
      done: z.int(),
      /** Working minutes until the first answer, median; null where there was none. */
      answer_minutes: z.number().nullable(),
      /** Working minutes until it was solved, without those in which people were asked. */
      solve_minutes: z.number().nullable(),
      /** Of those solved in time, 0–1. */
      in_time: z.number().nullable(),
      score: z.number().nullable(),
      types: z.array(z.object({ type: z.enum(ticketTypes), created: z.int(), late: z.int() })),
      days: z.array(z.object({ day, created: z.int(), done: z.int() })),
    }),
  }),
  staff: defineCall({
    id: 'ticket.desk.staff',
    method: 'GET',
    path: `${desk}/staff`,
    summary: 'Who answers, with how many each has',
    access: ticketStaff,
    response: z.object({ items: z.array(reference.extend({ open: z.int() })) }),
  }),
} as const

const group = z.object({ id: z.uuid(), name: z.string(), members: z.array(reference), types: z.array(z.enum(ticketTypes)), open: z.int(), created_at: moment })
export type TicketGroup = z.output<typeof group>
const groupBody = z.object({
  name,
  user_ids: z.array(z.uuid()).max(200).default([]),
  /** Work orders of these types come to it by themselves. */
  types: z.array(z.enum(ticketTypes)).max(ticketTypes.length).default([]),
})

/** Those who answer together. */
export const ticketGroups = {
  list: defineCall({
    id: 'ticket.group.list',
    method: 'GET',
    path: `${desk}/groups`,
    summary: 'Groups of those who answer',
    access: ticketStaff,
    response: z.object({ items: z.array(group) }),
  }),
  create: defineCall({
    id: 'ticket.group.create',
    method: 'POST',
    path: `${desk}/groups`,
    summary: 'Make a group',
    access: ticketKeepers,
    status: 201,
    body: groupBody,
    response: group,
  }),
  update: defineCall({
    ...one,
    id: 'ticket.group.update',
    method: 'PUT',
    path: `${desk}/groups/{id}`,
    summary: 'Change a group',
    access: ticketKeepers,
    body: groupBody,
    response: group,
  }),
  delete: defineCall({
    ...one,
    id: 'ticket.group.delete',
    method: 'DELETE',
    path: `${desk}/groups/{id}`,
    summary: 'Delete a group; what it had is anybody’s',
    access: ticketKeepers,
    response: empty,
  }),
} as const

const canned = z.object({ id: z.uuid(), title: z.string(), text: z.string() })
export type CannedAnswer = z.output<typeof canned>
const cannedBody = z.object({
  title: z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(64).regex(plainLine, fieldTexts.controlCharacters),
  text: ticketText,
})

/** Answers that are written once. */
export const cannedAnswers = {
  list: defineCall({
    id: 'ticket.canned.list',
    method: 'GET',
    path: `${desk}/canned`,
    summary: 'Canned answers',
    access: ticketStaff,
    response: z.object({ items: z.array(canned) }),
  }),
  create: defineCall({
    id: 'ticket.canned.create',
    method: 'POST',
    path: `${desk}/canned`,
    summary: 'Keep an answer',
    access: ticketKeepers,
    status: 201,
    body: cannedBody,
    response: canned,
  }),
  update: defineCall({
    ...one,
    id: 'ticket.canned.update',
    method: 'PUT',
    path: `${desk}/canned/{id}`,
    summary: 'Change one',
    access: ticketKeepers,
    body: cannedBody,
    response: canned,
  }),
  delete: defineCall({
    ...one,
    id: 'ticket.canned.delete',
    method: 'DELETE',
    path: `${desk}/canned/{id}`,
    summary: 'Delete one',
    access: ticketKeepers,
    response: empty,
  }),
} as const

const minutes = z
  .int()
  .min(1)
  .max(60 * 24 * 60)
const within = z.object({ answer: minutes, solve: minutes })
const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, fieldTexts.format)
/** Beijing time. */
export const serviceHours = z
  .object({
    /** Of a working day; `to` after `from`. */
    from: clock,
    to: z.union([clock, z.literal('24:00')]),
    /** ISO 8601: 1 is Monday. */
    weekdays: z.array(z.int().min(1).max(7)).min(1).max(7),
    /** Free although a weekday of them, and worked although none: what the State Council announces each year. */
    holidays: z.array(day).max(400),
    workdays: z.array(day).max(400),
    /** Working minutes until the first answer and until it is solved. */
    within: z.object({ low: within, normal: within, high: within, urgent: within }),
  })
  .refine(({ from, to }) => from < to, { path: ['to'], error: fieldTexts.hoursOrder })
export type ServiceHours = z.output<typeof serviceHours>

/** When people are answered, and how soon. */
export const ticketHours = {
  get: defineCall({
    id: 'ticket.hours.get',
    method: 'GET',
    path: `${ticketsPath}/hours`,
    summary: 'When people are answered, and how soon',
    access: 'all',
    response: serviceHours,
  }),
  update: defineCall({
    id: 'ticket.hours.update',
    method: 'PUT',
    path: `${ticketsPath}/hours`,
    summary: 'Change that, for what is opened from then on',
    access: ticketKeepers,
    body: serviceHours,
    response: serviceHours,
  }),
} as const
