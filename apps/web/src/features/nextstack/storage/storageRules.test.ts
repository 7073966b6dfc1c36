import { errors } from '@zhisuan/contract/errors'
import { volumeCan, volumeStatuses, volumeTransitional } from '@zhisuan/contract/nextstack/volume'
import type { TFunction } from 'i18next'
import { describe, expect, it } from 'vitest'
import { fillOf, freeBytes, isPassing, reachOf, shareOf, whyNotVolume } from './storageRules.ts'
import { nameAt } from '../../../kit/nameAt.ts'
import { whilePassing } from '../../../kit/whilePassing.ts'

// Only that something is said, not what.
const t = ((key: string) => key) as unknown as TFunction<'storage'>
const actions = Object.keys(volumeCan) as (keyof typeof volumeCan)[]

describe('what may be done to a volume', () => {
  it('is what the contract says, on a cloud that works', () => {
    for (const action of actions) {
      for (const status of volumeStatuses) {
        const may = (volumeCan[action] as readonly string[]).includes(status)
        expect(whyNotVolume(t, action, { status }, { status: 'active' }) === null, `${action} ${status}`).toBe(may)
      }
    }
  })
  it('is only to rename it where the cloud takes no changes', () => {
    for (const action of actions) {
      expect(whyNotVolume(t, action, { status: 'in_use' }, { status: 'maintenance' }) === null, action).toBe(action === 'rename')
    }
    expect(whyNotVolume(t, 'grow', { status: 'in_use' }, { status: 'maintenance' })).toBe(errors.cloudMaintenance.text)
    expect(whyNotVolume(t, 'grow', { status: 'in_use' }, { status: 'offline' })).toBe(errors.cloudOffline.text)
  })
  it('says that it passes before anything else', () => {
    for (const status of volumeTransitional) expect(whyNotVolume(t, 'delete', { status }, { status: 'offline' })).toBe('busy')
  })
})

describe('isPassing', () => {
  it('is quick while something passes', () => {
    expect(whilePassing([{ status: 'available' }], isPassing)).toBe(5_000)
    expect(whilePassing([{ status: 'available' }, { status: 'backing_up' }], isPassing)).toBe(1_000)
  })
})

describe('how full something is', () => {
  it.each([
    [0, 0, null, 'fine'],
    [79, 100, 0.79, 'fine'],
    [80, 100, 0.8, 'near'],
    [90, 100, 0.9, 'full'],
    [120, 100, 1, 'full'],
  ])('%i of %i', (used, total, share, fill) => {
    expect(shareOf(used, total)).toBe(share)
    expect(fillOf(used, total)).toBe(fill)
  })
  it('leaves nothing where more is used than there is, and is unknown to who may not know', () => {
    expect(freeBytes({ total_bytes: 100, used_bytes: 120 })).toBe(0)
    expect(freeBytes({ total_bytes: 100, used_bytes: 40 })).toBe(60)
    expect(freeBytes({ total_bytes: 0, used_bytes: 0 })).toBeNull()
  })
})

describe('reachOf', () => {
  const member = (name: string | null) => ({ member: name, total_bytes: 1, used_bytes: 0 })
  it('tells one for all from one on each, and from the only one', () => {
    expect(reachOf({ shared: true, members: [member(null)] })).toBe('shared')
    expect(reachOf({ shared: false, members: [member('node-1')] })).toBe('local')
    expect(reachOf({ shared: false, members: [member(null)] })).toBe('single')
  })
})

describe('nameAt', () => {
  it('tells the minute', () => expect(nameAt('snap', new Date(2026, 2, 2, 9, 5))).toBe('snap-20260302-0905'))
})
