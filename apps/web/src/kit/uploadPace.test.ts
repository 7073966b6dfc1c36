import { describe, expect, it } from 'vitest'
import { paceOf, withSample, type Sample } from './uploadPace.ts'

const run = (samples: readonly Sample[]): readonly Sample[] => samples.reduce<readonly Sample[]>(withSample, [])

describe('the pace of an upload', () => {
  it('is not known from one sample', () => {
    expect(paceOf([], 100)).toBeNull()
    expect(paceOf(run([{ atMs: 0, bytes: 10 }]), 100)).toBeNull()
  })

  it('is what came in the last seconds, and says when the rest will be there', () => {
    expect(
      paceOf(
        run([
          { atMs: 0, bytes: 0 },
          { atMs: 2_000, bytes: 2_000 },
        ]),
        10_000,
      ),
    ).toEqual({ bytesPerSecond: 1_000, leftMs: 8_000 })
    // What was slow long ago does not count.
    const samples = run([
      { atMs: 0, bytes: 0 },
      { atMs: 60_000, bytes: 1_000 },
      { atMs: 62_000, bytes: 5_000 },
    ])
    expect(paceOf(samples, 9_000)).toEqual({ bytesPerSecond: 2_000, leftMs: 2_000 })
  })

  it('of what stands still has no end', () => {
    expect(
      paceOf(
        run([
          { atMs: 0, bytes: 5 },
          { atMs: 1_000, bytes: 5 },
        ]),
        10,
      ),
    ).toEqual({ bytesPerSecond: 0, leftMs: null })
  })
})
