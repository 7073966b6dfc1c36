import { sql } from 'kysely'
import type { Sql } from '../../../platform/db/database.ts'

/** What of an offer is there in a moment. */
export interface Sample {
  readonly id: string
  readonly total_cards: number
  readonly free_cards: number
}

/** Adds what is there now to its hour. */
export async function keepSamples(on: Sql, at: Date, samples: readonly Sample[]): Promise<void> {
  if (samples.length === 0) return
  await sql`
    insert into market_history (offer_id, hour, samples, total, free)
    select id, date_trunc('hour', ${at}::timestamptz, 'UTC'), 1, total, free
    from unnest(${samples.map(({ id }) => id)}::uuid[], ${samples.map((one) => one.total_cards)}::int[], ${samples.map((one) => one.free_cards)}::int[]) as seen (id, total, free)
    on conflict (offer_id, hour) do update
      set samples = market_history.samples + 1, total = market_history.total + excluded.total, free = market_history.free + excluded.free
  `.execute(on)
}
export const forgetBefore = async (on: Sql, moment: Date): Promise<void> => {
  await on.deleteFrom('market_history').where('hour', '<', moment).execute()
}

export interface Stretch {
  at: Date
  on_demand: string | null
  interruptible: string | null
  total: number
  free: number
}
/**
 * Of one kind of card, by hour or day of Beijing: the least price of an hour of one, and how many there were. Cards of which a
 * provider has several offers count once: with the most that one of them had.
 */
export async function historyOf(on: Sql, cardModel: string, since: Date, by: 'hour' | 'day'): Promise<Stretch[]> {
  const { rows } = await sql<Stretch>`
    with seen as (
      select date_trunc(${by}, history.hour, 'Asia/Shanghai') as at, history.hour, offers.provider_id, offers.edge_id, offers.mode, offers.card_price,
        history.total::double precision / history.samples as total, history.free::double precision / history.samples as free
      from market_history as history join market_offers as offers on offers.id = history.offer_id
      where offers.card_model = ${cardModel} and history.hour >= ${since}
    ), counted as (
      select at, hour, provider_id, max(total) as total, max(free) as free from seen group by 1, 2, 3
    ), hours as (
      select at, hour, sum(total) as total, sum(free) as free from counted group by 1, 2
    )
    select hours.at, avg(hours.total)::double precision as total, avg(hours.free)::double precision as free,
      (select min(card_price) from seen where seen.at = hours.at and mode = 'onDemand') as on_demand,
      (select min(card_price) from seen where seen.at = hours.at and mode = 'interruptible') as interruptible
    from hours group by hours.at order by hours.at
  `.execute(on)
  return rows
}
