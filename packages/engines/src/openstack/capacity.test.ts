import { describe, expect, it } from 'vitest'
import { hostsCapacity, type HypervisorStatistics } from './capacity.ts'
import { newest, overview } from './versions.ts'

const gib = 2 ** 30
const told: HypervisorStatistics = {
  count: 2,
  vcpus: 32,
  vcpus_used: 12,
  memory_mb: 65_536,
  memory_mb_used: 9216,
  local_gb: 500,
  local_gb_used: 40,
  running_vms: 7,
}
const host = {
  VCPU: { total: 16, reserved: 2, allocationRatio: 4 },
  MEMORY_MB: { total: 32_768, reserved: 512, allocationRatio: 1.5 },
  DISK_GB: { total: 250, reserved: 0, allocationRatio: 1 },
}

describe('what hosts have together', () => {
  it('is what Nova counts, and without Placement no more is promised', () => {
    expect(hostsCapacity(told, null)).toEqual({
      cpuCores: { total: 32, used: 12, physical: 32 },
      memoryBytes: { total: 64 * gib, used: 9 * gib, physical: 64 * gib },
      diskBytes: { total: 500 * gib, used: 40 * gib, physical: 500 * gib },
      nodes: 2,
      runningInstances: 7,
    })
  })
  it('may be promised as Placement says; what hosts keep for themselves is neither promised nor free', () => {
    const { cpuCores, memoryBytes } = hostsCapacity(told, [host, host])
    expect(cpuCores).toEqual({ total: 2 * 14 * 4, used: 12, physical: 32 })
    expect(memoryBytes).toEqual({ total: 2 * 48_384 * 2 ** 20, used: 8 * gib, physical: 64 * gib })
  })
  it('counts processors of one’s own with shared ones, and a part of a host or a store for itself', () => {
    const parts = [
      { VCPU: host.VCPU },
      { PCPU: { total: 8, reserved: 0, allocationRatio: 1 } },
      { DISK_GB: { total: 9000, reserved: 0, allocationRatio: 1 } },
      { VGPU: { total: 4, reserved: 0, allocationRatio: 1 } },
    ]
    const { cpuCores, memoryBytes, diskBytes } = hostsCapacity(told, parts)
    expect(cpuCores.total).toBe(14 * 4 + 8)
    expect(diskBytes.total).toBe(9000 * gib)
    // Nothing is said of it: then it is what Nova counts.
    expect(memoryBytes.total).toBe(64 * gib)
  })
  it('is never less than nothing', () => {
    expect(hostsCapacity({ ...told, memory_mb_used: 100 }, [host]).memoryBytes.used).toBe(0)
  })
})

describe('the newest version that a service offers', () => {
  it.each([
    [
      '2.93',
      [
        { id: 'v2.0', status: 'SUPPORTED', version: '', min_version: '' },
        { id: 'v2.1', status: 'CURRENT', version: '2.93', min_version: '2.1' },
      ],
    ],
    ['1.39', [{ id: 'v1.0', max_version: '1.39', min_version: '1.0' }]],
    ['2.15', [{ id: 'v2.9' }, { id: 'v2.15' }, { id: 'v2.2' }]],
    ['3.14', [{ id: 'v3.14' }]],
    ['2', [{ id: 'v2' }]],
    [null, [{ id: 'unknown' }]],
    [null, []],
  ])('%s', (version, offered) => expect(newest(offered)).toBe(version))

  it('is told where each service tells it', () => {
    expect(overview('image', 'https://cloud/image/v2/')).toBe('https://cloud/image/')
    expect(overview('network', 'https://cloud:9696/v2.0/')).toBe('https://cloud:9696/')
    expect(overview('compute', 'https://cloud/compute/v2.1/')).toBe('https://cloud/compute/v2.1/')
  })
})
