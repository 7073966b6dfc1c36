import { integrations as integrationCalls, prometheus as prometheusCalls } from '@zhisuan/contract/omc/monitor'
import { handle, type Handler } from '../../platform/http/handler.ts'
import type { IntegrationService } from './integration/integration.service.ts'
import type { QueryService } from './query/query.service.ts'

export const omcRoutes = ({ integrations, queries }: { integrations: IntegrationService; queries: QueryService }): Handler[] => [
  handle(integrationCalls.list, ({ query }) => integrations.list(query)),
  handle(integrationCalls.get, ({ params }) => integrations.get(params.id)),
  handle(integrationCalls.create, ({ actor, body }) => integrations.create(actor, body)),
  handle(integrationCalls.action, ({ actor, params, query }) => integrations.act(actor, params.id, query)),
  handle(prometheusCalls.list, ({ actor, query }) => integrations.prometheusList(actor, query)),
  handle(prometheusCalls.get, ({ params }) => integrations.prometheusGet(params.id)),
  handle(prometheusCalls.update, ({ actor, params, body }) => integrations.prometheusUpdate(actor, params.id, body)),
  handle(prometheusCalls.jobs, ({ params }) => queries.jobs(params.id)),
  handle(prometheusCalls.query, ({ actor, params, query }) => queries.query(actor, params.id, query)),
  handle(prometheusCalls.link, ({ params }) => integrations.link(params)),
]
