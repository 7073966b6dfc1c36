import type { QueryOf } from '@zhisuan/contract/define'
import { hostCan, type Host, type HostDetail, type hosts, type HostStatus } from '@zhisuan/contract/nextstack/host'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import * as gpus from './gpu.store.ts'
import type { HostOperations } from './host.operations.ts'
import * as store from './host.store.ts'
import type { GpuUse, ShownHost } from './host.store.ts'

export type HostService = ReturnType<typeof createHosts>

/** The machines that instances run on. Administrators only: that is in the contract. */
export function createHosts(platform: Pick<Platform, 'db' | 'operations'>, parts: { clouds: Pick<CloudService, 'forChange'>; operations: HostOperations }) {
  const { db } = platform
  const { clouds, operations } = parts

  const get = async (id: string): Promise<ShownHost> => found(await store.getHost(db, id))

  const begin = (actor: Actor, id: string, action: 'evacuate' | 'restore', during: HostStatus): Promise<Host> =>
    db.transaction().execute(async (tx) => {
      const { cloud_id } = found(await store.getHost(tx, id))
      await clouds.forChange(tx, cloud_id)
      const host = found(await store.lockHost(tx, id))
      if (!host.clustered) throw new Refusal('hostNotClustered')
      refuseUnless(hostCan[action], host)
      if (action === 'evacuate' && !(await store.hasOther(tx, host))) throw new Refusal('noSchedulableHost')
      await platform.operations.begin(tx, operations[action], { resource_id: id, bp_id: null, actor, input: {} })
      await store.updateHost(tx, id, { status: during, error_text: null })
      return shape(found(await store.getHost(tx, id)))
    })

  return {
    list: (query: QueryOf<typeof hosts.list>) => shapedPage(store.listHosts(db, query), shape),

    async get(id: string): Promise<HostDetail> {
      const row = await get(id)
      const { disks, nics, system } = row.hardware
      return {
        ...shape(row),
        system,
        disks: disks.map((disk) => ({ id: disk.id, model: disk.model, kind: disk.kind, size_bytes: disk.sizeBytes, removable: disk.removable })),
        nics: nics.map((nic) => ({ id: nic.id, mac: nic.mac, product: nic.product, driver: nic.driver, link: nic.linkDetected, speed_mbps: nic.speedMbps })),
        gpu_cards: (await gpus.gpusOfHost(db, id)).map((card) => ({
          pci_address: card.pci_address,
          model: card.model,
          driver: card.driver,
          vm: card.vm_id === null ? null : { id: card.vm_id, name: card.vm_name ?? '' },
          taken_by: card.taken_by,
          present: card.present,
        })),
      }
    },

    async setSchedulable(id: string, schedulable: boolean): Promise<Host> {
      await db.transaction().execute(async (tx) => {
        const host = found(await store.lockHost(tx, id))
        if (host.schedulable !== schedulable) await store.updateHost(tx, id, { schedulable })
      })
      return shape(await get(id))
    },

    evacuate: (actor: Actor, id: string) => begin(actor, id, 'evacuate', 'evacuating'),

    restore: (actor: Actor, id: string) => begin(actor, id, 'restore', 'restoring'),

    async gpuModels(): Promise<{ total: number; items: GpuUse[] }> {
      const items = await gpus.gpuModels(db)
      return { total: items.length, items }
    },
  }
}

const shape = (row: ShownHost): Host => ({
  id: row.id,
  cloud_id: row.cloud_id,
  name: row.name,
  status: row.status,
  status_message: row.status_message,
  schedulable: row.schedulable,
  clustered: row.clustered,
  address: row.address,
  architecture: row.architecture,
  cpu: { ...row.hardware.cpu, promised: row.promised.cpu_cores },
  memory: { total_bytes: row.memory_total_bytes, used_bytes: row.memory_used_bytes, promised_bytes: row.promised.memory_bytes },
  disk_bytes: row.hardware.disks.reduce((sum, { removable, sizeBytes }) => sum + (removable ? 0 : sizeBytes), 0),
  gpus: row.gpus,
  vm_count: row.promised.vm_count,
  error: row.error_text,
  operation_id: row.operation_id,
  seen_at: iso(row.seen_at),
})
