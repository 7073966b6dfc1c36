import type { Migrations } from '../../platform/db/database.ts'
import { createHistory } from '../../platform/history.ts'
import type { ModuleParts, Platform } from '../../platform/platform.ts'
import type { Suspendable } from '../bill/index.ts'
import type { ConfigService, ContainerObserver, ServiceContainers } from '../cis/index.ts'
import type { EdgeContents, EdgeReach, NameTaken, UsualRefusal, WorkOnNode } from '../ecrm/index.ts'
import { stackRoutes, templateRoutes } from './aos.routes.ts'
import { stackConfigMigrations, usesOfConfig } from './stack/config.store.ts'
import { deploymentMigrations, hasStackNamed } from './stack/deployment.store.ts'
import { revisionMigrations } from './stack/revision.store.ts'
import { serviceMigrations } from './stack/service.store.ts'
import { createStackOperations } from './stack/stack.operations.ts'
import { createStacks } from './stack/stack.service.ts'
import { countByEdge, stackMigrations } from './stack/stack.store.ts'
import { createStackSuspension } from './stack/stack.suspension.ts'
import { createStackWatch } from './stack/stack.watch.ts'
import { createTemplates } from './template/template.service.ts'
import { hasTemplateNamed, templateMigrations } from './template/template.store.ts'

export const aosMigrations: Migrations = {
  ...templateMigrations,
  ...deploymentMigrations,
  ...stackMigrations,
  ...revisionMigrations,
  ...serviceMigrations,
  ...stackConfigMigrations,
}

/** Applications: compose files, and what runs of them on nodes. */
export function createAos(
  platform: Platform,
  others: {
    edges: EdgeReach
    workOnNode: WorkOnNode
    usualRefusal: UsualRefusal
    configs: Pick<ConfigService, 'contents' | 'usedBy'>
    serviceContainers: ServiceContainers
  },
): ModuleParts & {
  /** How many stacks nodes have that no container shows. */
  contents: EdgeContents
  suspendable: Suspendable
  /** What is to be told of the containers of nodes. */
  observer: ContainerObserver
  /** Whether there is one of that name, for whoever looks names up. */
  names: { template: NameTaken; stack: NameTaken }
} {
  const { edges, workOnNode, usualRefusal, configs, serviceContainers: containers } = others
  configs.usedBy(usesOfConfig)
  const watch = createStackWatch({ db: platform.db, containers })
  const { dropStack, ...operations } = createStackOperations(platform, { edges, workOnNode, usualRefusal, configs, containers, watch })
  const templates = createTemplates(platform)
  const stacks = createStacks(platform, { edges, operations: { ...operations, dropStack }, templates, configs, containers })
  return {
    contents: { count: countByEdge },
    suspendable: createStackSuspension(platform, { operations }),
    observer: watch.observer,
    names: { template: hasTemplateNamed, stack: hasStackNamed },
    handlers: [...templateRoutes(templates), ...stackRoutes(stacks, createHistory(platform))],
    operations: Object.values(operations),
  }
}
