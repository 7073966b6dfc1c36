import { describe, expect, it } from 'vitest'
import { toldAt } from './hours.ts'

const work = { days: [1, 2, 3, 4, 5], from: '09:00', to: '18:00', critical_anyway: true }
/** A moment of Beijing; 30 November 2026 is a Monday. */
const at = (text: string): Date => new Date(`2026-${text}+08:00`)

describe('hours in which somebody is told', () => {
  it.each([
    ['within them at once', work, '11-30T10:00', '11-30T10:00'],
    ['before them when they begin', work, '11-30T08:59', '11-30T09:00'],
    ['at their end no more, but the next day', work, '11-30T18:00', '12-01T09:00'],
    ['on Friday evening on Monday', work, '12-04T18:30', '12-07T09:00'],
    ['over night until the morning', { ...work, days: [1], from: '22:00', to: '06:00' }, '12-01T05:59', '12-01T05:59'],
    ['and from then on when it is night again', { ...work, days: [1], from: '22:00', to: '06:00' }, '12-01T06:00', '12-07T22:00'],
    ['the whole day where they end as they begin', { ...work, from: '00:00', to: '00:00' }, '11-30T23:59', '11-30T23:59'],
  ])('%s', (_, hours, now, then) => {
    expect(toldAt(hours, 'warning', at(now))).toEqual(at(then))
  })

  it('do not keep what is critical, unless that is wished', () => {
    expect(toldAt(work, 'critical', at('12-05T12:00'))).toEqual(at('12-05T12:00'))
    expect(toldAt({ ...work, critical_anyway: false }, 'critical', at('12-05T12:00'))).toEqual(at('12-07T09:00'))
    expect(toldAt(null, 'info', at('12-05T12:00'))).toEqual(at('12-05T12:00'))
  })
})
