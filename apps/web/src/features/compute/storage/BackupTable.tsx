import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeBackupStatuses, computeVolumeBackups, type ComputeVolume, type ComputeVolumeBackup } from '@zhisuan/contract/compute/volume'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable, useCloudLines } from '../CloudTable.tsx'
import { KeepDialog } from './KeepDialog.tsx'
import { isBusy, stateOf, titleOf, whyNotVolume } from './storageRules.ts'
import { useBackupActions } from './useBackupActions.tsx'

/** Backups on a cloud, or those of one volume. */
export function BackupTable({ cloud, volume }: { readonly cloud: CloudBasic | null; readonly volume?: ComputeVolume }) {
  const { t } = useTranslation('computeStorage')
  const platform = useIsPlatform()
  const { data } = useCloudLines(computeVolumeBackups.list, cloud?.cloud_id ?? null, isBusy)
  const { actionsOf, batchActions } = useBackupActions(cloud, (id) => data?.names[id] ?? id)
  const refused = volume === undefined ? null : whyNotVolume(t, 'backup', volume, cloud)
  return (
    <CloudTable
      call={computeVolumeBackups.list}
      cloudId={cloud?.cloud_id ?? null}
      name={volume === undefined ? '' : 'backups'}
      passing={isBusy}
      only={(one) => volume === undefined || one.volume_id === volume.id}
      columns={(name) => backupColumns(t, name, { volumes: volume === undefined, projects: platform && volume === undefined })}
      filters={[
        filter.oneOf('status', t('column.status'), computeBackupStatuses, (value) => t(`status.${value}`)),
        filter.oneOf('kind', t('column.kind'), ['full', 'incremental'], (value) => t(`backup.${value}`)),
        filter.keyword(t('keyword')),
      ]}
      textOf={(backup) => `${backup.name} ${backup.id} ${backup.description} ${backup.volume_id}`}
      matches={{ status: (backup, value) => backup.status === value, kind: (backup, value) => backup.incremental === (value === 'incremental') }}
      sortBy={{ name: titleOf, status: ({ status }) => t(`status.${status}`), size: ({ size_bytes }) => size_bytes, created: ({ created_at }) => created_at }}
      sortFirst="-created"
      nameOf={titleOf}
      rowActions={actionsOf}
      batchActions={batchActions}
      create={{
        call: computeVolumeBackups.create,
        label: t('keep.okBackup'),
        plain: volume !== undefined,
        disabledReason: refused,
        dialog: (close) => cloud !== null && <KeepDialog cloudId={cloud.cloud_id} kind="backup" volume={volume} onClose={close} />,
      }}
      empty={{ title: volume === undefined ? t('backup.empty') : t('backup.none'), note: t('backup.emptyNote') }}
    />
  )
}

/** @param show columns that only some of the lists need */
const backupColumns = (
  t: TFunction<'computeStorage'>,
  name: (id: string | null) => string,
  show: { readonly volumes: boolean; readonly projects: boolean },
): readonly Column<ComputeVolumeBackup>[] => [
  col.name('name', t('column.name'), (one) => titleOf(one), {
    sort: true,
    to: ({ id }) => paths.compute.backup.detail(id),
    note: ({ description }) => description,
  }),
  col.status('status', t('column.status'), (backup) => ({ ...stateOf(t, backup), ...(backup.failure !== null && { note: backup.failure }) }), {
    sort: true,
    width: 110,
  }),
  col.text('volume', t('column.volume'), ({ volume_id }) => name(volume_id), {
    when: show.volumes,
    to: ({ volume_id }) => paths.compute.volume.detail(volume_id),
    width: 150,
  }),
  col.text('kind', t('column.kind'), ({ incremental }) => t(incremental ? 'backup.incremental' : 'backup.full'), {
    width: 90,
    note: ({ has_dependents }) => (has_dependents ? t('backup.hasDependents') : ''),
  }),
  col.bytes('size', t('column.volumeSize'), ({ size_bytes }) => size_bytes, { sort: true, width: 110 }),
  col.text('project', t('column.project'), ({ keystone_project_id }) => name(keystone_project_id), { when: show.projects, width: 120 }),
  col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
  col.date('created', t('column.created'), ({ created_at }) => created_at, { sort: true }),
]
