import type { RecycledInstance, RecycledStatus } from '@zhisuan/contract/compute/recycled'
import type { Generated, Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

/** Remembered when it was taken off. */
export interface RememberedIp {
  readonly id: string
  readonly address: string
  readonly port_id: string
}

interface RecycledInstanceTable {
  id: string
  cloud_id: string
  /** Nova's. */
  instance_id: string
  name: string
  keystone_id: string | null
  /** Whose: no foreign key, what lies here outlives its owner. */
  bp_id: string | null
  status: RecycledStatus
  ran: boolean
  flavor: RecycledInstance['flavor']
  /** Null until they are known: only then the first is taken off. */
  floating_ips: RememberedIp[] | null
  error_text: string | null
  recycled_by: string
  recycled_at: Generated<Date>
  until: Date
}
interface RecycleRetentionTable {
  cloud_id: string
  days: number
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    recycled_instances: RecycledInstanceTable
    recycle_retentions: RecycleRetentionTable
  }
}
export type RecycledRow = Selectable<RecycledInstanceTable>

export const recycleMigrations: Migrations = {
  '20261123_00_66_recycled_instances': migration(`
    create table recycled_instances (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      instance_id text not null,
      name text not null,
      keystone_id text,
      bp_id uuid,
      status text not null check (status in ('recycling', 'recycled', 'restoring', 'purging')),
      ran boolean not null,
      flavor jsonb,
      floating_ips jsonb,
      error_text text,
      recycled_by text not null,
      recycled_at timestamptz not null default now(),
      until timestamptz not null,
      constraint recycled_instances_once unique (cloud_id, instance_id)
    );
    create index recycled_instances_bp on recycled_instances (bp_id, cloud_id);
    create index recycled_instances_due on recycled_instances (until) where status = 'recycled';
    create table recycle_retentions (
      cloud_id uuid primary key references clouds,
      days integer not null check (days between 1 and 365)
    );
  `),
}

export const recycledIds = async (on: Sql, cloudId: string): Promise<ReadonlySet<string>> =>
  new Set((await on.selectFrom('recycled_instances').select('instance_id').where('cloud_id', '=', cloudId).execute()).map(({ instance_id }) => instance_id))

export const isRecycled = async (on: Sql, cloudId: string, instanceId: string): Promise<boolean> =>
  (await on.selectFrom('recycled_instances').select('id').where('cloud_id', '=', cloudId).where('instance_id', '=', instanceId).executeTakeFirst()) !==
  undefined

const seen = (on: Sql, scope: Scope) => on.selectFrom('recycled_instances').selectAll().where(within(scope, 'recycled_instances.bp_id'))

export const recycledOf = (on: Sql, scope: Scope, cloudId: string): Promise<RecycledRow[]> =>
  seen(on, scope).where('cloud_id', '=', cloudId).orderBy('recycled_at', 'desc').execute()

/** Held until the transaction ends. */
export const lockRecycled = (tx: Tx, scope: Scope, cloudId: string, instanceId: string): Promise<RecycledRow | undefined> =>
  seen(tx, scope).where('cloud_id', '=', cloudId).where('instance_id', '=', instanceId).forUpdate().executeTakeFirst()

export const recycledById = (on: Sql, id: string): Promise<RecycledRow | undefined> =>
  on.selectFrom('recycled_instances').selectAll().where('id', '=', id).executeTakeFirst()

/** What is over, the oldest first, on clouds that may be changed now. */
export const dueForPurge = (on: Sql, now: Date): Promise<RecycledRow[]> =>
  on
    .selectFrom('recycled_instances')
    .innerJoin('clouds', 'clouds.id', 'recycled_instances.cloud_id')
    .selectAll('recycled_instances')
    .where('clouds.status', '=', 'active')
    .where('clouds.deleted_at', 'is', null)
    .where('recycled_instances.status', '=', 'recycled')
    .where('until', '<=', now)
    .orderBy('until')
    .limit(200)
    .execute()

export const { insert: insertRecycled, update: updateRecycled, remove: deleteRecycled } = rowsOf('recycled_instances')

/** What lies in the bin of a project that is not there any more says so by this text, and no more once it is back. */
export async function sayOfRecycled(tx: Tx, cloudId: string, keystoneId: string, text: string, so: boolean): Promise<void> {
  await tx
    .updateTable('recycled_instances')
    .set({ error_text: so ? text : null })
    .where('cloud_id', '=', cloudId)
    .where('keystone_id', '=', keystoneId)
    .where('status', '=', 'recycled')
    .$if(!so, (q) => q.where('error_text', '=', text))
    .execute()
}

/** With their cloud: what lies in its bin is its own from then on. */
export const forgetRecycled = async (on: Sql, cloudId: string): Promise<void> => {
  await on.deleteFrom('recycled_instances').where('cloud_id', '=', cloudId).execute()
  await on.deleteFrom('recycle_retentions').where('cloud_id', '=', cloudId).execute()
}

/** Undefined: as long as is usual. */
export const retentionOf = async (on: Sql, cloudId: string): Promise<number | undefined> =>
  (await on.selectFrom('recycle_retentions').select('days').where('cloud_id', '=', cloudId).executeTakeFirst())?.days

export const setRetention = async (on: Sql, cloudId: string, days: number): Promise<void> => {
  await on
    .insertInto('recycle_retentions')
    .values({ cloud_id: cloudId, days })
    .onConflict((conflict) => conflict.column('cloud_id').doUpdateSet({ days }))
    .execute()
}
