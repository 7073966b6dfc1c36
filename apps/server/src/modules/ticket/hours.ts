import type { ServiceHours } from '@zhisuan/contract/ticket/desk'

/** Beijing has one offset all year. */
const offsetMs = 8 * 3_600_000
const dayMs = 86_400_000
/** Nobody has been free for longer than that. */
const daysMost = 400

/** Which day of Beijing a moment is on, counted from 1970. */
const dayOf = (at: number): number => Math.floor((at + offsetMs) / dayMs)
const isoDay = (index: number): string => new Date(index * dayMs).toISOString().slice(0, 10)
const minuteOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

/** When people are answered on a day, as milliseconds since 1970; null on a free one. */
export function shiftOf(hours: ServiceHours, index: number): { readonly from: number; readonly to: number } | null {
  const day = isoDay(index)
  // 1970 began on a Thursday.
  const weekday = ((((index + 3) % 7) + 7) % 7) + 1
  const works = hours.workdays.includes(day) || (!hours.holidays.includes(day) && hours.weekdays.includes(weekday))
  const start = index * dayMs - offsetMs
  return works ? { from: start + minuteOf(hours.from) * 60_000, to: start + minuteOf(hours.to) * 60_000 } : null
}

/** Working time between two moments, in milliseconds. */
export function workingMs(hours: ServiceHours, from: Date, to: Date): number {
  let sum = 0
  for (let index = dayOf(from.getTime()); index <= dayOf(to.getTime()); index++) {
    const shift = shiftOf(hours, index)
    if (shift !== null) sum += Math.max(0, Math.min(shift.to, to.getTime()) - Math.max(shift.from, from.getTime()))
  }
  return sum
}

/** The moment at which so much working time has gone by since another; that one itself where none is left. */
export function afterWorking(hours: ServiceHours, from: Date, ms: number): Date {
  if (ms <= 0) return from
  let left = ms
  const first = dayOf(from.getTime())
  for (let index = first; index < first + daysMost + Math.ceil(ms / 60_000); index++) {
    const shift = shiftOf(hours, index)
    if (shift === null) continue
    const begin = Math.max(shift.from, from.getTime())
    if (begin >= shift.to) continue
    if (shift.to - begin >= left) return new Date(begin + left)
    left -= shift.to - begin
  }
  return new Date(from.getTime() + ms)
}

/** How time counts against who answers a work order. */
export interface Timing {
  /** Working milliseconds allowed until the first answer, and until it is solved. */
  readonly answer_ms: number
  readonly solve_ms: number
  /** Gone by until it last stood still. */
  readonly used_ms: number
  /** Since when it runs; null while it stands still. */
  readonly running_since: Date | null
  readonly answered_at: Date | null
}

export interface Due {
  readonly answer_due_at: Date | null
  readonly solve_due_at: Date | null
}

/** By when it is due, as it stands. */
export function dueOf(hours: ServiceHours, { answer_ms, solve_ms, used_ms, running_since, answered_at }: Timing): Due {
  const due = (allowed: number): Date | null => (running_since === null ? null : afterWorking(hours, running_since, allowed - used_ms))
  return { answer_due_at: answered_at === null ? due(answer_ms) : null, solve_due_at: due(solve_ms) }
}

/** What became of it: time runs on or stands still, somebody answered, or it became more urgent. */
export function timed(
  hours: ServiceHours,
  before: Timing,
  at: Date,
  change: { readonly runs: boolean; readonly answered?: boolean; readonly within?: Pick<Timing, 'answer_ms' | 'solve_ms'> | undefined },
): Timing & Due {
  const { running_since: since, answer_ms, solve_ms } = before
  const after: Timing = {
    answer_ms,
    solve_ms,
    ...change.within,
    used_ms: before.used_ms + (since === null ? 0 : workingMs(hours, since, at)),
    running_since: change.runs ? at : null,
    answered_at: before.answered_at ?? (change.answered === true ? at : null),
  }
  return { ...after, ...dueOf(hours, after) }
}

/** Nine to six on working days; holidays as the State Council announced them for 2026. */
export const usualHours: ServiceHours = {
  from: '09:00',
  to: '18:00',
  weekdays: [1, 2, 3, 4, 5],
  holidays: [
    '2026-01-01',
    '2026-01-02',
    '2026-02-16',
    '2026-02-17',
    '2026-02-18',
    '2026-02-19',
    '2026-02-20',
    '2026-02-23',
    '2026-04-06',
    '2026-05-01',
    '2026-05-04',
    '2026-05-05',
    '2026-06-19',
    '2026-09-25',
    '2026-10-01',
    '2026-10-02',
    '2026-10-05',
    '2026-10-06',
    '2026-10-07',
  ],
  workdays: ['2026-01-04', '2026-02-14', '2026-02-28', '2026-05-09', '2026-09-20', '2026-10-10'],
  within: {
    low: { answer: 480, solve: 2_700 },
    normal: { answer: 240, solve: 1_620 },
    high: { answer: 60, solve: 540 },
    urgent: { answer: 15, solve: 240 },
  },
}
