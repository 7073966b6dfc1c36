import { describe, expect, it } from 'vitest'
import { elapsedMs, isBatch, readBatch, writeBatch } from './commandState.ts'

const at = (text: string) => new URLSearchParams(text)

describe('the address of commands', () => {
  it('says which instances, and which command is looked at', () => {
    expect(isBatch(at('mode=batch'))).toBe(true)
    expect(isBatch(at('id=a'))).toBe(false)
    expect(readBatch(at('mode=batch&vms=a,b,,a&command=c'))).toEqual({ vms: ['a', 'b'], command: 'c' })
    expect(readBatch(at(''))).toEqual({ vms: [], command: null })
  })
  it('is written back as it was read, and leaves alone what is not ours', () => {
    const written = writeBatch(at('history.page=2&command=old'), { vms: ['a', 'b'], command: null })
    expect(Object.fromEntries(written)).toEqual({ 'history.page': '2', mode: 'batch', vms: 'a,b' })
    expect(readBatch(written)).toEqual({ vms: ['a', 'b'], command: null })
  })
})

describe('how long it took', () => {
  const started_at = '2026-11-21T10:00:00.000Z'
  it('is measured to its end, or until now', () => {
    expect(elapsedMs({ started_at: null, finished_at: null }, 0)).toBeNull()
    expect(elapsedMs({ started_at, finished_at: '2026-11-21T10:00:02.500Z' }, 0)).toBe(2_500)
    expect(elapsedMs({ started_at, finished_at: null }, Date.parse(started_at) + 4_000)).toBe(4_000)
    // A clock that is behind the server's counts nothing, not less than nothing.
    expect(elapsedMs({ started_at, finished_at: null }, Date.parse(started_at) - 4_000)).toBe(0)
  })
})
