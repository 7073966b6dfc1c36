import { volumes } from '@zhisuan/contract/nextstack/volume'
import { describe, expect, it } from 'vitest'
import { bodyOf, gib, type VolumeValues } from './volumeForm.ts'

const id = '11111111-1111-4111-8111-111111111111'
const typed: VolumeValues = {
  cloud_id: id,
  name: 'data',
  description: '',
  source: 'empty',
  snapshot_id: id,
  backup_id: id,
  pool: 'default',
  content: 'filesystem',
  size_bytes: 10 * gib,
  attaching: false,
  attach: { vm_id: id, path: '/data' },
}

describe('the body of a creation', () => {
  it('leaves out what is not asked for', () => {
    const body = bodyOf(typed)
    expect(volumes.create.body.safeParse(body).success).toBe(true)
    expect(body).toEqual({ cloud_id: id, name: 'data', description: '', pool: 'default', content: 'filesystem', size_bytes: 10 * gib })
  })
  it('names the one source that was chosen', () => {
    expect(bodyOf({ ...typed, source: 'snapshot' })).toMatchObject({ snapshot_id: id })
    expect(bodyOf({ ...typed, source: 'snapshot' })).not.toHaveProperty('backup_id')
    expect(bodyOf({ ...typed, source: 'backup' })).toMatchObject({ backup_id: id })
    expect(bodyOf({ ...typed, source: 'backup' })).not.toHaveProperty('snapshot_id')
  })
  it('mounts a file system at its path, a disk nowhere', () => {
    expect(bodyOf({ ...typed, attaching: true }).attach).toEqual({ vm_id: id, path: '/data' })
    expect(bodyOf({ ...typed, attaching: true, content: 'block' }).attach).toEqual({ vm_id: id, path: null })
  })
  it('leaves the pool to the cloud where none was chosen', () => {
    expect(bodyOf({ ...typed, pool: undefined })).not.toHaveProperty('pool')
  })
})
