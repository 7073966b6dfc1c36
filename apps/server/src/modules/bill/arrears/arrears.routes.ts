import { arrearsPolicies, standings } from '@zhisuan/contract/bill/arrears'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { StandingService } from './standing.service.ts'

export const arrearsRoutes = (service: StandingService): Handler[] => [
  handle(arrearsPolicies.get, () => service.policy()),
  handle(arrearsPolicies.set, ({ actor, body }) => service.setPolicy(actor, body)),
  handle(arrearsPolicies.exceptions, ({ query }) => service.exceptions(query)),
  handle(arrearsPolicies.setException, ({ actor, params, body }) => service.setException(actor, params.id, body)),
  handle(arrearsPolicies.removeException, ({ params }) => service.removeException(params.id)),
  handle(standings.list, ({ query }) => service.list(query)),
  handle(standings.get, ({ actor, params }) => service.get(actor, params.id)),
  handle(standings.history, ({ actor, params, query }) => service.history(actor, params.id, query)),
  handle(standings.resources, ({ actor, params, query }) => service.resources(actor, params.id, query)),
]
