import { describe, expect, it } from 'vitest'
import { bytesOf, sizeUnits, unitOf } from './sizes.ts'

describe('sizes', () => {
  it('are shown in the largest unit that they are whole in', () => {
    expect(unitOf(sizeUnits.TB * 2)).toBe('TB')
    expect(unitOf(sizeUnits.GB * 1536)).toBe('GB')
    expect(unitOf(sizeUnits.MB * 512)).toBe('MB')
    expect([unitOf(null), unitOf(undefined), unitOf(0), unitOf(1)]).toEqual(['GB', 'GB', 'GB', 'GB'])
  })
  it('are whole bytes, however they were typed', () => {
    expect(bytesOf(0.1, 'GB')).toBe(107374182)
    expect(bytesOf(3, 'MB')).toBe(3145728)
    expect(bytesOf(null, 'TB')).toBeNull()
  })
})
