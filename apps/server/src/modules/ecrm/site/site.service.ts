import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import type { Site, sites } from '@zhisuan/contract/ecrm/region'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { divisionName, isChain } from '../lookup/divisions.ts'
import { keepRegion } from '../region/region.store.ts'
import * as store from './site.store.ts'

type Calls = typeof sites

export type SiteService = ReturnType<typeof createSites>

export function createSites({ db }: Pick<Platform, 'db'>) {
  const get = async (actor: Actor, id: string): Promise<Site> => shape(found(await store.getSite(db, scopeOf(actor), id)))
  const taken = { sites_name: ['siteNameTaken', 'name'] } as const
  /** In a region that is there, and in divisions of its nation. */
  const refusePlace = async (tx: Tx, body: BodyOf<Calls['create']>): Promise<void> => {
    const region = await keepRegion(tx, body.region_id)
    if (region === undefined) throw new Refusal('regionUnknown', { field: 'region_id' })
    if (body.divisions.length > 0 && (region.nation !== 'CN' || !isChain(body.divisions))) throw new Refusal('divisionUnknown', { field: 'divisions' })
  }

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listSites(db, scopeOf(actor), query), shape),

    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<Site> {
      const id = uuidv7()
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          await refusePlace(tx, body)
          await store.insertSite(tx, { id, ...body })
        }),
      )
      return get(actor, id)
    },

    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<Site> {
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          found(await store.lockSite(tx, id))
          await refusePlace(tx, body)
          await store.updateSite(tx, id, body)
        }),
      )
      return get(actor, id)
    },

    async delete(id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        found(await store.lockSite(tx, id))
        const count = await store.contentsOf(tx, id)
        if (count > 0) throw new Refusal('siteHasEdges', { values: { count } })
        await store.deleteSite(tx, id)
      })
    },
  }
}

const shape = (row: store.ShownSite): Site => ({
  id: row.id,
  name: row.name,
  description: row.description,
  region: { id: row.region_id, name: row.region_name },
  divisions: row.divisions.map((code) => ({ code, name: divisionName(code) })),
  address: row.address,
  longitude: row.longitude,
  latitude: row.latitude,
  edge_count: row.edge_count,
  online_count: row.online_count,
  gateway_count: row.gateway_count,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
})
