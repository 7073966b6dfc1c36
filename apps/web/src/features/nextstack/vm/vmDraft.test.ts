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
    writeDraft(storage, 'u1', 'c1', { name: 'web', count: 3, type: 'container' })
    expect(readDraft(storage, 'u1', 'c1')).toMatchObject({ name: 'web', count: 3, type: 'container' })
    expect(readDraft(storage, 'u2', 'c1')).toBeNull()
    clearDraft(storage)
    expect(readDraft(storage, 'u1', 'c1')).toBeNull()
  })
  it('never overrules the cloud that was chosen since', () => {
    const storage = memory()
    const cloud_id = '01900000-0000-7000-8000-000000000001'
    writeDraft(storage, 'u1', 'c1', { name: 'web', cloud_id, image_fingerprint: 'f', network: 'lxdbr0', count: 2 })
    // Chosen in the form, and not in the switcher: it is what was typed.
    expect(readDraft(storage, 'u1', 'c1')).toMatchObject({ cloud_id, image_fingerprint: 'f' })
    expect(readDraft(storage, 'u1', 'c2')).toEqual({ name: 'web', count: 2 })
    writeDraft(storage, 'u1', 'c1', { cloud_id, image_fingerprint: 'f' })
    expect(readDraft(storage, 'u1', 'c2')).toBeNull()
  })
  it('never holds the password', () => {
    const storage = memory()
    writeDraft(storage, 'u1', 'c1', { name: 'web', password: 'Secret-123' })
    expect([...storage.kept.values()].join()).not.toContain('Secret')
  })
  it('is nothing where nothing was typed', () => {
    const storage = memory()
    writeDraft(storage, 'u1', 'c1', { count: 1, type: 'vm', network: 'lxdbr0' })
    expect(readDraft(storage, 'u1', 'c1')).toBeNull()
  })
  it('forgets what is not what it should be', () => {
    const storage = memory()
    writeDraft(storage, 'u1', 'c1', { name: 'web', count: 'many', type: 'other' })
    expect(readDraft(storage, 'u1', 'c1')).toEqual({ name: 'web' })
    storage.setItem('draft:nextstack.vm.create', '{')
    expect(readDraft(storage, 'u1', 'c1')).toBeNull()
  })
})
