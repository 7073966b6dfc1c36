import { nodeTexts } from '@zhisuan/contract/texts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { EdgeReach } from '../ecrm/edge/edge.reach.ts'
import type { RefusedByNode } from '../ecrm/edge/edge.refusals.ts'
import type { WorkOnNode } from '../ecrm/edge/edge.work.ts'
import type { StandingService } from '../bill/arrears/standing.service.ts'
import type { Machines } from '../files/machine/machine.ts'
import type { ImageAuth, ImageUse } from '../ims/imageAuth.ts'
import { serveAccess } from './access/access.routes.ts'
import { createEntry, type ActorOf } from './access/entry.ts'
import { createContainerMachines } from './access/file.machine.ts'
import { createFiles } from './access/file.service.ts'
import { linkMigrations } from './access/link.store.ts'
import { createLinks } from './access/links.ts'
import { createLogs } from './access/log.service.ts'
import { createContainerTerminals } from './access/terminal.service.ts'
import { accessRoutes, configRoutes, containerRoutes } from './cis.routes.ts'
import { createConfigs, type ConfigService } from './config/config.service.ts'
import { configMigrations } from './config/config.store.ts'
import { createContainerOperations } from './container/container.operations.ts'
import { createContainers, type ContainerService } from './container/container.service.ts'
import { containerMigrations, countByEdge, ownersOnEdge } from './container/container.store.ts'
import { createContainerSuspension } from './container/container.suspension.ts'
import { createContainerWatch, type ContainerObserver } from './container/container.watch.ts'
import { shareMigrations } from './container/container.share.ts'
import { deploymentMigrations } from './container/deployment.store.ts'
import { createRentedContainers, type RentedContainers } from './container/rented.containers.ts'
import { createPulling } from './container/container.pull.ts'
import { createServiceContainers, type ServiceContainers } from './container/service.containers.ts'

/** Topic on the bus: configs are to be brought to the node of this id, by whichever server has it. */
const lookTopic = 'cis.container.look'

/** Containers on nodes: what runs there, and the ways into it. */
export function createCis(
  platform: Platform,
  others: {
    edges: EdgeReach
    refusedByNode: RefusedByNode
    workOnNode: WorkOnNode
    actorOf: ActorOf
    imageAuth: ImageAuth
    imageUse: ImageUse
    /** Whether an organisation may have more of what costs by the hour. */
    mayMake: StandingService['mayMake']
  },
): ModuleParts & {
  configs: Pick<ConfigService, 'contents' | 'usedBy'>
  /** Containers that services of stacks made. */
  serviceContainers: ServiceContainers
  /** Follows the containers of nodes with the subscription that there is. */
  observe: (observer: ContainerObserver) => void
  usesCards: ContainerService['usesCards']
  /** Machines of the market. */
  rented: RentedContainers
  /** What files of spaces go to and come from. */
  machines: Machines
} {
  const { edges, refusedByNode, workOnNode, imageAuth, imageUse, mayMake } = others
  const { otherProgram } = nodeTexts
  const pulling = createPulling(imageAuth, imageUse)
  const operations = createContainerOperations(platform, { edges, workOnNode, pulling })
  const containers = createContainers(platform, { edges, refusedByNode, operations, otherProgram, imageAuth, mayMake })
  const watch = createContainerWatch({ db: platform.db, secrets: platform.secrets, edges, log: platform.log })
  const configs = createConfigs(platform, { bring: (tx, edgeId) => platform.bus.publish(tx, lookTopic, edgeId) })
  const links = createLinks(platform)
  const entry = createEntry({ containers, actorOf: others.actorOf })
  const terminals = createContainerTerminals(platform, { containers, entry, refusedByNode })
  const logs = createLogs(platform, { containers, links, entry, refusedByNode })
  const files = createFiles(platform, { containers, links, entry, refusedByNode })
  let unsubscribe: () => void = () => undefined

  return {
    migrations: { ...deploymentMigrations, ...containerMigrations, ...shareMigrations, ...configMigrations, ...linkMigrations },
    contentsOfNode: { count: countByEdge, owners: ownersOnEdge },
    kinds: {
      'cis.container': { table: 'containers', suspendable: createContainerSuspension(platform, { operations }) },
      'cis.config': { table: 'container_configs' },
    },
    configs,
    serviceContainers: createServiceContainers(containers, pulling, mayMake),
    observe: watch.observe,
    usesCards: containers.usesCards,
    rented: createRentedContainers(platform, { operations, reach: edges.reach, reached: containers.reached }),
    machines: createContainerMachines({ containers, edges, refusedByNode, workOnNode }),
    serve: (http) => serveAccess(http, { terminals, logs, files, links }),
    handlers: [...containerRoutes(containers), ...accessRoutes({ terminals, logs, files }), ...configRoutes(configs)],
    operations: Object.values(operations),
    start: async () => {
      unsubscribe = platform.bus.subscribe(lookTopic, watch.poke)
      watch.start()
    },
    stop: async () => {
      unsubscribe()
      watch.stop()
    },
  }
}
