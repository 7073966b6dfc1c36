import type { NodeFacts } from '@zhisuan/contract/agent/node'
import type { QueryOf } from '@zhisuan/contract/define'
import type { cards, CardTrouble, marketNodes } from '@zhisuan/contract/market/card'
import { sql, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tables, Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { within } from '../../../platform/db/scope.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { CardRow, Check, StockRow } from '../market.tables.ts'

export const { update: updateCard } = rowsOf('market_cards')

const order = orderOf('market_stock', 'model', 'model', 'health', 'seen_at')
export function listCards(on: Sql, scope: Scope, query: QueryOf<typeof cards.list>): Promise<{ total: number; rows: StockRow[] }> {
  const filtered = on
    .selectFrom('market_stock')
    .where(within(scope, 'market_stock.bp_id'))
    .where(asked(query, 'market_stock', 'edge_id', 'provider_id', 'health'))
    .where(matching(query.keyword, 'market_stock.model', 'market_stock.edge_name', 'market_stock.uuid'))
  return pageWithTotal(paged(filtered.selectAll('market_stock'), query, order), filtered, query)
}
export const getCard = (on: Sql, scope: Scope, id: string): Promise<StockRow | undefined> =>
  on.selectFrom('market_stock').selectAll().where(within(scope, 'market_stock.bp_id')).where('id', '=', id).executeTakeFirst()

/** What the inventory has of a node. */
export const cardsOn = (on: Sql, edgeId: string): Promise<CardRow[]> =>
  on.selectFrom('market_cards').selectAll().where('edge_id', '=', edgeId).orderBy('index').execute()
/** The same, held until the transaction ends. */
export const lockCardsOn = (tx: Tx, edgeId: string): Promise<CardRow[]> =>
  tx.selectFrom('market_cards').selectAll().where('edge_id', '=', edgeId).orderBy('id').forUpdate().execute()

export const factsOf = (on: Sql, edgeId: string): Promise<{ bp_id: string | null; name: string; facts: NodeFacts | null } | undefined> =>
  on.selectFrom('edges').select(['bp_id', 'name', 'facts']).where('id', '=', edgeId).executeTakeFirst()

/** Takes up what a node says it has. */
export async function keepCards(tx: Tx, edgeId: string, gpus: NodeFacts['gpus']): Promise<void> {
  for (const gpu of gpus) {
    const told = {
      index: gpu.index,
      model: gpu.model,
      memory_bytes: gpu.memory_bytes,
      driver: gpu.driver,
      cuda: gpu.cuda ?? null,
    }
    await tx
      .insertInto('market_cards')
      .values({ id: uuidv7(), edge_id: edgeId, uuid: gpu.uuid, trouble: null, cleared_at: null, ...told })
      .onConflict((conflict) => conflict.columns(['edge_id', 'uuid']).doUpdateSet(told))
      .execute()
  }
}
export const seenCards = async (tx: Tx, edgeId: string, uuids: readonly string[]): Promise<void> => {
  await tx
    .updateTable('market_cards')
    .set({ seen_at: sql`now()` })
    .where('edge_id', '=', edgeId)
    .where(sql<boolean>`uuid = any(${[...uuids]}::text[])`)
    .execute()
}
/** Which cards of a node another told of before, in the last minutes: written with each of its reports. */
export const markElsewhere = async (tx: Tx, edgeId: string): Promise<void> => {
  await sql`
    update market_cards as mine set elsewhere = not elsewhere
    where edge_id = ${edgeId} and elsewhere <> exists (
      select from market_cards as other
      where other.uuid = mine.uuid and other.edge_id <> mine.edge_id and other.id < mine.id and other.seen_at > now() - interval '10 minutes')
  `.execute(tx)
}
export const setTrouble = async (tx: Tx, id: string, trouble: CardTrouble | null, detail: string): Promise<void> =>
  updateCard(tx, id, {
    health: trouble === null ? 'healthy' : 'sick',
    trouble,
    trouble_detail: detail,
    health_since: sql<Date>`now()` as never,
  })

export interface ShownNode {
  id: string
  name: string
  bp_id: string | null
  online: boolean
  listed: boolean
  provider_id: string | null
  provider_name: string | null
  region_id: string | null
  region_name: string | null
  card_count: number
  healthy: number
  rented: number
  tested_at: Date | null
  test_passed: boolean
  checks: Check[]
}

const withCards = (on: Sql, scope: Scope) =>
  on
    .selectFrom('edges')
    .leftJoin('market_nodes', 'market_nodes.id', 'edges.id')
    .leftJoin('market_providers', (join) => join.on(sql<boolean>`market_providers.bp_id is not distinct from edges.bp_id`))
    .leftJoin('sites', 'sites.id', 'edges.site_id')
    .leftJoin('regions', 'regions.id', 'sites.region_id')
    .where(within(scope, 'edges.bp_id'))
    .where(sql<boolean>`exists (select from market_cards where edge_id = edges.id)`)

const shown = <T>(query: SelectQueryBuilder<Tables, 'edges', T>) =>
  query.select([
    'edges.id',
    'edges.name',
    'edges.bp_id',
    sql<boolean>`edges.status = 'online'`.as('online'),
    sql<boolean>`coalesce(market_nodes.listed, false)`.as('listed'),
    sql<string | null>`market_providers.id`.as('provider_id'),
    sql<string | null>`market_providers.name`.as('provider_name'),
    sql<string | null>`regions.id`.as('region_id'),
    sql<string | null>`regions.name`.as('region_name'),
    sql<number>`(select count(*)::int from market_cards where edge_id = edges.id)`.as('card_count'),
    sql<number>`(select count(*)::int from market_cards where edge_id = edges.id and health = 'healthy')`.as('healthy'),
    sql<number>`(select count(*)::int from market_stock where edge_id = edges.id and held)`.as('rented'),
    sql<Date | null>`market_nodes.tested_at`.as('tested_at'),
    sql<boolean>`coalesce(market_nodes.test_passed, false)`.as('test_passed'),
    sql<Check[]>`coalesce(market_nodes.checks, '[]')`.as('checks'),
  ])
const nodeOrder = { by: { name: 'edges.name', listed: 'market_nodes.listed' }, fallback: 'name', id: 'edges.id' }
/** Of Kysely's joined tables only those of the rows are named. */
const asEdges = (query: ReturnType<typeof withCards>) => query as unknown as SelectQueryBuilder<Tables, 'edges', object>

export function listNodes(on: Sql, scope: Scope, query: QueryOf<typeof marketNodes.list>): Promise<{ total: number; rows: ShownNode[] }> {
  const filtered = asEdges(
    withCards(on, scope)
      .where(matching(query.keyword, 'edges.name'))
      .where(asked({ id: query.provider_id }, 'market_providers', 'id'))
      .$if(query.listed !== undefined, (q) => q.where(sql<boolean>`coalesce(market_nodes.listed, false) = ${query.listed ?? false}`)),
  )
  return pageWithTotal(paged(shown(filtered), query, nodeOrder), filtered, query)
}
export const getNode = (on: Sql, scope: Scope, id: string): Promise<ShownNode | undefined> =>
  shown(asEdges(withCards(on, scope).where('edges.id', '=', id))).executeTakeFirst()

export async function keepTest(
  tx: Tx,
  node: { id: string; bp_id: string | null; name: string },
  test: { tested_at: Date; test_passed: boolean; checks: readonly Check[] },
): Promise<void> {
  const kept = { ...test, checks: JSON.stringify(test.checks), name: node.name, bp_id: node.bp_id }
  await tx
    .insertInto('market_nodes')
    .values({ id: node.id, ...kept })
    // What was listed and fails is taken out.
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...kept, listed: sql`market_nodes.listed and ${test.test_passed}` }))
    .execute()
}
export const setListed = async (tx: Tx, id: string, listed: boolean): Promise<void> => {
  await tx.updateTable('market_nodes').set({ listed }).where('id', '=', id).execute()
}
/** Out of the market, to be tested anew: another machine may come in its place. */
export const forgetNode = async (tx: Tx, id: string): Promise<void> => {
  await tx.updateTable('market_nodes').set({ listed: false, test_passed: false }).where('id', '=', id).execute()
}
/** Held until the transaction ends. */
export const lockNode = (tx: Tx, id: string): Promise<{ listed: boolean; test_passed: boolean } | undefined> =>
  tx.selectFrom('market_nodes').select(['listed', 'test_passed']).where('id', '=', id).forUpdate().executeTakeFirst()
/** Whether cards of a node are for rents only. */
export const isListed = async (on: Sql, edgeId: string): Promise<boolean> =>
  (await on.selectFrom('market_nodes').select('id').where('id', '=', edgeId).where('listed', '=', true).executeTakeFirst()) !== undefined ||
  (await on.selectFrom('market_stock').select('id').where('edge_id', '=', edgeId).where('held', '=', true).limit(1).executeTakeFirst()) !== undefined
