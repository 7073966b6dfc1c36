import { createInstanceBody } from '@zhisuan/contract/compute/instance'
import { describe, expect, it } from 'vitest'
import { readDraft, writeDraft } from './instanceDraft.ts'
import { blank, bodyOf, gib, leastRootBytes, pairsOf, recordOf, wantsOf, type InstanceTyped } from './instanceForm.ts'

const typed: InstanceTyped = {
  ...blank,
  source: { type: 'image', image_id: 'i', disk: { size_bytes: 20 * gib, volume_type: 'ssd' } },
  flavor_id: 'f',
  networks: [
    { network_id: 'n', address: ' ' },
    { network_id: 'm', address: ' 10.0.0.9 ' },
  ],
  name: 'web',
}

describe('the form as the call takes it', () => {
  it('is a body that the contract takes; what is not typed is not sent', () => {
    const body = bodyOf({ ...typed, password: ' ', user_data: '', zone: '' })
    expect(body).not.toHaveProperty('password')
    expect(body).not.toHaveProperty('user_data')
    expect(body).toMatchObject({ zone: null, key_pair_id: null, count: 1, networks: [{ network_id: 'n' }, { network_id: 'm', address: '10.0.0.9' }] })
    expect(body.networks[0]).not.toHaveProperty('address')
    expect(createInstanceBody.safeParse(body).success).toBe(true)
  })

  it('sends of its sources only the one that is chosen', () => {
    const source = {
      image_id: 'i',
      volume_id: 'v',
      snapshot_id: 's',
      disk: { size_bytes: 20 * gib, volume_type: 'ssd', delete_on_termination: false },
      delete_on_termination: true,
    }
    const of = (changes: object) => bodyOf({ ...typed, source: { ...source, ...changes } }).source
    expect(of({ type: 'image' })).toEqual({ type: 'image', image_id: 'i', disk: null })
    expect(of({ type: 'image', on_volume: true })).toEqual({ type: 'image', image_id: 'i', disk: source.disk })
    expect(of({ type: 'volume' })).toEqual({ type: 'volume', volume_id: 'v', delete_on_termination: true })
    expect(of({ type: 'snapshot' })).toEqual({ type: 'snapshot', snapshot_id: 's', size_bytes: 20 * gib, delete_on_termination: false })
  })

  it('takes pairs for what they are; lines without a key are none', () => {
    expect(recordOf([{ key: ' a ', value: '1' }, { key: '', value: 'x' }, undefined, { key: 'b' }])).toEqual({ a: '1', b: '' })
    expect(recordOf(pairsOf({ a: '1', b: '' }))).toEqual({ a: '1', b: '' })
  })
})

describe('the least root disk', () => {
  it('holds the image, whatever of both is larger, in whole GB', () => {
    expect(leastRootBytes({})).toBe(gib)
    expect(leastRootBytes({ image: { min_disk_bytes: 2 * gib, size_bytes: 3 * gib + 1 } })).toBe(4 * gib)
    expect(leastRootBytes({ image: { min_disk_bytes: 10 * gib, size_bytes: null } })).toBe(10 * gib)
    expect(leastRootBytes({ snapshot: { size_bytes: 40 * gib } })).toBe(40 * gib)
  })
})

describe('what was typed', () => {
  const kept = new Map<string, string>()
  const storage = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, text: string) => void kept.set(key, text) }
  it('comes back to the same person on the same cloud, without the password', () => {
    writeDraft(storage, 'me', 'c1', { ...typed, password: 'Secret-123' })
    expect([...kept.values()].join()).not.toContain('Secret-123')
    expect(readDraft(storage, 'me', 'c1')).toMatchObject({ name: 'web', source: { image_id: 'i' }, networks: [{ network_id: 'n' }, { network_id: 'm' }] })
    expect(readDraft(storage, 'other', 'c1')).toBeNull()
    expect(readDraft(storage, 'me', 'c2')).toBeNull()
  })
  it('is nothing where nothing was, or where it is not what it should be', () => {
    writeDraft(storage, 'me', 'c1', blank)
    expect(readDraft(storage, 'me', 'c1')).toBeNull()
    kept.set('draft:compute.instance.create', '{"user_id":"me"')
    expect(readDraft(storage, 'me', 'c1')).toBeNull()
  })
})

describe('what instances take of quotas', () => {
  const flavor = { vcpus: 2, memory_bytes: 4 * gib }
  it('counts as often as instances are made, with all their disks and ports', () => {
    const disks = [{ size_bytes: 5 * gib }, undefined]
    expect(wantsOf({ ...typed, count: 3, disks }, flavor, gib)).toEqual({
      instances: 3,
      cores: 6,
      memory_bytes: 12 * gib,
      volumes: 6,
      volume_bytes: 15 * gib,
      ports: 6,
    })
  })
  it('has a root volume only where one is made; of a size that is left open what is needed at least', () => {
    const of = (source: InstanceTyped['source']) => wantsOf({ ...typed, source: source ?? {} }, undefined, 7 * gib)
    expect(of({ type: 'image', on_volume: true, disk: { size_bytes: 20 * gib } })).toMatchObject({ volumes: 1, volume_bytes: 20 * gib })
    expect(of({ type: 'snapshot' })).toMatchObject({ volumes: 1, volume_bytes: 7 * gib })
    expect(of({ type: 'volume' })).toEqual({ instances: 1, volumes: 0, volume_bytes: 0, ports: 2 })
  })
})
