import { decisions } from '@zhisuan/contract/iam/decision'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { DecisionService } from './decision.service.ts'

export const decisionRoutes = (service: DecisionService): Handler[] => [
  handle(decisions.decide, ({ actor, params, body }) => service.decide(actor, params.id, body)),
  handle(decisions.own, ({ actor }) => service.own(actor)),
  handle(decisions.request, ({ actor, body }) => service.request(actor, body)),
  handle(decisions.explain, ({ actor, body }) => service.explain(actor, body)),
  handle(decisions.who, ({ actor, query }) => service.who(actor, query)),
]
