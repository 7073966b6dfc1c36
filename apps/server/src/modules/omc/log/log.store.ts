import type { CallOutcome } from '@zhisuan/contract/omc/log'
import { sql, type Generated, type RawBuilder } from 'kysely'
import { migration, type Db, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { matching } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import type { Scope } from '../../../platform/auth/actor.ts'

interface ApiCallTable {
  id: string
  at: Date
  call: string
  method: string
  status: number
  code: number
  ms: number
  outcome: Generated<CallOutcome>
  actor_id: string | null
  actor_name: string | null
  by_key: boolean
  bp_id: string | null
  ip: string
  request_id: string
}
interface ApiCallHourTable {
  hour: Date
  /** {@link nobody}: of nobody's organisation. */
  bp_id: string
  ok: number
  refused: number
  failed: number
  ms: number
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    api_calls: ApiCallTable
    api_call_hours: ApiCallHourTable
  }
}

const nobody = '00000000-0000-0000-0000-000000000000'

export const logMigrations: Migrations = {
  // A day each is a table of its own: one that is too old goes at once, and leaves no holes.
  '20261129_60_api_calls': migration(`
    create table api_calls (
      id uuid not null,
      at timestamptz not null,
      call text not null,
      method text not null,
      status smallint not null,
      code integer not null,
      ms real not null,
      outcome text not null generated always as (case when status >= 500 then 'failed' when status >= 400 then 'refused' else 'ok' end) stored,
      actor_id uuid,
      actor_name text,
      by_key boolean not null,
      bp_id uuid,
      ip text not null,
      request_id text not null,
      primary key (at, id)
    ) partition by range (at);
    create index api_calls_bp on api_calls (bp_id, at desc, id desc);
    create index api_calls_actor on api_calls (actor_id, at desc, id desc);
    create index api_calls_call on api_calls (call, at desc, id desc);
    create index api_calls_bad on api_calls (at desc, id desc) where status >= 400;
    create table api_call_hours (
      hour timestamptz not null,
      bp_id uuid not null,
      ok bigint not null,
      refused bigint not null,
      failed bigint not null,
      ms double precision not null,
      primary key (hour, bp_id)
    );
    create index operations_when on operations (created_at desc, id desc);
  `),
}

export interface NewCall {
  readonly id: string
  readonly at: Date
  readonly call: string
  readonly method: string
  readonly status: number
  readonly code: number
  readonly ms: number
  readonly actor_id: string | null
  readonly actor_name: string | null
  readonly by_key: boolean
  readonly bp_id: string | null
  readonly ip: string
  readonly request_id: string
}

const dayMs = 86_400_000
const hourMs = 3_600_000
const startOfDay = (at: Date): Date => new Date(Math.floor(at.getTime() / dayMs) * dayMs)
const nameOfDay = (day: Date): string => `api_calls_${day.toISOString().slice(0, 10).replaceAll('-', '')}`

/** The tables of a day and of those after it, to which it comes soon. */
export async function prepareDays(db: Db, of: Date): Promise<void> {
  for (const day of [0, 1, 2].map((offset) => new Date(startOfDay(of).getTime() + offset * dayMs)))
    await db.transaction().execute(async (tx) => {
      const isThere = async (): Promise<boolean> => (await sql`select 1 from pg_class where oid = to_regclass(${nameOfDay(day)})`.execute(tx)).rows.length > 0
      if (await isThere()) return
      // Servers do it one after the other.
      await sql`select pg_advisory_xact_lock(hashtext('api_calls'))`.execute(tx)
      if (await isThere()) return
      const end = new Date(day.getTime() + dayMs)
      await sql`create table ${sql.table(nameOfDay(day))} partition of api_calls for values from (${sql.lit(day.toISOString())}) to (${sql.lit(end.toISOString())})`.execute(
        tx,
      )
    })
}
export const dayOf = (at: Date): number => startOfDay(at).getTime()

/** Drops the days before, and their counts. */
export async function forgetDays(db: Db, before: Date): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name from pg_inherits join pg_class as child on child.oid = inhrelid where inhparent = 'api_calls'::regclass
  `.execute(db)
  const oldest = nameOfDay(startOfDay(before))
  for (const { name } of rows.filter(({ name }) => name < oldest)) await sql`drop table if exists ${sql.table(name)}`.execute(db)
}
export const forgetHours = async (on: Sql, before: Date): Promise<void> => {
  await on.deleteFrom('api_call_hours').where('hour', '<', before).execute()
}

const outcomeOf = ({ status }: Pick<NewCall, 'status'>): CallOutcome => (status >= 500 ? 'failed' : status >= 400 ? 'refused' : 'ok')

/** Writes calls, and counts them. */
export async function insertCalls(tx: Tx, calls: readonly NewCall[]): Promise<void> {
  const column = <K extends keyof NewCall>(name: K): NewCall[K][] => calls.map((call) => call[name])
  await sql`
    insert into api_calls (id, at, call, method, status, code, ms, actor_id, actor_name, by_key, bp_id, ip, request_id)
    select * from unnest(
      ${column('id')}::uuid[], ${column('at')}::timestamptz[], ${column('call')}::text[], ${column('method')}::text[], ${column('status')}::smallint[],
      ${column('code')}::integer[], ${column('ms')}::real[], ${column('actor_id')}::uuid[], ${column('actor_name')}::text[], ${column('by_key')}::boolean[],
      ${column('bp_id')}::uuid[], ${column('ip')}::text[], ${column('request_id')}::text[])
    on conflict do nothing
  `.execute(tx)
  const groups = Map.groupBy(calls, ({ at, bp_id }) => `${Math.floor(at.getTime() / hourMs)} ${bp_id ?? nobody}`)
  // In one order, so that two servers do not wait for each other.
  const sums = [...groups]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, of]) => {
      const [hour = '0', bp = nobody] = key.split(' ')
      const count = (outcome: CallOutcome): number => of.filter((call) => outcomeOf(call) === outcome).length
      return {
        hour: new Date(Number(hour) * hourMs),
        bp,
        ok: count('ok'),
        refused: count('refused'),
        failed: count('failed'),
        ms: of.reduce((sum, { ms }) => sum + ms, 0),
      }
    })
  await sql`
    insert into api_call_hours as kept (hour, bp_id, ok, refused, failed, ms)
    select * from unnest(${sums.map(({ hour }) => hour)}::timestamptz[], ${sums.map(({ bp }) => bp)}::uuid[], ${sums.map(({ ok }) => ok)}::bigint[],
      ${sums.map(({ refused }) => refused)}::bigint[], ${sums.map(({ failed }) => failed)}::bigint[], ${sums.map(({ ms }) => ms)}::double precision[])
    on conflict (hour, bp_id) do update set ok = kept.ok + excluded.ok, refused = kept.refused + excluded.refused, failed = kept.failed + excluded.failed, ms = kept.ms + excluded.ms
  `.execute(tx)
}

/** Where a page goes on: behind this. */
export interface After {
  readonly micros: string
  readonly id: string
}
export const cursorOf = ({ micros, id }: After): string => `${micros}~${id}`
export const readCursor = (cursor: string | undefined): After | null => {
  const [micros, id] = cursor?.split('~') ?? []
  return micros === undefined || id === undefined ? null : { micros, id }
}
export const microsOf = (column: RawBuilder<unknown>): RawBuilder<string> => sql<string>`(extract(epoch from ${column}) * 1000000)::bigint::text`
/** `micros` of a row, as a moment. */
export const atOf = ({ micros }: After): RawBuilder<Date> => sql<Date>`(timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond')`

export interface CallFilters {
  keyword?: string | undefined
  call?: string | undefined
  outcome?: CallOutcome | undefined
  actor_id?: string | undefined
  bp_id?: string | undefined
  request_id?: string | undefined
  from?: string | undefined
  to?: string | undefined
}
export interface ShownCall extends NewCall {
  readonly micros: string
  readonly outcome: CallOutcome
  readonly bp_name: string | null
}

/** @param own only those of this person */
export async function readCalls(on: Sql, scope: Scope, own: string | null, filters: CallFilters, after: After | null, limit: number): Promise<ShownCall[]> {
  const at = sql.ref('api_calls.at')
  return on
    .selectFrom('api_calls')
    .selectAll()
    .select([microsOf(at).as('micros'), sql<string | null>`(select name from organisations where organisations.id = api_calls.bp_id)`.as('bp_name')])
    .where(within(scope, 'api_calls.bp_id'))
    .$if(own !== null, (q) => q.where('actor_id', '=', own))
    .$if(filters.call !== undefined, (q) => q.where('call', '=', filters.call ?? ''))
    .$if(filters.outcome === 'ok', (q) => q.where('status', '<', 400))
    .$if(filters.outcome === 'refused', (q) => q.where('status', '>=', 400).where('status', '<', 500))
    .$if(filters.outcome === 'failed', (q) => q.where('status', '>=', 500))
    .$if(filters.actor_id !== undefined, (q) => q.where('actor_id', '=', filters.actor_id ?? ''))
    .$if(filters.bp_id !== undefined, (q) => q.where('api_calls.bp_id', '=', filters.bp_id ?? ''))
    .$if(filters.request_id !== undefined, (q) => q.where('request_id', '=', filters.request_id ?? ''))
    .$if(filters.from !== undefined, (q) => q.where('at', '>=', new Date(filters.from ?? 0)))
    .$if(filters.to !== undefined, (q) => q.where('at', '<', new Date(filters.to ?? 0)))
    .$if(after !== null, (q) => q.where(after === null ? sql<boolean>`true` : sql<boolean>`(at, id) < (${atOf(after)}, ${after.id}::uuid)`))
    .where(matching(filters.keyword, 'call', 'actor_name', 'ip'))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** A point for each hour, those in which nothing was asked too. */
export async function hourlyCalls(
  on: Sql,
  scope: Scope,
  hours: number,
  now: Date,
): Promise<{ hour: Date; ok: number; refused: number; failed: number; ms: number }[]> {
  const last = new Date(Math.floor(now.getTime() / hourMs) * hourMs)
  const first = new Date(last.getTime() - (hours - 1) * hourMs)
  const { rows } = await sql<{ hour: Date; ok: number; refused: number; failed: number; ms: number }>`
    select hours.hour, coalesce(sum(ok), 0)::bigint as ok, coalesce(sum(refused), 0)::bigint as refused, coalesce(sum(failed), 0)::bigint as failed, coalesce(sum(ms), 0) as ms
    from generate_series(${first}::timestamptz, ${last}::timestamptz, interval '1 hour') as hours (hour)
    left join api_call_hours as counted on counted.hour = hours.hour and ${within(scope, 'counted.bp_id')}
    group by hours.hour order by hours.hour
  `.execute(on)
  return rows
}
