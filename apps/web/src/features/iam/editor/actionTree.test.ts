import { describe, expect, it } from 'vitest'
import { covers, withoutCovered } from './actionTree.ts'

describe('chosen actions', () => {
  it('are covered by wider patterns only', () => {
    expect([
      covers('a.*', 'a.b.c'),
      covers('a.*', 'a.b.*'),
      covers('*', 'a.*'),
      covers('a.b.*', 'a.*'),
      covers('a.b.c', 'a.b.c'),
      covers('a.*', 'a.*'),
    ]).toEqual([true, true, true, false, false, false])
  })

  it('lose what is within another one', () => {
    expect(withoutCovered(['a.b.c', 'x.y.z', 'a.*', '*.list'])).toEqual(['x.y.z', 'a.*', '*.list'])
  })
})
