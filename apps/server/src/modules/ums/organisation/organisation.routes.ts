import { organisations } from '@zhisuan/contract/ums/user'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { OrganisationService } from './organisation.service.ts'

export const organisationRoutes = (service: OrganisationService): Handler[] => [
  handle(organisations.list, ({ actor, query }) => service.list(actor, query)),
  handle(organisations.get, ({ actor, params }) => service.get(actor, params.id)),
  handle(organisations.create, ({ body }) => service.create(body)),
  handle(organisations.update, ({ params, body }) => service.update(params.id, body)),
  handle(organisations.action, ({ params, body }) => service.act(params.id, body)),
]
