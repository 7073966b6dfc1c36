import type { StoragePool } from '@zhisuan/contract/nextstack/volume'

/** Whether a cloud tells how large snapshots of instances are: of those in folders, where nothing limits a size either, it does not. Null while nobody knows. */
export function tellsSnapshotSizes(pools: readonly Pick<StoragePool, 'name' | 'enforces_size'>[] | undefined): boolean | null {
  // Where the engine puts instances.
  const pool = pools?.find(({ name }) => name === 'default') ?? pools?.[0]
  return pool === undefined ? null : pool.enforces_size
}
