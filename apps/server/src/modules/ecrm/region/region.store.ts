import type { QueryOf } from '@zhisuan/contract/define'
import type { regions } from '@zhisuan/contract/ecrm/region'
import { sql, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

interface RegionTable {
  id: string
  name: string
  description: string
  nation: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    regions: RegionTable
  }
}
export type RegionRow = Selectable<RegionTable>
export type ShownRegion = RegionRow & { site_count: number; edge_count: number }

export const regionMigrations: Migrations = {
  '20261123_00_30_regions': migration(`
    create table regions (
      id uuid primary key,
      name text not null,
      description text not null,
      nation text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index regions_name on regions (name);
    create table sites (
      id uuid primary key,
      name text not null,
      description text not null,
      region_id uuid not null constraint sites_region references regions,
      divisions text[] not null,
      address text not null,
      longitude double precision,
      latitude double precision,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index sites_name on sites (name);
    create index sites_of_region on sites (region_id);
  `),
}

/** Regions are everybody's; of their nodes those are counted that the scope shows. */
const shown = <T>(query: SelectQueryBuilder<Tables, 'regions', T>, scope: Scope) =>
  query
    .selectAll('regions')
    .select([
      sql<number>`(select count(*) from sites where sites.region_id = regions.id)`.as('site_count'),
      sql<number>`(select count(*) from edges join sites on sites.id = edges.site_id where sites.region_id = regions.id and ${within(scope, 'edges.bp_id')})`.as(
        'edge_count',
      ),
    ])

const order = orderOf('regions', '-created_at', 'name', 'created_at')

export async function listRegions(on: Sql, scope: Scope, query: QueryOf<typeof regions.list>): Promise<{ total: number; rows: ShownRegion[] }> {
  const filtered = on
    .selectFrom('regions')
    .where(matching(query.keyword, sql<string>`regions.name || ' ' || regions.description`))
    .where(asked(query, 'regions', 'nation'))
  return pageWithTotal(paged(shown(filtered, scope), query, order), filtered, query)
}

export const getRegion = (on: Sql, scope: Scope, id: string): Promise<ShownRegion | undefined> =>
  shown(on.selectFrom('regions').where('regions.id', '=', id), scope).executeTakeFirst()

/** Held until the transaction ends: it is not deleted meanwhile. */
export const keepRegion = (tx: Tx, id: string): Promise<RegionRow | undefined> =>
  tx.selectFrom('regions').selectAll().where('id', '=', id).forKeyShare().executeTakeFirst()

/** Into a locked one nothing is put. */
export const { insert: insertRegion, update: updateRegion, remove: deleteRegion, lockAny: lockRegion } = rowsOf('regions', 'updated_at')

export const sitesIn = async (on: Sql, id: string): Promise<{ count: number; divided: number }> =>
  on
    .selectFrom('sites')
    .select([sql<number>`count(*)`.as('count'), sql<number>`count(*) filter (where divisions <> '{}')`.as('divided')])
    .where('region_id', '=', id)
    .executeTakeFirstOrThrow()

export const hasRegionNamed = async (on: Sql, name: string): Promise<boolean> =>
  (await on.selectFrom('regions').select('id').where('name', '=', name).executeTakeFirst()) !== undefined
