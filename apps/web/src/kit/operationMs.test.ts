import { expect, it } from 'vitest'
import { operationMs } from './operationMs.ts'

it('counts from the start to the end, or to now', () => {
  const started_at = '2026-01-01T00:00:00Z'
  expect(operationMs({ started_at: null, finished_at: null }, 0)).toBeNull()
  expect(operationMs({ started_at, finished_at: '2026-01-01T00:00:03Z' }, 0)).toBe(3_000)
  expect(operationMs({ started_at, finished_at: null }, Date.parse(started_at) + 500)).toBe(500)
  expect(operationMs({ started_at, finished_at: null }, Date.parse(started_at) - 500)).toBe(0)
})
