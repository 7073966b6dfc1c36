import { tagsOfLabels } from '@zhisuan/contract/ecrm/edge'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Tell } from '../sys/message/message.service.ts'
import { awayJob, createAway } from './edge/away.ts'
import { createEdgeMetrics, type EdgeMetrics } from './edge/edge.minutes.ts'
import { edgeMinutesMigrations } from './edge/edge.minutes.store.ts'
import { createEdgeReach, type EdgeReach } from './edge/edge.reach.ts'
import { refusedByNode, usualRefusal, type RefusedByNode, type UsualRefusal } from './edge/edge.refusals.ts'
import { workOnNode, type WorkOnNode } from './edge/edge.work.ts'
import { edgeRoutes, serveTunnel } from './edge/edge.routes.ts'
import { createEdges } from './edge/edge.service.ts'
import { edgeMigrations, getEdge, hasEdgeNamed, hasEdges } from './edge/edge.store.ts'
import { createEnrolments } from './edge/enrolment.service.ts'
import { identityMigrations } from './edge/identity.store.ts'
import { createPresence } from './edge/presence.ts'
import { gatewayRoutes } from './gateway/gateway.routes.ts'
import { createGateways } from './gateway/gateway.service.ts'
import { gatewayMigrations, hasGatewayNamed } from './gateway/gateway.store.ts'
import { createImageOperations } from './image/image.operations.ts'
import { imageRoutes } from './image/image.routes.ts'
import { createImages } from './image/image.service.ts'
import { imageMigrations } from './image/image.store.ts'
import { createLocalAgent } from './local/local.agent.ts'
import { lookupRoutes } from './lookup/lookup.routes.ts'
import { createLookups } from './lookup/lookup.service.ts'
import { regionRoutes } from './region/region.routes.ts'
import { createRegions } from './region/region.service.ts'
import { hasRegionNamed, regionMigrations } from './region/region.store.ts'
import { createListeners } from './service-agent/service-agent.listeners.ts'
import { serviceAgentRoutes } from './service-agent/service-agent.routes.ts'
import { createServiceAgents } from './service-agent/service-agent.service.ts'
import { hasServiceAgentNamed, serviceAgentMigrations } from './service-agent/service-agent.store.ts'
import { siteRoutes } from './site/site.routes.ts'
import { createSites } from './site/site.service.ts'
import { hasSiteNamed } from './site/site.store.ts'
import { createAgentFiles } from './upgrade/agent.files.ts'
import { createUpgradeOperations } from './upgrade/upgrade.operations.ts'
import { serveAgents, upgradeRoutes } from './upgrade/upgrade.routes.ts'
import { createUpgrades } from './upgrade/upgrade.service.ts'
import { upgradeMigrations, upgradesOf } from './upgrade/upgrade.store.ts'

/** The edge: nodes with our agent on them, and where they are. */
export function createEcrm(
  platform: Platform,
  { tell }: { tell: Tell },
): ModuleParts & {
  /** The ways to nodes, for whoever runs something there. */
  edges: EdgeReach
  /** What went wrong on a node, as a refusal that names it. */
  refusedByNode: RefusedByNode
  /** The same of what a program there said. */
  usualRefusal: UsualRefusal
  /** Long work on a node, which waits for it and begins again where its tunnel breaks. */
  workOnNode: WorkOnNode
  /** How a node was last, where it said so to this server, and how it was. */
  nodeMetrics: Pick<EdgeMetrics, 'last' | 'of'>
} {
  const metrics = createEdgeMetrics(platform)
  // Each knows the other only when both are there.
  const presence = createPresence(platform, {
    metrics: {
      record: (edgeId, said) => {
        metrics.record(edgeId, said)
        reach.reported(edgeId, said)
      },
    },
    came: (tunnel) => reach.came(tunnel),
  })
  const reach = createEdgeReach({ db: platform.db, tunnels: presence.tunnels })
  const away = createAway(platform, { tell })
  const enrolments = createEnrolments(platform, presence)
  const edges = createEdges(platform, { metrics, enrolments, upgradesOf })
  const files = createAgentFiles(platform.config.DATA_DIR)
  const upgradeOperations = createUpgradeOperations({ db: platform.db, reach })
  const upgrades = createUpgrades(platform, { files, operations: upgradeOperations })
  const imageOperations = createImageOperations({ db: platform.db, reach: reach.reach })
  const images = createImages(platform, { reach: reach.reach, operations: imageOperations })
  const serviceAgents = createServiceAgents(platform, createListeners({ host: platform.config.HOST, reach: reach.reach, log: platform.log }))
  const gateways = createGateways(platform, reach)
  const localAgent = createLocalAgent(platform, { enrolment: enrolments.local })
  const lookups = createLookups(platform)
  return {
    migrations: {
      ...regionMigrations,
      ...edgeMigrations,
      ...edgeMinutesMigrations,
      ...identityMigrations,
      ...imageMigrations,
      ...upgradeMigrations,
      ...serviceAgentMigrations,
      ...gatewayMigrations,
    },
    edges: reach,
    refusedByNode,
    usualRefusal,
    workOnNode,
    nodeMetrics: metrics,
    offers: async (on, scope) => ((await hasEdges(on, scope)) ? ['node'] : []),
    kinds: {
      'ecrm.region': { table: 'regions', nameTaken: (on, _bpId, name) => hasRegionNamed(on, name) },
      'ecrm.site': { table: 'sites', nameTaken: (on, _bpId, name) => hasSiteNamed(on, name) },
      'ecrm.edge': {
        table: 'edges',
        nameTaken: hasEdgeNamed,
        tags: async (scope, id) => tagsOfLabels((await getEdge(platform.db, scope, id))?.labels ?? []),
      },
      'ecrm.imagePull': { table: 'edge_image_pulls', name: 'image', page: { kind: 'ecrm.edge', id: 'edge_id' } },
      'ecrm.gateway': { table: 'edge_gateways', nameTaken: (on, _bpId, name) => hasGatewayNamed(on, name) },
      'ecrm.serviceAgent': { table: 'edge_service_agents', nameTaken: (on, _bpId, name) => hasServiceAgentNamed(on, name) },
    },
    serve: (http) => {
      serveTunnel(http, presence.tunnels)
      serveAgents(http, files)
    },
    drain: presence.drain,
    listening: localAgent.start,
    handlers: [
      ...edgeRoutes(edges, enrolments, upgrades),
      ...upgradeRoutes(upgrades, edges),
      ...imageRoutes(images),
      ...regionRoutes(createRegions(platform)),
      ...siteRoutes(createSites(platform)),
      ...lookupRoutes(lookups),
      ...serviceAgentRoutes(serviceAgents),
      ...gatewayRoutes(gateways),
    ],
    operations: [...Object.values(imageOperations), ...Object.values(upgradeOperations)],
    jobs: [awayJob],
    jobHandlers: [away.jobHandler],
    start: async () => {
      await presence.start()
      metrics.start()
      await serviceAgents.start()
    },
    stop: async () => {
      await localAgent.stop()
      await serviceAgents.stop()
      await presence.stop()
      await metrics.stop()
    },
  }
}
