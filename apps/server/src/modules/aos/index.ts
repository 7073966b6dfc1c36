import { createHistory } from '../../platform/history.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { ConfigService } from '../cis/config/config.service.ts'
import type { ContainerObserver } from '../cis/container/container.watch.ts'
import type { ServiceContainers } from '../cis/container/service.containers.ts'
import type { EdgeReach } from '../ecrm/edge/edge.reach.ts'
import type { UsualRefusal } from '../ecrm/edge/edge.refusals.ts'
import type { WorkOnNode } from '../ecrm/edge/edge.work.ts'
import type { RefusePulls } from '../ims/imageRights.ts'
import { stackRoutes, templateRoutes } from './aos.routes.ts'
import { createComposer } from './compose/compose.apart.ts'
import { stackConfigMigrations, usesOfConfig } from './stack/config.store.ts'
import { deploymentMigrations, hasStackNamed } from './stack/deployment.store.ts'
import { revisionMigrations } from './stack/revision.store.ts'
import { serviceMigrations } from './stack/service.store.ts'
import { createStackOperations } from './stack/stack.operations.ts'
import { createStacks } from './stack/stack.service.ts'
import { countByEdge, ownersOnEdge, sealedStackMigrations, stackMigrations } from './stack/stack.store.ts'
import { createStackSuspension } from './stack/stack.suspension.ts'
import { createStackWatch } from './stack/stack.watch.ts'
import { createTemplates } from './template/template.service.ts'
import { hasTemplateNamed, sealedTemplateMigrations, templateMigrations } from './template/template.store.ts'

/** Applications: compose files, and what runs of them on nodes. */
export function createAos(
  platform: Platform,
  others: {
    edges: EdgeReach
    workOnNode: WorkOnNode
    usualRefusal: UsualRefusal
    configs: Pick<ConfigService, 'contents' | 'usedBy'>
    serviceContainers: ServiceContainers
    observe: (observer: ContainerObserver) => void
    refusePulls: RefusePulls
  },
): ModuleParts {
  const { edges, workOnNode, usualRefusal, configs, serviceContainers: containers, observe, refusePulls } = others
  configs.usedBy(usesOfConfig)
  const watch = createStackWatch({ db: platform.db, containers })
  observe(watch.observer)
  const composer = createComposer()
  const { dropStack, ...operations } = createStackOperations(platform, { edges, workOnNode, usualRefusal, configs, containers, watch, composer })
  const templates = createTemplates(platform, composer)
  const stacks = createStacks(platform, { edges, operations: { ...operations, dropStack }, templates, configs, containers, composer, refusePulls })
  return {
    migrations: {
      ...templateMigrations,
      ...sealedTemplateMigrations(platform.secrets),
      ...deploymentMigrations,
      ...stackMigrations,
      ...sealedStackMigrations(platform.secrets),
      ...revisionMigrations,
      ...serviceMigrations,
      ...stackConfigMigrations,
    },
    // Stacks that no container shows.
    contentsOfNode: { count: countByEdge, owners: ownersOnEdge },
    kinds: {
      'aos.template': { table: 'stack_templates', nameTaken: hasTemplateNamed },
      'aos.stack': { table: 'stacks', nameTaken: hasStackNamed, suspendable: createStackSuspension(platform, { operations }) },
    },
    handlers: [...templateRoutes(templates), ...stackRoutes(stacks, createHistory(platform))],
    operations: Object.values(operations),
    stop: async () => composer.close(),
  }
}
