import { describe, expect, it } from 'vitest'
import { expandedNames, namesAreCut } from './vmNames.ts'

describe('expandedNames', () => {
  it('leaves one as it is', () => expect(expandedNames('web', 1)).toEqual(['web']))
  it('numbers several', () => expect(expandedNames('web', 3)).toEqual(['web-1', 'web-2', 'web-3']))
  it('keeps to 64 characters, counted as people count', () => {
    const long = '云'.repeat(64)
    const names = expandedNames(long, 12)
    expect(names[0]).toBe(`${'云'.repeat(62)}-1`)
    expect(names[11]).toBe(`${'云'.repeat(61)}-12`)
    expect(new Set(names).size).toBe(12)
    expect(namesAreCut(long, 12)).toBe(true)
    expect(namesAreCut(long, 1)).toBe(false)
    expect(namesAreCut('云'.repeat(61), 12)).toBe(false)
    expect(namesAreCut('云'.repeat(62), 12)).toBe(true)
  })
})
