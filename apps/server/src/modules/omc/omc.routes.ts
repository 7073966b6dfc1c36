import { apiEvents, apiLogs } from '@zhisuan/contract/omc/log'
import { integrations as integrationCalls, prometheus as prometheusCalls } from '@zhisuan/contract/omc/monitor'
import { stats as statCalls } from '@zhisuan/contract/omc/stats'
import { handle, type Handler } from '../../platform/http/handler.ts'
import type { IntegrationService } from './integration/integration.service.ts'
import type { LogService } from './log/log.service.ts'
import type { QueryService } from './query/query.service.ts'
import type { StatsService } from './stats/stats.service.ts'

export const omcRoutes = ({
  integrations,
  queries,
  logs,
  stats,
}: {
  integrations: IntegrationService
  queries: QueryService
  logs: LogService
  stats: StatsService
}): Handler[] => [
  handle(statCalls.nodes, ({ actor, body }) => stats.nodes(actor, body)),
  handle(statCalls.clusters, ({ actor }) => stats.clusters(actor)),
  handle(statCalls.statuses, ({ actor }) => stats.statuses(actor)),
  handle(statCalls.ranking, ({ actor, query }) => stats.ranking(actor, query)),
  handle(statCalls.counts, ({ actor }) => stats.counts(actor)),
  handle(integrationCalls.list, ({ query }) => integrations.list(query)),
  handle(integrationCalls.get, ({ params }) => integrations.get(params.id)),
  handle(integrationCalls.create, ({ actor, body }) => integrations.create(actor, body)),
  handle(integrationCalls.action, ({ actor, params, query }) => integrations.act(actor, params.id, query)),
  handle(prometheusCalls.list, ({ actor, query }) => integrations.prometheusList(actor, query)),
  handle(prometheusCalls.get, ({ params }) => integrations.prometheusGet(params.id)),
  handle(prometheusCalls.update, ({ actor, params, body }) => integrations.prometheusUpdate(actor, params.id, body)),
  handle(prometheusCalls.jobs, ({ params }) => queries.jobs(params.id)),
  handle(prometheusCalls.query, ({ actor, params, query }) => queries.query(actor, params.id, query)),
  handle(apiLogs.list, ({ actor, query }) => logs.logs(actor, query)),
  handle(apiLogs.trend, ({ actor, query }) => logs.trend(actor, query)),
  handle(apiLogs.export, async ({ actor, body }) => logs.exportLogs(actor, body)),
  handle(apiEvents.list, ({ query }) => logs.events(query)),
  handle(apiEvents.export, async ({ actor, body }) => logs.exportEvents(actor, body)),
  handle(prometheusCalls.link, ({ params }) => integrations.link(params)),
]
