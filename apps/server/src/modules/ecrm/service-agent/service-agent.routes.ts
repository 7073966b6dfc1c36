import { serviceAgents as calls } from '@zhisuan/contract/ecrm/edge'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { ServiceAgentService } from './service-agent.service.ts'

export const serviceAgentRoutes = (serviceAgents: ServiceAgentService): Handler[] => [
  handle(calls.list, ({ query }) => serviceAgents.list(query)),
  handle(calls.create, ({ body }) => serviceAgents.create(body)),
  handle(calls.delete, ({ params }) => serviceAgents.delete(params.id)),
]
