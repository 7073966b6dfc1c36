import type { QueryOf } from '@zhisuan/contract/define'
import type { Kind } from '@zhisuan/contract/kind'
import {
  categoryForMembers,
  messageKinds,
  unreadMost,
  type Message,
  type MessageCategory,
  type MessageKind,
  type messages as calls,
} from '@zhisuan/contract/sys/message'
import { sql, type Insertable, type RawBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import { iso, migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { among, counted, matching, orderOf, pageOf, shapedPage } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'

interface MessageTable {
  id: string
  /** Null: told to the platform. */
  bp_id: string | null
  /** Told to this person only; null: to all whom its kind is for. */
  user_id: string | null
  kind: MessageKind
  text: string
  about_kind: Kind
  about_id: string
  about_name: string
  /** What happened once is told once: of its kind, to whom it is told. */
  key: string
  at: Date
}
/**
 * That somebody has not read a message. Rows are of what is unread and not of what was read: so a person's number is
 * read along one index however many messages there are, all are marked by deleting, what came in the very moment stays
 * unread, and nothing grows with what is read. It costs a row for each person who is told, once.
 */
interface UnreadTable {
  user_id: string
  message_id: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    messages: MessageTable
    message_unread: UnreadTable
  }
}

export const messageMigrations: Migrations = {
  // Reading tells nobody: only who reads sees a difference. A message to the platform has every console ask for its number once.
  '20261126_80_messages': migration(`
    create table messages (
      id uuid primary key,
      bp_id uuid,
      kind text not null,
      text text not null,
      about_kind text not null,
      about_id text not null,
      about_name text not null,
      key text not null,
      at timestamptz not null,
      constraint messages_once unique nulls not distinct (bp_id, kind, key)
    );
    create index messages_newest_bp on messages (bp_id, at, id);
    create index messages_newest_platform on messages (at, id) where bp_id is null;
    create index messages_at on messages (at);
    create table message_unread (
      user_id uuid not null references users on delete cascade,
      message_id uuid not null references messages on delete cascade,
      primary key (user_id, message_id)
    );
    create index message_unread_message on message_unread (message_id);
    ${tellsChanges('messages', 'sys.message')}
  `),
  '20261128_89_messages_to_one': migration(`
    alter table messages add column user_id uuid references users on delete cascade;
    alter table messages drop constraint messages_once;
    alter table messages add constraint messages_once unique nulls not distinct (bp_id, user_id, kind, key);
    create index messages_newest_user on messages (user_id, at, id) where user_id is not null;
  `),
}

/** Who asks: what they are told follows from it. */
export interface Reader {
  readonly user_id: string
  readonly scope: Scope
  /** Whether they manage their organisation. */
  readonly manages: boolean
}

const kindsOf = (category: MessageCategory): string[] => Object.entries(messageKinds).flatMap(([kind, of]) => (of === category ? [kind] : []))
const ofCategory = (category: MessageCategory): RawBuilder<boolean> => sql<boolean>`messages.kind = any(${kindsOf(category)}::text[])`

/** The condition that a message is told to somebody; what organisations are told, the platform's administrators are not. */
const toldTo = ({ user_id, scope, manages }: Reader): RawBuilder<boolean> => {
  const mine = sql<boolean>`messages.user_id = ${user_id}`
  const forAll = sql<boolean>`messages.user_id is null`
  if ('everything' in scope) return sql<boolean>`(${mine} or (${forAll} and messages.bp_id is null))`
  const own = within(scope, 'messages.bp_id')
  return manages ? sql<boolean>`(${mine} or (${forAll} and ${own}))` : sql<boolean>`(${mine} or (${forAll} and ${own} and ${ofCategory(categoryForMembers)}))`
}

const unreadOf = (userId: string): RawBuilder<boolean> =>
  sql<boolean>`exists (select from message_unread where message_unread.user_id = ${userId} and message_unread.message_id = messages.id)`

/** @returns whether it was not told before */
export const insertMessage = async (tx: Tx, row: Insertable<MessageTable>): Promise<boolean> =>
  (await tx
    .insertInto('messages')
    .values(row)
    .onConflict((conflict) => conflict.constraint('messages_once').doNothing())
    .returning('id')
    .executeTakeFirst()) !== undefined

/** Nobody who is told has read it. As {@link toldTo} says, of those who may sign in. */
export async function insertUnread(tx: Tx, { id, bp_id, user_id, kind }: Pick<MessageTable, 'id' | 'bp_id' | 'user_id' | 'kind'>): Promise<void> {
  const manages = sql`users.kind in (2, 3) or exists (select from user_roles where user_roles.user_id = users.id and user_roles.role = 'TENANT_ADMIN')`
  const told = messageKinds[kind] === categoryForMembers ? sql`true` : manages
  const forAll = bp_id === null ? sql`users.kind in (0, 1)` : sql`users.bp_id = ${bp_id} and users.kind not in (0, 1) and (${told})`
  await sql`
    insert into message_unread (user_id, message_id)
    select users.id, ${id}::uuid from users
    where users.status = 'active' and users.deleted_at is null and ${user_id === null ? forAll : sql`users.id = ${user_id}`}
  `.execute(tx)
}

export async function listMessages(on: Sql, reader: Reader, query: QueryOf<typeof calls.list>): Promise<{ total: number; items: Message[] }> {
  const { category, unread, keyword } = query
  const isUnread = unreadOf(reader.user_id)
  const found = on
    .selectFrom('messages')
    .where(toldTo(reader))
    .where(matching(keyword, 'messages.text', 'messages.about_name'))
    .$if(category !== undefined, (q) => q.where(ofCategory(category ?? 'money')))
    .$if(unread !== undefined, (q) => q.where(unread === true ? isUnread : sql<boolean>`not ${isUnread}`))
  const page = pageOf(found, query, orderOf('messages', '-at', 'at'), (ids) =>
    on.selectFrom('messages').selectAll('messages').select(isUnread.as('unread')).where('messages.id', 'in', ids),
  )
  return shapedPage(page, ({ id, kind, text, at, about_kind, about_id, about_name, unread: isNew }) => ({
    id,
    kind,
    category: messageKinds[kind],
    text,
    at: iso(at),
    about: { kind: about_kind, id: about_id, name: about_name },
    read: !isNew,
  }))
}

/** Only what they are still told, of what they have not read: somebody may have been put elsewhere since. */
const unreadMessages = (on: Sql, reader: Reader) =>
  on
    .selectFrom('message_unread')
    .innerJoin('messages', 'messages.id', 'message_unread.message_id')
    .where('message_unread.user_id', '=', reader.user_id)
    .where(toldTo(reader))

export const countUnread = (on: Sql, reader: Reader): Promise<number> =>
  counted(on.selectFrom(unreadMessages(on, reader).select('messages.id').limit(unreadMost).as('unread')))

/** Of others nothing is marked: who asks has no rows about what they are not told. */
export const markRead = async (on: Sql, userId: string, ids: readonly string[]): Promise<void> => {
  await on.deleteFrom('message_unread').where('user_id', '=', userId).where(among('message_id', ids)).execute()
}

export async function markAllRead(on: Sql, userId: string, category: MessageCategory | undefined): Promise<void> {
  await on
    .deleteFrom('message_unread')
    .where('user_id', '=', userId)
    .$if(category !== undefined, (q) =>
      q.where('message_id', 'in', (of) =>
        of
          .selectFrom('messages')
          .innerJoin('message_unread as own', 'own.message_id', 'messages.id')
          .select('messages.id')
          .where('own.user_id', '=', userId)
          .where(ofCategory(category ?? 'money')),
      ),
    )
    .execute()
}

export const deleteMessagesBefore = async (on: Sql, moment: Date): Promise<void> => {
  await on.deleteFrom('messages').where('at', '<', moment).execute()
}
