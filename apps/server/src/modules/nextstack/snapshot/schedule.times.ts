import type { SnapshotSchedule } from '@zhisuan/contract/nextstack/snapshot'
import { DateTime } from 'luxon'

export type Rhythm = Pick<SnapshotSchedule, 'rhythm' | 'at' | 'weekday' | 'time_zone'>

/**
 * When a schedule runs next, by the clock of its time zone. A time that a change of the clock leaves
 * out comes as much later; one that it repeats counts the first time only, unless hourly.
 */
export function nextRun({ rhythm, at, weekday, time_zone }: Rhythm, after: Date): Date {
  const from = DateTime.fromJSDate(after, { zone: time_zone })
  if (rhythm === 'hourly') {
    // Minute by minute: clocks change by half an hour, too.
    let time = from.startOf('minute')
    do time = time.plus({ minutes: 1 })
    while (time.minute !== Number(at))
    return time.toJSDate()
  }
  const [hour, minute] = at.split(':').map(Number)
  for (let day = from.startOf('day'); ; day = day.plus({ days: 1 }).startOf('day')) {
    const time = day.set({ hour: hour ?? 0, minute: minute ?? 0 })
    if (time.toMillis() > after.getTime() && (rhythm === 'daily' || day.weekday === weekday)) return time.toJSDate()
  }
}

/** Longest name of a snapshot. */
const longest = 64

/** What a schedule calls a snapshot of that moment, by its own clock: `nightly-20261121-0300`. @param attempt 2 and more where that is taken */
export function snapshotNameOf(schedule: { name: string; time_zone: string }, moment: Date, attempt: number): string {
  const suffix = `-${DateTime.fromJSDate(moment, { zone: schedule.time_zone }).toFormat('yyyyMMdd-HHmm')}${attempt === 1 ? '' : `-${attempt}`}`
  return `${[...schedule.name].slice(0, longest - suffix.length).join('')}${suffix}`
}
