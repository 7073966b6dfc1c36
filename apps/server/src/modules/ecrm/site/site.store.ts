import type { QueryOf } from '@zhisuan/contract/define'
import type { sites } from '@zhisuan/contract/ecrm/region'
import { sql, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tables, Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

/** Its table is made with that of regions. */
interface SiteTable {
  id: string
  name: string
  description: string
  region_id: string
  /** GB/T 2260 codes, from the province downwards. */
  divisions: string[]
  address: string
  longitude: number | null
  latitude: number | null
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    sites: SiteTable
  }
}
export type SiteRow = Selectable<SiteTable>
export type ShownSite = SiteRow & { region_name: string; edge_count: number; online_count: number; gateway_count: number }

/** Sites are everybody's; of their nodes those are counted that the scope shows. */
const shown = <T>(query: SelectQueryBuilder<Tables, 'sites', T>, scope: Scope) =>
  query
    .innerJoin('regions', 'regions.id', 'sites.region_id')
    .selectAll('sites')
    .select([
      'regions.name as region_name',
      sql<number>`(select count(*) from edges where edges.site_id = sites.id and ${within(scope, 'edges.bp_id')})`.as('edge_count'),
      sql<number>`(select count(*) from edges where edges.site_id = sites.id and edges.status = 'online' and ${within(scope, 'edges.bp_id')})`.as(
        'online_count',
      ),
      sql<number>`(select count(*) from edge_gateways where edge_gateways.site_id = sites.id)`.as('gateway_count'),
    ])

const order = orderOf('sites', '-created_at', 'name', 'created_at')

export async function listSites(on: Sql, scope: Scope, query: QueryOf<typeof sites.list>): Promise<{ total: number; rows: ShownSite[] }> {
  const filtered = on
    .selectFrom('sites')
    .where(matching(query.keyword, sql<string>`sites.name || ' ' || sites.description || ' ' || sites.address`))
    .where(asked(query, 'sites', 'region_id'))
  return pageWithTotal(paged(shown(filtered, scope), query, order), filtered, query)
}

export const getSite = (on: Sql, scope: Scope, id: string): Promise<ShownSite | undefined> =>
  shown(on.selectFrom('sites').where('sites.id', '=', id), scope).executeTakeFirst()

/** Held until the transaction ends: it is not deleted meanwhile. */
export const keepSite = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.selectFrom('sites').select('id').where('id', '=', id).forKeyShare().executeTakeFirst()) !== undefined

/** Into a locked one nothing is put. */
export const { insert: insertSite, update: updateSite, remove: deleteSite, lockAny: lockSite } = rowsOf('sites', 'updated_at')

/** Nodes of every organisation, and gateways. */
export const contentsOf = async (on: Sql, id: string): Promise<number> =>
  (
    await sql<{
      count: number
    }>`select (select count(*) from edges where site_id = ${id}) + (select count(*) from edge_gateways where site_id = ${id}) as count`.execute(on)
  ).rows[0]?.count ?? 0

export const hasSiteNamed = async (on: Sql, name: string): Promise<boolean> =>
  (await on.selectFrom('sites').select('id').where('name', '=', name).executeTakeFirst()) !== undefined
