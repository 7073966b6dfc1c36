import { z } from 'zod'

const gib = 2 ** 30

/**
 * What is measured of a resource. A quantity is an integer of the base unit; prices are for
 * `perUnit` of them, which people call `unit`. Of a meter that varies each kind of it (the model
 * of a GPU, the storage pool of a volume) may have a price of its own.
 */
export const meters = {
  'vm.vcpu': { unit: 'core', perUnit: 1, varies: false },
  'vm.memory': { unit: 'GiB', perUnit: gib, varies: false },
  'vm.disk': { unit: 'GiB', perUnit: gib, varies: false },
  /** By model. */
  'vm.gpu': { unit: 'card', perUnit: 1, varies: true },
  /** By storage pool. */
  'volume.size': { unit: 'GiB', perUnit: gib, varies: true },
  'snapshot.size': { unit: 'GiB', perUnit: gib, varies: false },
  'backup.size': { unit: 'GiB', perUnit: gib, varies: false },
  'image.size': { unit: 'GiB', perUnit: gib, varies: false },
  'eip.address': { unit: 'address', perUnit: 1, varies: false },
  'eip.bandwidth': { unit: 'Mbps', perUnit: 1, varies: false },
  /** Of containers on nodes that the platform shares: at most, in thousandths of a processor, while they run. */
  'container.vcpu': { unit: 'core', perUnit: 1_000, varies: false },
  'container.memory': { unit: 'GiB', perUnit: gib, varies: false },
  /** Of machines that are rented in the market, by offer: what they have while they run, and while they are stopped. */
  'market.card': { unit: 'card', perUnit: 1, varies: true },
  'market.disk': { unit: 'GiB', perUnit: gib, varies: true },
  'market.stoppedDisk': { unit: 'GiB', perUnit: gib, varies: true },
  'registry.size': { unit: 'GiB', perUnit: gib, varies: false },
  'file.size': { unit: 'GiB', perUnit: gib, varies: false },
} as const satisfies Record<string, { unit: string; perUnit: number; varies: boolean }>
export type Meter = keyof typeof meters
export const meterNames = Object.keys(meters) as [Meter, ...Meter[]]
/** Of these nothing is measured yet: a price of them is asked of nobody, and none is offered to be set. */
const unmeasured: ReadonlySet<Meter> = new Set(['file.size'])
export const measuredMeters: readonly Meter[] = meterNames.filter((meter) => !unmeasured.has(meter))
export const isMeter = (name: string): name is Meter => Object.hasOwn(meters, name)

/** Which kind of a meter that varies; empty: every kind that has no price of its own. */
export const variant = z
  .string()
  .trim()
  .max(128)
  .regex(/^\P{Cc}*$/u)

/** A variant as people read it: what is rented in the market is of an offer, whose id tells them nothing beside its name. */
export const variantText = (meter: Meter, kind: string): string => (meter.startsWith('market.') ? '' : kind)

/** Days and months of bills are those of Beijing, whose hours are those of UTC. */
export const billingZone = 'Asia/Shanghai'
