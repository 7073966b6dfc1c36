import { isOpenStack, openStackSettings, type Cloud, type CloudBasic, type CloudDetail, type clouds } from '@zhisuan/contract/cmp/cloud'
import type { QueryOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import type { Actor } from '../../../platform/auth/actor.ts'
import { found } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { countInstances } from './cloud.contents.ts'
import type { CloudEndpoints } from './cloud.endpoint.ts'
import { basic, shape, withoutInternals } from './cloud.shape.ts'
import * as store from './cloud.store.ts'
import type { CloudRow } from './cloud.store.ts'

/** A cloud as its administrators see it. */
export const showCloud = async (platform: Pick<Platform, 'db' | 'modules'>, row: CloudRow): Promise<Cloud> =>
  shape(row, (await countInstances(platform, platform.db, [row]))(row))

export type CloudViews = ReturnType<typeof createCloudViews>

/** Clouds as people see them: tenants without what is inside. */
export function createCloudViews(platform: Pick<Platform, 'db' | 'modules'>, { endpoints }: { endpoints: CloudEndpoints }) {
  const { db } = platform
  /** How an OpenStack is reached, without the secrets: the contract's shape leaves them out. */
  const settingsOf = (row: CloudRow): CloudDetail['settings'] => {
    if (row.product === 'nextstack') return null
    const connection = endpoints.connectionOf(row)
    return isOpenStack(connection) ? openStackSettings.parse(connection) : null
  }

  return {
    async list(actor: Actor, query: QueryOf<(typeof clouds)['list']>) {
      const platformLevel = isPlatformKind(actor.kind)
      const { total, rows } = await store.listClouds(db, query, { offline: platformLevel })
      const instances = await countInstances(platform, db, rows)
      const shown = rows.map((row) => shape(row, instances(row)))
      return { total, clouds: platformLevel ? shown : shown.map(withoutInternals) }
    },

    async basicInfo(actor: Actor): Promise<{ total: number; clouds: CloudBasic[] }> {
      const rows = (await store.allClouds(db)).filter((row) => isPlatformKind(actor.kind) || row.status !== 'offline')
      return { total: rows.length, clouds: rows.map((row) => basic(row)) }
    },

    async get(id: string): Promise<CloudDetail> {
      const row = found(await store.getCloud(db, id))
      return { ...(await showCloud(platform, row)), services: row.services, settings: settingsOf(row) }
    },
  }
}
