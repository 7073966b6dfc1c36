import type { ReceiverHours, Severity } from '@zhisuan/contract/omc/alarm'

const zoneMs = 8 * 3_600_000
const dayMs = 86_400_000
const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

/** When somebody is told of what is to be told now: now, or when their hours begin, by Beijing's time. Hours that end before they begin go on over night. */
export function toldAt(hours: ReceiverHours | null, severity: Severity, now: Date): Date {
  if (hours === null || (hours.critical_anyway && severity === 'critical')) return now
  const there = now.getTime() + zoneMs
  const midnight = there - (there % dayMs)
  const [from, to] = [minutesOf(hours.from), minutesOf(hours.to)]
  const length = to > from ? to - from : to + 1_440 - from
  // Those of yesterday may still last.
  for (let day = -1; day <= 7; day++) {
    const start = midnight + day * dayMs + from * 60_000
    const weekday = new Date(start).getUTCDay() || 7
    if (!hours.days.includes(weekday) || there >= start + length * 60_000) continue
    return there >= start ? now : new Date(start - zoneMs)
  }
  return now
}
