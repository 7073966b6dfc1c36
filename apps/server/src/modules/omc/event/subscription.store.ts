import type { QueryOf } from '@zhisuan/contract/define'
import type { eventSubscriptions } from '@zhisuan/contract/omc/event'
import type { EventType } from '@zhisuan/contract/omc/log'
import type { Severity } from '@zhisuan/contract/omc/alarm'
import { sql, type Generated, type Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { within } from '../../../platform/db/scope.ts'

interface SubscriptionTable {
  id: string
  bp_id: string | null
  name: string
  receiver_ids: string[]
  types: EventType[]
  families: string[]
  kinds: string[]
  severities: Severity[]
  enabled: boolean
  /** Whose rights say what is told: who made it, or changed it last. */
  user_id: string
  /** Up to which event it was told. */
  number: number
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    event_subscriptions: SubscriptionTable
  }
}

export const subscriptionMigrations: Migrations = {
  '20261202_12_event_subscriptions': migration(`
    create table event_subscriptions (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      receiver_ids uuid[] not null,
      types text[] not null,
      families text[] not null,
      kinds text[] not null,
      severities text[] not null,
      enabled boolean not null,
      user_id uuid not null,
      number bigint not null,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create unique index event_subscriptions_name on event_subscriptions (coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create index event_subscriptions_behind on event_subscriptions (number) where enabled;
    alter table alarm_deliveries drop constraint alarm_deliveries_what_check;
    alter table alarm_deliveries
      add constraint alarm_deliveries_what_check check (what in ('firing', 'resolved', 'escalated', 'event', 'test')),
      add column subscription_id uuid references event_subscriptions on delete cascade,
      add column event_number bigint,
      add constraint alarm_deliveries_event check ((what = 'event') = (event_number is not null) and (what = 'event') = (subscription_id is not null));
    -- Of one event a receiver is told once, by however many subscriptions.
    create unique index alarm_deliveries_event_once on alarm_deliveries (receiver_id, event_number) where event_number is not null;
    create index alarm_deliveries_subscription on alarm_deliveries (subscription_id) where subscription_id is not null;
    create index events_of_organisation on events (bp_id, number);
    create trigger event_subscriptions_tell_eventSubscription after insert or delete or
      update of name, receiver_ids, types, families, kinds, severities, enabled on event_subscriptions
      for each row execute function tell_change('omc.eventSubscription');
  `),
}

export type SubscriptionRow = Selectable<SubscriptionTable>
export type ShownSubscription = SubscriptionRow & { bp_name: string | null; receivers: { id: string; name: string }[] }

const shown = (on: Sql) =>
  on
    .selectFrom('event_subscriptions')
    .selectAll('event_subscriptions')
    .select([
      sql<string | null>`(select name from organisations where organisations.id = event_subscriptions.bp_id)`.as('bp_name'),
      sql<
        ShownSubscription['receivers']
      >`(select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'name', r.name) order by r.name), '[]') from alarm_receivers as r where r.id = any(event_subscriptions.receiver_ids))`.as(
        'receivers',
      ),
    ])

export function listSubscriptions(
  on: Sql,
  scope: Scope,
  query: QueryOf<typeof eventSubscriptions.list>,
): Promise<{ total: number; rows: ShownSubscription[] }> {
  const filtered = on
    .selectFrom('event_subscriptions')
    .where(within(scope, 'event_subscriptions.bp_id'))
    .where(matching(query.keyword, 'event_subscriptions.name'))
  return pageOf(filtered, query, orderOf('event_subscriptions', '-created_at', 'name', 'created_at'), (ids) =>
    shown(on).where('event_subscriptions.id', 'in', ids),
  )
}
export const showSubscription = (on: Sql, scope: Scope, id: string): Promise<ShownSubscription | undefined> =>
  shown(on).where('event_subscriptions.id', '=', id).where(within(scope, 'event_subscriptions.bp_id')).executeTakeFirst()
export const { insert: insertSubscription, update: updateSubscription, remove: removeSubscription, lock: lockSubscription } = rowsOf('event_subscriptions')
export const countSubscriptions = async (on: Sql, bpId: string | null): Promise<number> =>
  (
    await on
      .selectFrom('event_subscriptions')
      .select(sql<number>`count(*)`.as('count'))
      .where('bp_id', bpId === null ? 'is' : '=', bpId)
      .executeTakeFirstOrThrow()
  ).count

/** Those to which nothing of what they have not been told can be anything: it is of others. */
export const moveOn = async (on: Sql, head: number): Promise<void> => {
  await on
    .updateTable('event_subscriptions')
    .set({ number: head })
    .where('enabled', '=', true)
    .where('number', '<', head)
    .where('bp_id', 'is not', null)
    .where(
      sql<boolean>`not exists (select from events where events.bp_id = event_subscriptions.bp_id and events.number > event_subscriptions.number and events.number <= ${head})`,
    )
    .execute()
}
/** Those that have not been told all there is by now, whoever waited longest first. */
export const behind = async (on: Sql, head: number): Promise<string[]> =>
  (await on.selectFrom('event_subscriptions').select('id').where('enabled', '=', true).where('number', '<', head).orderBy('number').execute()).map(
    ({ id }) => id,
  )
/** One of them, held until its transaction ends; undefined where another server tells it, or has. */
export const claimBehind = (tx: Tx, id: string, head: number): Promise<SubscriptionRow | undefined> =>
  tx
    .selectFrom('event_subscriptions')
    .selectAll()
    .where('id', '=', id)
    .where('enabled', '=', true)
    .where('number', '<', head)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
export const subscriptionsByIds = (on: Sql, ids: readonly string[]): Promise<SubscriptionRow[]> =>
  on
    .selectFrom('event_subscriptions')
    .selectAll()
    .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
    .execute()
export const forgetReceiverInSubscriptions = async (tx: Tx, id: string): Promise<void> => {
  await tx
    .updateTable('event_subscriptions')
    .set({ receiver_ids: sql<string[]>`array_remove(receiver_ids, ${id}::uuid)` })
    .where(sql<boolean>`${id}::uuid = any(receiver_ids)`)
    .execute()
}
