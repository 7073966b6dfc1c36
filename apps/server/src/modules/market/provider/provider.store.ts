import type { QueryOf } from '@zhisuan/contract/define'
import type { providers } from '@zhisuan/contract/market/provider'
import { sql, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tables } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { within } from '../../../platform/db/scope.ts'
import type { ProviderRow } from '../market.tables.ts'

export interface ShownProvider extends ProviderRow {
  bp_name: string | null
  node_count: number
  card_count: number
  offer_count: number
}

export const { insert: insertProvider, update: updateProvider, lock: lockProvider } = rowsOf('market_providers', 'updated_at')

const visible = (on: Sql, scope: Scope) => on.selectFrom('market_providers').where(within(scope, 'market_providers.bp_id'))
const shown = <T>(query: SelectQueryBuilder<Tables, 'market_providers', T>) =>
  query
    .leftJoin('organisations', 'organisations.id', 'market_providers.bp_id')
    .selectAll('market_providers')
    .select([
      'organisations.name as bp_name',
      sql<number>`(select count(distinct edge_id)::int from market_stock where provider_id = market_providers.id and listed)`.as('node_count'),
      sql<number>`(select count(*)::int from market_stock where provider_id = market_providers.id and listed)`.as('card_count'),
      sql<number>`(select count(*)::int from market_offers where provider_id = market_providers.id and status in ('listed', 'paused'))`.as('offer_count'),
    ])
const order = orderOf('market_providers', '-created_at', 'name', 'status', 'created_at')

export function listProviders(on: Sql, scope: Scope, query: QueryOf<typeof providers.list>): Promise<{ total: number; rows: ShownProvider[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'market_providers', 'status'))
    .where(matching(query.keyword, 'market_providers.name'))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}
export const getProvider = (on: Sql, scope: Scope, id: string): Promise<ShownProvider | undefined> =>
  shown(visible(on, scope).where('market_providers.id', '=', id)).executeTakeFirst()

/** The one that an organisation, or the platform, is bound to. */
export const providerOf = (on: Sql, bpId: string | null): Promise<ProviderRow | undefined> =>
  on.selectFrom('market_providers').selectAll().where('bp_id', 'is not distinct from', bpId).executeTakeFirst()
