import type { ComputeEngine } from '@zhisuan/engines/compute'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { CloudEndpoints } from './cloud.endpoint.ts'
import { known, type KnownCloud } from './cloud.shape.ts'
import * as store from './cloud.store.ts'
import type { CloudRow, Observed } from './cloud.store.ts'

export type CloudService = ReturnType<typeof createCloudService>

/** Clouds as other modules use them: their engines, and whether they may be read from or changed now. */
export function createCloudService({ db, endpoints }: { db: Db; endpoints: CloudEndpoints }) {
  /** @throws Refusal notFound for a cloud of the other family: its pages do not know it */
  const engineOf = (row: CloudRow): ComputeEngine => {
    const opened = endpoints.opened(row)
    if (opened.family !== 'nextstack') throw new Refusal('notFound')
    return opened.engine
  }
  const openStackOf = (row: CloudRow): OpenStack => {
    const opened = endpoints.opened(row)
    if (opened.family !== 'compute') throw new Refusal('notFound')
    return opened.engine
  }

  return {
    /** @throws Refusal notFound */
    async engine(id: string): Promise<ComputeEngine> {
      return engineOf(found(await store.getCloud(db, id)))
    },

    /** To read from: a cloud that tenants may see. @throws Refusal notFound, 12006 */
    async forReading(id: string): Promise<ComputeEngine> {
      const row = found(await store.getCloud(db, id))
      if (row.status === 'offline') throw new Refusal('cloudOffline')
      return engineOf(row)
    },

    /** The OpenStack behind a cloud, by the credentials of its registration, which see all of it. @throws Refusal notFound, 12006 */
    async openStack(id: string): Promise<OpenStack> {
      const row = found(await store.getCloud(db, id))
      if (row.status === 'offline') throw new Refusal('cloudOffline')
      return openStackOf(row)
    },

    /** The same, to change something on. @throws Refusal notFound, 12005, 12006 */
    async openStackForChange(id: string): Promise<OpenStack> {
      const row = found(await store.getCloud(db, id))
      if (row.status === 'maintenance') throw new Refusal('cloudMaintenance')
      if (row.status === 'offline') throw new Refusal('cloudOffline')
      return openStackOf(row)
    },

    /**
     * To change something on, until the transaction ends.
     * @throws Refusal notFound, 12005, 12006
     */
    async forChange(tx: Tx, id: string): Promise<KnownCloud & { instance_types: Observed['instance_types'] | null }> {
      const row = found(await store.shareCloud(tx, id))
      if (row.status === 'maintenance') throw new Refusal('cloudMaintenance')
      if (row.status === 'offline') throw new Refusal('cloudOffline')
      return { ...known(row), instance_types: row.observed?.instance_types ?? null }
    },

    async all(): Promise<KnownCloud[]> {
      return (await store.allClouds(db)).map(known)
    },

    /** Told when clouds were registered, changed or removed, by whichever server. */
    onChange: endpoints.onChange,
  }
}
