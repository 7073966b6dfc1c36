import { constants } from '@zhisuan/contract/constants'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import {
  computeBackupCan,
  computeBackupTransitional,
  computeSnapshotCan,
  computeSnapshotTransitional,
  computeVolumeBackups,
  computeVolumeCan,
  computeVolumes,
  computeVolumeSnapshots,
  computeVolumeTransfers,
  computeVolumeTransitional,
  type ComputeBackupStatus,
  type ComputeSnapshotStatus,
  type ComputeVolume,
  type ComputeVolumeBackup,
  type ComputeVolumeSnapshot,
  type ComputeVolumeStatus,
} from '@zhisuan/contract/compute/volume'
import { keystoneProjects } from '@zhisuan/contract/compute/project'
import type { Call } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import type { TFunction } from 'i18next'
import type { ApiError } from '../../../api/client.ts'
import { allowed } from '../../../kit/allowed.ts'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { cloudRefuses } from '../../../session/cloud.ts'

type AnyStatus = ComputeVolumeStatus | ComputeSnapshotStatus | ComputeBackupStatus

/** Of volumes, snapshots and backups alike: Cinder says the same of all three by the same word. */
const tones: Readonly<Record<AnyStatus, StatusTone>> = {
  creating: 'busy',
  downloading: 'busy',
  available: 'good',
  reserved: 'busy',
  attaching: 'busy',
  detaching: 'busy',
  'in-use': 'good',
  extending: 'busy',
  retyping: 'busy',
  uploading: 'busy',
  'backing-up': 'busy',
  'restoring-backup': 'busy',
  restoring: 'busy',
  'awaiting-transfer': 'warning',
  maintenance: 'warning',
  managing: 'busy',
  unmanaging: 'busy',
  deleting: 'busy',
  error: 'bad',
  error_extending: 'bad',
  error_restoring: 'bad',
  'error_backing-up': 'bad',
  error_managing: 'bad',
  error_deleting: 'bad',
  unknown: 'warning',
}

interface Stating {
  readonly status: AnyStatus
  readonly cloud_status: string
}

/** What a state looks like and is called; of words that we do not know, the cloud's own beside. */
export const stateOf = (t: TFunction<'computeStorage'>, { status, cloud_status }: Stating): { tone: StatusTone; text: string; note: string | null } => ({
  tone: tones[status],
  text: t(`status.${status}`),
  note: status === 'unknown' ? cloud_status : null,
})

const passing: ReadonlySet<AnyStatus> = new Set([...computeVolumeTransitional, ...computeSnapshotTransitional, ...computeBackupTransitional])
/** Something is under way that will soon be over by itself. */
export const isBusy = ({ status }: Pick<Stating, 'status'>): boolean => passing.has(status)
export const isFailed = ({ status }: Pick<Stating, 'status'>): boolean => tones[status] === 'bad'

/** What is no longer true after anything was done to a volume, a snapshot, a backup or an offer. */
export const invalidatedByStorage: readonly Call[] = [
  computeVolumes.list,
  computeVolumes.get,
  computeVolumeSnapshots.list,
  computeVolumeSnapshots.get,
  computeVolumeBackups.list,
  computeVolumeBackups.get,
  computeVolumeTransfers.list,
  keystoneProjects.mine,
]

type Cloud = Pick<CloudBasic, 'status'> | null
/** As the kit says it of any state. */
const forbidden = (state: string): string | null => allowed<string, { action: readonly string[] }>({ action: [] }, 'action', '', state)
const whyNot = (t: TFunction<'computeStorage'>, fit: readonly AnyStatus[], { status }: Pick<Stating, 'status'>, cloud: Cloud): string | null => {
  const refused = cloudRefuses(cloud)
  if (refused !== null || fit.includes(status)) return refused
  const state = t(`status.${status}`)
  return passing.has(status) ? t('busy', { state }) : forbidden(state)
}

/** Why something cannot be done now, or null where it can; the server refuses by the same rules. */
export const whyNotVolume = (
  t: TFunction<'computeStorage'>,
  action: keyof typeof computeVolumeCan,
  volume: Pick<ComputeVolume, 'status' | 'multiattach'>,
  cloud: Cloud,
): string | null => {
  if (action === 'delete' && volume.status === 'in-use') return cloudRefuses(cloud) ?? t('remove.attached')
  if (action === 'attach' && volume.status === 'in-use' && !volume.multiattach) return cloudRefuses(cloud) ?? forbidden(t('status.in-use'))
  return whyNot(t, computeVolumeCan[action], volume, cloud)
}
export const whyNotSnapshot = (
  t: TFunction<'computeStorage'>,
  action: keyof typeof computeSnapshotCan,
  snapshot: Pick<ComputeVolumeSnapshot, 'status'>,
  cloud: Cloud,
): string | null => whyNot(t, computeSnapshotCan[action], snapshot, cloud)
export const whyNotBackup = (
  t: TFunction<'computeStorage'>,
  action: keyof typeof computeBackupCan,
  backup: Pick<ComputeVolumeBackup, 'status' | 'has_dependents'>,
  cloud: Cloud,
): string | null => whyNot(t, computeBackupCan[action], backup, cloud) ?? (action === 'delete' && backup.has_dependents ? t('backup.dependentsFirst') : null)

/** Whether the cloud said that it has no such service at all. */
export const isWithoutService = (error: ApiError | null): boolean => error?.code === errors.engineUnsupported.code && error.engine?.service === 'volume'

/** What it is called: on a cloud names may be missing. */
export const titleOf = ({ name, id }: { readonly name: string; readonly id: string }): string => (name === '' ? id : name)

export const gib = 2 ** 30

/** Pages about one thing look again as lists do: soon while something is under way. */
export const detailMs = (one: Pick<Stating, 'status'> | undefined): number => (one !== undefined && isBusy(one) ? 3_000 : constants.listRefreshMs)
