import { expect, it } from 'vitest'
import { whilePassing } from './whilePassing.ts'

it('looks oftener while one of what is shown is passing', () => {
  const isPassing = ({ busy }: { readonly busy: boolean }): boolean => busy
  expect(whilePassing(undefined, isPassing)).toBe(5_000)
  expect(whilePassing([], isPassing)).toBe(5_000)
  expect(whilePassing([{ busy: false }, { busy: true }], isPassing)).toBe(1_000)
  expect(whilePassing({ busy: true }, isPassing)).toBe(1_000)
  expect(whilePassing({ busy: false }, isPassing)).toBe(5_000)
})
