import { boundaries, grants } from '@zhisuan/contract/iam/grant'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { GrantService } from './grant.service.ts'

export const grantRoutes = (service: GrantService): Handler[] => [
  handle(grants.list, ({ actor, query }) => service.list(actor, query)),
  handle(grants.create, ({ actor, body }) => service.create(actor, body)),
  handle(grants.delete, ({ actor, params }) => service.remove(actor, params.id)),
  handle(boundaries.setOfUser, ({ actor, params, body }) => service.setBoundary(actor, { user_id: params.id }, body)),
  handle(boundaries.setOfOrganisation, ({ actor, params, body }) => service.setBoundary(actor, { bp_id: params.id }, body)),
]
