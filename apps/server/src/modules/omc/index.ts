import type { NodeMetrics } from '@zhisuan/contract/agent/node'
import type { Kept } from '../../platform/kept/kept.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { EdgeReach } from '../ecrm/edge/edge.reach.ts'
import { createPrometheusEndpoints } from './integration/integration.endpoint.ts'
import { createIntegrationOperations } from './integration/integration.operations.ts'
import { createIntegrationService } from './integration/integration.service.ts'
import { countByNode, ownersOnNode, updateIntegration } from './integration/integration.store.ts'
import { omcMigrations } from './omc.migrations.ts'
import { omcRoutes } from './omc.routes.ts'
import { createQueryService } from './query/query.service.ts'
import { serveScrapes } from './scrape/scrape.routes.ts'

/** What it takes from who knows nodes. */
export interface OmcParts {
  readonly edges: Pick<EdgeReach, 'connected'>
  /** How a node was last, where it said so to this server. */
  readonly lastOf: (nodeId: string) => NodeMetrics | null
  readonly kept: Kept
}

/** Operations: what is scraped and asked. */
export function createOmc(platform: Platform, { edges, lastOf, kept }: OmcParts): ModuleParts {
  const { db, config, log, now } = platform
  const endpoints = createPrometheusEndpoints(platform, edges.connected)
  const operations = createIntegrationOperations(platform, { endpoints, kept })
  // A Prometheus is asked itself; of whatever else its node knows how it is.
  kept.onChange(({ id, owner, status, reason }) => {
    if (owner.kind !== 'omc.integration') return
    const health = status === 'running' ? 'reachable' : status === 'starting' ? 'unknown' : status === 'unhealthy' ? 'degraded' : 'unreachable'
    updateIntegration(db, id, { health, health_message: reason, checked_at: now() }).catch((error: unknown) =>
      log.warn({ err: error, integration: id }, 'health of a monitoring component'),
    )
  })
  return {
    migrations: omcMigrations,
    kinds: {
      'omc.integration': { table: 'monitor_integrations' },
      'omc.prometheus': { table: 'monitor_integrations' },
    },
    handlers: omcRoutes({ integrations: createIntegrationService(platform, { endpoints, kept, operations }), queries: createQueryService(platform, { endpoints }) }),
    operations: Object.values(operations),
    contentsOfNode: { count: countByNode, owners: ownersOnNode },
    serve: (http) => serveScrapes(http, { db, base: config.PUBLIC_URL ?? `http://localhost:${config.PORT}`, connected: edges.connected, lastOf }),
    start: async () => endpoints.start(),
    stop: () => endpoints.stop(),
  }
}
