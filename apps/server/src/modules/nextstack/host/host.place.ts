import type { Tx, Sql } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { idsOf } from '../../../platform/ids.ts'
import type { FlavorRow } from '../flavor/flavor.store.ts'
import { mustFit } from './host.reach.ts'
import * as gpus from './gpu.store.ts'
import * as store from './host.store.ts'

/** An instance that is about to be made. */
type NewVm = Readonly<{ id: string; cloud_id: string; memory_bytes: number }>
type WantedGpus = Pick<FlavorRow, 'gpu_model' | 'gpu_count'>
type Wanted = WantedGpus & Pick<FlavorRow, 'cpu_cores' | 'memory_bytes'>

/**
 * Chooses where new instances are put and which GPUs they get. In the transaction that inserts
 * them, after their rows: the cards are theirs when it commits, and nobody gets them twice. They
 * are given back when an instance's row is deleted.
 * @throws Refusal `flavorBeyondHosts`, `noSchedulableHost`, `gpusExhausted`
 */
export async function place(tx: Tx, vms: readonly NewVm[], flavor: Wanted): Promise<void> {
  const [first] = vms
  if (first === undefined) return
  await mustFit(tx, { cloud_id: first.cloud_id, node: null }, flavor)
  const all = await store.placesOf(tx, first.cloud_id)
  const takers = all.filter(({ schedulable, clustered, status }) => schedulable && (!clustered || status === 'online'))
  // Of a cloud registered just now no host is known yet: its engine decides.
  if (all.length > 0 && takers.length === 0) throw new Refusal('noSchedulableHost')
  const free = takers.map((host) => ({ ...host, freeBytes: host.memory_total_bytes - host.promised_bytes, cards: [] as string[] }))
  const { gpu_model: model, gpu_count: count } = flavor
  if (model !== null) {
    for (const { host_id, pci_address } of await gpus.lockFree(tx, idsOf(free), model)) free.find(({ id }) => id === host_id)?.cards.push(pci_address)
  }
  const needed = model === null ? 0 : (count ?? 0)
  for (const vm of vms) {
    const [host] = free.filter(({ cards }) => cards.length >= needed).sort(needed === 0 ? roomiest : fullest)
    if (host === undefined && needed > 0) throw new Refusal('gpusExhausted', { field: 'flavor_id' })
    if (host === undefined) continue
    host.freeBytes -= vm.memory_bytes
    await store.setNode(tx, vm.id, host.name)
    if (needed > 0) await gpus.giveGpus(tx, vm.id, host.id, host.cards.splice(0, needed))
  }
}

interface Free {
  name: string
  freeBytes: number
  cards: readonly string[]
}
const roomiest = (left: Free, right: Free): number => right.freeBytes - left.freeBytes || left.name.localeCompare(right.name)
/** What needs several cards finds them on one host as long as possible. */
const fullest = (left: Free, right: Free): number => left.cards.length - right.cards.length || roomiest(left, right)

/** What the engine is told of the place that {@link place} chose: to be spread into its creation. */
export async function placed(on: Sql, vm: { id: string; cloud_id: string; node: string | null }): Promise<{ host?: string; gpus?: string[] }> {
  const [host, cards] = [await store.hostFor(on, vm), await gpus.gpusOfVm(on, vm.id)]
  return { ...(host !== undefined && { host }), ...(cards.length > 0 && { gpus: cards.map(({ pci_address }) => pci_address) }) }
}

/** Cards are given at creation only. @throws Refusal `gpusFixed` where a flavor has others than the instance */
export async function mustKeepGpus(on: Sql, vmId: string, flavor: WantedGpus): Promise<void> {
  const held = await gpus.gpusOfVm(on, vmId)
  const same = held.length === (flavor.gpu_count ?? 0) && held.every(({ model }) => model === flavor.gpu_model)
  if (!same) throw new Refusal('gpusFixed', { field: 'flavor_id' })
}
