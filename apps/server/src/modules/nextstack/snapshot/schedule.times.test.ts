import { describe, expect, it } from 'vitest'
import { nextRun, snapshotNameOf, type Rhythm } from './schedule.times.ts'

const runs = (rhythm: Rhythm, after: string, count: number): string[] => {
  let last = new Date(after)
  return Array.from({ length: count }, () => {
    last = nextRun(rhythm, last)
    return last.toISOString().slice(0, 16)
  })
}
const daily = (at: string, time_zone: string): Rhythm => ({ rhythm: 'daily', at, weekday: null, time_zone })
const hourly = (at: string, time_zone: string): Rhythm => ({ rhythm: 'hourly', at, weekday: null, time_zone })

describe('when a schedule runs next', () => {
  it('is told by the clock of its time zone', () => {
    expect(runs(daily('03:00', 'Asia/Shanghai'), '2026-03-06T18:59:59.999Z', 2)).toEqual(['2026-03-06T19:00', '2026-03-07T19:00'])
    expect(runs(hourly('5', 'Asia/Kolkata'), '2026-03-06T12:00:00Z', 2)).toEqual(['2026-03-06T12:35', '2026-03-06T13:35'])
    expect(runs({ rhythm: 'weekly', at: '03:00', weekday: 1, time_zone: 'Asia/Shanghai' }, '2026-03-06T12:00:00Z', 2)).toEqual([
      '2026-03-08T19:00',
      '2026-03-15T19:00',
    ])
  })
  it('is after the moment, never at it', () => {
    expect(runs(daily('03:00', 'UTC'), '2026-03-06T03:00:00Z', 1)).toEqual(['2026-03-07T03:00'])
    expect(runs(hourly('0', 'UTC'), '2026-03-06T03:00:00Z', 1)).toEqual(['2026-03-06T04:00'])
    expect(runs(hourly('0', 'UTC'), '2026-03-06T03:59:59.999Z', 1)).toEqual(['2026-03-06T04:00'])
  })
  it('comes later on the day whose clock leaves the time out', () => {
    expect(runs(daily('02:30', 'America/New_York'), '2026-03-06T12:00:00Z', 3)).toEqual(['2026-03-07T07:30', '2026-03-08T07:30', '2026-03-09T06:30'])
    expect(runs({ rhythm: 'weekly', at: '02:30', weekday: 7, time_zone: 'America/New_York' }, '2026-03-06T12:00:00Z', 2)).toEqual([
      '2026-03-08T07:30',
      '2026-03-15T06:30',
    ])
    expect(runs(daily('00:00', 'America/Sao_Paulo'), '2018-11-03T12:00:00Z', 2)).toEqual(['2018-11-04T03:00', '2018-11-05T02:00'])
  })
  it('comes once on the day whose clock shows it twice', () => {
    expect(runs(daily('01:30', 'America/New_York'), '2026-10-31T12:00:00Z', 2)).toEqual(['2026-11-01T05:30', '2026-11-02T06:30'])
    // Between the two.
    expect(runs(daily('01:30', 'America/New_York'), '2026-11-01T06:10:00Z', 1)).toEqual(['2026-11-02T06:30'])
  })
  it('goes on every hour while the clock changes, be it by half an hour', () => {
    expect(runs(hourly('30', 'America/New_York'), '2026-11-01T04:00:00Z', 4)).toEqual([
      '2026-11-01T04:30',
      '2026-11-01T05:30',
      '2026-11-01T06:30',
      '2026-11-01T07:30',
    ])
    expect(runs(hourly('30', 'America/New_York'), '2026-03-08T05:00:00Z', 3)).toEqual(['2026-03-08T05:30', '2026-03-08T06:30', '2026-03-08T07:30'])
    expect(runs(hourly('15', 'Australia/Lord_Howe'), '2026-04-04T13:30:00Z', 3)).toEqual(['2026-04-04T14:15', '2026-04-04T15:45', '2026-04-04T16:45'])
  })
})

describe('the name of a scheduled snapshot', () => {
  const schedule = { name: '每晚', time_zone: 'Asia/Shanghai' }
  const moment = new Date('2026-11-21T19:00:00Z')
  it('tells the moment by the schedule’s clock, and is another where that is taken', () => {
    expect(snapshotNameOf(schedule, moment, 1)).toBe('每晚-20261122-0300')
    expect(snapshotNameOf(schedule, moment, 2)).toBe('每晚-20261122-0300-2')
  })
  it('is no longer than a name may be', () => {
    const name = snapshotNameOf({ ...schedule, name: '名'.repeat(64) }, moment, 12)
    expect([...name]).toHaveLength(64)
    expect(name).toMatch(/名-20261122-0300-12$/)
  })
})
