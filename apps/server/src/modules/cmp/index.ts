import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import { cloudMigrations } from './cloud/cloud.store.ts'
import { cloudRoutes } from './cloud/cloud.routes.ts'
import type { openEngine } from './cloud/cloud.engines.ts'
import { sampleCapacityJob } from './cloud/cloud.samples.ts'
import { createCloudService, type LicenceLimits, type CloudService } from './cloud/cloud.service.ts'
import { licenceUsage } from './cloud/cloud.store.ts'

/** Clouds: what they are, how they are reached, how full they are. */
export function createCmp(platform: Platform, others: { licence: LicenceLimits; openEngine?: typeof openEngine }): ModuleParts & { clouds: CloudService } {
  const clouds = createCloudService(platform, others)
  return {
    migrations: cloudMigrations,
    kinds: { 'cmp.cloud': { table: 'clouds' } },
    clouds,
    usageOfLicence: licenceUsage,
    handlers: cloudRoutes(clouds),
    jobs: [sampleCapacityJob],
    jobHandlers: [clouds.jobHandler],
    start: () => clouds.start(),
    stop: () => clouds.stop(),
  }
}
