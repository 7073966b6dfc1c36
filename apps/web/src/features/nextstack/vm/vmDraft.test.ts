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
    writeDraft(storage, 'u1', null, { name: 'web', count: 3, type: 'container' })
    expect(readDraft(storage, 'u1', null)).toMatchObject({ name: 'web', count: 3, type: 'container' })
    expect(readDraft(storage, 'u2', null)).toBeNull()
    clearDraft(storage)
    expect(readDraft(storage, 'u1', null)).toBeNull()
  })
  it('never holds the password', () => {
    const storage = memory()
    writeDraft(storage, 'u1', null, { name: 'web', password: 'Secret-123' })
    expect([...storage.kept.values()].join()).not.toContain('Secret')
  })
  it('does not overrule the cloud that was chosen after it was written', () => {
    const storage = memory()
    const [east, west] = ['018f0000-0000-7000-8000-000000000001', '018f0000-0000-7000-8000-000000000002']
    writeDraft(storage, 'u1', east, { name: 'web', cloud_id: east, image_fingerprint: 'a', network: 'lan' })
    expect(readDraft(storage, 'u1', east)).toMatchObject({ name: 'web', cloud_id: east, image_fingerprint: 'a' })
    expect(readDraft(storage, 'u1', west)).toEqual({ name: 'web' })
    // Chosen in the form itself, it is the later word.
    writeDraft(storage, 'u1', east, { name: 'web', cloud_id: west, network: 'lan' })
    expect(readDraft(storage, 'u1', east)).toMatchObject({ cloud_id: west, network: 'lan' })
  })
  it('is nothing where nothing was typed', () => {
    const storage = memory()
    writeDraft(storage, 'u1', null, { count: 1, type: 'vm', network: 'lxdbr0' })
    expect(readDraft(storage, 'u1', null)).toBeNull()
  })
  it('forgets what is not what it should be', () => {
    const storage = memory()
    writeDraft(storage, 'u1', null, { name: 'web', count: 'many', type: 'other' })
    expect(readDraft(storage, 'u1', null)).toEqual({ name: 'web' })
    storage.setItem('draft:nextstack.vm.create', '{')
    expect(readDraft(storage, 'u1', null)).toBeNull()
  })
})
