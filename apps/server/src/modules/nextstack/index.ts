import type { FastifyInstance } from 'fastify'
import type { Migrations } from '../../platform/db/database.ts'
import type { ModuleParts, Platform } from '../../platform/platform.ts'
import type { CloudContents, CloudService } from '../cmp/cloud/cloud.service.ts'
import { catalogueRoutes } from './catalogue/catalogue.routes.ts'
import { createCatalogue } from './catalogue/catalogue.service.ts'
import { firstImageHandler, seedFirstImage, seedImageJob } from './catalogue/first-image.ts'
import { flavorRoutes } from './flavor/flavor.routes.ts'
import { flavorMigrations } from './flavor/flavor.store.ts'
import { serveTerminalSockets, terminalRoutes } from './terminal/terminal.routes.ts'
import { createTerminalService } from './terminal/terminal.service.ts'
import { createMetrics } from './vm/vm.metrics.ts'
import { createVmOperations } from './vm/vm.operations.ts'
import { vmRoutes } from './vm/vm.routes.ts'
import { createVmService } from './vm/vm.service.ts'
import { countByCloud, forgetCloud, vmMigrations } from './vm/vm.store.ts'
import { createVmSync } from './vm/vm.sync.ts'

export const nextstackMigrations: Migrations = { ...flavorMigrations, ...vmMigrations }

/** The nextStack cloud family: whole machines on LXD, Incus or the sandbox. */
export function createNextstack(
  platform: Platform,
  others: { clouds: CloudService; licence: { assertValid(): Promise<void> | void } },
): ModuleParts & {
  contents: CloudContents
  serveTerminals: (app: FastifyInstance) => void
  /** Terminals end with the session that opened them. */
  sessionEnded: (gone: { session_id?: string; user_id?: string }) => void
} {
  const { clouds } = others
  const metrics = createMetrics(platform.now)
  const catalogue = createCatalogue(clouds)
  const operations = createVmOperations({ db: platform.db, clouds })
  const vms = createVmService(platform, { clouds, catalogue, operations, metrics, licence: others.licence })
  const terminals = createTerminalService({ vms, log: platform.log })
  const sync = createVmSync({ db: platform.db, clouds, metrics, log: platform.log })

  return {
    contents: { count: countByCloud, forget: forgetCloud },
    sessionEnded: (gone) => terminals.closeWhere((one) => one.session_id === gone.session_id || one.user_id === gone.user_id),
    serveTerminals: (app) => serveTerminalSockets(app, terminals),
    handlers: [...vmRoutes(vms), ...terminalRoutes(terminals), ...flavorRoutes(platform.db), ...catalogueRoutes(catalogue)],
    operations: Object.values(operations),
    jobs: [seedImageJob],
    jobHandlers: [firstImageHandler({ clouds, catalogue, log: platform.log })],
    start: async () => {
      await seedFirstImage(platform, clouds)
      await sync.start()
    },
    stop: async () => {
      terminals.stop()
      await sync.stop()
    },
  }
}
