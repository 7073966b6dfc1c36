import { z } from 'zod'
import { byId, defineCall } from '../define.ts'

/** The owner's balance: a decimal string in yuan, exact. */
export const account = z.object({ id: z.uuid(), balance: z.string().regex(/^-?\d+\.\d{2,}$/) })

export const accounts = {
  get: defineCall({
    id: 'bill.account.get',
    method: 'GET',
    path: '/api/bill/v1/accounts/{id}',
    summary: 'Balance by user id (kinds 0 and 1) or organisation id (others); another’s does not exist',
    access: 'all',
    params: byId,
    response: account,
  }),
} as const
