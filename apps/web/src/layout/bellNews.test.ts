import { expect, it } from 'vitest'
import { isNews, quietMs } from './bellNews.ts'

it('what was unread before somebody came, and what they read, is not said', () => {
  expect(isNews(null, 3, null, 0)).toBe(false)
  expect(isNews(3, 3, null, 0)).toBe(false)
  expect(isNews(3, 2, null, 0)).toBe(false)
})

it('what comes while they are here is, but not again and again', () => {
  expect(isNews(0, 1, null, 0)).toBe(true)
  expect(isNews(1, 2, 0, quietMs - 1)).toBe(false)
  expect(isNews(2, 3, 0, quietMs)).toBe(true)
})
