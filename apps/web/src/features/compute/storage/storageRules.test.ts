import { computeBackupStatuses, computeSnapshotStatuses, computeVolumeCan, computeVolumeStatuses } from '@zhisuan/contract/compute/volume'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../api/client.ts'
import zh from '../../../locales/zh/computeStorage.ts'
import { isBusy, isFailed, isWithoutService, stateOf, titleOf, whyNotBackup, whyNotVolume } from './storageRules.ts'

/** Answers the key itself, with what is filled in. */
const t = ((key: string, values?: Record<string, string>) => (values === undefined ? key : `${key} ${Object.values(values).join(' ')}`)) as never
const active = { status: 'active' } as const

describe('what may be done to volumes and their backups', () => {
  it('has a word for every state of the three', () => {
    for (const status of [...computeVolumeStatuses, ...computeSnapshotStatuses, ...computeBackupStatuses]) {
      expect(Object.keys(zh.status)).toContain(status)
      expect(stateOf(t, { status, cloud_status: 'word' })).toEqual({
        tone: expect.any(String),
        text: `status.${status}`,
        note: status === 'unknown' ? 'word' : null,
      })
      expect(isBusy({ status }) && isFailed({ status })).toBe(false)
    }
  })
  it('follows the table, and says in words what stands in the way', () => {
    expect(whyNotVolume(t, 'grow', { status: 'in-use', multiattach: false }, active)).toBeNull()
    expect(whyNotVolume(t, 'grow', { status: 'extending', multiattach: false }, active)).toBe('busy status.extending')
    expect(whyNotVolume(t, 'delete', { status: 'in-use', multiattach: false }, active)).toBe('remove.attached')
    expect(whyNotVolume(t, 'delete', { status: 'error', multiattach: false }, active)).toBeNull()
    expect(computeVolumeCan.resetStatus).toContain('error_deleting')
  })
  it('lets only volumes for several instances be given away twice', () => {
    expect(whyNotVolume(t, 'attach', { status: 'in-use', multiattach: true }, active)).toBeNull()
    expect(whyNotVolume(t, 'attach', { status: 'in-use', multiattach: false }, active)).not.toBeNull()
  })
  it('changes nothing on a cloud that is being maintained', () =>
    expect(whyNotVolume(t, 'grow', { status: 'available', multiattach: false }, { status: 'maintenance' })).not.toBeNull())
  it('keeps backups that others build on', () => {
    expect(whyNotBackup(t, 'delete', { status: 'available', has_dependents: true }, active)).toBe('backup.dependentsFirst')
    expect(whyNotBackup(t, 'delete', { status: 'available', has_dependents: false }, active)).toBeNull()
  })
  it('tells a missing service from a refusal', () => {
    const said = (service: 'volume' | 'compute') => new ApiError({ status: 400, code: 93008, message: '', engine: { cloud: 'x', service, request_id: 'r' } })
    expect(isWithoutService(said('volume'))).toBe(true)
    expect(isWithoutService(said('compute'))).toBe(false)
    expect(isWithoutService(null)).toBe(false)
  })
  it('calls what has no name by its id', () => expect([titleOf({ id: 'a', name: '' }), titleOf({ id: 'a', name: 'b' })]).toEqual(['a', 'b']))
})
