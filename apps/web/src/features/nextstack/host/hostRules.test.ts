import { describe, expect, it } from 'vitest'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { fillOf, isPassing } from './hostRules.ts'

describe('fillOf', () => {
  it('warns from nine tenths on, and of more than there is', () => {
    expect([0, 89, 90, 100, 101].map((used) => fillOf(used, 100))).toEqual(['fine', 'fine', 'near', 'near', 'over'])
  })
  it('says nothing of a host that tells nothing', () => {
    expect(fillOf(0, 0)).toBe('fine')
  })
})

describe('isPassing', () => {
  it('is short while something passes', () => {
    expect(whilePassing([{ status: 'online' }, { status: 'evacuating' }], isPassing)).toBe(1_000)
    expect(whilePassing([{ status: 'online' }], isPassing)).toBe(5_000)
  })
})
