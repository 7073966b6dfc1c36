import { verification as calls } from '@zhisuan/contract/ums/auth'
import type { FastifyRequest } from 'fastify'
import { Refusal } from '../../../platform/errors.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { UserService } from '../user/user.service.ts'
import type { VerificationService } from './verification.service.ts'

export function verificationRoutes(verification: VerificationService, users: UserService): Handler[] {
  const sms = (address: string) => ({ channel: 'sms', address }) as const
  const email = (address: string) => ({ channel: 'email', address }) as const
  const anybody = (request: FastifyRequest) => ({ ip: request.ip, userId: null })

  return [
    handle(calls.registrationSms, async ({ params, request }) => {
      await users.refuseUnlessRegistrable(params.phone)
      return verification.send('registration', sms(params.phone), anybody(request))
    }),
    handle(calls.authSms, async ({ params, request }) =>
      verification.send('auth', sms(params.phone), anybody(request), await users.isKnownPhone(params.phone)),
    ),
    handle(calls.consultationSms, ({ params, request }) => verification.send('consultation', sms(params.phone), anybody(request))),
    handle(calls.patchSms, async ({ actor, params, request }) => {
      if (await users.isKnownPhone(params.phone)) throw new Refusal('phoneTaken', { field: 'phone' })
      return verification.send('patch-phone', sms(params.phone), { ip: request.ip, userId: actor.user_id })
    }),
    handle(calls.authEmail, async ({ actor, params, request }) => {
      // Only to their own: others' mailboxes are not theirs to be written to.
      if ((await users.current(actor)).email !== params.email) throw new Refusal('fieldsInvalid', { field: 'email' })
      return verification.send('auth-email', email(params.email), { ip: request.ip, userId: actor.user_id })
    }),
    handle(calls.patchEmail, async ({ actor, params, request }) => {
      if (await users.isKnownEmail(params.email)) throw new Refusal('emailTaken', { field: 'email' })
      return verification.send('patch-email', email(params.email), { ip: request.ip, userId: actor.user_id })
    }),
  ]
}
