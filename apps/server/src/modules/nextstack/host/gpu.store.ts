import type { Gpu } from '@zhisuan/engines/hosts'
import { sql, type Generated, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import type { QuotaCounter } from '../quota/quota.service.ts'
import { present, type GpuUse } from './host.store.ts'

/** A GPU of a host, and who has it. */
interface HostGpuTable {
  host_id: string
  bp_id: string | null
  pci_address: string
  vendor: string
  model: string
  driver: string
  /** The instance that holds it, from the moment it is asked for until its record goes. */
  vm_id: string | null
  /** An instance on the engine that has it, and is none of ours. */
  taken_by: string | null
  /** False of one that the engine no longer names. */
  present: Generated<boolean>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    host_gpus: HostGpuTable
  }
}
export type HostGpuRow = Selectable<HostGpuTable>
export type ShownGpu = HostGpuRow & { vm_name: string | null }

export const gpuMigrations: Migrations = {
  '20261123_00_27_host_gpus': migration(`
    create table host_gpus (
      host_id uuid not null references hosts on delete cascade,
      bp_id uuid,
      pci_address text not null,
      vendor text not null,
      model text not null,
      driver text not null,
      -- Whoever deletes an instance gives back its cards, and cannot forget to.
      vm_id uuid references vms on delete set null,
      taken_by text,
      present boolean not null default true,
      primary key (host_id, pci_address)
    );
    create index host_gpus_vm on host_gpus (vm_id) where vm_id is not null;
    create index host_gpus_free on host_gpus (model, host_id, pci_address) where vm_id is null and taken_by is null and present;
    ${tellsChanges('host_gpus', 'nextstack.host')}
  `),
}

export const gpuCounter: QuotaCounter = {
  resources: ['gpus'],
  count: (on, { bp_id, project_id }) =>
    on
      .selectFrom('host_gpus')
      .innerJoin('vms', 'vms.id', 'host_gpus.vm_id')
      .select(sql<number>`count(*)`.as('gpus'))
      .$if(bp_id !== null, (q) => q.where('vms.bp_id', '=', bp_id))
      .$if(project_id !== null, (q) => q.where('vms.project_id', '=', project_id))
      .executeTakeFirstOrThrow(),
}

export const gpusOfHost = (on: Sql, hostId: string): Promise<ShownGpu[]> =>
  on
    .selectFrom('host_gpus')
    .leftJoin('vms', 'vms.id', 'host_gpus.vm_id')
    .selectAll('host_gpus')
    .select('vms.name as vm_name')
    .where('host_id', '=', hostId)
    .orderBy('pci_address')
    .execute()

/** PCI addresses of what an instance holds. */
export const gpusOfVm = (on: Sql, vmId: string): Promise<{ pci_address: string; model: string }[]> =>
  on.selectFrom('host_gpus').select(['pci_address', 'model']).where('vm_id', '=', vmId).orderBy('pci_address').execute()

/** Of all hosts that are there. */
export const gpuModels = (on: Sql): Promise<GpuUse[]> =>
  present(on)
    .innerJoin('host_gpus', 'host_gpus.host_id', 'hosts.id')
    .select(['model', sql<number>`count(*)`.as('count'), sql<number>`count(*) filter (where vm_id is not null or taken_by is not null)`.as('used')])
    .where('hosts.status', '<>', 'gone')
    .where('host_gpus.present', '=', true)
    .groupBy('model')
    .orderBy('model')
    .execute()

/** Free cards of a model on these hosts, held until the transaction ends: who asks at the same time waits, and then sees what is left. */
export const lockFree = (tx: Tx, hostIds: readonly string[], model: string): Promise<Pick<HostGpuRow, 'host_id' | 'pci_address'>[]> =>
  hostIds.length === 0
    ? Promise.resolve([])
    : tx
        .selectFrom('host_gpus')
        .select(['host_id', 'pci_address'])
        .where('host_id', 'in', hostIds)
        .where('model', '=', model)
        .where('vm_id', 'is', null)
        .where('taken_by', 'is', null)
        .where('present', '=', true)
        .orderBy('host_id')
        .orderBy('pci_address')
        .forUpdate()
        .execute()

export const giveGpus = async (tx: Tx, vmId: string, hostId: string, pciAddresses: readonly string[]): Promise<void> => {
  await tx.updateTable('host_gpus').set({ vm_id: vmId }).where('host_id', '=', hostId).where('pci_address', 'in', pciAddresses).execute()
}

/** What a host has, as its engine names it. A card that is gone stays as long as an instance holds it. */
export async function recordGpus(on: Sql, hostId: string, gpus: readonly Gpu[]): Promise<void> {
  const there = JSON.stringify(gpus.map(({ pciAddress, vendor, model, driver }) => ({ pci_address: pciAddress, vendor, model, driver })))
  await sql`
    insert into host_gpus (host_id, pci_address, vendor, model, driver)
    select ${hostId}::uuid, pci_address, vendor, model, driver
    from jsonb_to_recordset(${there}::jsonb) as seen (pci_address text, vendor text, model text, driver text)
    on conflict (host_id, pci_address) do update set vendor = excluded.vendor, model = excluded.model, driver = excluded.driver, present = true
    where (host_gpus.vendor, host_gpus.model, host_gpus.driver, host_gpus.present) is distinct from (excluded.vendor, excluded.model, excluded.driver, true)
  `.execute(on)
  const gone = on
    .selectFrom('host_gpus')
    .select('pci_address')
    .where('host_id', '=', hostId)
    .where(sql<boolean>`not pci_address = any(${gpus.map(({ pciAddress }) => pciAddress)})`)
  await on.updateTable('host_gpus').set({ present: false }).where('host_id', '=', hostId).where('present', '=', true).where('pci_address', 'in', gone).execute()
  await on.deleteFrom('host_gpus').where('host_id', '=', hostId).where('present', '=', false).where('vm_id', 'is', null).execute()
}

/** Who else has cards of a host, by their addresses: exactly these. */
export async function recordTaken(on: Sql, hostId: string, taken: ReadonlyMap<string, string>): Promise<void> {
  const others = JSON.stringify(Object.fromEntries(taken))
  await sql`
    update host_gpus set taken_by = ${others}::jsonb ->> pci_address
    where host_id = ${hostId} and taken_by is distinct from (${others}::jsonb ->> pci_address)
  `.execute(on)
}
