import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import { createCloudEndpoints } from './cloud/cloud.endpoint.ts'
import type { Tell } from '../sys/message/message.service.ts'
import type { openEngine } from './cloud/cloud.engines.ts'
import { cloudRoutes } from './cloud/cloud.routes.ts'
import { createCapacityHistory, sampleCapacityJob } from './cloud/cloud.samples.ts'
import { createCloudService, type CloudService } from './cloud/cloud.service.ts'
import { cloudMigrations, licenceUsage, productsThere } from './cloud/cloud.store.ts'
import { createCloudViews } from './cloud/cloud.views.ts'
import { registerFirstCloud } from './cloud/first-cloud.ts'
import { createCloudRegistrations, type LicenceLimits } from './cloud/registration.service.ts'

/** Clouds: what they are, how they are reached, how full they are. */
export function createCmp(
  platform: Platform,
  { licence, tell, openEngine: opening }: { licence: LicenceLimits; tell: Tell; openEngine?: typeof openEngine },
): ModuleParts & { clouds: CloudService } {
  const endpoints = createCloudEndpoints(platform, { tell, ...(opening !== undefined && { openEngine: opening }) })
  const registrations = createCloudRegistrations(platform, { endpoints, licence, tell })
  const history = createCapacityHistory(platform)
  return {
    migrations: cloudMigrations,
    kinds: { 'cmp.cloud': { table: 'clouds' } },
    clouds: createCloudService({ db: platform.db, endpoints }),
    usageOfLicence: licenceUsage,
    // Every cloud is for everybody.
    offers: async (on) => [...new Set((await productsThere(on)).map((product) => (product === 'nextstack' ? ('nextStack' as const) : ('compute' as const))))],
    handlers: cloudRoutes(createCloudViews(platform, { endpoints }), history, registrations),
    jobs: [sampleCapacityJob],
    jobHandlers: [history.jobHandler],
    start: async () => {
      await registerFirstCloud(platform, registrations)
      endpoints.start()
    },
    stop: endpoints.stop,
  }
}
