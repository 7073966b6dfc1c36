import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import type { Call } from '@zhisuan/contract/define'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import {
  storagePools,
  volumeBackups,
  volumeCan,
  volumes,
  volumeSnapshots,
  volumeTransitional,
  type StoragePool,
  type Volume,
  type VolumeBackupStatus,
  type VolumeSnapshotStatus,
  type VolumeStatus,
} from '@zhisuan/contract/nextstack/volume'
import type { TFunction } from 'i18next'
import { allowed } from '../../../kit/allowed.ts'
import { cloudRefuses } from '../../../session/cloud.ts'
import type { GoneProps } from '../../../kit/Gone.tsx'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'

/** How each status looks; what it is called stands under `volume.status` in the messages. */
export const volumeTones: Readonly<Record<VolumeStatus, StatusTone>> = {
  creating: 'busy',
  available: 'rest',
  attaching: 'busy',
  in_use: 'good',
  detaching: 'busy',
  growing: 'busy',
  restoring: 'busy',
  backing_up: 'busy',
  deleting: 'busy',
  error: 'bad',
  lost: 'bad',
}
export const snapshotTones: Readonly<Record<VolumeSnapshotStatus, StatusTone>> = {
  creating: 'busy',
  available: 'good',
  deleting: 'busy',
  error: 'bad',
  lost: 'bad',
}
export const backupTones: Readonly<Record<VolumeBackupStatus, StatusTone>> = { creating: 'busy', available: 'good', deleting: 'busy', error: 'bad' }

/** What is no longer true after anything was done to a volume, its snapshots or its backups. */
export const invalidatedByVolume: readonly Call[] = [
  volumes.list,
  volumes.get,
  volumes.operations,
  volumeSnapshots.list,
  volumeSnapshots.get,
  volumeBackups.list,
  storagePools.list,
  storagePools.get,
  quotas.mine,
]

/** It will look different soon. */
export const isPassing = ({ status }: { readonly status: string }): boolean => (volumeTransitional as readonly string[]).includes(status)

/**
 * Why something cannot be done to a volume now, or null where it can. The server refuses by the same
 * rules.
 * @param cloud null where it is not known; then it is not judged
 */
export function whyNotVolume(
  t: TFunction<'storage'>,
  action: keyof typeof volumeCan,
  volume: Pick<Volume, 'status'>,
  cloud: Pick<CloudBasic, 'status'> | null,
): string | null {
  const state = t(`volume.status.${volume.status}`)
  if (volumeTransitional.includes(volume.status)) return t('busy', { state })
  if (action !== 'rename' && cloudRefuses(cloud) !== null) return cloudRefuses(cloud)
  return allowed(volumeCan, action, volume.status, state)
}

/** From 80 % on something has to be done soon, from 90 % on now. */
export type Fill = 'fine' | 'near' | 'full'

/** 0 to 1, never more; null where the whole is not known. */
export const shareOf = (used: number, total: number): number | null => (total <= 0 ? null : Math.min(1, used / total))

export function fillOf(used: number, total: number): Fill {
  const share = shareOf(used, total) ?? 0
  if (share >= 0.9) return 'full'
  return share >= 0.8 ? 'near' : 'fine'
}

/** Whether it is one for all members, one on each, or on the only one there is. */
export const reachOf = ({ shared, members }: Pick<StoragePool, 'shared' | 'members'>): 'shared' | 'local' | 'single' =>
  members.length <= 1 && members[0]?.member === null && !shared ? 'single' : shared ? 'shared' : 'local'

/** Bytes; null for who may not know. */
export const freeBytes = ({ total_bytes, used_bytes }: Pick<StoragePool, 'total_bytes' | 'used_bytes'>): number | null =>
  total_bytes === 0 ? null : Math.max(0, total_bytes - used_bytes)

/** In the place of a page about a volume that is not there. */
export const volumeGone = (t: TFunction<'storage'>): GoneProps => ({
  title: t('volume.gone'),
  note: t('volume.goneNote'),
  to: paths.nextstack.volume.list(),
  back: t('volume.back'),
})
