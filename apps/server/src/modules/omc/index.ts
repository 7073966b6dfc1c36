import type { InstanceUsage } from '@zhisuan/engines/compute'
import type { NodeMetrics } from '@zhisuan/contract/agent/node'
import { z } from 'zod'
import type { Actor } from '../../platform/auth/actor.ts'
import type { PersonOf } from '../../platform/auth/later.ts'
import { createHistory } from '../../platform/history.ts'
import { defineJob, handleJob } from '../../platform/jobs.ts'
import type { Kept } from '../../platform/kept/kept.ts'
import { onNodes } from '../../platform/kept/kept.onNodes.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import { createOutboundAgent } from '../../platform/outbound/follow.ts'
import { createOutboundGuard } from '../../platform/outbound/guard.ts'
import type { Settings } from '../sys/settings/settings.service.ts'
import type { EdgeReach } from '../ecrm/edge/edge.reach.ts'
import { createAlarmService } from './alarm/alarm.service.ts'
import { alarmMigrations, forgetAlerts } from './alarm/alarm.store.ts'
import { alarmTexts } from './alarm/alarm.texts.ts'
import { createDispatcher } from './alarm/dispatch.ts'
import { createInbox } from './alarm/inbox.ts'
import { createRuleKeeper } from './alarm/ruleKeeper.ts'
import { createEventFeed } from './event/event.feed.ts'
import { createEventRights } from './event/event.rights.ts'
import { createEventService } from './event/event.service.ts'
import { eventMigrations, forgetEvents } from './event/event.store.ts'
import { createSubscriptions } from './event/subscription.service.ts'
import { subscriptionMigrations } from './event/subscription.store.ts'
import { createPrometheusEndpoints } from './integration/integration.endpoint.ts'
import { createIntegrationOperations } from './integration/integration.operations.ts'
import { createIntegrationService } from './integration/integration.service.ts'
import { updateIntegration } from './integration/integration.store.ts'
import { createLogService } from './log/log.service.ts'
import { forgetDays, forgetHours, logMigrations, prepareDays } from './log/log.store.ts'
import { createCallRecorder } from './log/recorder.ts'
import { omcMigrations } from './omc.migrations.ts'
import { omcRoutes } from './omc.routes.ts'
import { createQueryService } from './query/query.service.ts'
import { createStatsService } from './stats/stats.service.ts'
import { serveScrapes, type ScrapeParts } from './scrape/scrape.routes.ts'
import { createTaskService } from './task/task.service.ts'
import { taskMigrations } from './task/task.store.ts'

const daysJob = defineJob({ name: 'omc.apiLog.days', input: z.object({}), concurrency: 1, schedule: '10 * * * *' })
const silentJob = defineJob({ name: 'omc.alertLog.silent', input: z.object({}), concurrency: 1, schedule: '* * * * *' })
const dayMs = 86_400_000
/** So long calls are counted by hours. */
const hoursKeptDays = 62

/** What it takes from who knows nodes. */
export interface OmcParts {
  readonly edges: Pick<EdgeReach, 'connected'>
  /** How a node was last, where it said so to this server, and how it was. */
  readonly nodeMetrics: {
    last(nodeId: string): NodeMetrics | null
    of(nodeId: string, minutes: number): Promise<{ items: NodeMetrics[]; interval_seconds: number }>
  }
  /** What instances use now, by clouds. */
  readonly usages: () => ReadonlyMap<string, readonly InstanceUsage[]>
  readonly balances: ScrapeParts['balances']
  readonly kept: Kept
  readonly settings: Settings
  /** Whom a session is of, or an access key, now; null where it has ended. */
  readonly actorOf: (sessionId: string) => Promise<Actor | null>
  readonly personOf: PersonOf
  readonly notices: {
    signed(text: string): string
    send(message: { channel: 'email'; address: string; purpose: string; text: string }): Promise<void> | null
  }
}

/** Operations: what is scraped and asked. */
export function createOmc(platform: Platform, { edges, nodeMetrics, usages, balances, kept, settings, notices, actorOf, personOf }: OmcParts): ModuleParts {
  const { db, config, log, now } = platform
  const endpoints = createPrometheusEndpoints(platform, edges.connected)
  const calls = createCallRecorder(platform)
  const operations = createIntegrationOperations(platform, { endpoints, kept })
  const keeper = createRuleKeeper(platform, { endpoints, kept })
  const inbox = createInbox(platform)
  const guard = createOutboundGuard({ allow: config.WEBHOOK_ALLOW, publicUrl: config.PUBLIC_URL })
  const base = config.PUBLIC_URL ?? `http://localhost:${config.PORT}`
  const feed = createEventFeed(platform)
  const maySee = createEventRights(platform)
  const events = createEventService(platform, { feed, maySee, actorOf })
  const subscriptions = createSubscriptions(platform, { feed, maySee, events, personOf })
  const channels = {
    agent: createOutboundAgent(guard),
    check: guard.checkLiteral,
    mail: (address: string, text: string) => notices.send({ channel: 'email', address, purpose: alarmTexts.purpose, text: notices.signed(text) }),
    base,
    now,
  }
  const dispatcher = createDispatcher(platform, channels, subscriptions.stillTold)
  // A Prometheus is asked itself; of whatever else its node knows how it is.
  kept.onChange(({ id, owner, status, reason }) => {
    if (owner.kind !== 'omc.integration') return
    const health = status === 'running' ? 'reachable' : status === 'starting' ? 'unknown' : status === 'unhealthy' ? 'degraded' : 'unreachable'
    updateIntegration(db, id, { health, health_message: reason, checked_at: now() }).catch((error: unknown) =>
      log.warn({ err: error, integration: id }, 'health of a monitoring component'),
    )
  })
  return {
    migrations: { ...omcMigrations, ...logMigrations, ...alarmMigrations, ...taskMigrations, ...eventMigrations, ...subscriptionMigrations },
    kinds: {
      'omc.integration': { table: 'monitor_integrations' },
      'omc.prometheus': { table: 'monitor_integrations' },
      'omc.alarm': { table: 'alarms' },
      'omc.alertLog': { table: 'alert_logs', name: 'summary' },
      'omc.receiver': { table: 'alarm_receivers' },
      'omc.alarmWindow': { table: 'alarm_windows' },
      'omc.stat': {},
      'omc.apiLog': {},
      'omc.apiEvent': {},
      'omc.task': {},
      'omc.event': {},
      'omc.eventSubscription': { table: 'event_subscriptions' },
    },
    handlers: omcRoutes({
      integrations: createIntegrationService(platform, { endpoints, kept, operations }),
      queries: createQueryService(platform, { endpoints }),
      logs: createLogService(platform, events),
      events,
      subscriptions,
      stats: createStatsService(platform, { endpoints, lastOf: nodeMetrics.last, minutesOf: nodeMetrics.of }),
      alarms: createAlarmService(platform, { inbox, keeper, dispatcher, checkUrl: guard.check }),
      tasks: createTaskService(platform),
      history: createHistory(platform),
    }),
    operations: [...Object.values(operations), keeper.operation],
    contentsOfNode: onNodes('monitor_integrations'),
    jobs: [daysJob, silentJob, ...keeper.jobs],
    jobHandlers: [
      ...keeper.jobHandlers,
      handleJob(silentJob, async () => {
        await inbox.endSilent(await keeper.silence())
        await inbox.tellLater()
      }),
      handleJob(daysJob, async () => {
        await prepareDays(db, now())
        await forgetDays(db, new Date(now().getTime() - Number(await settings.get('api_log_days')) * dayMs))
        await forgetEvents(db, new Date(now().getTime() - Number(await settings.get('alert_log_days')) * dayMs))
        await forgetAlerts(db, new Date(now().getTime() - Number(await settings.get('alert_log_days')) * dayMs))
        await forgetHours(db, new Date(now().getTime() - hoursKeptDays * dayMs))
      }),
    ],
    serve: (http) => {
      calls.serve(http)
      serveScrapes(http, { db, base, connected: edges.connected, lastOf: nodeMetrics.last, usages, balances, inbox })
    },
    start: async () => {
      await calls.start()
      endpoints.start()
      feed.start()
      subscriptions.start()
      dispatcher.start()
    },
    stop: async () => {
      await subscriptions.stop()
      await feed.stop()
      await dispatcher.stop()
      await endpoints.stop()
      await calls.stop()
    },
  }
}
