import { alarms as alarmCalls, alarmWindows as windowCalls, alertLogs, receivers as receiverCalls } from '@zhisuan/contract/omc/alarm'
import { events as eventCalls, eventSubscriptions as subscriptionCalls } from '@zhisuan/contract/omc/event'
import { apiEvents, apiLogs } from '@zhisuan/contract/omc/log'
import { integrations as integrationCalls, prometheus as prometheusCalls } from '@zhisuan/contract/omc/monitor'
import { stats as statCalls } from '@zhisuan/contract/omc/stats'
import { tasks as taskCalls } from '@zhisuan/contract/omc/task'
import type { History } from '../../platform/history.ts'
import { contextOf } from '../../platform/http/bind.ts'
import { handle, handleLines, type Handler } from '../../platform/http/handler.ts'
import type { AlarmService } from './alarm/alarm.service.ts'
import type { EventService } from './event/event.service.ts'
import type { SubscriptionService } from './event/subscription.service.ts'
import type { IntegrationService } from './integration/integration.service.ts'
import type { LogService } from './log/log.service.ts'
import type { QueryService } from './query/query.service.ts'
import type { StatsService } from './stats/stats.service.ts'
import type { TaskService } from './task/task.service.ts'

export const omcRoutes = ({
  integrations,
  queries,
  logs,
  stats,
  alarms,
  tasks,
  events,
  subscriptions,
  history,
}: {
  integrations: IntegrationService
  queries: QueryService
  logs: LogService
  stats: StatsService
  alarms: AlarmService
  tasks: TaskService
  events: EventService
  subscriptions: SubscriptionService
  history: History
}): Handler[] => [
  handle(statCalls.nodes, ({ actor, body }) => stats.nodes(actor, body)),
  handle(statCalls.clusters, ({ actor }) => stats.clusters(actor)),
  handle(statCalls.statuses, ({ actor }) => stats.statuses(actor)),
  handle(statCalls.ranking, ({ actor, query }) => stats.ranking(actor, query)),
  handle(statCalls.counts, ({ actor }) => stats.counts(actor)),
  handle(integrationCalls.list, ({ query }) => integrations.list(query)),
  handle(integrationCalls.get, ({ params }) => integrations.get(params.id)),
  handle(integrationCalls.create, ({ actor, body }) => integrations.create(actor, body)),
  handle(integrationCalls.operations, async ({ params, query }) => {
    await integrations.get(params.id)
    return history.list(params.id, query)
  }),
  handle(integrationCalls.log, ({ params, query }) => integrations.log(params.id, query.lines)),
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
  handleLines(eventCalls.stream, ({ actor, query, request, signal }) => {
    const { 'last-event-id': last } = request.headers
    return events.stream(actor, contextOf(actor, request), query, typeof last === 'string' ? last : undefined, signal)
  }),
  handle(subscriptionCalls.list, ({ actor, query }) => subscriptions.list(actor, query)),
  handle(subscriptionCalls.create, ({ actor, body }) => subscriptions.create(actor, body)),
  handle(subscriptionCalls.update, ({ actor, params, body }) => subscriptions.update(actor, params.id, body)),
  handle(subscriptionCalls.delete, ({ actor, params }) => subscriptions.delete(actor, params.id)),
  handle(taskCalls.list, ({ actor, query, request }) => tasks.list(actor, contextOf(actor, request), query)),
  handle(taskCalls.cancel, ({ actor, params, request }) => tasks.cancel(actor, contextOf(actor, request), params.id)),
  handle(prometheusCalls.link, ({ params }) => integrations.link(params)),
  handle(alarmCalls.groups, ({ actor }) => alarms.groups(actor)),
  handle(alarmCalls.metrics, async () => alarms.metrics()),
  handle(alarmCalls.list, ({ actor, query }) => alarms.list(actor, query)),
  handle(alarmCalls.get, ({ actor, params }) => alarms.get(actor, params.id)),
  handle(alarmCalls.preview, ({ actor, body }) => alarms.preview(actor, body)),
  handle(alarmCalls.create, ({ actor, body }) => alarms.create(actor, body)),
  handle(alarmCalls.update, ({ actor, params, body }) => alarms.update(actor, params.id, body)),
  handle(alarmCalls.delete, ({ actor, params }) => alarms.delete(actor, params.id)),
  handle(alarmCalls.activate, ({ actor, params, query }) => alarms.act(actor, params.id, query)),
  handle(alertLogs.list, ({ actor, query }) => alarms.logs(actor, query)),
  handle(alertLogs.counts, ({ actor }) => alarms.counts(actor)),
  handle(alertLogs.trend, ({ actor, query }) => alarms.trend(actor, query)),
  handle(alertLogs.process, ({ actor, params, body }) => alarms.process(actor, params.id, body)),
  handle(windowCalls.list, ({ actor, query }) => alarms.windows(actor, query)),
  handle(windowCalls.create, ({ actor, body }) => alarms.addWindow(actor, body)),
  handle(windowCalls.update, ({ actor, params, body }) => alarms.changeWindow(actor, params.id, body)),
  handle(windowCalls.delete, ({ actor, params }) => alarms.deleteWindow(actor, params.id)),
  handle(receiverCalls.list, ({ actor, query }) => alarms.receivers(actor, query)),
  handle(receiverCalls.create, ({ actor, body }) => alarms.addReceiver(actor, body)),
  handle(receiverCalls.update, ({ actor, params, body }) => alarms.changeReceiver(actor, params.id, body)),
  handle(receiverCalls.delete, ({ actor, params }) => alarms.deleteReceiver(actor, params.id)),
  handle(receiverCalls.test, ({ actor, params }) => alarms.testReceiver(actor, params.id)),
  handle(receiverCalls.deliveries, ({ actor, params, query }) => alarms.deliveries(actor, params.id, query)),
  handle(receiverCalls.again, ({ actor, params }) => alarms.again(actor, params.id, params.delivery_id)),
]
