import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import type { Call } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import {
  snapshotCan,
  snapshots,
  snapshotSchedules,
  snapshotTransitional,
  type SnapshotSchedule,
  type SnapshotStatus,
  type VmSnapshot,
} from '@zhisuan/contract/nextstack/snapshot'
import { vms } from '@zhisuan/contract/nextstack/vm'
import type { TFunction } from 'i18next'
import { allowed } from '../../../kit/allowed.ts'
import type { StatusTone } from '../../../kit/StatusTag.tsx'

/** How each status looks; what it is called stands under `status` in the messages. */
export const snapshotTones: Readonly<Record<SnapshotStatus, StatusTone>> = {
  creating: 'busy',
  available: 'good',
  restoring: 'busy',
  deleting: 'busy',
  error: 'bad',
  lost: 'bad',
}

/** What is no longer true after anything was done to a snapshot. */
export const invalidatedBySnapshot: readonly Call[] = [snapshots.list, snapshots.get, vms.list, vms.get, vms.operations, quotas.mine]
export const invalidatedBySchedule: readonly Call[] = [snapshotSchedules.list]

/** It will look different soon. */
export const isPassing = ({ status }: Pick<VmSnapshot, 'status'>): boolean => snapshotTransitional.includes(status)

/**
 * Why something cannot be done to a snapshot now, or null where it can. The server refuses by the
 * same rules, and by those of the instance, which lists do not know.
 * @param cloud null where it is not known; then it is not judged
 */
export function whyNotSnapshot(
  t: TFunction<'snapshot'>,
  action: keyof typeof snapshotCan,
  snapshot: Pick<VmSnapshot, 'status'>,
  cloud: Pick<CloudBasic, 'status'> | null,
): string | null {
  const state = t(`status.${snapshot.status}`)
  if (isPassing(snapshot)) return t('busy', { state })
  if (action !== 'rename' && cloud?.status === 'maintenance') return errors.cloudMaintenance.text
  if (action !== 'rename' && cloud?.status === 'offline') return errors.cloudOffline.text
  return allowed(snapshotCan, action, snapshot.status, state)
}

/** Who made it: a schedule, a person, or somebody on the engine itself. */
export const makerOf = ({ schedule_id, created_by }: Pick<VmSnapshot, 'schedule_id' | 'created_by'>): 'schedule' | 'person' | 'engine' => {
  if (schedule_id !== null) return 'schedule'
  return created_by === '' ? 'engine' : 'person'
}

/** As the contract counts them, from 1. */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

export type Rhythm = Pick<SnapshotSchedule, 'rhythm' | 'at' | 'weekday'>

/** `每周一 03:00`, by the schedule's own clock. */
export function whenText(t: TFunction<'snapshot'>, { rhythm, at, weekday }: Rhythm): string {
  const day = t(`schedule.weekday.${weekdays[(weekday ?? 1) - 1] ?? 'monday'}`)
  return t(`schedule.when.${rhythm}`, { at, weekday: day })
}
