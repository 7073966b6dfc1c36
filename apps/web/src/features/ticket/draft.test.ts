import { beforeEach, describe, expect, it, vi } from 'vitest'
import { readDraft, readFields, writeDraft, writeFields } from './draft.ts'

describe('a draft', () => {
  const stored = new Map<string, string>()
  beforeEach(() => {
    stored.clear()
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => stored.set(key, value),
      removeItem: (key: string) => stored.delete(key),
    })
  })

  it('is of one work order, and gone when nothing is left of it', () => {
    writeDraft('one', '还没写完')
    expect(readDraft('one')).toBe('还没写完')
    expect(readDraft('other')).toBe('')
    writeDraft('one', '  ')
    expect(stored.size).toBe(0)
  })

  it('is of a form by its fields, and nothing where something else is stored', () => {
    writeFields('new', { title: '磁盘满了', text: '' })
    expect(readFields('new')).toEqual({ title: '磁盘满了', text: '' })
    writeFields('new', {})
    expect(stored.size).toBe(0)
    for (const wrong of ['', 'x', 'null', '{"title":1}']) {
      writeDraft('new', wrong)
      expect(readFields('new')).toEqual({})
    }
  })

  it('is done without where nothing can be stored', () => {
    vi.stubGlobal('localStorage', {
      getItem: () => {
        throw new Error('closed')
      },
    })
    expect(readDraft('one')).toBe('')
    expect(() => writeDraft('one', 'x')).not.toThrow()
  })
})
