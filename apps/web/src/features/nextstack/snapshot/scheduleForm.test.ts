import { snapshotSchedules, type SnapshotSchedule } from '@zhisuan/contract/nextstack/snapshot'
import { describe, expect, it } from 'vitest'
import { bodyOf, changed, valuesOf, zonesWith } from './scheduleForm.ts'

const schedule: SnapshotSchedule = {
  id: '019aa000-0000-7000-8000-000000000001',
  name: '每晚',
  description: '',
  bp_id: null,
  bp_name: null,
  created_by: 'li-na',
  created_at: '2026-03-02T10:00:00Z',
  updated_at: '2026-03-02T10:00:00Z',
  vm: { id: '019aa000-0000-7000-8000-000000000002', name: 'web' },
  rhythm: 'weekly',
  at: '03:30',
  weekday: 7,
  time_zone: 'Asia/Shanghai',
  keep: 5,
  enabled: true,
  last_run_at: null,
  last_error: null,
  next_run_at: null,
}
const schema = snapshotSchedules.update.body

describe('the form of a schedule', () => {
  it('gives back what it was filled with', () => {
    for (const one of [schedule, { ...schedule, rhythm: 'hourly', at: '5', weekday: null }, { ...schedule, rhythm: 'daily', weekday: null }] as const) {
      const body = schema.parse(bodyOf(valuesOf(one, '', 'UTC')))
      expect(body).toEqual(schema.parse(changed(one, {})))
    }
  })
  it('begins with what the server takes', () => {
    expect(schema.parse(bodyOf(valuesOf(null, '每日', 'Europe/Berlin')))).toMatchObject({
      name: '每日',
      rhythm: 'daily',
      at: '03:00',
      weekday: null,
      time_zone: 'Europe/Berlin',
      keep: 7,
      enabled: true,
    })
  })
  it('keeps minute and time of day apart while the rhythm changes', () => {
    const values = { ...valuesOf(schedule, '', 'UTC'), minute: 15 }
    expect(bodyOf({ ...values, rhythm: 'hourly' })).toMatchObject({ at: '15', weekday: null })
    expect(bodyOf({ ...values, rhythm: 'daily' })).toMatchObject({ at: '03:30', weekday: null })
  })
  it('has the server refuse what was cleared', () => {
    for (const [cleared, field] of [
      [{ keep: null }, 'keep'],
      [{ time: null }, 'at'],
      [{ rhythm: 'hourly', minute: null }, 'at'],
    ] as const) {
      const { error } = schema.safeParse(bodyOf({ ...valuesOf(schedule, '', 'UTC'), ...cleared }))
      expect(error?.issues[0]?.path).toEqual([field])
    }
  })
  it('offers a time zone that the browser does not name', () => {
    expect(zonesWith('UTC')).toContain('UTC')
    expect(zonesWith('Asia/Shanghai').filter((zone) => zone === 'Asia/Shanghai')).toHaveLength(1)
  })
})
