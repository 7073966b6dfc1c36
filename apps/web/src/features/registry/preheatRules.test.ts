import { describe, expect, it } from 'vitest'
import { percentOf } from './preheatRules.ts'

describe('how far an image is on its way to a node', () => {
  it.each([
    [{ done_bytes: 0, total_bytes: null }, null],
    [{ done_bytes: 0, total_bytes: 0 }, null],
    [{ done_bytes: 999, total_bytes: 1_000 }, 99],
    [{ done_bytes: 1_001, total_bytes: 1_000 }, 100],
  ])('%j is %s', (target, percent) => expect(percentOf(target)).toBe(percent))
})
