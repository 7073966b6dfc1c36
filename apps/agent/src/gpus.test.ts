import { describe, expect, it } from 'vitest'
import { parseGpuFacts, parseGpuMetrics } from './gpus.ts'

const gib = 2 ** 30

describe('nvidia-smi says what cards there are', () => {
  it.each([
    [
      '550, two H100',
      '0, GPU-8a1e6c1f-2f5a-7b1c-9f6e-0d8f2f9c1a11, NVIDIA H100 80GB HBM3, 81559, 550.54.15\n1, GPU-8a1e6c1f-2f5a-7b1c-9f6e-0d8f2f9c1a12, NVIDIA H100 80GB HBM3, 81559, 550.54.15\n',
      ['NVIDIA H100 80GB HBM3', 'NVIDIA H100 80GB HBM3'],
      81_559,
    ],
    ['470, a card of old', '0, GPU-3b2f, Tesla K80, 11441, 470.256.02\n', ['Tesla K80'], 11_441],
    ['535, a card whose memory is not told', '0, GPU-3b2f, NVIDIA Graphics Device, [N/A], 535.183.01\r\n', ['NVIDIA Graphics Device'], 0],
  ])('%s', (_, said, models, mebibytes) => {
    const cards = parseGpuFacts(said)
    expect(cards.map(({ model }) => model)).toEqual(models)
    expect(cards[0]).toMatchObject({ index: 0, vendor: 'nvidia', memory_bytes: mebibytes * 2 ** 20 })
  })
  it.each([
    ['no card', 'No devices were found\n'],
    [
      'no driver',
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n",
    ],
    ['other versions of driver and library', 'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.90\n'],
    ['nothing', ''],
  ])('%s is no card', (_, said) => expect(parseGpuFacts(said)).toEqual([]))
  it('leaves out a card that is lost, and tells of the others', () => {
    expect(
      parseGpuFacts(
        'Unable to determine the device handle for GPU0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU\n1, GPU-2, NVIDIA A100-SXM4-40GB, 40960, 525.85.12\n',
      ),
    ).toMatchObject([{ index: 1, memory_bytes: 40 * gib }])
  })
})

describe('nvidia-smi says how they are', () => {
  it.each([
    ['as numbers', 'GPU-1, 37, 1024, 41, 71.23', { share: 0.37, memory_used_bytes: gib, temperature_celsius: 41, power_watts: 71.23 }],
    [
      'under MIG, where the card has no utilization of its own',
      'GPU-1, [N/A], 87, 34, 62.10',
      { share: null, memory_used_bytes: 87 * 2 ** 20, temperature_celsius: 34, power_watts: 62.1 },
    ],
    ['by old drivers', 'GPU-1, 0 , 0 , 30 , [Not Supported]', { share: 0, memory_used_bytes: 0, temperature_celsius: 30, power_watts: null }],
    [
      'by a broken sensor',
      'GPU-1, 12, 512, ERR!, [Unknown Error]',
      { share: 0.12, memory_used_bytes: 512 * 2 ** 20, temperature_celsius: null, power_watts: null },
    ],
    [
      'by a lost card',
      'GPU-1, [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]',
      { share: null, memory_used_bytes: null, temperature_celsius: null, power_watts: null },
    ],
    [
      'to whom may not know',
      'GPU-1, N/A, [Insufficient Permissions], N/A, N/A',
      { share: null, memory_used_bytes: null, temperature_celsius: null, power_watts: null },
    ],
  ])('%s', (_, line, figures) => expect(parseGpuMetrics(`${line}\n`)).toEqual([{ uuid: 'GPU-1', ...figures }]))
})
