import type { Platform } from '../../../platform/platform.ts'
import { createConsumeExports } from './consume.export.ts'
import { createForecast } from './forecast.service.ts'
import { createUsageLines } from './line.service.ts'
import { createCostOverviews } from './overview.service.ts'
import { createResourceCosts } from './resource.service.ts'

export type Consumes = ReturnType<typeof createConsumes>

/** What was used and what it cost, from the sums that its lines keep; and what is to be expected. */
export const createConsumes = (platform: Pick<Platform, 'db' | 'now' | 'downloads'>) => ({
  overviews: createCostOverviews(platform),
  forecast: createForecast(platform),
  resources: createResourceCosts(platform),
  lines: createUsageLines(platform),
  exports: createConsumeExports(platform),
})
