import type { QueryOf } from '@zhisuan/contract/define'
import type { StoragePool, storagePools } from '@zhisuan/contract/nextstack/volume'
import type { Pool } from '@zhisuan/engines/storage'
import { sql, type Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { asked, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { tellsChanges } from '../../../platform/changes.ts'

/** As the engine told it the last time. */
interface StoragePoolTable {
  id: string
  cloud_id: string
  /** Nobody's: pools are the platform's. */
  bp_id: string | null
  name: string
  description: string
  driver: string
  shared: boolean
  status: string
  total_bytes: number
  used_bytes: number
  enforces_size: boolean
  /** Whether a volume that a running instance uses can be set back. */
  restores_in_use: boolean
  members: StoragePool['members']
  seen_at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    storage_pools: StoragePoolTable
  }
}
export type StoragePoolRow = Selectable<StoragePoolTable>
/** Sizes of the volumes in a pool, and how many there are. */
interface Promised {
  bytes: number
  count: number
}
export type ShownStoragePool = StoragePoolRow & { promised: Promised }

export const storagePoolMigrations: Migrations = {
  '20261123_00_25_storage_pools': migration(`
    create table storage_pools (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      name text not null,
      description text not null,
      driver text not null,
      shared boolean not null,
      status text not null,
      total_bytes bigint not null,
      used_bytes bigint not null,
      enforces_size boolean not null,
      restores_in_use boolean not null,
      members jsonb not null,
      seen_at timestamptz not null,
      unique (cloud_id, name)
    );
    ${tellsChanges('storage_pools', 'nextstack.storagePool')}
  `),
}

/** All may choose among pools; what may be told of them is the service's to say. */
const visible = (on: Sql, scope: Scope) => on.selectFrom('storage_pools').$if('nothing' in scope, (q) => q.where(sql<boolean>`false`))

const promised = sql<Promised>`(
  select jsonb_build_object('bytes', coalesce(sum(coalesce(growing_to, size_bytes)), 0), 'count', count(*))
  from volumes where volumes.cloud_id = storage_pools.cloud_id and volumes.pool = storage_pools.name
)`

const shown = (on: Sql, scope: Scope) => visible(on, scope).selectAll('storage_pools').select(promised.as('promised'))

const order = orderOf('storage_pools', 'name', 'name', 'total_bytes', 'used_bytes')

export async function listPools(on: Sql, scope: Scope, query: QueryOf<typeof storagePools.list>): Promise<{ total: number; rows: ShownStoragePool[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'storage_pools', 'cloud_id'))
    .where(matching(query.keyword, 'storage_pools.name'))
  return pageOf(filtered, query, order, (ids) => shown(on, scope).where('storage_pools.id', 'in', ids))
}

export const getPool = (on: Sql, scope: Scope, id: string): Promise<ShownStoragePool | undefined> =>
  shown(on, scope).where('storage_pools.id', '=', id).executeTakeFirst()

export const poolsOfCloud = (on: Sql, cloudId: string): Promise<StoragePoolRow[]> =>
  on.selectFrom('storage_pools').selectAll().where('cloud_id', '=', cloudId).orderBy('name').execute()

export const findPool = (on: Sql, cloudId: string, name: string): Promise<StoragePoolRow | undefined> =>
  on.selectFrom('storage_pools').selectAll().where('cloud_id', '=', cloudId).where('name', '=', name).executeTakeFirst()

/** These are all that a cloud has, as its engine tells now. */
export async function recordPools(tx: Tx, cloudId: string, pools: readonly Pool[], seenAt: Date): Promise<void> {
  const cloud = await tx.selectFrom('clouds').select('id').where('id', '=', cloudId).where('deleted_at', 'is', null).forKeyShare().executeTakeFirst()
  // Removed while it was looked at.
  if (cloud === undefined) return
  for (const pool of pools) {
    const facts = {
      description: pool.description,
      driver: pool.driver,
      shared: pool.shared,
      status: pool.status,
      total_bytes: pool.totalBytes,
      used_bytes: pool.usedBytes,
      enforces_size: pool.enforcesSize,
      restores_in_use: pool.restoresInUse,
      // The driver wants JSON as text; the type is what is read back.
      members: jsonb(pool.members.map(({ member, totalBytes, usedBytes }) => ({ member, total_bytes: totalBytes, used_bytes: usedBytes }))),
      seen_at: seenAt,
    }
    await tx
      .insertInto('storage_pools')
      .values({ id: uuidv7(), cloud_id: cloudId, bp_id: null, name: pool.name, ...facts })
      .onConflict((on) => on.columns(['cloud_id', 'name']).doUpdateSet(facts))
      .execute()
  }
  await tx
    .deleteFrom('storage_pools')
    .where('cloud_id', '=', cloudId)
    .$if(pools.length > 0, (q) =>
      q.where(
        'name',
        'not in',
        pools.map(({ name }) => name),
      ),
    )
    .execute()
}

export const forgetPools = async (tx: Tx, cloudId: string): Promise<void> => {
  await tx.deleteFrom('storage_pools').where('cloud_id', '=', cloudId).execute()
}
