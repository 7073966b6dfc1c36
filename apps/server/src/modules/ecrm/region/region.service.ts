import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import type { Region, regions } from '@zhisuan/contract/ecrm/region'
import { fieldTexts } from '@zhisuan/contract/texts'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { nationName } from '../lookup/nations.ts'
import * as store from './region.store.ts'

type Calls = typeof regions

export type RegionService = ReturnType<typeof createRegions>

export function createRegions({ db }: Pick<Platform, 'db'>) {
  const get = async (actor: Actor, id: string): Promise<Region> => shape(found(await store.getRegion(db, scopeOf(actor), id)))
  const refuseNation = (nation: string): void => {
    if (nationName(nation) === undefined) throw new Refusal('fieldsInvalid', { fields: [{ field: 'nation', message: fieldTexts.nation }] })
  }
  const taken = { regions_name: ['regionNameTaken', 'name'] } as const

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listRegions(db, scopeOf(actor), query), shape),

    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<Region> {
      refuseNation(body.nation)
      const id = uuidv7()
      await refusing(taken, () => store.insertRegion(db, { id, ...body }))
      return get(actor, id)
    },

    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<Region> {
      refuseNation(body.nation)
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          found(await store.lockRegion(tx, id))
          // Sites in divisions of this country cannot come to lie in another.
          if (body.nation !== 'CN' && (await store.sitesIn(tx, id)).divided > 0) throw new Refusal('divisionUnknown', { field: 'nation' })
          await store.updateRegion(tx, id, body)
        }),
      )
      return get(actor, id)
    },

    async delete(id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        found(await store.lockRegion(tx, id))
        const { count } = await store.sitesIn(tx, id)
        if (count > 0) throw new Refusal('regionHasSites', { values: { count } })
        await store.deleteRegion(tx, id)
      })
    },
  }
}

const shape = (row: store.ShownRegion): Region => ({
  id: row.id,
  name: row.name,
  description: row.description,
  nation: row.nation,
  nation_name: nationName(row.nation) ?? row.nation,
  site_count: row.site_count,
  edge_count: row.edge_count,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
})
