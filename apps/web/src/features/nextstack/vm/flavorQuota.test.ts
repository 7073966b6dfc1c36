import { expect, it } from 'vitest'
import { beyondQuota, quotaLeft, resizeBeyondQuota } from './flavorQuota.ts'

const line = (resource: 'vms' | 'cpu_cores' | 'gpus' | 'volumes', used: number, limit: number | null) => ({ resource, used, limit, own: false })
const flavor = { cpu_cores: 2, memory_bytes: 2 ** 30, gpu: null }

it('knows what is left for instances, of what is limited', () => {
  expect(quotaLeft([line('vms', 1, 3), line('cpu_cores', 9, 8), line('gpus', 0, null), line('volumes', 0, 1)])).toEqual([
    { resource: 'vms', left: 2 },
    { resource: 'cpu_cores', left: 0 },
  ])
})

it('tells what a size, so often, would take too much of', () => {
  const left = quotaLeft([line('vms', 1, 3), line('cpu_cores', 4, 8), line('gpus', 0, 0)])
  expect(beyondQuota(flavor, 2, left)).toBeNull()
  expect(beyondQuota({ ...flavor, cpu_cores: 3 }, 2, left)).toEqual({ resource: 'cpu_cores', left: 4 })
  expect(beyondQuota(flavor, 3, left)).toEqual({ resource: 'vms', left: 2 })
  expect(beyondQuota({ ...flavor, gpu: { model: 'A100', count: 1 } }, 1, left)).toEqual({ resource: 'gpus', left: 0 })
  expect(beyondQuota(flavor, 100, [])).toBeNull()
})

it('asks of another size only what it takes more', () => {
  const left = quotaLeft([line('vms', 3, 3), line('cpu_cores', 6, 8), line('gpus', 2, 2)])
  const now = { cpu_cores: 4, memory_bytes: 2 ** 30 }
  expect(resizeBeyondQuota(now, { ...flavor, cpu_cores: 6, gpu: { model: 'A100', count: 2 } }, left)).toBeNull()
  expect(resizeBeyondQuota(now, { ...flavor, cpu_cores: 7 }, left)).toEqual({ resource: 'cpu_cores', left: 2 })
  // What gets smaller fits, however much is used already.
  expect(resizeBeyondQuota(now, flavor, quotaLeft([line('cpu_cores', 9, 8)]))).toBeNull()
})
