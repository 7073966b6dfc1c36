import type { QueryOf } from '@zhisuan/contract/define'
import { faultMinutes, type rentals } from '@zhisuan/contract/market/rental'
import { sql, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tables, Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { within } from '../../../platform/db/scope.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { OfferRow, RentalRow } from '../market.tables.ts'

export interface ShownRental extends RentalRow {
  card_model: string
  mode: OfferRow['mode']
  milli_cpus_per_card: number
  memory_bytes_per_card: number
  card_price: string
  disk_price: string
  stopped_disk_price: string
  disk_bytes_per_card: number
  provider_name: string
  region_id: string | null
  region_name: string | null
  cards: { id: string; index: number; uuid: string }[]
}
export const { insert: insertRental, update: updateRental, lock: lockRental, lockAny: lockAnyRental } = rowsOf('market_rentals', 'updated_at')

const visible = (on: Sql, scope: Scope) => on.selectFrom('market_rentals').where(within(scope, 'market_rentals.bp_id'))
const shown = <T>(query: SelectQueryBuilder<Tables, 'market_rentals', T>) =>
  query
    .innerJoin('market_offers', 'market_offers.id', 'market_rentals.offer_id')
    .innerJoin('market_providers', 'market_providers.id', 'market_rentals.provider_id')
    .leftJoin('edges', 'edges.id', 'market_rentals.edge_id')
    .leftJoin('sites', 'sites.id', 'edges.site_id')
    .leftJoin('regions', 'regions.id', 'sites.region_id')
    .selectAll('market_rentals')
    .select([
      'market_offers.card_model',
      'market_offers.mode',
      'market_offers.milli_cpus_per_card',
      'market_offers.memory_bytes_per_card',
      'market_offers.card_price',
      'market_offers.disk_price',
      'market_offers.stopped_disk_price',
      'market_offers.disk_bytes_per_card',
      'market_providers.name as provider_name',
      'regions.id as region_id',
      'regions.name as region_name',
      sql<ShownRental['cards']>`coalesce((
        select jsonb_agg(jsonb_build_object('id', market_cards.id, 'index', "index", 'uuid', uuid) order by "index")
        from market_holds join market_cards on market_cards.id = market_holds.card_id
        where market_holds.container_id = market_rentals.container_id and market_holds.released_at is null), '[]')`.as('cards'),
    ])
const order = orderOf('market_rentals', '-created_at', 'name', 'status', 'created_at')

export function listRentals(on: Sql, scope: Scope, query: QueryOf<typeof rentals.list>): Promise<{ total: number; rows: ShownRental[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'market_rentals', 'status'))
    .where(matching(query.keyword, 'market_rentals.name'))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}
export const getRental = (on: Sql, scope: Scope, id: string): Promise<ShownRental | undefined> =>
  shown(visible(on, scope).where('market_rentals.id', '=', id)).executeTakeFirst()

export const findRental = (on: Sql, scope: Scope, id: string): Promise<RentalRow | undefined> =>
  visible(on, scope).selectAll('market_rentals').where('market_rentals.id', '=', id).executeTakeFirst()

/** Whose time in advance ends before a moment, and is not renewed by itself. */
export async function endingBefore(on: Sql, moment: Date): Promise<{ id: string; bp_id: string; name: string; prepaid_until: Date }[]> {
  const { rows } = await sql<Awaited<ReturnType<typeof endingBefore>>[number]>`
    select rental.id, rental.bp_id, rental.name, rental.prepaid_until
    from market_rentals as rental
    where rental.prepaid_until < ${moment} and rental.status not in ('released', 'failed')
      and not exists (select from prepaid_resources where resource_id = rental.id and auto_renew)
  `.execute(on)
  return rows
}

export const countOpenRentals = async (on: Sql, bpId: string): Promise<number> =>
  (
    await on
      .selectFrom('market_rentals')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('bp_id', '=', bpId)
      .where('status', 'not in', ['released', 'failed'])
      .executeTakeFirstOrThrow()
  ).count
/** What an organisation rents by the second, but for one, with what it costs. */
export const openTerms = (on: Sql, bpId: string, exceptId: string) =>
  on
    .selectFrom('market_rentals')
    .innerJoin('market_offers', 'market_offers.id', 'market_rentals.offer_id')
    .select(['market_rentals.status', 'market_rentals.count'])
    .select(['market_offers.card_price', 'market_offers.disk_price', 'market_offers.stopped_disk_price', 'market_offers.disk_bytes_per_card'])
    .where('market_rentals.bp_id', '=', bpId)
    .where('market_rentals.id', '<>', exceptId)
    .where('market_rentals.prepaid_until', 'is', null)
    .where('market_rentals.status', 'not in', ['released', 'failed', 'releasing'])
    .execute()
/** One at a time of an organisation: so that it is counted what the other makes. */
export const holdRenter = async (tx: Tx, bpId: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${bpId}, 37))`.execute(tx)
}

export interface Candidate {
  readonly offer: OfferRow
  readonly provider_name: string
}
/** The offer that was chosen, and, where that is wished, others of the same card that cost no more, the cheapest first. */
export async function candidates(on: Sql, wish: { offer_id: string; count: number; bp_id: string; alternatives: boolean }): Promise<Candidate[]> {
  const { rows } = await sql<OfferRow & { provider_name: string }>`
    select other.*, market_providers.name as provider_name
    from market_offers as chosen
    join market_offers as other on other.id = chosen.id or (${wish.alternatives} and other.card_model = chosen.card_model and other.mode = chosen.mode
      and other.card_price <= chosen.card_price and other.disk_price <= chosen.disk_price and other.stopped_disk_price <= chosen.stopped_disk_price
      and other.milli_cpus_per_card >= chosen.milli_cpus_per_card and other.memory_bytes_per_card >= chosen.memory_bytes_per_card
      and other.disk_bytes_per_card = chosen.disk_bytes_per_card)
    join market_providers on market_providers.id = other.provider_id and market_providers.status = 'verified'
    where chosen.id = ${wish.offer_id} and other.status = 'listed' and other.most_cards >= ${wish.count} and other.bp_id is distinct from ${wish.bp_id}
    order by other.id = chosen.id desc, other.card_price, other.id
  `.execute(on)
  return rows.map(({ provider_name, ...offer }) => ({ offer, provider_name }))
}

const freeOf = (offer: Pick<OfferRow, 'provider_id' | 'card_model' | 'edge_id'>) => sql`
  provider_id = ${offer.provider_id} and model = ${offer.card_model} and rentable and not held and (${offer.edge_id}::uuid is null or edge_id = ${offer.edge_id}::uuid)`

/** Looked at for one machine: whoever rents meanwhile holds one node each. */
const nodesMost = 64

/** Nodes that have so many free cards of an offer: those first of which the least is left. */
export async function nodesWith(on: Sql, offer: OfferRow, count: number, except: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ edge_id: string }>`
    select room.edge_id
    from market_room as room
    join edges on edges.id = room.edge_id and edges.status = 'online' and not edges.docker_away and edges.activation = 'active'
    join market_nodes as nodes on nodes.id = room.edge_id and nodes.listed
    join market_providers as providers on providers.bp_id is not distinct from edges.bp_id and providers.status = 'verified'
    where providers.id = ${offer.provider_id} and room.model = ${offer.card_model} and room.cards >= ${count}
      and (${offer.edge_id}::uuid is null or room.edge_id = ${offer.edge_id}::uuid) and room.edge_id <> all(${[...except]}::uuid[])
    order by room.cards, room.edge_id limit ${nodesMost}
  `.execute(on)
  return rows.map(({ edge_id }) => edge_id)
}

/** Holds one of these nodes against all others who rent, the first that nobody holds; null where all are held. */
export async function takeNode(tx: Tx, ids: readonly string[]): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select id from market_nodes where id = any(${[...ids]}::uuid[]) order by array_position(${[...ids]}::uuid[], id) limit 1 for update skip locked
  `.execute(tx)
  return rows[0]?.id ?? null
}
/** The same of one, waiting for whoever holds it. */
export const waitForNode = async (tx: Tx, id: string): Promise<void> => {
  await tx.selectFrom('market_nodes').select('id').where('id', '=', id).forUpdate().execute()
}
export interface FreeCard {
  id: string
  uuid: string
}
/** Free cards of a node that one holds. @param wish of an offer, and those that are wished before all others */
export async function freeCards(tx: Tx, offer: OfferRow, edgeId: string, count: number, before: readonly string[] = []): Promise<FreeCard[]> {
  const { rows } = await sql<FreeCard>`
    select id, uuid from market_stock where ${freeOf({ ...offer, edge_id: edgeId })} order by id = any(${[...before]}::uuid[]) desc, "index" limit ${count}
  `.execute(tx)
  return rows
}
/** Whoever was faster, the unique index says: then it holds none. */
export async function holdCards(tx: Tx, cards: readonly FreeCard[], of: { rental_id: string; container_id: string }): Promise<boolean> {
  const held = await tx
    .insertInto('market_holds')
    .values(cards.map(({ id }) => ({ id: uuidv7(), card_id: id, released_at: null, ...of })))
    .onConflict((conflict) => conflict.column('card_id').where('released_at', 'is', null).doNothing())
    .returning('id')
    .execute()
  return held.length === cards.length
}
/** Gives back what a container had. */
export const releaseCards = async (tx: Tx, rentalId: string, containerId: string): Promise<void> => {
  await tx
    .updateTable('market_holds')
    .set({ released_at: sql`now()` })
    .where('rental_id', '=', rentalId)
    .where('released_at', 'is', null)
    .where('container_id', '=', containerId)
    .execute()
}
/** Gives back some of what a container had. */
export const releaseSome = async (tx: Tx, containerId: string, cards: readonly FreeCard[]): Promise<void> => {
  if (cards.length === 0) return
  await tx
    .updateTable('market_holds')
    .set({ released_at: sql`now()` })
    .where('released_at', 'is', null)
    .where('container_id', '=', containerId)
    .where(
      'card_id',
      'in',
      cards.map(({ id }) => id),
    )
    .execute()
}
/** Until when it is paid in advance; null where it is not. */
export async function prepaidUntil(on: Sql, rentalId: string, now: Date): Promise<Date | null> {
  const { rows } = await sql<{ until: Date | null }>`select max("to") as until from prepaid_spans where resource_id = ${rentalId} and "to" > ${now}`.execute(on)
  return rows[0]?.until ?? null
}

const mayGive = sql`holding.status = 'running' and holding.fault is null and holding.interrupt_at is null and held_by.mode = 'interruptible'`
/** Nodes that would have so many cards of an offer for somebody, if those gave theirs that rent interruptibly. */
export async function nodesToClaim(on: Sql, offer: OfferRow, count: number, except: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ edge_id: string }>`
    select stock.edge_id
    from market_stock as stock
    left join market_holds as holds on holds.card_id = stock.id and holds.released_at is null
    left join market_rentals as holding on holding.id = holds.rental_id
    left join market_offers as held_by on held_by.id = holding.offer_id
    where stock.provider_id = ${offer.provider_id} and stock.model = ${offer.card_model} and stock.rentable
      and (${offer.edge_id}::uuid is null or stock.edge_id = ${offer.edge_id}::uuid) and stock.edge_id <> all(${[...except]}::uuid[])
      and not exists (select from market_claims where card_id = stock.id)
      and (holds.id is null or ${mayGive})
    group by stock.edge_id having count(*) >= ${count} order by count(*), stock.edge_id limit ${nodesMost}
  `.execute(on)
  return rows.map(({ edge_id }) => edge_id)
}
export interface Giving {
  id: string
  grace_seconds: number
  cards: FreeCard[]
}
/** Who would give theirs on a node that one holds, the smallest first; who is being changed just now is not asked. */
export async function givingOn(tx: Tx, offer: OfferRow, edgeId: string): Promise<Giving[]> {
  const { rows } = await sql<Giving>`
    select holding.id, held_by.grace_seconds, (
      select jsonb_agg(jsonb_build_object('id', market_cards.id, 'uuid', market_cards.uuid) order by "index")
      from market_holds join market_cards on market_cards.id = market_holds.card_id
      where market_holds.rental_id = holding.id and market_holds.released_at is null and market_cards.health = 'healthy') as cards
    from market_rentals as holding join market_offers as held_by on held_by.id = holding.offer_id
    where holding.edge_id = ${edgeId} and held_by.card_model = ${offer.card_model} and held_by.provider_id = ${offer.provider_id} and ${mayGive}
    order by holding."count", holding.created_at desc
    for update of holding skip locked
  `.execute(tx)
  return rows.filter(({ cards }) => (cards as FreeCard[] | null) !== null)
}
/** Whoever claimed one before keeps it: then false, and none is claimed. */
export async function claimCards(tx: Tx, cards: readonly FreeCard[], rentalId: string): Promise<boolean> {
  const claimed = await tx
    .insertInto('market_claims')
    .values(cards.map(({ id }) => ({ card_id: id, rental_id: rentalId })))
    .onConflict((conflict) => conflict.column('card_id').doNothing())
    .returning('card_id')
    .execute()
  return claimed.length === cards.length
}
export interface Claimed extends FreeCard {
  held: boolean
  usable: boolean
}
export async function claimedCards(on: Sql, rentalId: string): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    select stock.id, stock.uuid, stock.rentable as usable, exists (select from market_holds where card_id = stock.id and released_at is null) as held
    from market_claims join market_stock as stock on stock.id = market_claims.card_id
    where market_claims.rental_id = ${rentalId} order by stock."index"
  `.execute(on)
  return rows
}
export const dropClaims = async (tx: Tx, rentalId: string): Promise<void> => {
  await tx.deleteFrom('market_claims').where('rental_id', '=', rentalId).execute()
}
/** Whether somebody waits for cards that it has. */
export const isClaimed = async (on: Sql, rentalId: string): Promise<boolean> =>
  (await on
    .selectFrom('market_holds')
    .innerJoin('market_claims', 'market_claims.card_id', 'market_holds.card_id')
    .select('market_claims.card_id')
    .where('market_holds.rental_id', '=', rentalId)
    .where('market_holds.released_at', 'is', null)
    .limit(1)
    .executeTakeFirst()) !== undefined
/** That a container has; which of them may be used. */
export const cardsOf = (on: Sql, containerId: string): Promise<(FreeCard & { usable: boolean })[]> =>
  on
    .selectFrom('market_holds')
    .innerJoin('market_cards', 'market_cards.id', 'market_holds.card_id')
    .select(['market_cards.id', 'market_cards.uuid', sql<boolean>`market_cards.health = 'healthy' and not market_cards.elsewhere`.as('usable')])
    .where('market_holds.container_id', '=', containerId)
    .where('market_holds.released_at', 'is', null)
    .orderBy('market_cards.index')
    .execute()

/** Containers that still have cards of a rental. */
export const holdersOf = async (on: Sql, rentalId: string): Promise<string[]> =>
  (await on.selectFrom('market_holds').select('container_id').distinct().where('rental_id', '=', rentalId).where('released_at', 'is', null).execute()).map(
    ({ container_id }) => container_id,
  )

export const offerById = (on: Sql, id: string): Promise<OfferRow | undefined> =>
  on.selectFrom('market_offers').selectAll().where('id', '=', id).executeTakeFirst()

/** Containers that were made for it, and are it no longer. */
export const leftoversOf = async (on: Sql, rental: Pick<RentalRow, 'id' | 'container_id'>): Promise<string[]> =>
  (
    await on
      .selectFrom('containers')
      .select('id')
      .where('rental_id', '=', rental.id)
      .where(sql<boolean>`id is distinct from ${rental.container_id}`)
      .execute()
  ).map(({ id }) => id)

/** Cards of it that must not be used. */
export const sickCards = async (on: Sql, rentalId: string): Promise<{ index: number; trouble_detail: string }[]> =>
  on
    .selectFrom('market_holds')
    .innerJoin('market_cards', 'market_cards.id', 'market_holds.card_id')
    .select(['market_cards.index', 'market_cards.trouble_detail'])
    .where('market_holds.rental_id', '=', rentalId)
    .where('market_holds.released_at', 'is', null)
    // A hot one is slow, and there.
    .where('market_cards.trouble', 'in', ['xid', 'ecc', 'lost', 'driver'])
    .execute()

/** Its host is not there, and may come back: nothing can be done to it now. */
const isAway = sql`coalesce((edges.status not in ('online', 'unbound') or (edges.status = 'online' and edges.docker_away)) and containers.status <> 'lost', false)`
/** After that, a machine that was just being made there is made elsewhere. */
export const hostGivenUpSeconds = 20

/** Rentals of which something may have to be done: what is under way, and what is not as it should be. */
export async function toLookAt(on: Sql, now: Date, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select rental.id
    from market_rentals as rental
    left join containers on containers.id = rental.container_id
    left join edges on edges.id = containers.edge_id
    where (rental.status in ('placing', 'stopping', 'starting', 'releasing') and case
        -- What waits for its host is looked at until that is said of it, and again once the host is back: else those would be all that is looked at.
        when ${isAway} then rental.status <> 'releasing' and rental.fault is null
          or rental.status = 'placing' and rental.fault = 'host' and rental.fault_at + make_interval(secs => ${hostGivenUpSeconds}) <= ${now}
        -- What is being done to it is waited for: its end tells nobody, and of thousands on their way each look would be for nothing.
        else not exists (select from operations where resource_id = rental.container_id and operations.status in ('queued', 'running', 'undoing')) end)
      or (rental.status in ('running', 'stopped') and (
        containers.id is null
        or containers.status = 'lost' or edges.status = 'unbound'
        or (not (${isAway}) and containers.status = any(case when rental.status = 'running' then array['exited', 'dead'] else array['running', 'restarting'] end))
        or (rental.fault is not distinct from 'host') <> (edges.status <> 'online' or edges.docker_away)
        or (rental.status = 'running' and (rental.fault is not distinct from 'card') <> exists (
          select from market_holds join market_cards on market_cards.id = market_holds.card_id
          where market_holds.rental_id = rental.id and market_holds.released_at is null and market_cards.trouble in ('xid', 'ecc', 'lost', 'driver')))
        or (rental.status = 'running' and rental.fault = 'card' and rental.fault_at + make_interval(mins => ${faultMinutes}) <= ${now})
        or (rental.status = 'running' and rental.ends_at <= ${now})
        or (rental.status = 'running' and rental.idle_since + make_interval(mins => rental.idle_minutes) <= ${now})
        or (rental.status = 'running' and rental.spend_limit is not null
          and rental.charged + rental.hourly * extract(epoch from ${now}::timestamptz - rental.charged_until) / 3600
          >= rental.spend_limit)
        or (rental.status = 'running' and rental.interrupt_at is not null)
        or rental.prepaid_until is distinct from (select max("to") from prepaid_spans where resource_id = rental.id and "to" > ${now})
        or (rental.status = 'stopped' and rental.release_at <= ${now})))
      or (rental.status in ('released', 'failed', 'placing') and exists (
        select from market_holds
        left join containers on containers.id = market_holds.container_id
        left join edges on edges.id = containers.edge_id
        where market_holds.rental_id = rental.id and released_at is null and market_holds.container_id is distinct from rental.container_id and not (${isAway})))
      or (rental.status = 'failed' and rental.container_id is not null and not (${isAway}))
      or rental.id in (
        select containers.rental_id from containers join market_rentals as own on own.id = containers.rental_id join edges on edges.id = containers.edge_id
        where containers.id is distinct from own.container_id and containers.status <> 'deleting' and not (${isAway}))
    -- Whatever nothing can be done about just now, none is kept waiting by others for ever.
    order by random()
    limit ${limit}
  `.execute(on)
  return rows.map(({ id }) => id)
}

/** What is rented on a node, and not over. */
export const openRentalsOn = (on: Sql, edgeId: string): Promise<{ id: string; name: string; bp_id: string }[]> =>
  on
    .selectFrom('market_rentals')
    .select(['id', 'name', 'bp_id'])
    .where('edge_id', '=', edgeId)
    .where('status', 'not in', ['released', 'failed', 'releasing'])
    .execute()

/** Whose machines these containers were, of which a node may have something left. */
export const machinesOf = async (on: Sql, edgeId: string, containerIds: readonly string[]): Promise<Former[]> => {
  const { rows } = await sql<Former>`
    select distinct holds.container_id, rental.id as rental_id, rental.bp_id,
      exists (select from containers where containers.rental_id = rental.id and containers.edge_id = ${edgeId}) as has_disk
    from market_holds as holds join market_rentals as rental on rental.id = holds.rental_id
    where holds.container_id = any(${[...containerIds]}::uuid[])
  `.execute(on)
  return rows
}
export interface Former {
  container_id: string
  rental_id: string
  bp_id: string
  /** Another container of it is there, with the same disk. */
  has_disk: boolean
}

/** How many machines a node has, and what is left of such that are over. */
export const countMachinesOn = async (on: Sql, edgeId: string): Promise<number> =>
  (
    await on
      .selectFrom('market_rentals')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('edge_id', '=', edgeId)
      .where((of) =>
        of.or([
          of('status', 'not in', ['released', 'failed']),
          of.exists(of.selectFrom('containers').select('id').whereRef('rental_id', '=', 'market_rentals.id').where('edge_id', '=', edgeId)),
        ]),
      )
      .executeTakeFirstOrThrow()
  ).count

/** Machines that are to be stopped where they have nothing to do. */
export async function mayIdle(on: Sql): Promise<{ id: string; edge_id: string; container_id: string; idle_since: Date | null; cards: string[] }[]> {
  const { rows } = await sql<Awaited<ReturnType<typeof mayIdle>>[number]>`
    select rental.id, rental.edge_id, rental.container_id, rental.idle_since, containers.cards
    from market_rentals as rental join containers on containers.id = rental.container_id
    where rental.status = 'running' and rental.fault is null and rental.idle_minutes is not null and containers.cards is not null
  `.execute(on)
  return rows
}

/** Of what no server said for so long that it has nothing to do nobody knows. */
export const forgetIdle = async (on: Sql, before: Date): Promise<void> => {
  await on
    .updateTable('market_rentals')
    .set({ idle_since: null, idle_told_at: null })
    .where('idle_since', 'is not', null)
    .where((of) => of.or([of('idle_told_at', 'is', null), of('idle_told_at', '<', before)]))
    .execute()
}

/** Says that servers are there; before, how long none was. In seconds. */
export async function tick(tx: Tx): Promise<{ away: number; since: Date }> {
  const { rows } = await sql<{ away: number; since: Date }>`
    update market_clock set seen_at = clock_timestamp() from (select seen_at from market_clock for update) as before
    returning extract(epoch from clock_timestamp() - before.seen_at)::double precision as away, before.seen_at as since
  `.execute(tx)
  return rows[0] ?? { away: 0, since: new Date() }
}
export const forgiveAbsence = async (tx: Tx, since: Date): Promise<void> => {
  await sql`select forgive_absence(${since})`.execute(tx)
}
export const runningOf = (on: Sql, bpId: string): Promise<Pick<RentalRow, 'id' | 'name' | 'status'>[]> =>
  on
    .selectFrom('market_rentals')
    .select(['id', 'name', 'status'])
    .where('bp_id', '=', bpId)
    .where('status', 'in', ['placing', 'running', 'starting'])
    .orderBy('id')
    .execute()
