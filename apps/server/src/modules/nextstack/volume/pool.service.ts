import type { QueryOf } from '@zhisuan/contract/define'
import type { StoragePool, storagePools } from '@zhisuan/contract/nextstack/volume'
import { platformScope, type Scope } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import type { Observer } from '../follow/follow.ts'
import * as store from './pool.store.ts'
import type { ShownStoragePool, StoragePoolRow } from './pool.store.ts'

export type StoragePools = ReturnType<typeof createStoragePools>

export function createStoragePools(parts: Pick<Platform, 'db' | 'now'> & { clouds: Pick<CloudService, 'forReading'> }) {
  const { db, clouds, now } = parts

  /** Asks the engine and keeps what it says. */
  const look = async (cloudId: string, engine: Awaited<ReturnType<CloudService['forReading']>>, signal?: AbortSignal): Promise<void> => {
    const pools = await engine.storage.pools(signal === undefined ? {} : { signal })
    await db.transaction().execute((tx) => store.recordPools(tx, cloudId, pools, now()))
  }

  return {
    list: (scope: Scope, query: QueryOf<typeof storagePools.list>) =>
      shapedPage(store.listPools(db, scope, query), (row) => ('everything' in scope ? shape(row) : withoutInternals(shape(row)))),

    async get(id: string): Promise<StoragePool> {
      return shape(found(await store.getPool(db, platformScope, id)))
    },

    /**
     * The pool of that name; without one the cloud's default, which is called so, or is its first.
     * One that nobody has seen yet is asked for.
     * @throws Refusal 94153
     */
    async choose(cloudId: string, name: string | undefined): Promise<StoragePoolRow> {
      const among = (pools: readonly StoragePoolRow[]) =>
        name === undefined ? (pools.find((pool) => pool.name === 'default') ?? pools[0]) : pools.find((pool) => pool.name === name)
      const known = among(await store.poolsOfCloud(db, cloudId))
      if (known !== undefined) return known
      await look(cloudId, await clouds.forReading(cloudId))
      const seen = among(await store.poolsOfCloud(db, cloudId))
      if (seen === undefined) throw new Refusal('volumePoolMissing', { field: 'pool' })
      return seen
    },

    /** Keeps pools true to the engine: each minute, and whenever a pool or a volume changes there. */
    observer: {
      name: 'storage pools',
      concerns: (event) => (event.type === 'object' && (event.kind === 'pool' || event.kind === 'volume') ? '' : null),
      // All at once anyway: an engine has few.
      look: ({ id, engine, signal }) => look(id, engine, signal),
    } satisfies Observer as Observer,
  }
}

const shape = (row: ShownStoragePool): StoragePool => ({
  id: row.id,
  cloud_id: row.cloud_id,
  name: row.name,
  description: row.description,
  driver: row.driver,
  shared: row.shared,
  status: row.status,
  total_bytes: row.total_bytes,
  used_bytes: row.used_bytes,
  promised_bytes: row.promised.bytes,
  volume_count: row.promised.count,
  enforces_size: row.enforces_size,
  members: row.members,
  seen_at: iso(row.seen_at),
})

/** What a tenant may not know: how much there is, and how much of it others have. */
const withoutInternals = (pool: StoragePool): StoragePool => ({
  ...pool,
  description: '',
  total_bytes: 0,
  used_bytes: 0,
  promised_bytes: 0,
  volume_count: 0,
  members: [],
})
