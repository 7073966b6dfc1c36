import { describe, expect, it } from 'vitest'
import { isMeant } from '../repository/patterns.ts'
import { notKept } from './keep.ts'

const now = new Date('2026-06-30T00:00:00Z')
const tag = (name: string, daysAgo: number, pulledDaysAgo: number | null = null, repository = 'app') => ({
  repository,
  name,
  pushed_at: new Date(now.getTime() - daysAgo * 86_400_000),
  pulled_at: pulledDaysAgo === null ? null : new Date(now.getTime() - pulledDaysAgo * 86_400_000),
})
const rule = (more: { repositories?: string[]; tags?: string[]; newest?: number | null; days?: number | null }) => ({
  repositories: ['*'],
  tags: ['*'],
  newest: null,
  days: null,
  ...more,
})
const left = (rules: Parameters<typeof notKept>[0], tags: ReturnType<typeof tag>[]) => notKept(rules, tags, now).map(({ name }) => name)

describe('what rules keep', () => {
  it('is everything where there are none, and in repositories that none is about', () => {
    expect(left([], [tag('a', 1)])).toEqual([])
    expect(left([rule({ repositories: ['other'], newest: 1 })], [tag('a', 1), tag('b', 2)])).toEqual([])
  })
  it('are the newest, of each repository', () => {
    expect(left([rule({ newest: 1 })], [tag('old', 5), tag('new', 1), tag('of-other', 9, null, 'other')])).toEqual(['old'])
  })
  it('is what was pushed or pulled in those days', () => {
    expect(left([rule({ days: 3 })], [tag('pushed', 2), tag('pulled', 9, 1), tag('neither', 9, 5)])).toEqual(['neither'])
  })
  it('is what any of several keeps', () => {
    expect(left([rule({ tags: ['v*'] }), rule({ newest: 1 })], [tag('v1', 99), tag('x', 3), tag('y', 2)])).toEqual(['x'])
  })
})

describe('a pattern', () => {
  it.each([
    ['*', '', true],
    ['*', 'anything', true],
    ['v*', 'v1.2', true],
    ['v*', 'av1', false],
    ['v?', 'v1', true],
    ['v?', 'v12', false],
    ['*-rc*', '1.0-rc1', true],
    ['a*b*c', 'axxbyyc', true],
    ['a*b*c', 'axxbyy', false],
    ['', '', true],
    ['', 'x', false],
  ])('%s means %s: %s', (pattern, name, means) => expect(isMeant(pattern, name)).toBe(means))

  it('with many stars is decided at once', () => {
    expect(isMeant(`${'*a'.repeat(60)}b`, 'a'.repeat(128))).toBe(false)
  })
})
