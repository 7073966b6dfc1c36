import { meters, type Meter } from '@zhisuan/contract/bill/meter'
import { gpusOf, type ComputeFlavor } from '@zhisuan/contract/compute/flavor'
import type { Eip } from '@zhisuan/contract/nextstack/eip'
import type { Flavor } from '@zhisuan/contract/nextstack/flavor'
import type { Vm } from '@zhisuan/contract/nextstack/vm'
import type { Volume } from '@zhisuan/contract/nextstack/volume'

/** So much of a meter, as a quote is asked for it. */
export interface QuoteItem {
  readonly meter: Meter
  readonly variant: string
  readonly quantity: number
}

const item = (meter: Meter, quantity: number, variant = ''): QuoteItem => ({ meter, variant, quantity })

/** What an instance uses while it runs. */
export const vmItems = ({ cpu_cores, memory_bytes, disk_bytes, gpus }: Pick<Vm, 'cpu_cores' | 'memory_bytes' | 'disk_bytes' | 'gpus'>): QuoteItem[] => [
  item('vm.vcpu', cpu_cores),
  item('vm.memory', memory_bytes),
  item('vm.disk', disk_bytes),
  ...gpus.map(({ model, count }) => item('vm.gpu', count, model)),
]

export const flavorItems = ({ cpu_cores, memory_bytes, gpu }: Pick<Flavor, 'cpu_cores' | 'memory_bytes' | 'gpu'>, disk_bytes: number): QuoteItem[] =>
  vmItems({ cpu_cores, memory_bytes, disk_bytes, gpus: gpu === null ? [] : [gpu] })

/** The same of an OpenStack's: what is started from a volume has no disk of its flavor's. */
export const computeFlavorItems = (
  { vcpus, memory_bytes, disk_bytes, extra_specs }: Pick<ComputeFlavor, 'vcpus' | 'memory_bytes' | 'disk_bytes' | 'extra_specs'>,
  ownDisk: boolean,
): QuoteItem[] => [
  item('vm.vcpu', vcpus),
  item('vm.memory', memory_bytes),
  ...(ownDisk && disk_bytes > 0 ? [item('vm.disk', disk_bytes)] : []),
  ...gpusOf(extra_specs).map(({ model, count }) => item('vm.gpu', count, model)),
]

/** Volumes by their type; where it is left to the cloud, at the price of those without one of their own. */
export const computeVolumeItems = (volumes: readonly { readonly type: string | null; readonly size_bytes: number }[]): QuoteItem[] =>
  [
    ...Map.groupBy(
      volumes.filter(({ size_bytes }) => size_bytes > 0),
      ({ type }) => type ?? '',
    ),
  ].map(([type, alike]) =>
    item(
      'volume.size',
      alike.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
      type,
    ),
  )

export const volumeItems = ({ pool, size_bytes }: Pick<Volume, 'pool' | 'size_bytes'>): QuoteItem[] => [item('volume.size', size_bytes, pool)]

/** What its hosts cannot limit has no price. */
export const eipItems = ({ bandwidth_mbps, limits_bandwidth }: Pick<Eip, 'bandwidth_mbps' | 'limits_bandwidth'>): QuoteItem[] => [
  item('eip.address', 1),
  ...(bandwidth_mbps === null || !limits_bandwidth ? [] : [item('eip.bandwidth', bandwidth_mbps)]),
]

/** An address that has no bandwidth of its own. */
export const plainEipItems: readonly QuoteItem[] = eipItems({ bandwidth_mbps: null, limits_bandwidth: true })

/** A machine of the market while it runs: the offer says what a card and a GiB cost. */
export const rentalItems = (offerId: string, count: number, disk_bytes: number): QuoteItem[] => [
  item('market.card', count, offerId),
  item('market.disk', disk_bytes, offerId),
]

export type StorageMeter = 'snapshot.size' | 'backup.size' | 'image.size'
/** What is kept beside a resource; a GiB where its size is not known. */
export const storageItems = (meter: StorageMeter, bytes: number | null): QuoteItem[] => [item(meter, bytes ?? meters[meter].perUnit)]
