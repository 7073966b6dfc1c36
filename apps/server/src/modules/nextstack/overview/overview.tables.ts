import type { EventResource, OverviewKind } from '@zhisuan/contract/nextstack/overview'

/** The table of each kind that is counted: rows with a `status`, of an organisation `bp_id`. */
export const countedTables = {
  vm: 'vms',
  snapshot: 'vm_snapshots',
  volume: 'volumes',
  volumeSnapshot: 'volume_snapshots',
  image: 'images',
  vpc: 'vpcs',
  eip: 'eips',
} as const satisfies Record<OverviewKind, string>

interface Named {
  readonly table: string
  /** Column of what people call it. */
  readonly name: string
  /** Column of the thing whose page tells of it. */
  readonly page: string
}
const named = (table: string): Named => ({ table, name: 'name', page: 'id' })

/** Where each kind of resource that operations are on has its name, by its `id`. */
export const namedTables: Readonly<Record<EventResource, Named>> = {
  vm: named(countedTables.vm),
  snapshot: named(countedTables.snapshot),
  volume: named(countedTables.volume),
  volumeSnapshot: named(countedTables.volumeSnapshot),
  image: named(countedTables.image),
  vpc: named(countedTables.vpc),
  eip: named(countedTables.eip),
  volumeBackup: named('volume_backups'),
  host: named('hosts'),
  edge: named('edges'),
  edge_image_pull: { table: 'edge_image_pulls', name: 'image', page: 'edge_id' },
  container: named('containers'),
  stack: named('stacks'),
}
