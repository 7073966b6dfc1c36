import type { Severity } from '@zhisuan/contract/omc/alarm'
import type { ApiEvent, EventType } from '@zhisuan/contract/omc/log'
import { sql, type RawBuilder, type Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Db, type Migrations, type Sql } from '../../../platform/db/database.ts'
import { matching } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { atOf, microsOf, type After } from '../log/log.store.ts'

interface EventTable {
  id: string
  /** Where it stands among all, which says what was read of them; null until it is given: see {@link numberEvents}. */
  number: number | null
  at: Date
  type: EventType
  what: string
  outcome: ApiEvent['outcome']
  severity: Severity
  /** Of a change the code of what refused it, of an operation the name of its error. */
  error: string | null
  text: string | null
  /** Of the row that it was told by. */
  source_id: string
  about_kind: string | null
  about_id: string | null
  about_name: string
  actor_id: string | null
  actor_name: string
  bp_id: string | null
  /** Of what is told to one person only. */
  user_id: string | null
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    events: EventTable
    event_head: { one: boolean; number: number }
  }
}

/** Told on the bus when some have their numbers. */
export const numberedTopic = 'events.numbered'
/** Told on the bus when some were written. */
export const writtenTopic = 'events.written'

/** What an event is of each source, by the alias of its row. */
const ofChange = (row: string): string => `
  ${row}.at, 'change', ${row}.call, case when ${row}.code > 0 then 'failed' else 'succeeded' end, 'info', ${row}.code::text, null,
  ${row}.id, substring(${row}.call from '^[^.]+[.][^.]+'), ${row}.object_id, '', ${row}.actor_id, coalesce(${row}.actor_name, ''), ${row}.bp_id, null::uuid`
const ofOperation = (row: string, at: string, outcome: string): string => `
  ${at}, 'operation', ${row}.kind, ${outcome}, case when ${outcome} = 'failed' then 'warning' else 'info' end, case when ${outcome} = 'failed' then ${row}.error end, null,
  ${row}.id, ${row}.resource_type, ${row}.resource_id::text, ${row}.resource_name, ${row}.actor_id, ${row}.actor_name, ${row}.bp_id, null::uuid`
const ofMessage = (row: string): string => `
  ${row}.at, 'message', ${row}.kind, 'succeeded', 'info', null, ${row}.text,
  ${row}.id, ${row}.about_kind, ${row}.about_id, ${row}.about_name, null::uuid, '', ${row}.bp_id, ${row}.user_id`
const ofAlarm = (row: string, at: string, news: 'firing' | 'resolved'): string => `
  ${at}, 'alarm', 'omc.alertLog.${news}', '${news === 'firing' ? 'running' : 'succeeded'}', ${row}.severity, null, ${row}.summary,
  ${row}.id, 'omc.alertLog', ${row}.id::text, ${row}.alarm_name, null::uuid, '', ${row}.bp_id, null::uuid`
const columns = 'at, type, what, outcome, severity, error, text, source_id, about_kind, about_id, about_name, actor_id, actor_name, bp_id, user_id'

/** A trigger that writes an event of a row, and has whoever numbers them told. */
const writes = (table: string, name: string, on: string, event: string): string => `
  create function ${table}_${name}_event() returns trigger language plpgsql as $$
  begin
    insert into events (id, ${columns}) values (gen_random_uuid(), ${event});
    perform pg_notify('zhisuan', '${writtenTopic} -');
    return null;
  end $$;
  create trigger ${table}_${name}_event after ${on} execute function ${table}_${name}_event();
`

export const eventMigrations: Migrations = {
  // The tables themselves write, in the transaction in which it happened: no change by whatever code can forget to.
  '20261202_11_events': migration(`
    create table events (
      id uuid primary key,
      number bigint,
      at timestamptz not null,
      type text not null check (type in ('change', 'operation', 'message', 'alarm')),
      what text not null,
      outcome text not null check (outcome in ('running', 'succeeded', 'failed', 'cancelled')),
      severity text not null check (severity in ('critical', 'warning', 'info')),
      error text,
      text text,
      source_id uuid not null,
      about_kind text,
      about_id text,
      about_name text not null,
      actor_id uuid,
      actor_name text not null,
      bp_id uuid,
      user_id uuid
    );
    create table event_head (one boolean primary key default true check (one), number bigint not null);
    insert into events (id, ${columns})
    select gen_random_uuid(), ${ofChange('row')} from audit_log as row where row.code <> -1
    union all select gen_random_uuid(), ${ofOperation('row', 'row.created_at', `'running'`)} from operations as row
    union all select gen_random_uuid(), ${ofOperation('row', 'coalesce(row.finished_at, row.created_at)', 'row.status')} from operations as row
      where row.status in ('succeeded', 'failed', 'cancelled')
    union all select gen_random_uuid(), ${ofMessage('row')} from messages as row
    union all select gen_random_uuid(), ${ofAlarm('row', 'row.starts_at', 'firing')} from alert_logs as row
    union all select gen_random_uuid(), ${ofAlarm('row', 'row.ends_at', 'resolved')} from alert_logs as row where row.status = 'resolved';
    update events set number = numbered.number
    from (select id, row_number() over (order by at, id) as number from events) as numbered where numbered.id = events.id;
    insert into event_head (number) select count(*) from events;
    create unique index events_number on events (number);
    create index events_new on events (at, id) where number is null;
    create index events_newest on events (at desc, id desc);
    create index events_newest_bp on events (bp_id, at desc, id desc);
    ${writes('audit_log', 'written', `insert on audit_log for each row when (new.code <> -1)`, ofChange('new'))}
    ${writes('operations', 'begun', 'insert on operations for each row', ofOperation('new', 'new.created_at', `'running'`))}
    ${writes(
      'operations',
      'ended',
      `update on operations for each row when (old.status is distinct from new.status and new.status in ('succeeded', 'failed', 'cancelled'))`,
      ofOperation('new', 'coalesce(new.finished_at, now())', 'new.status'),
    )}
    ${writes('messages', 'told', 'insert on messages for each row', ofMessage('new'))}
    ${writes('alert_logs', 'begun', 'insert on alert_logs for each row', ofAlarm('new', 'new.starts_at', 'firing'))}
    ${writes(
      'alert_logs',
      'ended',
      `update on alert_logs for each row when (old.status is distinct from new.status and new.status = 'resolved')`,
      ofAlarm('new', 'coalesce(new.ends_at, now())', 'resolved'),
    )}
  `),
}

const numberedAtOnce = 1_000

/**
 * Gives numbers to what was written and is committed by now, by one server at a time: the next begins once those of this one
 * are seen by all. So whoever read up to a number has read all there will ever be up to it, however late a transaction
 * commits that wrote early, and whatever database they are restored in.
 * @returns how many; as many as {@link numberedAtOnce} where there may be more
 */
export async function numberEvents(db: Db): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const head = await tx.selectFrom('event_head').select('number').forUpdate().executeTakeFirstOrThrow()
    const { numAffectedRows = 0n } = await sql`
      update events set number = ${head.number} + fresh.place
      from (select id, row_number() over (order by at, id) as place from (select id, at from events where number is null order by at, id limit ${numberedAtOnce}) as new) as fresh
      where fresh.id = events.id
    `.execute(tx)
    const count = Number(numAffectedRows)
    if (count > 0) {
      await tx
        .updateTable('event_head')
        .set({ number: head.number + count })
        .execute()
      await sql`select pg_notify('zhisuan', ${`${numberedTopic} -`})`.execute(tx)
    }
    return count
  })
}
export const hasMore = (numbered: number): boolean => numbered === numberedAtOnce

export const lastNumber = async (on: Sql): Promise<number> => (await on.selectFrom('event_head').select('number').executeTakeFirstOrThrow()).number
/** Of the oldest that is kept; null where none is. */
export const firstNumber = async (on: Sql): Promise<number | null> =>
  (
    await on
      .selectFrom('events')
      .select((of) => of.fn.min<number | null>('number').as('number'))
      .executeTakeFirst()
  )?.number ?? null
export const forgetEvents = async (on: Sql, before: Date): Promise<void> => {
  await on.deleteFrom('events').where('at', '<', before).where('number', 'is not', null).execute()
}

export type EventRow = Selectable<EventTable> & { readonly micros: string; readonly bp_name: string | null; readonly error_text: string | null }

const shown = (on: Sql) =>
  on
    .selectFrom('events')
    .selectAll('events')
    .select([
      microsOf(sql.ref('events.at')).as('micros'),
      sql<string | null>`(select name from organisations where organisations.id = events.bp_id)`.as('bp_name'),
      // Sealed, as it may repeat what a program said.
      sql<
        string | null
      >`case when events.type = 'operation' and events.outcome = 'failed' then (select error_text from operations where operations.id = events.source_id) end`.as(
        'error_text',
      ),
    ])

export interface EventFilters {
  keyword?: string | undefined
  type?: EventType | undefined
  outcome?: ApiEvent['outcome'] | undefined
  bp_id?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** Newest first. */
export const readEvents = (on: Sql, filters: EventFilters, after: After | null, limit: number): Promise<EventRow[]> =>
  shown(on)
    .$if(filters.type !== undefined, (q) => q.where('events.type', '=', filters.type ?? 'change'))
    .$if(filters.outcome !== undefined, (q) => q.where('events.outcome', '=', filters.outcome ?? 'running'))
    .$if(filters.bp_id !== undefined, (q) => q.where('events.bp_id', '=', filters.bp_id ?? null))
    .$if(filters.from !== undefined, (q) => q.where('events.at', '>=', new Date(filters.from ?? 0)))
    .$if(filters.to !== undefined, (q) => q.where('events.at', '<', new Date(filters.to ?? 0)))
    .$if(after !== null, (q) => q.where(after === null ? sql<boolean>`true` : sql<boolean>`(events.at, events.id) < (${atOf(after)}, ${after.id}::uuid)`))
    .where(matching(filters.keyword, 'events.what', 'events.actor_name', 'events.about_name', 'events.text'))
    .orderBy('events.at', 'desc')
    .orderBy('events.id', 'desc')
    .limit(limit)
    .execute()

/** What is followed of them: of families and kinds the things they are about, `nextstack` and `nextstack.vm`. Empty is all. */
export interface Followed {
  readonly types: readonly EventType[]
  readonly families: readonly string[]
  readonly kinds: readonly string[]
  readonly severities: readonly Severity[]
}

const isOf = (column: string, all: readonly string[]): RawBuilder<boolean> =>
  all.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.ref(column)} = any(${[...all]}::text[])`

/** Those behind a number, in the order of their numbers; what one person is told only for them. */
export const followEvents = (
  on: Sql,
  scope: Scope,
  userId: string,
  { types, families, kinds, severities }: Followed,
  after: number,
  limit: number,
): Promise<(EventRow & { number: number })[]> =>
  shown(on)
    .where('events.number', '>', after)
    .where(within(scope, 'events.bp_id'))
    .where((of) => of.or([of('events.user_id', 'is', null), of('events.user_id', '=', userId)]))
    .where(isOf('events.type', types))
    .where(isOf('events.severity', severities))
    .where(
      families.length + kinds.length === 0
        ? sql<boolean>`true`
        : sql<boolean>`(split_part(events.about_kind, '.', 1) = any(${[...families]}::text[]) or events.about_kind = any(${[...kinds]}::text[]))`,
    )
    .orderBy('events.number')
    .limit(limit)
    .$narrowType<{ number: number }>()
    .execute()

export const eventsByNumbers = (on: Sql, numbers: readonly number[]): Promise<EventRow[]> =>
  shown(on)
    .where(sql<boolean>`events.number = any(${[...numbers]}::bigint[])`)
    .execute()
