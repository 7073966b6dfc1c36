import type { NodeMetrics } from '@zhisuan/contract/agent/node'
import { describe, expect, it } from 'vitest'
import { nodeSeries, sampleMs } from './nodeSeries.ts'

const names = { cpu: 'cpu', memory: 'memory', received: 'in', sent: 'out', load: String }

const sample = (second: number, more: Partial<NodeMetrics> = {}): NodeMetrics => ({
  at: new Date(second * 1000).toISOString(),
  cpu_share: 0.5,
  load: [1, 2, 3],
  memory: { total_bytes: 100, used_bytes: 40 },
  disks: [],
  nics: [],
  gpus: [],
  ...more,
})
const nic = (name: string, received_bytes: number, sent_bytes = 0) => ({ name, received_bytes, sent_bytes })
const values = (points: readonly (readonly [number, number | null])[] | undefined) => points?.map(([, value]) => value)

describe('nodeSeries', () => {
  it('makes rates of counters, of interfaces that lead out only', () => {
    const { network } = nodeSeries(
      [sample(0, { nics: [nic('eth0', 1000, 10), nic('lo', 0)] }), sample(10, { nics: [nic('eth0', 3000, 60), nic('lo', 9_000)] })],
      sampleMs,
      null,
      names,
    )
    expect(values(network[0]?.points)).toEqual([null, 200])
    expect(values(network[1]?.points)).toEqual([null, 5])
  })

  it('says nothing where a node was started anew, nor of an interface that has just come', () => {
    const { network } = nodeSeries(
      [sample(0, { nics: [nic('eth0', 5000)] }), sample(10, { nics: [nic('eth0', 10)] }), sample(20, { nics: [nic('eth0', 20), nic('eth1', 7000)] })],
      sampleMs,
      null,
      names,
    )
    expect(values(network[0]?.points)).toEqual([null, null, 1])
  })

  it('breaks lines where samples are missing', () => {
    expect(values(nodeSeries([sample(0), sample(10), sample(60)], sampleMs, null, names).cpu[0]?.points)).toEqual([0.5, 0.5, null, 0.5])
  })

  it('has a line for each of the largest disks', () => {
    const disk = (mount: string, total_bytes: number) => ({ mount, total_bytes, used_bytes: total_bytes / 4 })
    const { disks } = nodeSeries([sample(0, { disks: [disk('/boot', 1), ...[2, 3, 4, 5].map((size) => disk(`/${size}`, size))] })], sampleMs, null, names)
    expect(disks.map(({ name }) => name)).toEqual(['/5', '/4', '/3', '/2'])
    expect(values(disks[0]?.points)).toEqual([0.25])
  })

  it('has a line for each card, by what it is', () => {
    const gpus = [{ index: 0, uuid: 'a', vendor: 'nvidia', model: 'H200', memory_bytes: 100, driver: '1' }] as const
    const { gpuShare, gpuMemory } = nodeSeries(
      [sample(0, { gpus: [{ uuid: 'a', share: 0.3, memory_used_bytes: 7, temperature_celsius: 40, power_watts: null }] }), sample(10)],
      sampleMs,
      { gpus: [...gpus] },
      names,
    )
    expect(gpuShare[0]?.name).toBe('0 H200')
    expect(values(gpuShare[0]?.points)).toEqual([0.3, null])
    expect(values(gpuMemory[0]?.points)).toEqual([7, null])
  })
})
