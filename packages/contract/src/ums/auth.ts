import { z } from 'zod'
import { defineCall, empty, moment } from '../define.ts'
import { fieldTexts } from '../texts.ts'
import { otp } from './second-factor.ts'
import { email, name, passwordAnew, passwordNew, passwordTyped, phone, plainLine, username, verificationCode } from '../validation.ts'

/**
 * An access token. Sent as `Authorization: Bearer`. Short-lived; the refresh token that renews it
 * travels only in an HttpOnly cookie and changes with every use.
 */
export const accessToken = z.object({
  token: z.string(),
  expires_at: moment,
  /** The initial password has to be changed before anything else may be called. */
  must_change_password: z.boolean(),
})

export const auth = {
  /** Refused with 1101, 1134, 1135, 1136, 91012, 91120 or 91124, always as HTTP 401. After 91120 the same is sent again with `otp`. */
  password: defineCall({
    id: 'ums.auth.password',
    method: 'POST',
    path: '/api/ums/v1/auth/password/tokens',
    summary: 'Sign in with user name (or phone or email) and password',
    access: 'public',
    perMinute: 30,
    body: z.object({
      username: z.string(fieldTexts.usernameRequired).trim().min(1, fieldTexts.usernameRequired).max(254).regex(plainLine, fieldTexts.controlCharacters),
      password: passwordTyped,
      otp: otp.optional(),
    }),
    response: accessToken,
    always: true,
  }),
  sms: defineCall({
    id: 'ums.auth.sms',
    method: 'POST',
    path: '/api/ums/v1/auth/sms/tokens',
    summary: 'Sign in with a phone number and the code sent to it',
    access: 'public',
    perMinute: 30,
    body: z.object({ phone, code: verificationCode, otp: otp.optional() }),
    response: accessToken,
    always: true,
  }),
  /** Rotates the refresh token of the cookie; one that was used before revokes the whole session. */
  refresh: defineCall({
    id: 'ums.auth.refresh',
    method: 'POST',
    path: '/api/ums/v1/auth/tokens',
    summary: 'Exchange the refresh cookie for a new access token',
    access: 'public',
    audit: false,
    perMinute: 60,
    response: accessToken,
    always: true,
  }),
  /** Public, because whoever leaves after their access token has run out shall leave no refresh cookie that still works. */
  logout: defineCall({
    id: 'ums.auth.logout',
    method: 'DELETE',
    path: '/api/ums/v1/auth/tokens',
    summary: 'End this session, known by its access token or refresh cookie: its tokens stop working',
    access: 'public',
    perMinute: 60,
    response: empty,
    always: true,
  }),
  ways: defineCall({
    id: 'ums.auth.ways',
    method: 'GET',
    path: '/api/ums/v1/auth/ways',
    summary: 'What one can sign in with besides a password',
    access: 'public',
    /** Whose sign-in address one came by: one that is not there has no providers. */
    query: z.object({ organisation: z.uuid().optional() }),
    response: z.object({
      /** Whether the platform has the public address that passkeys belong to. */
      passkeys: z.boolean(),
      /** Identity providers to sign in with: the organisation's own first, which it named itself. */
      providers: z.array(z.object({ id: z.uuid(), name: z.string(), by_organisation: z.boolean() })),
    }),
    always: true,
  }),
  register: defineCall({
    id: 'ums.user.register',
    method: 'POST',
    path: '/api/ums/v1/users/registration',
    summary: 'Register; what happens then depends on register_mode',
    access: 'public',
    status: 201,
    perMinute: 10,
    body: z.object({ username, phone, code: verificationCode, password: passwordNew, organisation: name.optional() }),
    response: z.object({
      id: z.uuid(),
      /** `pending`: an administrator has to approve first. */
      status: z.enum(['active', 'pending']),
    }),
  }),
  retrievePassword: defineCall({
    id: 'ums.user.retrievePassword',
    method: 'PATCH',
    path: '/api/ums/v1/users/retrieved-password',
    summary: 'Set a new password with a code sent to the phone; ends all sessions',
    access: 'public',
    perMinute: 10,
    body: z.object({ phone, code: verificationCode, password: passwordAnew }),
    response: empty,
  }),
} as const

const sent = z.object({
  /** Seconds until the code expires. */
  expires_in_seconds: z.int(),
  /** Seconds until another may be asked for. */
  retry_after_seconds: z.int(),
})
const toPhone = z.object({ phone })
const toEmail = z.object({ email })

/**
 * Sends a code. For `auth` and `consultation` the answer is the same whether the number is known
 * or not, so that nobody can find out who has an account.
 */
export const verification = {
  registrationSms: defineCall({
    id: 'ums.verification.registrationSms',
    method: 'GET',
    path: '/api/ums/v1/verification/registration/sms/{phone}',
    summary: 'Send a registration code to a phone',
    access: 'public',
    params: toPhone,
    response: sent,
    perMinute: 10,
  }),
  authSms: defineCall({
    id: 'ums.verification.authSms',
    method: 'GET',
    path: '/api/ums/v1/verification/auth/sms/{phone}',
    summary: 'Send a code to sign in, or to retrieve a password, to a phone',
    access: 'public',
    params: toPhone,
    response: sent,
    perMinute: 10,
  }),
  consultationSms: defineCall({
    id: 'ums.verification.consultationSms',
    method: 'GET',
    path: '/api/ums/v1/verification/consultation/sms/{phone}',
    summary: 'Send a code for the message board to a phone',
    access: 'public',
    params: toPhone,
    response: sent,
    perMinute: 10,
  }),
  patchSms: defineCall({
    id: 'ums.verification.patchSms',
    method: 'GET',
    path: '/api/ums/v1/verification/patch/sms/{phone}',
    summary: 'Send a code to the phone that the current user wants to use from now on',
    access: 'all',
    params: toPhone,
    response: sent,
    perMinute: 10,
  }),
  authEmail: defineCall({
    id: 'ums.verification.authEmail',
    method: 'GET',
    path: '/api/ums/v1/verification/auth/email/{email}',
    summary: 'Send a code to the current user’s mailbox, to prove who they are before a change',
    access: 'all',
    params: toEmail,
    response: sent,
    perMinute: 10,
  }),
  patchEmail: defineCall({
    id: 'ums.verification.patchEmail',
    method: 'GET',
    path: '/api/ums/v1/verification/patch/email/{email}',
    summary: 'Send a code to the mailbox that the current user wants to use from now on',
    access: 'all',
    params: toEmail,
    response: sent,
    perMinute: 10,
  }),
} as const
