import { z } from 'zod'
import { defineCall, listOf, listQuery, moment } from '../define.ts'
import { admins } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, name, phone, plainText, verificationCode } from '../validation.ts'

/** A message that a visitor left on the message board. */
export const consultation = z.object({
  id: z.uuid(),
  name: z.string(),
  phone: z.string(),
  content: z.string(),
  created_at: moment,
})

export const consultations = {
  leave: defineCall({
    id: 'ums.consultation.leave',
    method: 'POST',
    path: '/api/ums/v1/consultation/anonymous/consultation',
    summary: 'Leave a message on the message board',
    access: 'public',
    status: 201,
    perMinute: 5,
    body: z.object({
      name,
      phone,
      code: verificationCode,
      content: z
        .string(fieldTexts.messageRequired)
        .trim()
        .min(1, fieldTexts.messageRequired)
        .max(1000, fieldTexts.messageTooLong)
        .regex(plainText, fieldTexts.controlCharacters),
    }),
    response: z.object({ id: z.uuid() }),
  }),
  list: defineCall({
    id: 'ums.consultation.list',
    method: 'GET',
    path: '/api/ums/v1/consultation/consultations',
    summary: 'Messages that visitors left',
    access: admins,
    query: listQuery(['created_at'], { keyword }),
    response: listOf(consultation),
  }),
} as const
