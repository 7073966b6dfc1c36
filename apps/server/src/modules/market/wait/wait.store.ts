import type { QueryOf } from '@zhisuan/contract/define'
import type { waits } from '@zhisuan/contract/market/rental'
import { sql, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tables, Tx } from '../../../platform/db/database.ts'
import { orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { within } from '../../../platform/db/scope.ts'

export interface ShownWait {
  id: string
  bp_id: string
  offer_id: string
  count: number
  ends_at: Date
  created_by_name: string
  created_at: Date
  card_model: string
  provider_name: string
}
export const { insert: insertWait, remove: deleteWait, lock: lockWait } = rowsOf('market_waits')

const shown = <T>(query: SelectQueryBuilder<Tables, 'market_waits', T>) =>
  query
    .innerJoin('market_offers', 'market_offers.id', 'market_waits.offer_id')
    .innerJoin('market_providers', 'market_providers.id', 'market_offers.provider_id')
    .selectAll('market_waits')
    .select(['market_offers.card_model', 'market_providers.name as provider_name'])
const order = orderOf('market_waits', '-created_at', 'created_at')

export function listWaits(on: Sql, scope: Scope, query: QueryOf<typeof waits.list>): Promise<{ total: number; rows: ShownWait[] }> {
  const filtered = on.selectFrom('market_waits').where(within(scope, 'market_waits.bp_id'))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}
export const getWait = (on: Sql, scope: Scope, id: string): Promise<ShownWait | undefined> =>
  shown(on.selectFrom('market_waits').where(within(scope, 'market_waits.bp_id')).where('market_waits.id', '=', id)).executeTakeFirst()

export const countWaits = async (on: Sql, bpId: string): Promise<number> =>
  (
    await on
      .selectFrom('market_waits')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('bp_id', '=', bpId)
      .executeTakeFirstOrThrow()
  ).count

/** At one look; the next has the others. */
const endedMost = 500
/**
 * Takes those away that have what they wait for, and those that waited for too long. Whether there are so many cards of an
 * offer is asked once for all who wait for it, of what is counted (`market_room`) and not of each card.
 */
export async function takeEnded(
  tx: Tx,
  now: Date,
): Promise<{ over: boolean; id: string; bp_id: string; count: number; card_model: string; provider_name: string; offer_id: string }[]> {
  const { rows } = await sql<Awaited<ReturnType<typeof takeEnded>>[number]>`
    with wanted as materialized (
      select offers.id, waited."count", exists (
        select from market_room as room
        join edges on edges.id = room.edge_id and edges.status = 'online' and not edges.docker_away and edges.activation = 'active'
        join market_nodes as nodes on nodes.id = room.edge_id and nodes.listed
        join market_providers as providers on providers.bp_id is not distinct from edges.bp_id and providers.status = 'verified'
        where room.model = offers.card_model and room.cards >= waited."count" and providers.id = offers.provider_id
          and (offers.edge_id is null or room.edge_id = offers.edge_id)) as free
      from (select distinct offer_id, "count" from market_waits) as waited join market_offers as offers on offers.id = waited.offer_id
      where offers.status = 'listed'
    ), ended as (
      select market_waits.id, market_waits.bp_id, market_waits."count", market_waits.ends_at <= ${now} or market_offers.status in ('ended', 'rejected') as over,
        market_offers.card_model, market_providers.name as provider_name, market_offers.id as offer_id
      from market_waits
      join market_offers on market_offers.id = market_waits.offer_id
      join market_providers on market_providers.id = market_offers.provider_id
      left join wanted on wanted.id = market_waits.offer_id and wanted."count" = market_waits."count"
      where market_waits.ends_at <= ${now} or market_offers.status in ('ended', 'rejected') or wanted.free
      order by market_waits.created_at limit ${endedMost}
      for update of market_waits skip locked
    )
    delete from market_waits using ended where market_waits.id = ended.id returning ended.*
  `.execute(tx)
  return rows
}
