import type { Storage } from '../storage.ts'
import type { Pools } from './pools.ts'
import type { Transport } from './transport.ts'
import { createVolumes } from './volumes.ts'

export const createStorage = (transport: Transport, pools: Pools): Storage => ({
  pools: (options = {}) => pools.list(options),
  volumes: createVolumes(transport, pools),
})
