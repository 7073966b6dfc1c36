import { z } from 'zod'
import { defineCall, empty, moment } from '../define.ts'
import { fieldTexts } from '../texts.ts'
import { passwordTyped } from '../validation.ts'

const base = '/api/ums/v1/users/current/second-factor'

/** What a person types at the second step: six digits of their app, or one of their recovery codes. */
export const otp = z
  .string(fieldTexts.otp)
  .trim()
  .min(6, fieldTexts.otp)
  .max(16, fieldTexts.otp)
  .regex(/^[0-9A-Za-z -]+$/, fieldTexts.otp)
/** Six digits only. */
const totp = z
  .string(fieldTexts.otp)
  .trim()
  .regex(/^\d{6}$/, fieldTexts.otp)

const recoveryCodes = z.object({ recovery_codes: z.array(z.string()) })

/** Time-based one-time passwords (RFC 6238: SHA-1, six digits, thirty seconds), which every authenticator app knows. */
export const secondFactor = {
  get: defineCall({
    id: 'ums.secondFactor.get',
    method: 'GET',
    path: base,
    summary: 'Whether one has a second factor',
    access: 'all',
    response: z.object({ since: moment.nullable(), recovery_codes_left: z.int() }),
    always: true,
  }),
  /** Shown until it is confirmed; another beginning makes another secret. Refused with 1120, 91122. */
  begin: defineCall({
    id: 'ums.secondFactor.begin',
    method: 'POST',
    path: base,
    summary: 'A secret for an authenticator app, to be confirmed by a code of it',
    access: 'all',
    perMinute: 10,
    body: z.object({ password: passwordTyped }),
    response: z.object({ secret: z.string(), uri: z.string() }),
    always: true,
  }),
  /** From now on it is asked for. Refused with 91121, 91123. */
  confirm: defineCall({
    id: 'ums.secondFactor.confirm',
    method: 'POST',
    path: `${base}/confirmation`,
    summary: 'Turn the second factor on; tells the recovery codes, once',
    access: 'all',
    perMinute: 20,
    body: z.object({ code: totp }),
    response: recoveryCodes,
    always: true,
  }),
  /** Refused with 1120, 91121, 91123. */
  renewCodes: defineCall({
    id: 'ums.secondFactor.renewCodes',
    method: 'POST',
    path: `${base}/recovery-codes`,
    summary: 'New recovery codes; the old ones are no good any more',
    access: 'all',
    perMinute: 10,
    body: z.object({ password: passwordTyped, code: otp }),
    response: recoveryCodes,
  }),
  /** Refused with 1120, 91121, 91123. */
  remove: defineCall({
    id: 'ums.secondFactor.remove',
    method: 'POST',
    path: `${base}/removal`,
    summary: 'Turn the second factor off',
    access: 'all',
    perMinute: 10,
    body: z.object({ password: passwordTyped, code: otp }),
    response: empty,
  }),
} as const
