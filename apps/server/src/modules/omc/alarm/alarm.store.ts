import type { QueryOf } from '@zhisuan/contract/define'
import type {
  AlarmRule,
  alarms,
  alarmWindows,
  alertLogs,
  holdReasons,
  noDataWays,
  ReceiverHours,
  ReceiverKind,
  receivers,
  ruleStates,
  Severity,
} from '@zhisuan/contract/omc/alarm'
import { sql, type ColumnType, type Generated, type Insertable, type RawBuilder, type Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import { migration, type Db, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { among, asked, matching, orderOf, pageOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { insertsInto, rowsOf } from '../../../platform/db/rows.ts'
import { within } from '../../../platform/db/scope.ts'

export type HoldReason = (typeof holdReasons)[number]

interface AlarmTable {
  id: string
  /** Null: the platform's. */
  bp_id: string | null
  name: string
  description: string
  group: string
  severity: Severity
  rule: ColumnType<AlarmRule, string, string>
  for_seconds: number
  no_data: (typeof noDataWays)[number]
  receiver_ids: string[]
  /** Null: nobody else is told. */
  escalate_after_minutes: number | null
  escalate_receiver_ids: ColumnType<string[], string[] | undefined, string[]>
  status: 'active' | 'deactive'
  rule_state: (typeof ruleStates)[number]
  rule_error: string | null
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
interface AlertLogTable {
  id: string
  bp_id: string | null
  /** Null: of a Prometheus' own rules, or of an alarm that is gone. */
  alarm_id: string | null
  /** What it was called when it began. */
  alarm_name: string
  /** SHA-256 of its labels, and when it began: the same told again is the same. */
  fingerprint: Buffer
  starts_at: Date
  ends_at: Date | null
  /** When it was last told; one that goes on is told again and again. */
  told_at: Date
  severity: Severity
  status: 'firing' | 'resolved'
  summary: string
  labels: ColumnType<Record<string, string>, string, string>
  value: string | null
  processed_by: string | null
  processed_at: Date | null
  note: string | null
  silenced_until: Date | null
  /** Whoever is to be told is not told before, and why. */
  held_until: ColumnType<Date | null, Date | null | undefined, Date | null>
  held_why: ColumnType<HoldReason | null, HoldReason | null | undefined, HoldReason | null>
  /** When anybody was told that it began. */
  told_first_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  escalated_at: ColumnType<Date | null, Date | null | undefined, Date | null>
}
interface ReceiverTable {
  id: string
  bp_id: string | null
  name: string
  kind: ReceiverKind
  /** What people see of it. */
  target: string
  /** Sealed JSON: addresses, or URL and secret. */
  sealed: string
  has_secret: boolean
  /** When it is told; null: always. */
  hours: ColumnType<ReceiverHours | null, string | null | undefined, string | null>
  /** Nothing is sent before: robots take so many messages a minute. */
  next_at: Date | null
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
}
interface DeliveryTable {
  id: string
  receiver_id: string
  bp_id: string | null
  /** Of a test none. */
  alert_log_id: string | null
  /** Of an event the subscription by which it is told, and its number. */
  subscription_id: ColumnType<string | null, string | null | undefined, string | null>
  event_number: ColumnType<number | null, number | null | undefined, number | null>
  what: 'firing' | 'resolved' | 'escalated' | 'event' | 'test'
  severity: Severity
  summary: string
  status: 'waiting' | 'sent' | 'failed'
  attempts: Generated<number>
  error: string | null
  next_at: Date
  /** A server is at it until then. */
  claimed_until: Date | null
  created_at: Generated<Date>
  sent_at: Date | null
}
interface WatchTable {
  one: Generated<boolean>
  since: Date
  looked_at: Date
}
interface WindowTable {
  id: string
  bp_id: string | null
  name: string
  starts_at: Date
  ends_at: Date
  /** Empty: of everything. */
  node_ids: string[]
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    alarms: AlarmTable
    alert_logs: AlertLogTable
    alarm_receivers: ReceiverTable
    alarm_deliveries: DeliveryTable
    alarm_windows: WindowTable
    alarm_watch: WatchTable
  }
}

export const alarmMigrations: Migrations = {
  '20261129_70_alarms': migration(`
    create table alarm_receivers (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      kind text not null check (kind in ('mail', 'webhook', 'wecom', 'dingtalk', 'feishu')),
      target text not null,
      sealed text not null,
      has_secret boolean not null,
      next_at timestamptz,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create unique index alarm_receivers_name on alarm_receivers (coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create table alarms (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      description text not null,
      "group" text not null,
      severity text not null check (severity in ('critical', 'warning', 'info')),
      rule jsonb not null,
      for_seconds integer not null,
      no_data text not null check (no_data in ('recover', 'alarm')),
      receiver_ids uuid[] not null,
      status text not null check (status in ('active', 'deactive')),
      rule_state text not null check (rule_state in ('waiting', 'loaded', 'refused', 'none')),
      rule_error text,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index alarms_name on alarms (coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create table alert_logs (
      id uuid primary key,
      bp_id uuid,
      alarm_id uuid references alarms on delete set null,
      alarm_name text not null,
      fingerprint bytea not null,
      starts_at timestamptz not null,
      ends_at timestamptz,
      told_at timestamptz not null,
      severity text not null check (severity in ('critical', 'warning', 'info')),
      status text not null check (status in ('firing', 'resolved')),
      summary text not null,
      labels jsonb not null,
      value text,
      processed_by text,
      processed_at timestamptz,
      note text,
      silenced_until timestamptz,
      constraint alert_logs_ended check ((status = 'resolved') = (ends_at is not null))
    );
    create unique index alert_logs_episode on alert_logs (fingerprint, starts_at);
    create index alert_logs_newest on alert_logs (starts_at desc, id desc);
    create index alert_logs_newest_bp on alert_logs (bp_id, starts_at desc, id desc);
    create index alert_logs_firing on alert_logs (alarm_id) where status = 'firing';
    create table alarm_deliveries (
      id uuid primary key,
      receiver_id uuid not null references alarm_receivers on delete cascade,
      bp_id uuid,
      alert_log_id uuid references alert_logs on delete cascade,
      what text not null check (what in ('firing', 'resolved', 'test')),
      severity text not null,
      summary text not null,
      status text not null check (status in ('waiting', 'sent', 'failed')),
      attempts integer not null default 0,
      error text,
      next_at timestamptz not null,
      claimed_until timestamptz,
      created_at timestamptz not null default now(),
      sent_at timestamptz
    );
    create unique index alarm_deliveries_once on alarm_deliveries (receiver_id, alert_log_id, what) where alert_log_id is not null;
    create index alarm_deliveries_due on alarm_deliveries (next_at) where status = 'waiting';
    create index alarm_deliveries_of on alarm_deliveries (receiver_id, created_at desc, id desc);
    ${tellsChanges('alarms', 'omc.alarm')}
    ${tellsChanges('alert_logs', 'omc.alertLog')}
    ${tellsChanges('alarm_receivers', 'omc.receiver')}
  `),
  '20261130_60_alarm_windows': migration(`
    alter table alarms drop constraint alarms_no_data_check;
    alter table alarms
      add constraint alarms_no_data_check check (no_data in ('recover', 'keep', 'alarm')),
      add column escalate_after_minutes integer,
      add column escalate_receiver_ids uuid[] not null default '{}';
    alter table alert_logs
      add column held_until timestamptz,
      add column held_why text check (held_why in ('maintenance', 'node')),
      add column told_first_at timestamptz,
      add column escalated_at timestamptz;
    create index alert_logs_held on alert_logs (held_until) where held_until is not null;
    alter table alarm_deliveries drop constraint alarm_deliveries_what_check;
    alter table alarm_deliveries add constraint alarm_deliveries_what_check check (what in ('firing', 'resolved', 'escalated', 'test'));
    alter table alarm_receivers add column hours jsonb;
    create table alarm_windows (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      starts_at timestamptz not null,
      ends_at timestamptz not null check (ends_at > starts_at),
      node_ids uuid[] not null,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create index alarm_windows_bp on alarm_windows (bp_id, starts_at desc);
    create index alarm_windows_ends on alarm_windows (ends_at);
    ${tellsChanges('alarm_windows', 'omc.alarmWindow')}
  `),
  '20261201_70_alarm_watch': migration(`
    -- Since when without a gap somebody listens and whoever tells answers.
    create table alarm_watch (one boolean primary key default true check (one), since timestamptz not null, looked_at timestamptz not null);
  `),
}

export type AlarmRow = Selectable<AlarmTable>
interface Named {
  id: string
  name: string
}
export type ShownAlarm = AlarmRow & { bp_name: string | null; receivers: Named[]; escalate_receivers: Named[]; firing_count: number }
export type WindowRow = Selectable<WindowTable>
export type ShownWindow = WindowRow & { bp_name: string | null; nodes: Named[] }
export type AlertLogRow = Selectable<AlertLogTable>
export type ShownAlertLog = AlertLogRow & { bp_name: string | null; current_name: string | null }
export type ReceiverRow = Selectable<ReceiverTable>
export type ShownReceiver = ReceiverRow & {
  bp_name: string | null
  alarm_count: number
  last: { status: DeliveryRow['status']; at: string; error: string | null } | null
}
export type DeliveryRow = Selectable<DeliveryTable>

const bpName = (table: string): RawBuilder<string | null> =>
  sql<string | null>`(select name from organisations where organisations.id = ${sql.ref(`${table}.bp_id`)})`
/** Critical first. */
const severityOrder = (table: string): RawBuilder<number> => sql<number>`array_position(array['info', 'warning', 'critical'], ${sql.ref(`${table}.severity`)})`

export const { insert: insertAlarm, update: updateAlarm, remove: removeAlarm, lock: lockAlarm } = rowsOf('alarms', 'updated_at')
export const { insert: insertReceiver, update: updateReceiver, remove: removeReceiver, lock: lockReceiver } = rowsOf('alarm_receivers')
export const { update: updateAlertLog, lock: lockAlertLog } = rowsOf('alert_logs')
export const { update: updateDelivery } = rowsOf('alarm_deliveries')

const receiversIn = (column: 'receiver_ids' | 'escalate_receiver_ids'): RawBuilder<Named[]> =>
  sql<
    Named[]
  >`(select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'name', r.name) order by r.name), '[]') from alarm_receivers as r where r.id = any(${sql.ref(`alarms.${column}`)}))`

const shownAlarms = (on: Sql) =>
  on
    .selectFrom('alarms')
    .selectAll('alarms')
    .select([
      bpName('alarms').as('bp_name'),
      receiversIn('receiver_ids').as('receivers'),
      receiversIn('escalate_receiver_ids').as('escalate_receivers'),
      sql<number>`(select count(*) from alert_logs where alert_logs.alarm_id = alarms.id and alert_logs.status = 'firing')`.as('firing_count'),
    ])

export function listAlarms(on: Sql, scope: Scope, query: QueryOf<typeof alarms.list>): Promise<{ total: number; rows: ShownAlarm[] }> {
  const filtered = on
    .selectFrom('alarms')
    .where(within(scope, 'alarms.bp_id'))
    .where(asked(query, 'alarms', 'group', 'severity', 'status'))
    .where(matching(query.keyword, 'alarms.name', 'alarms.description'))
  const order = orderOf('alarms', '-created_at', 'name', 'created_at', 'severity')
  return pageOf(filtered, query, order, (ids) => shownAlarms(on).where('alarms.id', 'in', ids))
}
export const showAlarm = (on: Sql, scope: Scope, id: string): Promise<ShownAlarm | undefined> =>
  shownAlarms(on).where('alarms.id', '=', id).where(within(scope, 'alarms.bp_id')).executeTakeFirst()
export const activeAlarms = (on: Sql): Promise<AlarmRow[]> => on.selectFrom('alarms').selectAll().where('status', '=', 'active').orderBy('id').execute()
export const alarmsByIds = (on: Sql, ids: readonly string[]): Promise<AlarmRow[]> => on.selectFrom('alarms').selectAll().where(among('id', ids)).execute()
export const alarmGroups = async (on: Sql, scope: Scope): Promise<{ group: string; count: number }[]> =>
  on
    .selectFrom('alarms')
    .select(['group', sql<number>`count(*)`.as('count')])
    .where(within(scope, 'alarms.bp_id'))
    .groupBy('group')
    .orderBy('group')
    .execute()
/** How many an organisation has; null is the platform. */
export async function countOwn(on: Sql, table: 'alarms' | 'alarm_receivers' | 'alarm_windows', bpId: string | null): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)} where bp_id is not distinct from ${bpId}::uuid`.execute(on)
  return rows[0]?.count ?? 0
}
/** Those that are over for so long, with what was sent of them; and what else was sent before. */
export async function forgetAlerts(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('alert_logs').where('status', '=', 'resolved').where('ends_at', '<', before).execute()
  await db.deleteFrom('alarm_deliveries').where('created_at', '<', before).where('status', '<>', 'waiting').execute()
  await db.deleteFrom('alarm_windows').where('ends_at', '<', before).execute()
}
/** What became of the rules of those that are active. */
export const markRules = async (on: Sql, ids: readonly string[] | null, changes: Pick<AlarmRow, 'rule_state' | 'rule_error'>): Promise<void> => {
  await on
    .updateTable('alarms')
    .set(changes)
    .where('status', '=', 'active')
    .$if(ids !== null, (q) => q.where(among('id', ids ?? [])))
    .where((of) => of.or([of('rule_state', '<>', changes.rule_state), of('rule_error', 'is distinct from', changes.rule_error)]))
    .execute()
}

const shownLogs = (on: Sql) =>
  on
    .selectFrom('alert_logs')
    .selectAll('alert_logs')
    .select([bpName('alert_logs').as('bp_name'), sql<string | null>`(select name from alarms where alarms.id = alert_logs.alarm_id)`.as('current_name')])

export function listAlertLogs(on: Sql, scope: Scope, query: QueryOf<typeof alertLogs.list>): Promise<{ total: number; rows: ShownAlertLog[] }> {
  const filtered = on
    .selectFrom('alert_logs')
    .where(within(scope, 'alert_logs.bp_id'))
    .where(asked(query, 'alert_logs', 'status', 'severity', 'alarm_id'))
    .$if(query.processed !== undefined, (q) => q.where('processed_at', query.processed === 'true' ? 'is not' : 'is', null))
    .where(matching(query.keyword, 'alert_logs.alarm_name', 'alert_logs.summary'))
  return pageOf(filtered, query, orderOf('alert_logs', '-starts_at', 'starts_at', 'severity'), (ids) => shownLogs(on).where('alert_logs.id', 'in', ids))
}
export const showAlertLog = (on: Sql, scope: Scope, id: string): Promise<ShownAlertLog | undefined> =>
  shownLogs(on).where('alert_logs.id', '=', id).where(within(scope, 'alert_logs.bp_id')).executeTakeFirst()

export async function countAlertLogs(
  on: Sql,
  scope: Scope,
  today: Date,
): Promise<{ critical: number; warning: number; info: number; unprocessed: number; today: number }> {
  return on
    .selectFrom('alert_logs')
    .select([
      sql<number>`count(*) filter (where status = 'firing' and severity = 'critical')`.as('critical'),
      sql<number>`count(*) filter (where status = 'firing' and severity = 'warning')`.as('warning'),
      sql<number>`count(*) filter (where status = 'firing' and severity = 'info')`.as('info'),
      sql<number>`count(*) filter (where status = 'firing' and processed_at is null)`.as('unprocessed'),
      sql<number>`count(*) filter (where starts_at >= ${today})`.as('today'),
    ])
    .where(within(scope, 'alert_logs.bp_id'))
    .where((of) => of.or([of('status', '=', 'firing'), of('starts_at', '>=', today)]))
    .executeTakeFirstOrThrow()
}

/** A row for each day, those on which nothing began too. */
export async function dailyAlertLogs(
  on: Sql,
  scope: Scope,
  first: string,
  last: string,
): Promise<{ day: string; critical: number; warning: number; info: number }[]> {
  const { rows } = await sql<{ day: string; critical: number; warning: number; info: number }>`
    select to_char(days.day, 'YYYY-MM-DD') as day,
      count(logs.id) filter (where severity = 'critical') as critical,
      count(logs.id) filter (where severity = 'warning') as warning,
      count(logs.id) filter (where severity = 'info') as info
    -- Without a zone of their own: the days of a date would begin at midnight of the connection.
    from generate_series(${first}::timestamp, ${last}::timestamp, interval '1 day') as days (day)
    left join alert_logs as logs on logs.starts_at >= (days.day at time zone 'Asia/Shanghai') and logs.starts_at < ((days.day + interval '1 day') at time zone 'Asia/Shanghai')
      and ${within(scope, 'logs.bp_id')}
    group by days.day order by days.day
  `.execute(on)
  return rows
}

export type NewEpisode = Insertable<AlertLogTable>

/**
 * Writes an episode, or that it was told again, or that it is over.
 * @returns what is new of it; null where nothing is
 */
export async function recordEpisode(tx: Tx, episode: NewEpisode): Promise<{ row: AlertLogRow; news: 'firing' | 'resolved' } | null> {
  const same = await tx
    .selectFrom('alert_logs')
    .selectAll()
    .where('fingerprint', '=', episode.fingerprint)
    .where((of) => of.or([of('starts_at', '=', episode.starts_at), of('status', '=', 'firing')]))
    .orderBy('status')
    .orderBy('starts_at', 'desc')
    .forUpdate()
    .execute()
  const firing = same.find(({ status }) => status === 'firing')
  const before = firing ?? same[0]
  // It was taken for over, and goes on: from here on it is another one.
  const goesOn = before?.status === 'resolved' && episode.status === 'firing'
  if (before === undefined || goesOn) {
    const made = await tx
      .insertInto('alert_logs')
      .values(goesOn ? { ...episode, starts_at: episode.told_at } : episode)
      .onConflict((on) => on.doNothing())
      .returningAll()
      .executeTakeFirst()
    // Another server was told of it in this very moment.
    return made === undefined ? null : { row: made, news: 'firing' }
  }
  const ends = episode.status === 'resolved' && before.status === 'firing'
  const row = await tx
    .updateTable('alert_logs')
    .set(
      ends
        ? { status: 'resolved', ends_at: episode.ends_at ?? episode.told_at, told_at: episode.told_at }
        : { told_at: episode.told_at, ...(before.status === 'firing' && { value: episode.value }) },
    )
    .where('id', '=', before.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return ends ? { row, news: 'resolved' } : null
}

/** Those that go on and were not told for so long; or all that go on, of one alarm. */
export const openEpisodes = (tx: Tx, of: { alarmId: string } | { toldBefore: Date }): Promise<AlertLogRow[]> =>
  tx
    .selectFrom('alert_logs')
    .selectAll()
    .where('status', '=', 'firing')
    .$if('alarmId' in of, (q) => q.where('alarm_id', '=', 'alarmId' in of ? of.alarmId : ''))
    .$if('toldBefore' in of, (q) => q.where('told_at', '<', 'toldBefore' in of ? of.toldBefore : new Date()))
    .orderBy('id')
    .limit(1_000)
    .forUpdate()
    .execute()

/**
 * Notes that it was looked.
 * @param lastBy when it has to have been looked at last, else it begins anew; null: it begins anew in any case
 * @returns since when without a gap it is looked
 */
export async function watch(tx: Tx, at: Date, lastBy: Date | null): Promise<Date> {
  const row = await tx
    .insertInto('alarm_watch')
    .values({ since: at, looked_at: at })
    .onConflict((conflict) =>
      conflict.column('one').doUpdateSet({
        since: lastBy === null ? at : sql<Date>`case when alarm_watch.looked_at >= ${lastBy}::timestamptz then alarm_watch.since else ${at}::timestamptz end`,
        looked_at: at,
      }),
    )
    .returning('since')
    .executeTakeFirstOrThrow()
  return row.since
}

/** In one transaction; whoever takes some asks for more until there are none. */
export const laterAtOnce = 200
/** Held by whoever looks whether nobody is to be told, and alone by whoever changes when that is. */
export async function holdWindows(tx: Tx, bpId: string | null, alone: boolean): Promise<void> {
  const key = `omc.alarmWindow ${bpId ?? ''}`
  await (
    alone ? sql`select pg_advisory_xact_lock(hashtextextended(${key}, 11))` : sql`select pg_advisory_xact_lock_shared(hashtextextended(${key}, 11))`
  ).execute(tx)
}
/** Those that go on whose time to be told has come. */
export const heldDue = (tx: Tx, now: Date): Promise<AlertLogRow[]> =>
  tx.selectFrom('alert_logs').selectAll().where('status', '=', 'firing').where('held_until', '<=', now).orderBy('id').limit(laterAtOnce).forUpdate().execute()
/** Those that nobody has taken up for as long as their alarm says, and of which nobody else was told. */
export const toEscalate = (tx: Tx, now: Date): Promise<AlertLogRow[]> =>
  tx
    .selectFrom('alert_logs')
    .innerJoin('alarms', 'alarms.id', 'alert_logs.alarm_id')
    .selectAll('alert_logs')
    .where('alert_logs.status', '=', 'firing')
    .where('alert_logs.processed_at', 'is', null)
    .where('alert_logs.escalated_at', 'is', null)
    .where('alert_logs.held_until', 'is', null)
    .where((of) => of.or([of('alert_logs.silenced_until', 'is', null), of('alert_logs.silenced_until', '<=', now)]))
    .where(sql<boolean>`alert_logs.told_first_at + alarms.escalate_after_minutes * interval '1 minute' <= ${now}`)
    // Whoever is told more is not told during maintenance either.
    .where(
      sql<boolean>`not exists (
        select from alarm_windows as w
        where w.bp_id is not distinct from alert_logs.bp_id and w.starts_at <= ${now} and w.ends_at > ${now}
          and (w.node_ids = '{}' or alert_logs.labels ->> 'node_id' = any(w.node_ids::text[]))
      )`,
    )
    .orderBy('alert_logs.id')
    .limit(laterAtOnce)
    .forUpdate('alert_logs')
    .execute()
/** Until when nobody of an organisation is told of something that is on a node; undefined: they are told. */
export const windowOver = async (on: Sql, bpId: string | null, nodeId: string | null, now: Date): Promise<Date | undefined> =>
  (
    await on
      .selectFrom('alarm_windows')
      .select(sql<Date | null>`max(ends_at)`.as('until'))
      .where('bp_id', bpId === null ? 'is' : '=', bpId)
      .where('starts_at', '<=', now)
      .where('ends_at', '>', now)
      .where(sql<boolean>`(node_ids = '{}' or ${nodeId}::uuid = any(node_ids))`)
      .executeTakeFirstOrThrow()
  ).until ?? undefined
/** Whether of a node it is told that it is away. */
export const isNodeDown = async (on: Sql, nodeId: string, bpId: string | null): Promise<boolean> =>
  (await on
    .selectFrom('alert_logs')
    .innerJoin('alarms', 'alarms.id', 'alert_logs.alarm_id')
    .select('alert_logs.id')
    .where('alert_logs.status', '=', 'firing')
    .where('alert_logs.bp_id', bpId === null ? 'is' : '=', bpId)
    .where(sql<boolean>`alarms.rule ->> 'metric' = 'node_down' and alert_logs.labels ->> 'node_id' = ${nodeId}`)
    .limit(1)
    .executeTakeFirst()) !== undefined
/** What was held by a window that is another now is looked at again. */
export const releaseHeld = async (tx: Tx, bpId: string | null, now: Date): Promise<void> => {
  await tx
    .updateTable('alert_logs')
    .set({ held_until: now })
    .where('status', '=', 'firing')
    .where('held_why', '=', 'maintenance')
    .where('bp_id', bpId === null ? 'is' : '=', bpId)
    .execute()
}

const shownWindows = (on: Sql) =>
  on
    .selectFrom('alarm_windows')
    .selectAll('alarm_windows')
    .select([
      bpName('alarm_windows').as('bp_name'),
      sql<Named[]>`(
        select coalesce(jsonb_agg(jsonb_build_object('id', of.id, 'name', coalesce(e.name, of.id::text)) order by e.name), '[]')
        from unnest(alarm_windows.node_ids) as of (id) left join edges as e on e.id = of.id
      )`.as('nodes'),
    ])
export function listWindows(on: Sql, scope: Scope, query: QueryOf<typeof alarmWindows.list>): Promise<{ total: number; rows: ShownWindow[] }> {
  const filtered = on.selectFrom('alarm_windows').where(within(scope, 'alarm_windows.bp_id')).where(matching(query.keyword, 'alarm_windows.name'))
  return pageOf(filtered, query, orderOf('alarm_windows', '-starts_at', 'starts_at', 'name'), (ids) => shownWindows(on).where('alarm_windows.id', 'in', ids))
}
export const showWindow = (on: Sql, scope: Scope, id: string): Promise<ShownWindow | undefined> =>
  shownWindows(on).where('alarm_windows.id', '=', id).where(within(scope, 'alarm_windows.bp_id')).executeTakeFirst()
export const { insert: insertWindow, update: updateWindow, remove: removeWindow, lock: lockWindow } = rowsOf('alarm_windows')

const shownReceivers = (on: Sql) =>
  on
    .selectFrom('alarm_receivers')
    .selectAll('alarm_receivers')
    .select([
      bpName('alarm_receivers').as('bp_name'),
      sql<number>`(select count(*) from alarms where alarm_receivers.id = any(alarms.receiver_ids || alarms.escalate_receiver_ids))`.as('alarm_count'),
      sql<
        ShownReceiver['last']
      >`(select jsonb_build_object('status', d.status, 'at', to_char(coalesce(d.sent_at, d.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'error', d.error)
        from alarm_deliveries as d where d.receiver_id = alarm_receivers.id order by d.created_at desc, d.id desc limit 1)`.as('last'),
    ])
export function listReceivers(on: Sql, scope: Scope, query: QueryOf<typeof receivers.list>): Promise<{ total: number; rows: ShownReceiver[] }> {
  const filtered = on
    .selectFrom('alarm_receivers')
    .where(within(scope, 'alarm_receivers.bp_id'))
    .where(asked(query, 'alarm_receivers', 'kind'))
    .where(matching(query.keyword, 'alarm_receivers.name', 'alarm_receivers.target'))
  return pageOf(filtered, query, orderOf('alarm_receivers', '-created_at', 'name', 'created_at'), (ids) =>
    shownReceivers(on).where('alarm_receivers.id', 'in', ids),
  )
}
export const showReceiver = (on: Sql, scope: Scope, id: string): Promise<ShownReceiver | undefined> =>
  shownReceivers(on).where('alarm_receivers.id', '=', id).where(within(scope, 'alarm_receivers.bp_id')).executeTakeFirst()
/** How many of these are this organisation's own; null is the platform. */
export const countOwnReceivers = async (on: Sql, bpId: string | null, ids: readonly string[]): Promise<number> =>
  (
    await on
      .selectFrom('alarm_receivers')
      .select(sql<number>`count(*)`.as('count'))
      .where(among('id', ids))
      .where('bp_id', bpId === null ? 'is' : '=', bpId)
      .executeTakeFirstOrThrow()
  ).count
export const forgetReceiverInAlarms = async (tx: Tx, id: string): Promise<void> => {
  await tx
    .updateTable('alarms')
    .set({
      receiver_ids: sql<string[]>`array_remove(receiver_ids, ${id}::uuid)`,
      escalate_receiver_ids: sql<string[]>`array_remove(escalate_receiver_ids, ${id}::uuid)`,
    })
    .where(sql<boolean>`${id}::uuid = any(receiver_ids || escalate_receiver_ids)`)
    .execute()
}
export const receiversByIds = (on: Sql, ids: readonly string[]): Promise<Pick<ReceiverRow, 'id' | 'hours'>[]> =>
  on.selectFrom('alarm_receivers').select(['id', 'hours']).where(among('id', ids)).execute()

/** Whom it was told that an episode goes on, then or when nobody had taken it up. */
export const toldOfEpisode = async (on: Sql, alertLogId: string): Promise<string[]> =>
  (
    await on
      .selectFrom('alarm_deliveries')
      .select('receiver_id')
      .distinct()
      .where('alert_log_id', '=', alertLogId)
      .where('what', 'in', ['firing', 'escalated'])
      .execute()
  ).map(({ receiver_id }) => receiver_id)
export const insertDeliveries = async (tx: Tx, rows: readonly Insertable<DeliveryTable>[]): Promise<void> => {
  if (rows.length > 0)
    await tx
      .insertInto('alarm_deliveries')
      .values([...rows])
      .onConflict((on) => on.doNothing())
      .execute()
}
export const insertDelivery = insertsInto('alarm_deliveries')
export function listDeliveries(on: Sql, receiverId: string, query: QueryOf<typeof receivers.deliveries>): Promise<{ total: number; rows: DeliveryRow[] }> {
  const filtered = on
    .selectFrom('alarm_deliveries')
    .where('receiver_id', '=', receiverId)
    .where(asked(query, 'alarm_deliveries', 'status'))
  return pageWithTotal(paged(filtered.selectAll(), query, orderOf('alarm_deliveries', '-created_at', 'created_at')), filtered, query)
}
export const getDelivery = (on: Sql, receiverId: string, id: string): Promise<DeliveryRow | undefined> =>
  on.selectFrom('alarm_deliveries').selectAll().where('receiver_id', '=', receiverId).where('id', '=', id).executeTakeFirst()
/** What was to be told before of the same episode still waits: that it is over is never told first. */
const isBehind = (table: string, now: Date): RawBuilder<boolean> =>
  sql<boolean>`exists (
    select from alarm_deliveries as before
    where before.receiver_id = ${sql.ref(`${table}.receiver_id`)} and before.alert_log_id = ${sql.ref(`${table}.alert_log_id`)}
      and before.status = 'waiting' and before.id < ${sql.ref(`${table}.id`)} and before.next_at > ${now}
  )`
export interface Claimed {
  readonly receiver: ReceiverRow
  readonly deliveries: readonly DeliveryRow[]
}
/** Stands for the platform where organisations are compared: the nil UUID (RFC 9562) is nobody's. */
const platform = '00000000-0000-0000-0000-000000000000'
/**
 * Of one receiver whose turn it is all that is due, held until then: what is due together is sent together. Whoever dies
 * over it leaves it to the next, when its time is over.
 * @param busy organisations for which enough is being sent already; null: the platform
 */
export async function claimDue(
  tx: Tx,
  now: Date,
  until: Date,
  most: (kind: ReceiverKind) => number,
  busy: readonly (string | null)[],
): Promise<Claimed | null> {
  const receiver = await tx
    .selectFrom('alarm_receivers')
    .selectAll()
    .where(sql<boolean>`coalesce(bp_id, ${platform}::uuid) <> all (${busy.map((bpId) => bpId ?? platform)}::uuid[])`)
    .where((of) => of.or([of('next_at', 'is', null), of('next_at', '<=', now)]))
    .where(
      sql<boolean>`exists (
        select from alarm_deliveries as d
        where d.receiver_id = alarm_receivers.id and d.status = 'waiting' and d.next_at <= ${now} and (d.claimed_until is null or d.claimed_until < ${now})
          and not ${isBehind('d', now)}
      )`,
    )
    // Who has waited longest: what was never asked first.
    .orderBy('next_at', (order) => order.asc().nullsFirst())
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (receiver === undefined) return null
  const deliveries = await tx
    .selectFrom('alarm_deliveries')
    .selectAll()
    .where('receiver_id', '=', receiver.id)
    .where('status', '=', 'waiting')
    .where('next_at', '<=', now)
    .where((of) => of.or([of('claimed_until', 'is', null), of('claimed_until', '<', now)]))
    .where(sql<boolean>`not ${isBehind('alarm_deliveries', now)}`)
    .orderBy(severityOrder('alarm_deliveries'), 'desc')
    .orderBy('created_at')
    .orderBy('id')
    .limit(most(receiver.kind))
    .forUpdate()
    .execute()
  await tx
    .updateTable('alarm_deliveries')
    .set({ claimed_until: until })
    .where(
      among(
        'id',
        deliveries.map(({ id }) => id),
      ),
    )
    .execute()
  // Nobody else sends to it meanwhile.
  await tx.updateTable('alarm_receivers').set({ next_at: until }).where('id', '=', receiver.id).execute()
  return { receiver, deliveries }
}
export const settleDeliveries = async (
  on: Sql,
  ids: readonly string[],
  changes: Partial<Pick<DeliveryRow, 'status' | 'error' | 'sent_at' | 'next_at'>>,
): Promise<void> => {
  await on
    .updateTable('alarm_deliveries')
    .set({ ...changes, claimed_until: null, attempts: sql<number>`attempts + 1` })
    .where(among('id', ids))
    .execute()
}
