import type { deskQueues, ticketDesk, ServiceHours, TicketGroup } from '@zhisuan/contract/ticket/desk'
import { ticketOver, type TicketEntryKind, type TicketPriority, type tickets, type TicketStatus, type TicketType } from '@zhisuan/contract/ticket/ticket'
import type { QueryOf } from '@zhisuan/contract/define'
import type { Kind } from '@zhisuan/contract/kind'
import { sql, type ColumnType, type Generated, type Insertable, type RawBuilder, type Selectable } from 'kysely'
import type { Actor } from '../../platform/auth/actor.ts'
import { tellsChanges } from '../../platform/changes.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../platform/db/database.ts'
import { among, asked, matching, orderOf, pageOf, type Order } from '../../platform/db/page.ts'
import { insertsInto, replaceRows, rowsOf } from '../../platform/db/rows.ts'
import '../../platform/bytes/bytes.store.ts'

interface TicketTable {
  id: string
  /** Counts up over all. */
  serial: Generated<number>
  title: string
  type: TicketType
  status: TicketStatus
  priority: TicketPriority
  /** Made by the database, to sort by. */
  priority_rank: ColumnType<number, never, never>
  about_kind: Kind | null
  about_id: string | null
  /** As it was called when it was opened. */
  about_name: string | null
  bp_id: string | null
  created_by: string
  created_by_name: string
  assignee_id: string | null
  assignee_name: string | null
  group_id: string | null
  hours_id: number
  answer_ms: number
  solve_ms: number
  used_ms: Generated<number>
  running_since: Date | null
  answered_at: Date | null
  /** Working time that had gone by then. */
  answered_ms: number | null
  answer_due_at: Date | null
  solve_due_at: Date | null
  /** Whose answer a reviewer looks at. */
  resolved_by: string | null
  /** That the first answer is late was told, and that it is not solved in time. */
  escalated_at: Date | null
  solve_escalated_at: Date | null
  urged_at: Date | null
  /** Sealed; null where nothing was sent in confidence, and once it is over. */
  secret: string | null
  /** When an answer that nobody said anything to counts as confirmed. */
  confirm_by: Date | null
  score: number | null
  rating: Generated<string>
  ended_at: Date | null
  created_at: Date
  updated_at: Date
}
interface TicketEntryTable {
  id: string
  ticket_id: string
  kind: TicketEntryKind
  /** Null: the platform by itself. */
  staff: boolean | null
  by_id: string | null
  by_name: string
  text: string
  internal: boolean
  /** What it was after that. */
  status: TicketStatus
  priority: TicketPriority
  at: Date
}
/** What has come in; until it is named by who sent it it belongs to nothing that was said. */
interface TicketFileTable {
  id: string
  ticket_id: string | null
  entry_id: string | null
  user_id: string
  name: string
  sha256: string
  size_bytes: number
  created_at: Generated<Date>
}
interface TicketReadTable {
  ticket_id: string
  user_id: string
  at: Date
}
interface TicketGroupTable {
  id: string
  name: string
  types: TicketType[]
  created_at: Generated<Date>
}
interface TicketGroupMemberTable {
  group_id: string
  user_id: string
}
interface CannedAnswerTable {
  id: string
  title: string
  text: string
  created_at: Generated<Date>
}
/** Each change is a row: a work order keeps those under which it was opened. */
interface TicketHoursTable {
  id: Generated<number>
  hours: ServiceHours
  created_at: Generated<Date>
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    tickets: TicketTable
    ticket_entries: TicketEntryTable
    ticket_files: TicketFileTable
    ticket_reads: TicketReadTable
    ticket_groups: TicketGroupTable
    ticket_group_members: TicketGroupMemberTable
    canned_answers: CannedAnswerTable
    ticket_hours: TicketHoursTable
  }
}

export const ticketMigrations: Migrations = {
  '20261128_93_tickets': migration(`
    create table ticket_hours (id bigint generated always as identity primary key, hours jsonb not null, created_at timestamptz not null default now());
    create table ticket_groups (id uuid primary key, name text not null unique, types text[] not null, created_at timestamptz not null default now());
    create table ticket_group_members (
      group_id uuid not null references ticket_groups on delete cascade,
      user_id uuid not null references users on delete cascade,
      primary key (group_id, user_id)
    );
    create index ticket_group_members_user on ticket_group_members (user_id);
    create table canned_answers (id uuid primary key, title text not null, text text not null, created_at timestamptz not null default now());
    create table tickets (
      id uuid primary key,
      serial bigint generated always as identity,
      title text not null,
      type text not null,
      status text not null,
      priority text not null,
      priority_rank bigint not null generated always as (array_position(array['low', 'normal', 'high', 'urgent'], priority)) stored,
      about_kind text,
      about_id uuid,
      about_name text,
      bp_id uuid,
      created_by uuid not null,
      created_by_name text not null,
      assignee_id uuid,
      assignee_name text,
      group_id uuid references ticket_groups on delete set null,
      hours_id bigint not null references ticket_hours,
      answer_ms bigint not null,
      solve_ms bigint not null,
      used_ms bigint not null default 0 check (used_ms >= 0),
      running_since timestamptz,
      answered_at timestamptz,
      answered_ms bigint,
      answer_due_at timestamptz,
      solve_due_at timestamptz,
      resolved_by uuid,
      escalated_at timestamptz,
      urged_at timestamptz,
      secret text,
      confirm_by timestamptz,
      score bigint check (score between 1 and 5),
      rating text not null default '',
      ended_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      -- What was told in confidence goes with the end, whatever comes between.
      constraint tickets_no_secret_after_end check (ended_at is null or secret is null)
    );
    create index tickets_own on tickets (created_by, created_at);
    create index tickets_bp on tickets (bp_id, created_at);
    create index tickets_live on tickets ((least(answer_due_at, solve_due_at)), id) where ended_at is null;
    create index tickets_newest on tickets (created_at, id);
    create table ticket_entries (
      id uuid primary key,
      ticket_id uuid not null references tickets on delete cascade,
      kind text not null,
      staff boolean,
      by_id uuid,
      by_name text not null,
      text text not null,
      internal boolean not null,
      status text not null,
      priority text not null,
      at timestamptz not null
    );
    create index ticket_entries_of on ticket_entries (ticket_id, at, id);
    create table ticket_files (
      id uuid primary key,
      ticket_id uuid references tickets on delete cascade,
      entry_id uuid references ticket_entries on delete cascade,
      user_id uuid not null,
      name text not null,
      sha256 text not null references byte_contents,
      size_bytes bigint not null,
      created_at timestamptz not null default now()
    );
    create index ticket_files_of on ticket_files (ticket_id);
    create index ticket_files_waiting on ticket_files (created_at) where entry_id is null;
    create index ticket_files_content on ticket_files (sha256);
    create table ticket_reads (
      ticket_id uuid not null references tickets on delete cascade,
      user_id uuid not null references users on delete cascade,
      at timestamptz not null,
      primary key (ticket_id, user_id)
    );
    ${tellsChanges('tickets', 'ticket.ticket')}
  `),
  '20261201_53_ticket_second_lateness': migration(`
    -- Late with an answer and late with a solution are two things, each told once.
    alter table tickets add column solve_escalated_at timestamptz;
    update tickets set solve_escalated_at = escalated_at where escalated_at > solve_due_at;
  `),
}

export type TicketRow = Selectable<TicketTable>
export type EntryRow = Selectable<TicketEntryTable>
export type FileRow = Selectable<TicketFileTable>

/** As a list shows it. */
export type ShownTicket = TicketRow & { bp_name: string | null; group_name: string | null; unread: boolean }

/** Whose work orders somebody sees as who asks: their own; of one who manages an organisation those of its people. */
export interface Asker {
  readonly user_id: string
  /** Null where they manage none. */
  readonly manages: string | null
}
const ownOf = ({ user_id, manages }: Asker): RawBuilder<boolean> =>
  manages === null ? sql<boolean>`tickets.created_by = ${user_id}` : sql<boolean>`(tickets.created_by = ${user_id} or tickets.bp_id = ${manages})`
const everything = sql<boolean>`true`
/** Who is told what an order is called by the way: who opened it. Others ask for it. */
export const toldTo = (userId: string | null): RawBuilder<boolean> => (userId === null ? everything : sql<boolean>`tickets.created_by = ${userId}`)

/** Whether something came that somebody has not seen; of who opened it only what they may see counts. */
const unreadFor = (userId: string, staff: boolean): RawBuilder<boolean> => sql<boolean>`exists (
  select from ticket_entries as entry
  where entry.ticket_id = tickets.id and entry.by_id is distinct from ${userId} ${staff ? sql`` : sql`and not entry.internal`}
    and entry.at > coalesce((select at from ticket_reads where ticket_reads.ticket_id = tickets.id and ticket_reads.user_id = ${userId}), '-infinity')
)`
const shown = (on: Sql, userId: string, staff: boolean) =>
  on
    .selectFrom('tickets')
    .leftJoin('organisations', 'organisations.id', 'tickets.bp_id')
    .leftJoin('ticket_groups', 'ticket_groups.id', 'tickets.group_id')
    .selectAll('tickets')
    .select(['organisations.name as bp_name', 'ticket_groups.name as group_name', unreadFor(userId, staff).as('unread')])

const over = (wanted: boolean | undefined): RawBuilder<boolean> =>
  wanted === undefined ? everything : wanted ? sql<boolean>`tickets.ended_at is not null` : sql<boolean>`tickets.ended_at is null`
/** Title, number, who asked and what was said. */
const about = (keyword: string | undefined): RawBuilder<boolean> =>
  matching(keyword, 'tickets.title', 'tickets.created_by_name', 'tickets.about_name', sql<string>`tickets.serial::text`)

export const listOwn = (on: Sql, asker: Asker, query: QueryOf<(typeof tickets)['list']>): Promise<{ total: number; rows: ShownTicket[] }> =>
  pageOf(
    on
      .selectFrom('tickets')
      .where(ownOf(asker))
      .where(asked(query, 'tickets', 'status', 'type'))
      .where(over(query.over))
      .where(about(query.keyword)),
    query,
    orderOf('tickets', '-updated_at', 'created_at', 'updated_at'),
    (ids) => shown(on, asker.user_id, false).where('tickets.id', 'in', ids),
  )

/** What is late now: time runs and one of its ends has passed, or it took longer and stands still. */
const late = (now: Date): RawBuilder<boolean> =>
  sql<boolean>`(tickets.ended_at is null and (least(tickets.answer_due_at, tickets.solve_due_at) < ${now} or tickets.used_ms > tickets.solve_ms))`

const deskOrder: Order = {
  by: {
    due_at: 'tickets.solve_due_at',
    created_at: 'tickets.created_at',
    updated_at: 'tickets.updated_at',
    priority: 'tickets.priority_rank',
  },
  fallback: 'due_at',
  id: 'tickets.id',
}
const queue = (userId: string, of: (typeof deskQueues)[number]): RawBuilder<boolean> => {
  if (of === 'mine') return sql<boolean>`tickets.assignee_id = ${userId}`
  if (of === 'unassigned') return sql<boolean>`tickets.assignee_id is null`
  if (of === 'group')
    return sql<boolean>`tickets.assignee_id is null and tickets.group_id in (select group_id from ticket_group_members where user_id = ${userId})`
  return everything
}
export const listDesk = (on: Sql, userId: string, query: QueryOf<(typeof ticketDesk)['list']>, now: Date): Promise<{ total: number; rows: ShownTicket[] }> =>
  pageOf(
    on
      .selectFrom('tickets')
      .where(queue(userId, query.queue))
      .where(asked(query, 'tickets', 'status', 'type', 'priority'))
      .where(query.late === undefined ? everything : query.late ? late(now) : sql<boolean>`not ${late(now)}`)
      .where(over(query.over))
      .where(about(query.keyword)),
    query,
    deskOrder,
    (ids) => shown(on, userId, true).where('tickets.id', 'in', ids),
  )

/** Undefined where it is neither theirs nor they answer it. @param asker null: who answers sees all */
export const oneShown = (on: Sql, userId: string, asker: Asker | null, id: string): Promise<ShownTicket | undefined> =>
  shown(on, userId, asker === null)
    .where('tickets.id', '=', id)
    .where(asker === null ? everything : ownOf(asker))
    .executeTakeFirst()

/** Held against other changes. */
export const lockTicket = (tx: Tx, asker: Asker | null, id: string): Promise<TicketRow | undefined> =>
  tx
    .selectFrom('tickets')
    .selectAll()
    .where('id', '=', id)
    .where(asker === null ? everything : ownOf(asker))
    .forUpdate()
    .executeTakeFirst()

export const { insert: insertTicket, update: updateTicket } = rowsOf('tickets')
export const insertEntry: (on: Sql, row: Insertable<Tables['ticket_entries']>) => Promise<void> = insertsInto('ticket_entries')
export const entriesOf = (on: Sql, id: string, internal: boolean): Promise<EntryRow[]> =>
  on
    .selectFrom('ticket_entries')
    .selectAll()
    .where('ticket_id', '=', id)
    .$if(!internal, (q) => q.where('internal', '=', false))
    .orderBy('at')
    .orderBy('id')
    .execute()
/** An answer that a reviewer let out is what who asked sees. */
export const publishResolution = async (tx: Tx, id: string): Promise<void> => {
  await sql`
    update ticket_entries set internal = false
    where id = (select id from ticket_entries where ticket_id = ${id} and kind = 'resolved' order by at desc, id desc limit 1)
  `.execute(tx)
}
export const countOpen = async (on: Sql, userId: string): Promise<number> =>
  (
    await on
      .selectFrom('tickets')
      .select(sql<number>`count(*)`.as('count'))
      .where('created_by', '=', userId)
      .where('ended_at', 'is', null)
      .executeTakeFirstOrThrow()
  ).count

const countOf = async (rows: Promise<{ count: number }>): Promise<number> => (await rows).count
export const countEntries = (on: Sql, id: string): Promise<number> =>
  countOf(
    on
      .selectFrom('ticket_entries')
      .select(sql<number>`count(*)`.as('count'))
      .where('ticket_id', '=', id)
      .executeTakeFirstOrThrow(),
  )
export const countWaitingFiles = (on: Sql, userId: string): Promise<number> =>
  countOf(
    on
      .selectFrom('ticket_files')
      .select(sql<number>`count(*)`.as('count'))
      .where('user_id', '=', userId)
      .where('entry_id', 'is', null)
      .executeTakeFirstOrThrow(),
  )
export const bytesSince = (on: Sql, userId: string, since: Date): Promise<number> =>
  countOf(
    on
      .selectFrom('ticket_files')
      .select(sql<number>`coalesce(sum(size_bytes), 0)::bigint`.as('count'))
      .where('user_id', '=', userId)
      .where('created_at', '>', since)
      .executeTakeFirstOrThrow(),
  )
export const insertFile: (on: Sql, row: Insertable<Tables['ticket_files']>) => Promise<void> = insertsInto('ticket_files')
export const filesOf = (on: Sql, id: string): Promise<FileRow[]> =>
  on.selectFrom('ticket_files').selectAll().where('ticket_id', '=', id).where('entry_id', 'is not', null).orderBy('name').execute()
export const fileOf = (on: Sql, id: string): Promise<FileRow | undefined> => on.selectFrom('ticket_files').selectAll().where('id', '=', id).executeTakeFirst()
/** Gives somebody's own files that wait to what they said. @returns how many there were */
export const takeFiles = async (tx: Tx, userId: string, ids: readonly string[], to: { ticket_id: string; entry_id: string }): Promise<number> =>
  (await tx.updateTable('ticket_files').set(to).where(among('id', ids)).where('user_id', '=', userId).where('entry_id', 'is', null).returning('id').execute())
    .length
export const dropWaitingFiles = async (tx: Tx, before: Date): Promise<string[]> =>
  (await tx.deleteFrom('ticket_files').where('entry_id', 'is', null).where('created_at', '<', before).returning('sha256').execute()).map(({ sha256 }) => sha256)

export const noteRead = async (on: Sql, row: Insertable<TicketReadTable>): Promise<void> => {
  await on
    .insertInto('ticket_reads')
    .values(row)
    .onConflict((conflict) => conflict.columns(['ticket_id', 'user_id']).doUpdateSet({ at: row.at }))
    .execute()
}

/** The kind's row of that id, as far as the asker sees it: its name. */
export async function nameSeen(
  on: Sql,
  table: keyof Tables,
  column: string,
  id: string,
  bpId: string | null,
  everywhere: boolean,
): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select ${sql.ref(column)} as name from ${sql.table(table)} as thing
    where id = ${id} and ${everywhere ? sql`true` : sql`(to_jsonb(thing) ->> 'bp_id') = ${bpId}`}
  `.execute(on)
  return rows[0]?.name
}

/** Null only of who was deleted. */
const nameOf = sql<string>`coalesce(users.name, '')`
/** Who may answer: by a role that they have, or because they run the platform. */
const answers = sql<boolean>`users.status = 'active' and users.deleted_at is null and (users.kind in (0, 1) or exists (
  select from user_roles where user_roles.user_id = users.id and user_roles.role in ('COPOTE_NORMAL', 'COPOTE_REVIEWER', 'COPOTE_ADMIN', 'ADMIN')
))`
export const staff = async (on: Sql): Promise<{ id: string; name: string; open: number }[]> =>
  on
    .selectFrom('users')
    .select([
      'users.id',
      nameOf.as('name'),
      sql<number>`(select count(*) from tickets where tickets.assignee_id = users.id and tickets.ended_at is null)`.as('open'),
    ])
    .where(answers)
    .orderBy('users.name')
    .execute()
export const answerer = (on: Sql, id: string): Promise<{ id: string; name: string } | undefined> =>
  on
    .selectFrom('users')
    .select(['users.id', nameOf.as('name')])
    .where('users.id', '=', id)
    .where(answers)
    .executeTakeFirst()
const withRole = async (on: Sql, roles: readonly string[]): Promise<string[]> =>
  (
    await on
      .selectFrom('users')
      .select('id')
      .where(
        sql<boolean>`users.status = 'active' and users.deleted_at is null and exists (select from user_roles where user_roles.user_id = users.id and user_roles.role = any(${[...roles]}::text[]))`,
      )
      .execute()
  ).map(({ id }) => id)
/** Whom a late one is told to: those who keep the desk. */
export const keepers = (on: Sql): Promise<string[]> => withRole(on, ['COPOTE_ADMIN'])
export const reviewers = (on: Sql): Promise<string[]> => withRole(on, ['COPOTE_ADMIN', 'COPOTE_REVIEWER'])
/** Where mail to somebody goes; null where it goes nowhere. */
export const addressOf = async (on: Sql, userId: string): Promise<string | null> =>
  (await on.selectFrom('users').select('email').where('id', '=', userId).where('status', '=', 'active').where('deleted_at', 'is', null).executeTakeFirst())
    ?.email ?? null

export const { insert: insertGroup, update: updateGroup, remove: removeGroup } = rowsOf('ticket_groups')
export const getGroup = (on: Sql, id: string) => on.selectFrom('ticket_groups').selectAll().where('id', '=', id).executeTakeFirst()
export const setMembers = (tx: Tx, groupId: string, userIds: readonly string[]): Promise<void> =>
  replaceRows(
    tx,
    'ticket_group_members',
    { group_id: groupId },
    [...new Set(userIds)].map((user_id) => ({ user_id })),
  )
export const membersOf = async (on: Sql, groupId: string): Promise<string[]> =>
  (await on.selectFrom('ticket_group_members').select('user_id').where('group_id', '=', groupId).execute()).map(({ user_id }) => user_id)
export const groupFor = async (on: Sql, type: TicketType): Promise<string | null> =>
  (
    await on
      .selectFrom('ticket_groups')
      .select('id')
      .where(sql<boolean>`types @> ${[type]}::text[]`)
      .orderBy('created_at')
      .limit(1)
      .executeTakeFirst()
  )?.id ?? null
export async function listGroups(on: Sql): Promise<(Omit<TicketGroup, 'created_at'> & { created_at: Date })[]> {
  const groups = await on
    .selectFrom('ticket_groups')
    .selectAll()
    .select(sql<number>`(select count(*) from tickets where tickets.group_id = ticket_groups.id and tickets.ended_at is null)`.as('open'))
    .orderBy('name')
    .execute()
  const members = await on
    .selectFrom('ticket_group_members')
    .innerJoin('users', 'users.id', 'ticket_group_members.user_id')
    .select(['group_id', 'users.id', nameOf.as('name')])
    .orderBy('users.name')
    .execute()
  return groups.map((group) => ({ ...group, members: members.filter(({ group_id }) => group_id === group.id).map(({ id, name }) => ({ id, name })) }))
}

export const { insert: insertCanned, update: updateCanned, remove: removeCanned } = rowsOf('canned_answers')
export const listCanned = (on: Sql) => on.selectFrom('canned_answers').select(['id', 'title', 'text']).orderBy('title').orderBy('id').execute()
export const getCanned = (on: Sql, id: string) => on.selectFrom('canned_answers').select(['id', 'title', 'text']).where('id', '=', id).executeTakeFirst()

export const newestHours = (on: Sql) => on.selectFrom('ticket_hours').selectAll().orderBy('id', 'desc').limit(1).executeTakeFirst()
export const hoursOf = async (on: Sql, id: number): Promise<ServiceHours> =>
  (await on.selectFrom('ticket_hours').select('hours').where('id', '=', id).executeTakeFirstOrThrow()).hours
export const insertHours = async (on: Sql, hours: ServiceHours): Promise<number> =>
  (await sql<{ id: number }>`insert into ticket_hours (hours) values (${JSON.stringify(hours)}::jsonb) returning id`.execute(on)).rows[0]?.id ?? 0

/** Late, and nobody was told of it yet. Held; those that others hold are theirs. */
export const lateUntold = (tx: Tx, now: Date): Promise<TicketRow[]> =>
  tx
    .selectFrom('tickets')
    .selectAll()
    .where('ended_at', 'is', null)
    .where(sql<boolean>`((escalated_at is null and answer_due_at < ${now}) or (solve_escalated_at is null and solve_due_at < ${now}))`)
    .orderBy('id')
    .limit(100)
    .forUpdate()
    .skipLocked()
    .execute()
export const unconfirmed = (tx: Tx, now: Date): Promise<TicketRow[]> =>
  tx
    .selectFrom('tickets')
    .selectAll()
    .where('status', '=', 'confirming')
    .where('confirm_by', '<', now)
    .orderBy('id')
    .limit(100)
    .forUpdate()
    .skipLocked()
    .execute()

/** All figures are of one moment. @param since of what was opened or ended since then */
export async function figures(on: Sql, since: Date, now: Date) {
  const ended = sql`tickets.ended_at >= ${since} and tickets.status = 'done'`
  const { rows } = await sql<{
    open: number
    unassigned: number
    late: number
    asking: number
    reviewing: number
    created: number
    done: number
    answer_minutes: number | null
    solve_minutes: number | null
    in_time: number | null
    score: number | null
  }>`
    select
      count(*) filter (where ended_at is null) as open,
      count(*) filter (where ended_at is null and assignee_id is null) as unassigned,
      count(*) filter (where ${late(now)}) as late,
      count(*) filter (where status = 'asking') as asking,
      count(*) filter (where status = 'reviewing') as reviewing,
      count(*) filter (where created_at >= ${since}) as created,
      count(*) filter (where ${ended}) as done,
      percentile_cont(0.5) within group (order by answered_ms) filter (where created_at >= ${since}) / 60000 as answer_minutes,
      percentile_cont(0.5) within group (order by used_ms) filter (where ${ended}) / 60000 as solve_minutes,
      avg((used_ms <= solve_ms)::int) filter (where ${ended})::float8 as in_time,
      avg(score) filter (where ${ended})::float8 as score
    from tickets
  `.execute(on)
  const types = await sql<{ type: TicketType; created: number; late: number }>`
    select type, count(*) filter (where created_at >= ${since}) as created, count(*) filter (where ${late(now)}) as late from tickets group by type order by type
  `.execute(on)
  const days = await sql<{ day: string; created: number; done: number }>`
    select to_char(day, 'YYYY-MM-DD') as day,
      (select count(*) from tickets where (created_at at time zone 'Asia/Shanghai')::date = day and created_at >= ${since}) as created,
      (select count(*) from tickets where (ended_at at time zone 'Asia/Shanghai')::date = day and status = 'done' and ended_at >= ${since}) as done
    from generate_series((${since}::timestamptz at time zone 'Asia/Shanghai')::date, (${now}::timestamptz at time zone 'Asia/Shanghai')::date, '1 day') as day
  `.execute(on)
  const [all] = rows
  return all === undefined ? undefined : { ...all, types: types.rows, days: days.rows }
}

export const askerOf = (actor: Pick<Actor, 'user_id' | 'kind' | 'bp_id' | 'built_in_roles'>): Asker => ({
  user_id: actor.user_id,
  manages: actor.kind === 2 || actor.kind === 3 || actor.built_in_roles.includes('TENANT_ADMIN') ? actor.bp_id : null,
})
export const isOver = (status: TicketStatus): boolean => ticketOver.includes(status)
