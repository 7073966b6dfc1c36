import type { QueryOf } from '@zhisuan/contract/define'
import type { offers } from '@zhisuan/contract/market/offer'
import { sql, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tables } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { within } from '../../../platform/db/scope.ts'
import type { OfferRow } from '../market.tables.ts'

export interface ShownOffer extends OfferRow {
  provider_name: string
  edge_name: string | null
  total_cards: number
  free_cards: number
}
export const { insert: insertOffer, update: updateOffer, lock: lockOffer } = rowsOf('market_offers', 'updated_at')

/** Cards that an offer is of. */
export const cardsOfOffer = sql`market_stock.provider_id = market_offers.provider_id and market_stock.model = market_offers.card_model
  and (market_offers.edge_id is null or market_stock.edge_id = market_offers.edge_id)`

const visible = (on: Sql, scope: Scope) => on.selectFrom('market_offers').where(within(scope, 'market_offers.bp_id'))
const shown = <T>(query: SelectQueryBuilder<Tables, 'market_offers', T>) =>
  query
    .innerJoin('market_providers', 'market_providers.id', 'market_offers.provider_id')
    .leftJoin('edges', 'edges.id', 'market_offers.edge_id')
    .selectAll('market_offers')
    .select([
      'market_providers.name as provider_name',
      'edges.name as edge_name',
      sql<number>`(select count(*)::int from market_stock where ${cardsOfOffer} and listed)`.as('total_cards'),
      sql<number>`(select count(*)::int from market_stock where ${cardsOfOffer} and rentable and not held)`.as('free_cards'),
    ])
const order = orderOf('market_offers', '-created_at', 'card_model', 'status', 'created_at')

export function listOffers(on: Sql, scope: Scope, query: QueryOf<typeof offers.list>): Promise<{ total: number; rows: ShownOffer[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'market_offers', 'status', 'provider_id'))
    .where(matching(query.keyword, 'market_offers.card_model'))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}
export const getOffer = (on: Sql, scope: Scope, id: string): Promise<ShownOffer | undefined> =>
  shown(visible(on, scope).where('market_offers.id', '=', id)).executeTakeFirst()

export const countOpen = async (on: Sql, providerId: string): Promise<number> =>
  (
    await on
      .selectFrom('market_offers')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('provider_id', '=', providerId)
      .where('status', 'in', ['proposed', 'listed', 'paused'])
      .executeTakeFirstOrThrow()
  ).count

/** A card of such a model, of a provider; of one node where one is named. */
export const hasCards = async (on: Sql, wish: { provider_id: string; card_model: string; edge_id: string | null }): Promise<boolean> =>
  (await on
    .selectFrom('market_stock')
    .select('id')
    .where('provider_id', '=', wish.provider_id)
    .where('model', '=', wish.card_model)
    .$if(wish.edge_id !== null, (q) => q.where('edge_id', '=', wish.edge_id ?? ''))
    .limit(1)
    .executeTakeFirst()) !== undefined

export interface ListedOffer extends OfferRow {
  provider_name: string
  card_memory_bytes: number
  /** Of each driver, of its cards. */
  cudas: (string | null)[]
  driver: string
  regions: { id: string; name: string }[]
  total_cards: number
  free_cards: number
  free_together: number
  orders: number
  running: number
  median_ms: number | null
  p95_ms: number | null
}

/** What a node has of one kind of cards that are listed. */
export interface NodeStock {
  provider_id: string
  model: string
  edge_id: string
  region_id: string | null
  region_name: string | null
  memory_bytes: number
  cudas: (string | null)[]
  driver: string
  total: number
  free: number
}
export async function listedStock(on: Sql): Promise<NodeStock[]> {
  const { rows } = await sql<NodeStock>`
    select provider_id, model, edge_id, region_id, region_name, max(memory_bytes) as memory_bytes, array_agg(distinct cuda) as cudas, min(driver) as driver,
      count(*)::int as total, (count(*) filter (where rentable and not held))::int as free
    from market_stock where listed and provider_id is not null group by 1, 2, 3, 4, 5 order by edge_id
  `.execute(on)
  return rows
}

/** All that is listed, with how it came to run for whoever rented it. */
export async function listedOffers(on: Sql): Promise<(OfferRow & Pick<ListedOffer, 'provider_name' | 'orders' | 'running' | 'median_ms' | 'p95_ms'>)[]> {
  const { rows } = await sql<Awaited<ReturnType<typeof listedOffers>>[number]>`
    select market_offers.*, market_providers.name as provider_name, started.*
    from market_offers
    join market_providers on market_providers.id = market_offers.provider_id and market_providers.status = 'verified'
    cross join lateral (
      select count(*)::int as orders, count(running_at)::int as running,
        round(1000 * percentile_cont(0.5) within group (order by extract(epoch from running_at - created_at)))::int as median_ms,
        round(1000 * percentile_cont(0.95) within group (order by extract(epoch from running_at - created_at)))::int as p95_ms
      from market_rentals as rental
      -- What somebody gave back before it was decided says nothing.
      where rental.offer_id = market_offers.id and created_at > now() - interval '30 days' and (running_at is not null or status = 'failed')
    ) as started
    where market_offers.status = 'listed'
    order by market_offers.id
  `.execute(on)
  return rows
}
