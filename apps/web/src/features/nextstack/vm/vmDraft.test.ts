import { describe, expect, it } from 'vitest'
import { clearDraft, readDraft, writeDraft } from './vmDraft.ts'

function memory() {
  const kept = new Map<string, string>()
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
}

describe('draft of a new instance', () => {
  it('comes back to who typed it', () => {
    const storage = memory()
    writeDraft(storage, 'u1', { name: 'web', count: 3, type: 'container' })
    expect(readDraft(storage, 'u1')).toMatchObject({ name: 'web', count: 3, type: 'container' })
    expect(readDraft(storage, 'u2')).toBeNull()
    clearDraft(storage)
    expect(readDraft(storage, 'u1')).toBeNull()
  })
  it('never holds the password', () => {
    const storage = memory()
    writeDraft(storage, 'u1', { name: 'web', password: 'Secret-123' })
    expect([...storage.kept.values()].join()).not.toContain('Secret')
  })
  it('is nothing where nothing was typed', () => {
    const storage = memory()
    writeDraft(storage, 'u1', { count: 1, type: 'vm', network: 'lxdbr0' })
    expect(readDraft(storage, 'u1')).toBeNull()
  })
  it('forgets what is not what it should be', () => {
    const storage = memory()
    writeDraft(storage, 'u1', { name: 'web', count: 'many', type: 'other' })
    expect(readDraft(storage, 'u1')).toEqual({ name: 'web' })
    storage.setItem('draft:nextstack.vm.create', '{')
    expect(readDraft(storage, 'u1')).toBeNull()
  })
})
