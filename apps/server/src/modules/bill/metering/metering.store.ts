import type { UsageEndReason } from '@zhisuan/contract/bill/consume'
import type { Meter } from '@zhisuan/contract/bill/meter'
import type { Kind } from '@zhisuan/contract/kind'
import { sql, type ColumnType, type Generated } from 'kysely'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import type { Interval, UsageEvent } from './timeline.ts'

interface UsageEventTable {
  id: string
  /** Also of kinds that no module names: what a cloud keeps itself, such as `compute.volume`. */
  resource_type: Kind
  resource_id: string
  resource_name: string
  bp_id: string
  project_id: string | null
  at: Date
  revision: Generated<number>
  usage: Record<string, number>
  settled: Generated<boolean>
  reason: UsageEndReason | null
  attributes: ColumnType<Record<string, unknown> | null, string | null | undefined, never>
}
interface MeteredResourceTable {
  id: string
  type: Kind
  name: string
  bp_id: string
  rated_until: Date
  rate_to: Date | null
  lines_until: Generated<Date>
}
interface UsageIntervalTable {
  resource_id: string
  meter: Meter
  variant: string
  bp_id: string
  project_id: string | null
  quantity: number
  from: Date
  to: Date | null
  attributes: ColumnType<Record<string, unknown> | null, string | null, never>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    usage_events: UsageEventTable
    metered_resources: MeteredResourceTable
    usage_intervals: UsageIntervalTable
  }
}

/** Of these something happened that their intervals do not say yet. */
export const waitingResources = (on: Sql, limit: number): Promise<{ resource_id: string }[]> =>
  on.selectFrom('usage_events').select('resource_id').distinct().where('settled', '=', false).limit(limit).execute()

/** What is known of a resource. Name and owner are those of its last event. */
export interface EventsOfResource {
  id: string
  type: Kind
  name: string
  bp_id: string
  events: (UsageEvent & { settled: boolean })[]
}

/** Holds these resources, and makes those that are new, in an order in which no two wait for each other. */
export async function lockResources(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`
    insert into metered_resources (id, type, name, bp_id, rated_until)
    select distinct on (resource_id) resource_id, resource_type, resource_name, bp_id, 'infinity' from usage_events where resource_id = any(${ids}) order by resource_id
    on conflict do nothing
  `.execute(tx)
  await sql`select from metered_resources where id = any(${ids}) order by id for update`.execute(tx)
}

/** After {@link lockResources}. */
export async function eventsOf(tx: Tx, ids: readonly string[]): Promise<EventsOfResource[]> {
  const { rows } = await sql<{
    resource_id: string
    resource_type: Kind
    resource_name: string
    id: string
    bp_id: string
    project_id: string | null
    at: number
    revision: number
    usage: Record<string, number>
    settled: boolean
    attributes: string | null
  }>`
    select resource_id, resource_type, resource_name, id, bp_id, project_id, extract(epoch from at)::double precision as at, revision, usage, settled, attributes::text
    from usage_events where resource_id = any(${ids}) order by resource_id, at, revision, id
  `.execute(tx)
  return [...Map.groupBy(rows, (row) => row.resource_id)].flatMap(([id, events]) => {
    const last = events.at(-1)
    return last === undefined ? [] : [{ id, type: last.resource_type, name: last.resource_name, bp_id: last.bp_id, events }]
  })
}

/** A resource as its events say it is. Seconds since 1970. */
export interface Settled {
  id: string
  type: Kind
  name: string
  bp_id: string
  intervals: readonly Interval[]
  /** Lines from here on have to be made, or made anew. */
  from: number
  /** When its last use ends; null: it goes on. */
  to: number | null
}

const seconds = (moment: number): string => new Date(moment * 1000).toISOString()

/** Replaces the intervals of held resources, and marks the events that they are made of. */
export async function settleResources(tx: Tx, resources: readonly Settled[], eventIds: readonly string[]): Promise<void> {
  const ids = resources.map(({ id }) => id)
  await sql`delete from usage_intervals where resource_id = any(${ids})`.execute(tx)
  await insertIntervals(
    tx,
    resources.flatMap(({ id, intervals }) => intervals.map((interval) => ({ resource_id: id, ...interval }))),
  )
  const told = resources.map(({ id, type, name, bp_id, from, to }) => ({ id, type, name, bp_id, from: seconds(from), to: to === null ? null : seconds(to) }))
  // Lines beyond the last use have to be looked at once more.
  await sql`
    update metered_resources set
      type = told.type, name = told.name, bp_id = told.bp_id,
      rated_until = least(rated_until, told."from"),
      rate_to = case when told."to" is not null then greatest(told."to", lines_until) end
    from jsonb_to_recordset(${JSON.stringify(told)}::jsonb) as told (id uuid, type text, name text, bp_id uuid, "from" timestamptz, "to" timestamptz)
    where metered_resources.id = told.id
  `.execute(tx)
  await sql`update usage_events set settled = true where id = any(${eventIds})`.execute(tx)
}

export async function insertIntervals(tx: Sql, intervals: readonly (Interval & { resource_id: string })[]): Promise<void> {
  if (intervals.length === 0) return
  const rows = intervals.map(({ from, to, ...interval }) => ({ ...interval, from: seconds(from), to: to === null ? null : seconds(to) }))
  await sql`
    insert into usage_intervals (resource_id, meter, variant, bp_id, project_id, quantity, "from", "to", attributes)
    select resource_id, meter, variant, bp_id, project_id, quantity, "from", "to", attributes::jsonb
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as rows (resource_id uuid, meter text, variant text, bp_id uuid, project_id uuid, quantity bigint, "from" timestamptz, "to" timestamptz, attributes text)
  `.execute(tx)
}

/** An event that came another way than by a table's trigger; one that is there already is the same one. */
export async function recordEvent(on: Sql, event: UsageEvent & { resource_type: Kind; resource_id: string; resource_name: string }): Promise<void> {
  const { at, usage, attributes = null, ...row } = event
  await on
    .insertInto('usage_events')
    .values({ ...row, at: new Date(at * 1000), usage, attributes })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}
