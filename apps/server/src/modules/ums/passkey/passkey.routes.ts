import { passkeys } from '@zhisuan/contract/ums/passkey'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import { clientOf, type HandTokens } from '../session/session.routes.ts'
import type { PasskeyService } from './passkey.service.ts'

export const passkeyRoutes = (service: PasskeyService, hand: HandTokens): Handler[] => [
  handle(passkeys.list, ({ actor }) => service.list(actor)),
  handle(passkeys.begin, ({ actor, body }) => service.begin(actor, body)),
  handle(passkeys.create, ({ actor, body }) => service.create(actor, body)),
  handle(passkeys.rename, ({ actor, params, body }) => service.rename(actor, params.id, body)),
  handle(passkeys.remove, ({ actor, params, body }) => service.remove(actor, params.id, body)),
  handle(passkeys.challenge, () => service.challenge()),
  handle(passkeys.signIn, async ({ body, request, reply }) => hand(await service.signIn(body, clientOf(request)), reply)),
]
