import type { Notice, NoticeContacts, NoticeKind, notices as calls } from '@zhisuan/contract/bill/notice'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Generated } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { iso, migration, type Migrations, type Sql } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { asked, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { insertsInto } from '../../../platform/db/rows.ts'

interface NoticeTable {
  id: string
  bp_id: string
  kind: NoticeKind
  text: string
  at: Date
}
interface NoticeDeliveryTable {
  id: string
  notice_id: string
  channel: 'email' | 'sms'
  address: string
  status: Generated<'waiting' | 'sent' | 'failed'>
}
interface NoticeContactTable {
  bp_id: string
  contacts: NoticeContacts['contacts']
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    bill_notices: NoticeTable
    bill_notice_deliveries: NoticeDeliveryTable
    bill_notice_contacts: NoticeContactTable
  }
}

export const noticeMigrations: Migrations = {
  '20261123_00_57_bill_notices': migration(`
    create table bill_notices (
      id uuid primary key,
      bp_id uuid not null,
      kind text not null,
      text text not null,
      at timestamptz not null
    );
    create index bill_notices_newest on bill_notices (at, id);
    create index bill_notices_newest_bp on bill_notices (bp_id, at, id);
    create table bill_notice_deliveries (
      id uuid primary key,
      notice_id uuid not null references bill_notices,
      channel text not null check (channel in ('email', 'sms')),
      address text not null,
      status text not null default 'waiting' check (status in ('waiting', 'sent', 'failed')),
      unique (notice_id, channel, address)
    );
    create table bill_notice_contacts (
      bp_id uuid primary key references organisations on delete cascade,
      contacts jsonb not null
    );
  `),
  // What organisations were told before there were messages is one too, without the name that it was sent under; nobody finds it unread.
  '20261126_81_notices_as_messages': migration(`
    insert into messages (id, bp_id, kind, text, about_kind, about_id, about_name, key, at)
    select notice.id, notice.bp_id, 'bill.' || notice.kind, regexp_replace(notice.text, '^【智算云】', ''),
      'bill.account', notice.bp_id::text, coalesce(organisations.name, ''), notice.id::text, notice.at
    from bill_notices as notice left join organisations on organisations.id = notice.bp_id;
  `),
}

export const insertNotice = insertsInto('bill_notices')

export const insertDelivery = insertsInto('bill_notice_deliveries')

export const waitingDelivery = (on: Sql, id: string) =>
  on
    .selectFrom('bill_notice_deliveries as delivery')
    .innerJoin('bill_notices as notice', 'notice.id', 'delivery.notice_id')
    .select(['delivery.channel', 'delivery.address', 'notice.kind', 'notice.text', 'notice.at'])
    .where('delivery.id', '=', id)
    .where('delivery.status', '=', 'waiting')
    .executeTakeFirst()

export const setDelivery = async (on: Sql, id: string, status: 'sent' | 'failed'): Promise<void> => {
  await on.updateTable('bill_notice_deliveries').set({ status }).where('id', '=', id).execute()
}

export async function listNotices(on: Sql, scope: Scope, query: QueryOf<typeof calls.list>): Promise<{ total: number; items: Notice[] }> {
  const filtered = on
    .selectFrom('bill_notices as notice')
    .where(within(scope, 'notice.bp_id'))
    .where(asked(query, 'notice', 'kind', 'bp_id'))
  const page = paged(filtered, query, orderOf('notice', '-at', 'at'))
    .leftJoin('organisations', 'organisations.id', 'notice.bp_id')
    .select((of) => [
      'notice.id',
      'notice.bp_id',
      sql<string>`coalesce(organisations.name, '')`.as('bp_name'),
      'notice.kind',
      'notice.text',
      'notice.at',
      jsonArrayFrom(
        of
          .selectFrom('bill_notice_deliveries as delivery')
          .select(['delivery.channel', 'delivery.address', 'delivery.status'])
          .whereRef('delivery.notice_id', '=', 'notice.id')
          .orderBy('delivery.channel')
          .orderBy('delivery.address'),
      ).as('deliveries'),
    ])
  const { total, rows } = await pageWithTotal(page, filtered, query)
  return {
    total,
    items: rows.map(({ id, bp_id, bp_name, kind, text, at, deliveries }) => ({
      id,
      organisation: { id: bp_id, name: bp_name },
      kind,
      text,
      at: iso(at),
      deliveries,
    })),
  }
}

export const contactsOf = async (on: Sql, bpId: string): Promise<NoticeContacts> => ({
  contacts: (await on.selectFrom('bill_notice_contacts').select('contacts').where('bp_id', '=', bpId).executeTakeFirst())?.contacts ?? [],
})

export const setContacts = async (on: Sql, bp_id: string, contacts: NoticeContacts['contacts']): Promise<void> => {
  await on
    .insertInto('bill_notice_contacts')
    .values({ bp_id, contacts: jsonb(contacts) })
    .onConflict((conflict) => conflict.column('bp_id').doUpdateSet({ contacts: jsonb(contacts) }))
    .execute()
}

/** The names and addresses of those who manage an organisation, and may sign in. */
export const administratorsOf = (on: Sql, bpId: string): Promise<{ email: string | null; phone: string | null }[]> =>
  on
    .selectFrom('users')
    .select(['email', 'phone'])
    .where('bp_id', '=', bpId)
    .where('status', '=', 'active')
    .where('deleted_at', 'is', null)
    // Of a personal organisation the one person; of a company those who manage it.
    .where((where) =>
      where.or([
        where('kind', 'in', [2, 3]),
        where.exists(where.selectFrom('user_roles').whereRef('user_roles.user_id', '=', 'users.id').where('user_roles.role', '=', 'TENANT_ADMIN')),
      ]),
    )
    .execute()
