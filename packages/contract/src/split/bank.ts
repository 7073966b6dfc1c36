import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, listOf, moment } from '../define.ts'
import { fieldTexts } from '../texts.ts'
import { passwordTyped, plainLine } from '../validation.ts'
import { splitKeepers, splitPath, splitReaders } from './contract.ts'

/** `waiting`: told, and counts later. `current`: where payouts go. `past`: others came after it. `withdrawn`: it never counted. */
export const bankStatuses = ['waiting', 'current', 'past', 'withdrawn'] as const
export type BankStatus = (typeof bankStatuses)[number]
export const bankCan = can<BankStatus>()({ approve: ['waiting'], withdraw: ['waiting'] })

const line = (most: number) =>
  z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(most).regex(plainLine, fieldTexts.controlCharacters)
/** As people write it, by groups; it is kept without them. */
const account = line(64)
  .overwrite((text) => text.replace(/[\s-]/g, ''))
  .regex(/^[0-9A-Za-z]{8,34}$/, fieldTexts.bankAccount)

/** Where a provider's money goes. Nobody is shown it in clear: it is sealed, and opened for the channel of payouts only. */
export const bankDetail = z.object({
  id: z.uuid(),
  status: z.enum(bankStatuses),
  /** Its first character. */
  holder: z.string(),
  bank: z.string(),
  /** Its last four characters. */
  account: z.string(),
  /** From when on it counts; somebody else's approval has it count at once. */
  counts_from: moment,
  set_by: z.string(),
  /** Null: nobody did. */
  approved_by: z.string().nullable(),
  created_at: moment,
})
export type BankDetail = z.output<typeof bankDetail>

const one = { params: byId } as const
const password = passwordTyped.optional()

export const splitBankDetails = {
  list: defineCall({
    ...one,
    id: 'split.bankDetail.list',
    method: 'GET',
    path: `${splitPath}/providers/{id}/bank-details`,
    summary: 'Where the money of a provider goes and went, the newest first, hidden but for some characters',
    access: splitReaders,
    response: listOf(bankDetail),
  }),
  /** The password may be left out by who has just signed in. Refused with 1120, 1136, 26018, 91125. */
  create: defineCall({
    ...one,
    id: 'split.bankDetail.create',
    method: 'POST',
    path: `${splitPath}/providers/{id}/bank-details`,
    summary: 'Say where the money of a provider goes; it counts after a while, or once somebody else approves it',
    access: splitReaders,
    personal: true,
    perMinute: 10,
    status: 201,
    body: z.object({ holder: line(64), bank: line(64), account, password }),
    response: bankDetail,
  }),
  /** By somebody else than who said it. Refused with 1120, 90010, 91125, 98209. */
  approve: defineCall({
    ...one,
    id: 'split.bankDetail.approve',
    method: 'POST',
    path: `${splitPath}/bank-details/{id}/approve`,
    summary: 'Approve it, so that it counts at once',
    access: splitKeepers,
    personal: true,
    perMinute: 10,
    body: z.object({ password }),
    response: bankDetail,
  }),
  withdraw: defineCall({
    ...one,
    id: 'split.bankDetail.withdraw',
    method: 'POST',
    path: `${splitPath}/bank-details/{id}/withdraw`,
    summary: 'Take it back before it counts',
    access: splitReaders,
    response: bankDetail,
  }),
} as const
