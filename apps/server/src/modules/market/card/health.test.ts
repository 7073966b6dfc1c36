import { describe, expect, it } from 'vitest'
import { parseGpuHealth, parseGpuMetrics } from '../../../../../agent/src/gpus.ts'
import { troubleOf } from './health.ts'

/** What nvidia-smi and the kernel printed on nodes: a card of each kind, well and sick. */
const metrics = 'GPU-1, 0, 4, 41, 71.23\nGPU-2, 0, 4, 44, 70.10\n'
const well = 'GPU-1, 00000000:3B:00.0, 0, Not Active\nGPU-2, 00000000:86:00.0, [N/A], Not Active\n'
const kernel = (code: number, bus = '0000:3b:00') =>
  `2026-11-28T03:04:05,123456+00:00 NVRM: Xid (PCI:${bus}): ${code}, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n`
const at = new Date('2026-11-28T03:04:05.123Z')

const trouble = (uuid: string, said: { metrics?: string; health?: string; log?: string }, clearedAt: Date | null = null) => {
  const health = parseGpuHealth(said.health ?? well, said.log ?? '')
  const reports = parseGpuMetrics(said.metrics ?? metrics).map((card) => ({ ...card, health: health.get(card.uuid) }))
  return troubleOf(uuid, reports, clearedAt)
}

describe('a card', () => {
  it.each([
    ['is well', {}, null],
    ['fell off the bus and is told of no longer', { metrics: 'GPU-2, 0, 4, 44, 70.10\n' }, { trouble: 'lost' }],
    ['fell off the bus and says so', { health: 'GPU-1, [GPU is lost], [GPU is lost], [GPU is lost]\n' }, { trouble: 'lost' }],
    [
      'is of a driver that does not answer',
      { metrics: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n" },
      { trouble: 'driver' },
    ],
    ['has memory errors that could not be corrected', { health: 'GPU-1, 00000000:3B:00.0, 3, Not Active\n' }, { trouble: 'ecc', detail: '3' }],
    ['is slowed down by heat', { health: 'GPU-1, 00000000:3B:00.0, 0, Active\n' }, { trouble: 'hot' }],
    ['has a fault of its hardware', { log: kernel(79) }, { trouble: 'xid', detail: '79' }],
    ['had a program with a fault of its own', { log: kernel(31) + kernel(13) }, null],
    ['is beside one with a fault', { log: kernel(79, '0000:86:00') }, null],
    ['is of an agent of old, that does not tell', { health: '' }, null],
  ] as const)('that %s', (_, said, expected) => {
    const found = trouble('GPU-1', said)
    if (expected === null) expect(found).toBeNull()
    else expect(found).toMatchObject(expected)
  })

  it('whose fault was seen to is well until the next one', () => {
    expect(trouble('GPU-1', { log: kernel(79) }, at)).toBeNull()
    expect(trouble('GPU-1', { log: kernel(79) }, new Date(at.getTime() - 1))).toMatchObject({ trouble: 'xid' })
  })
})
