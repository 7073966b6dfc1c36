import type { ServiceHours } from '@zhisuan/contract/ticket/desk'
import { describe, expect, it } from 'vitest'
import { afterWorking, dueOf, timed, usualHours, workingMs, type Due, type Timing } from './hours.ts'

const minute = 60_000
/** A moment of Beijing's clock. */
const at = (text: string): Date => new Date(`${text}:00+08:00`)

describe('working time', () => {
  it.each([
    ['within a day', '2026-11-26T10:00', '2026-11-26T11:30', 90],
    ['over a night', '2026-11-26T17:00', '2026-11-27T10:00', 120],
    ['over a weekend', '2026-11-27T17:00', '2026-11-30T10:00', 120],
    ['before and after the hours', '2026-11-26T00:00', '2026-11-27T00:00', 540],
    ['on a Saturday that is worked', '2026-10-10T10:00', '2026-10-10T11:00', 60],
    ['over the holidays of October, whose Saturday after is worked', '2026-09-30T17:00', '2026-10-08T10:00', 120],
    ['of a Sunday', '2026-11-29T09:00', '2026-11-29T18:00', 0],
  ])('is counted %s', (_, from, to, minutes) => expect(workingMs(usualHours, at(from), at(to)) / minute).toBe(minutes))

  it.each([
    ['the same day', '2026-11-26T10:00', 60, '2026-11-26T11:00'],
    ['at the very end of a day', '2026-11-26T17:00', 60, '2026-11-26T18:00'],
    ['a minute later on Monday', '2026-11-27T17:00', 61, '2026-11-30T09:01'],
    ['from a Saturday on', '2026-11-28T12:00', 15, '2026-11-30T09:15'],
    ['nothing: at once', '2026-11-29T03:00', 0, '2026-11-29T03:00'],
  ])('ends %s', (_, from, minutes, to) => expect(afterWorking(usualHours, at(from), minutes * minute)).toEqual(at(to)))

  it('ends all the same where nobody works any more', () => {
    const never: ServiceHours = { ...usualHours, weekdays: [7], holidays: [], workdays: [] }
    expect(afterWorking(never, at('2026-11-26T10:00'), minute)).toEqual(at('2026-11-29T09:01'))
  })
})

/** The same, minute by minute, from the whole log: slow, and hard to get wrong. */
function naively(
  hours: ServiceHours,
  log: readonly { at: Date; runs: boolean; answered: boolean; within?: { answer_ms: number; solve_ms: number } }[],
  until: Date,
) {
  const working = (moment: number): boolean => {
    const text = new Date(moment + 8 * 3_600_000).toISOString()
    const [day, clock] = [text.slice(0, 10), text.slice(11, 16)]
    const weekday = ((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7) + 1
    const works = hours.workdays.includes(day) || (!hours.holidays.includes(day) && hours.weekdays.includes(weekday))
    return works && clock >= hours.from && clock < hours.to
  }
  let [used, runs, answered] = [0, false, false]
  let within = { answer_ms: 0, solve_ms: 0 }
  let next = 0
  const due: { answer: number | null; solve: number | null } = { answer: null, solve: null }
  const last = log.at(-1)?.at.getTime() ?? 0
  for (let moment = log[0]?.at.getTime() ?? 0; ; moment += minute) {
    for (let event = log[next]; event !== undefined && event.at.getTime() === moment; event = log[++next]) {
      runs = event.runs
      answered ||= event.answered
      within = event.within ?? within
    }
    if (moment >= last) {
      // What is over by now was so at the last of what happened.
      if (runs && due.solve === null && used >= within.solve_ms) due.solve = moment
      if (runs && !answered && due.answer === null && used >= within.answer_ms) due.answer = moment
      if (!runs || (due.solve !== null && (answered || due.answer !== null)) || moment > until.getTime()) return { used, runs, due, last }
    }
    if (runs && working(moment)) used += minute
  }
}

describe('what is due', () => {
  it('is the same as counted minute by minute, whatever happened in between', () => {
    let seed = 20_261_128
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return Math.floor((seed / 2 ** 32) * below)
    }
    for (let round = 0; round < 200; round++) {
      const within = () => ({ answer_ms: (1 + random(300)) * minute, solve_ms: (1 + random(1_200)) * minute })
      const start = at('2026-09-28T00:00').getTime() + random(14 * 24 * 60) * minute
      const log: { at: Date; runs: boolean; answered: boolean; within?: { answer_ms: number; solve_ms: number } }[] = [
        { at: new Date(start), runs: true, answered: false, within: within() },
      ]
      for (let events = random(6); events > 0; events--)
        log.push({
          at: new Date((log.at(-1)?.at.getTime() ?? 0) + random(2_000) * minute),
          runs: random(3) > 0,
          answered: random(3) === 0,
          ...(random(5) === 0 && { within: within() }),
        })
      const [first, ...rest] = log
      const opened: Timing = {
        answer_ms: first?.within?.answer_ms ?? 0,
        solve_ms: first?.within?.solve_ms ?? 0,
        used_ms: 0,
        running_since: new Date(start),
        answered_at: null,
      }
      let state: Timing & Due = { ...opened, ...dueOf(usualHours, opened) }
      for (const event of rest) state = timed(usualHours, state, event.at, event)
      const expected = naively(usualHours, log, new Date(start + 120 * 24 * 60 * minute))
      expect(state.running_since !== null, `round ${round}`).toBe(expected.runs)
      expect(state.answer_due_at === null).toBe(expected.due.answer === null)
      // Counted by minutes it is over in the minute that begins where the shift has ended; both name the same working minute.
      for (const [ours, theirs] of [
        [state.solve_due_at, expected.due.solve],
        [state.answer_due_at, expected.due.answer],
      ] as const)
        if (ours !== null && theirs !== null)
          expect(workingMs(usualHours, new Date(Math.min(ours.getTime(), theirs)), new Date(Math.max(ours.getTime(), theirs)))).toBe(0)
    }
  })
})
