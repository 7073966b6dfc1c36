import { invitations } from '@zhisuan/contract/ums/invitation'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { InvitationService } from './invitation.service.ts'

export const invitationRoutes = (service: InvitationService): Handler[] => [
  handle(invitations.list, ({ actor, query }) => service.list(actor, query)),
  handle(invitations.create, ({ actor, body }) => service.create(actor, body)),
  handle(invitations.revoke, ({ actor, params }) => service.revoke(actor, params.id)),
  handle(invitations.look, ({ params }) => service.look(params.token)),
  handle(invitations.code, ({ params, request }) => service.code(params.token, params.phone, request.ip)),
  handle(invitations.accept, ({ params, body }) => service.accept(params.token, body)),
]
