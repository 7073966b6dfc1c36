import { whilePassing } from '../../../kit/whilePassing.ts'
import { addTexts, textsOf } from '../../../i18n.ts'
import { beforeAll, describe, expect, it } from 'vitest'
import messages from '../../../locales/zh/snapshot.ts'
import { makerOf, whenText, whyNotSnapshot, isPassing } from './snapshotRules.ts'

beforeAll(() => void addTexts('snapshot', messages))
const t = textsOf('snapshot')

describe('what can be done to a snapshot', () => {
  it('is what the contract allows in its state', () => {
    expect(whyNotSnapshot(t, 'restore', { status: 'available' }, null)).toBeNull()
    expect(whyNotSnapshot(t, 'restore', { status: 'lost' }, null)).not.toBeNull()
    expect(whyNotSnapshot(t, 'delete', { status: 'lost' }, null)).toBeNull()
    expect(whyNotSnapshot(t, 'delete', { status: 'deleting' }, null)).toBe('删除中，请等待完成')
  })
  it('is less on a cloud in maintenance: it can be renamed', () => {
    expect(whyNotSnapshot(t, 'clone', { status: 'available' }, { status: 'maintenance' })).toBe('云平台维护中，暂不可操作')
    expect(whyNotSnapshot(t, 'rename', { status: 'available' }, { status: 'maintenance' })).toBeNull()
  })
})

describe('what is said of a snapshot', () => {
  it('tells who made it', () => {
    expect(makerOf({ schedule_id: 'x', created_by: '每晚' })).toBe('schedule')
    expect(makerOf({ schedule_id: null, created_by: 'li-na' })).toBe('person')
    expect(makerOf({ schedule_id: null, created_by: '' })).toBe('engine')
  })
  it('is read again soon while something passes', () => {
    expect(whilePassing([{ status: 'available' }, { status: 'lost' }], isPassing)).toBe(5_000)
    expect(whilePassing([{ status: 'available' }, { status: 'restoring' }], isPassing)).toBe(1_000)
  })
})

describe('when a schedule runs', () => {
  it('is said as people say it', () => {
    expect(whenText(t, { rhythm: 'hourly', at: '5', weekday: null })).toBe('每小时的第 5 分')
    expect(whenText(t, { rhythm: 'daily', at: '03:00', weekday: null })).toBe('每天 03:00')
    expect(whenText(t, { rhythm: 'weekly', at: '03:00', weekday: 7 })).toBe('每周日 03:00')
  })
})
