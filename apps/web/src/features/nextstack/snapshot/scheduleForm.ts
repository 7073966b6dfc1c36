import type { BodyInput } from '@zhisuan/contract/define'
import type { SnapshotSchedule, snapshotSchedules } from '@zhisuan/contract/nextstack/snapshot'

/** What the form of a schedule holds: the time of day and the minute of the hour apart, so that changing the rhythm loses neither. */
export interface ScheduleValues {
  vm_id?: string
  name: string
  description: string
  rhythm: SnapshotSchedule['rhythm']
  minute: number | null
  /** `HH:mm` */
  time: string | null
  weekday: number
  time_zone: string
  keep: number | null
  enabled: boolean
}

const firstKeep = 7

/** @param zone the person's own, for a new one */
export function valuesOf(schedule: SnapshotSchedule | null, name: string, zone: string): ScheduleValues {
  const hourly = schedule?.rhythm === 'hourly'
  return {
    name: schedule?.name ?? name,
    description: schedule?.description ?? '',
    rhythm: schedule?.rhythm ?? 'daily',
    minute: hourly ? Number(schedule.at) : 0,
    time: schedule === null || hourly ? '03:00' : schedule.at,
    weekday: schedule?.weekday ?? 1,
    time_zone: schedule?.time_zone ?? zone,
    keep: schedule?.keep ?? firstKeep,
    enabled: schedule?.enabled ?? true,
  }
}

/** What the calls take. What was cleared stays out, and the server says so. */
export const bodyOf = ({ minute, time, weekday, ...values }: Omit<ScheduleValues, 'vm_id'>): BodyInput<typeof snapshotSchedules.update> => ({
  ...values,
  at: values.rhythm === 'hourly' ? String(minute ?? '') : (time ?? ''),
  weekday: values.rhythm === 'weekly' ? weekday : null,
  keep: values.keep ?? 0,
})

/** The whole of what is there, with a change: the call replaces all. */
export const changed = (
  { name, description, rhythm, at, weekday, time_zone, keep, enabled }: SnapshotSchedule,
  change: Partial<Pick<SnapshotSchedule, 'enabled'>>,
): BodyInput<typeof snapshotSchedules.update> => ({ name, description, rhythm, at, weekday, time_zone, keep, enabled, ...change })

/** Where the browser thinks that the person is. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** All that the browser knows; the wanted one first, if it knows that by another name only. */
export function zonesWith(wanted: string): readonly string[] {
  const known = Intl.supportedValuesOf('timeZone')
  return known.includes(wanted) ? known : [wanted, ...known]
}
