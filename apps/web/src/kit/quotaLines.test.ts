import type { QuotaLine } from '@zhisuan/contract/nextstack/quota'
import { describe, expect, it } from 'vitest'
import { amountText, levelOf, limitsOf, shareOf, valueOf, worthLook } from './quotaLines.ts'

const gib = 2 ** 30
const line = (resource: QuotaLine['resource'], used: number, limit: number | null, own = false): QuotaLine => ({ resource, used, limit, own })

describe('how near the end of a quota is', () => {
  it.each([
    [0, 10, 'fine', 0],
    [7, 10, 'fine', 0.7],
    [8, 10, 'near', 0.8],
    [9, 10, 'near', 0.9],
    [10, 10, 'full', 1],
    [11, 10, 'over', 1],
    [1, 0, 'over', 1],
    [0, 0, 'fine', 0],
    [1_000_000, null, 'fine', null],
  ] as const)('%s of %s is %s', (used, limit, level, share) => {
    expect(levelOf({ used, limit })).toBe(level)
    expect(shareOf({ used, limit })).toBe(share)
  })

  it('puts first what has run out, and leaves out what nobody uses or limits', () => {
    const lines = [
      line('vms', 1, 10),
      line('gpus', 0, null),
      line('volumes', 9, 10),
      line('eips', 2, 2),
      line('vpcs', 3, null),
      line('images', 5, 2),
      line('key_pairs', 5, 10),
    ]
    expect(worthLook(lines).map(({ resource }) => resource)).toEqual(['images', 'eips', 'volumes', 'key_pairs', 'vms', 'vpcs'])
  })

  it('is said in pieces, or in bytes', () => {
    expect(amountText('vms', 1234)).toBe('1,234')
    expect(amountText('memory_bytes', 64 * gib)).toBe('64 GB')
  })
})

describe('limits in a form', () => {
  it('come from what is set, and go back as they were', () => {
    expect(valueOf(line('vms', 0, 10))).toEqual({ mode: 'default', most: 10 })
    expect(valueOf(line('vms', 0, null))).toEqual({ mode: 'default', most: null })
    expect(valueOf(line('vms', 0, null, true))).toEqual({ mode: 'unlimited', most: null })
    expect(valueOf(line('vms', 0, 3, true))).toEqual({ mode: 'own', most: 3 })
    expect(limitsOf({ vms: { mode: 'own', most: 3 }, eips: { mode: 'unlimited', most: 7 }, gpus: { mode: 'default', most: 9 } })).toEqual({
      vms: 3,
      eips: null,
    })
  })
})
