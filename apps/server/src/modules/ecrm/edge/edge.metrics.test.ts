import type { NodeMetrics } from '@zhisuan/contract/agent/node'
import { describe, expect, it } from 'vitest'
import { averageOf, createMetricsRing, pack, thinned, unpack, type Minutes } from './edge.metrics.ts'

const edgeId = '01900000-0000-7000-8000-000000000000'
const begin = Date.parse('2026-11-21T10:00:00Z')

const sample = (more: Partial<NodeMetrics> = {}): NodeMetrics => ({
  at: 'whatever the node says',
  cpu_share: 0.5,
  load: [1, 2, 3],
  memory: { total_bytes: 100, used_bytes: 40 },
  disks: [],
  nics: [],
  gpus: [],
  ...more,
})
const gpu = (uuid: string, share: number | null) => ({ uuid, share, memory_used_bytes: null, temperature_celsius: 40, power_watts: 70.5 })

/** A ring with a clock of its own. */
function ring() {
  let now = begin
  const handed: Minutes[] = []
  const made = createMetricsRing(
    () => new Date(now),
    (minutes) => handed.push(minutes),
  )
  return {
    ...made,
    handed,
    pass: (seconds: number): void => void (now += seconds * 1_000),
    /** Samples every ten seconds, of `cpu_share` as it is told. */
    run(seconds: number, share: (second: number) => number = () => 0.5): void {
      for (let second = 0; second < seconds; second += 10, now += 10_000) made.record(edgeId, sample({ cpu_share: share((now - begin) / 1_000) }))
    },
  }
}

describe('an average', () => {
  it('is of what goes up and down, and the last of what only grows', () => {
    const samples = [
      sample({
        cpu_share: null,
        load: [1, 2, 4],
        disks: [{ mount: '/', total_bytes: 10, used_bytes: 2 }],
        nics: [{ name: 'eth0', received_bytes: 5, sent_bytes: 6 }],
        gpus: [gpu('a', 0.2), gpu('gone', 1)],
      }),
      sample({
        cpu_share: 0.25,
        load: [2, 2, 5],
        memory: { total_bytes: 200, used_bytes: 45 },
        disks: [{ mount: '/', total_bytes: 10, used_bytes: 4 }],
        nics: [{ name: 'eth0', received_bytes: 50, sent_bytes: 60 }],
        gpus: [gpu('a', null), gpu('new', null)],
      }),
    ]
    expect(averageOf(samples, begin)).toEqual({
      at: '2026-11-21T10:00:00.000Z',
      cpu_share: 0.25,
      load: [1.5, 2, 4.5],
      memory: { total_bytes: 200, used_bytes: 43 },
      disks: [{ mount: '/', total_bytes: 10, used_bytes: 3 }],
      nics: [{ name: 'eth0', received_bytes: 50, sent_bytes: 60 }],
      gpus: [gpu('a', 0.2), gpu('new', null)],
    })
  })

  it('of several minutes is one point, and so are parts of one minute', () => {
    const at = (minute: number, cpu_share: number) => sample({ at: new Date(begin + minute * 60_000).toISOString(), cpu_share })
    expect(thinned([at(0, 0.1), at(3, 0.3), at(4, 0.6)], 4).map(({ at: moment, cpu_share }) => [moment, cpu_share])).toEqual([
      ['2026-11-21T10:00:00.000Z', 0.2],
      ['2026-11-21T10:04:00.000Z', 0.6],
    ])
    expect(thinned([at(0, 0.1), at(0, 0.3)], 1)).toHaveLength(1)
    expect(unpack(pack([at(0, 0.1)]))).toEqual([at(0, 0.1)])
  })
})

describe('the samples of a node', () => {
  it('are kept for a quarter of an hour, by our own clock', () => {
    const { run, recent, last } = ring()
    run(3_600)
    expect(recent(edgeId)).toHaveLength(90)
    expect(last(edgeId)?.at).toBe('2026-11-21T10:59:50.000Z')
    expect(recent(edgeId)[0]?.at).toBe('2026-11-21T10:45:00.000Z')
  })

  it('become averages of minutes, which are handed over together, each once', () => {
    const { run, handed, minutes, sweep } = ring()
    run(1_200, (second) => Math.floor(second / 60) / 100)
    const told = handed.flatMap(({ averages }) => averages.map(({ cpu_share }) => cpu_share))
    const left = minutes(edgeId).map(({ cpu_share }) => cpu_share)
    expect([...told, ...left]).toEqual(Array.from({ length: 20 }, (_, minute) => minute / 100))
    expect(handed.slice(1).map(({ averages }) => averages.length)).toEqual(handed.slice(1).map(() => 5))
    sweep(true)
    expect(handed.flatMap(({ averages }) => averages)).toHaveLength(20)
    expect(minutes(edgeId)).toEqual([])
  })

  it('are handed over and forgotten where it does not speak any more', () => {
    const { run, handed, pass, sweep, recent, minutes } = ring()
    run(60)
    run(10)
    sweep()
    expect(handed).toEqual([])
    pass(120)
    sweep()
    expect(handed.flatMap(({ averages }) => averages)).toHaveLength(1)
    expect(recent(edgeId)).toHaveLength(7)
    pass(900)
    sweep()
    expect(handed.flatMap(({ averages }) => averages)).toHaveLength(2)
    expect([recent(edgeId), minutes(edgeId)]).toEqual([[], []])
  })
})
