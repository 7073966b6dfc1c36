import type { Sql } from '../../../platform/db/database.ts'
import type { CloudContents } from '../../../platform/module.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudRow } from './cloud.store.ts'

/** What all modules keep on clouds. */
export const contentsOfClouds = ({ modules }: Pick<Platform, 'modules'>): CloudContents[] => modules().flatMap(({ contentsOfCloud = [] }) => contentsOfCloud)

/** How many instances each has: what our records know, and of clouds that are their own record what runs there. */
export async function countInstances(platform: Pick<Platform, 'modules'>, on: Sql, rows: readonly CloudRow[]): Promise<(row: CloudRow) => number> {
  const counts = await Promise.all(
    contentsOfClouds(platform).map((one) =>
      one.count(
        on,
        rows.map((row) => row.id),
      ),
    ),
  )
  return (row) => {
    const known = counts.flatMap((count) => count.get(row.id) ?? [])
    return known.length > 0 ? known.reduce((sum, count) => sum + count, 0) : (row.observed?.capacity?.running_instances ?? 0)
  }
}
