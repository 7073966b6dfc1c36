import { z } from 'zod'
import { byId, defineCall, listOf, listQuery, moment } from '../define.ts'
import { keepers, tenants } from '../roles.ts'
import { billTexts } from '../texts.ts'
import { email, name, phone } from '../validation.ts'

const base = '/api/bill/v1'

/** What an organisation is told about its money: each crossing once. `suspensionNear` is told before a suspension. */
export const noticeKinds = ['low', 'arrears', 'suspensionNear', 'suspended', 'resumed', 'budget', 'budgetForecast'] as const
export type NoticeKind = (typeof noticeKinds)[number]

export const noticeDelivery = z.object({
  channel: z.enum(['email', 'sms']),
  address: z.string(),
  /** `failed`: it was tried until there was no sense in it, or nothing is configured to send with. */
  status: z.enum(['waiting', 'sent', 'failed']),
})

export const notice = z.object({
  id: z.uuid(),
  organisation: z.object({ id: z.uuid(), name: z.string() }),
  kind: z.enum(noticeKinds),
  /** As it was sent. */
  text: z.string(),
  at: moment,
  deliveries: z.array(noticeDelivery),
})
export type Notice = z.output<typeof notice>

const contact = z
  .object({ name, email: email.nullable(), phone: phone.nullable() })
  .refine((one) => one.email !== null || one.phone !== null, billTexts.contactUnreachable)

/** Who is told beside the organisation's administrators. */
export const noticeContacts = z.object({ contacts: z.array(contact).max(20) })
export type NoticeContacts = z.output<typeof noticeContacts>

export const notices = {
  list: defineCall({
    id: 'bill.notice.list',
    method: 'GET',
    path: `${base}/notices`,
    summary: 'What organisations were told about their money, newest first',
    access: tenants,
    query: listQuery(['at'], { kind: z.enum(noticeKinds).optional(), bp_id: z.uuid().optional() }),
    response: listOf(notice),
  }),
  contacts: defineCall({
    id: 'bill.notice.contacts',
    method: 'GET',
    path: `${base}/notice-contacts/{id}`,
    summary: 'Who is told beside an organisation’s administrators',
    access: keepers,
    params: byId,
    response: noticeContacts,
  }),
  setContacts: defineCall({
    id: 'bill.notice.setContacts',
    method: 'PUT',
    path: `${base}/notice-contacts/{id}`,
    summary: 'Name them',
    access: keepers,
    params: byId,
    body: noticeContacts,
    response: noticeContacts,
  }),
} as const
