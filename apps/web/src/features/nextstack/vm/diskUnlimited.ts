import type { Vm } from '@zhisuan/contract/nextstack/vm'
import type { StoragePool } from '@zhisuan/contract/nextstack/volume'

/** Whether a new instance may write more than its disk's size: in a folder of the host, as whose pool limits nothing; a virtual machine's disk is a file of that size. */
export function isDiskUnlimited(type: Vm['type'] | undefined, pools: readonly Pick<StoragePool, 'name' | 'enforces_size'>[]): boolean {
  // Where the engine puts instances.
  const pool = pools.find(({ name }) => name === 'default') ?? pools[0]
  return type === 'container' && pool?.enforces_size === false
}
