import Typography from 'antd/es/typography'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { volumeBackups, type Volume, type VolumeBackup } from '@zhisuan/contract/nextstack/volume'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { KeepAny, VolumeKeep } from './NameDialogs.tsx'
import { StateTag } from './StateTag.tsx'
import './storage.css'
import { backupTones, whyNotVolume, isPassing } from './storageRules.ts'
import { useBackupActions } from './useBackupActions.tsx'

/** Backups on a cloud, or those of one volume. */
export function BackupTable({ cloud, volume }: { readonly cloud: CloudBasic | null; readonly volume?: Volume }) {
  const { t } = useTranslation('storage')
  const platform = useIsPlatform()
  const { actionsOf, batchActions } = useBackupActions(cloud)
  const refused = volume === undefined ? null : whyNotVolume(t, 'backup', volume, cloud)
  return (
    <ResourceTable
      name="backups"
      call={volumeBackups.list}
      input={{ query: volume === undefined ? { cloud_id: cloud?.cloud_id } : { volume_id: volume.id } }}
      enabled={volume !== undefined || cloud !== null}
      columns={backupColumns(t, { volumes: volume === undefined, organisations: platform && volume === undefined })}
      filters={[filter.keyword(t('filter.keyword'))]}
      rowActions={actionsOf}
      batchActions={batchActions}
      passing={isPassing}
      create={{
        call: volumeBackups.create,
        label: t('keep.ok.backup'),
        plain: volume !== undefined,
        disabledReason: refused,
        dialog: (close) =>
          volume !== undefined ? (
            <VolumeKeep volume={volume} kind="backup" onClose={close} />
          ) : (
            cloud !== null && <KeepAny cloudId={cloud.cloud_id} kind="backup" onClose={close} />
          ),
      }}
      empty={{ title: volume === undefined ? t('backup.empty', { cloud: cloud?.name ?? '' }) : t('backup.none'), note: t('backup.emptyNote') }}
    />
  )
}

/** @param show columns that only some of the lists need */
const backupColumns = (t: TFunction<'storage'>, show: { readonly volumes: boolean; readonly organisations: boolean }): readonly Column<VolumeBackup>[] => [
  col.name('name', t('column.name'), (backup) => backup.name, { sort: true, note: (backup) => backup.description }),
  col.custom(
    'status',
    t('column.status'),
    (backup) => <StateTag tone={backupTones[backup.status]} text={t(`backup.status.${backup.status}`)} reason={backup.error} />,
    { sort: true, width: 110 },
  ),
  col.custom('volume', t('column.volume'), (backup) => <Of backup={backup} />, { when: show.volumes, width: 150 }),
  col.text('size_bytes', t('column.volumeSize'), (backup) => format.bytes(backup.size_bytes), { width: 110, note: (backup) => t(`content.${backup.content}`) }),
  col.bytes('file_bytes', t('column.fileSize'), (backup) => backup.file_bytes, { sort: true, width: 96 }),
  col.custom('sha256', t('column.checksum'), (backup) => <Checksum of={backup} />, { width: 150 }),
  col.organisation<VolumeBackup>(t('column.organisation'), { when: show.organisations }),
  col.date('created_at', t('column.created'), (backup) => backup.created_at, { sort: true }),
]

function Of({ backup }: { readonly backup: VolumeBackup }) {
  const { t } = useTranslation('storage')
  if (backup.volume === null) return <span className="zs-soft">{t('backup.volumeGone')}</span>
  return (
    <Link to={paths.nextstack.volume.detail(backup.volume.id)} className="zs-cut st-cut" title={backup.volume.name}>
      {backup.volume.name}
    </Link>
  )
}

/** Its beginning; the whole is copied. */
function Checksum({ of }: { readonly of: VolumeBackup }) {
  if (of.sha256 === null) return format.nothing
  return (
    <Typography.Text className="zs-code zs-nowrap" title={of.sha256} copyable={{ text: of.sha256, tooltips: false }}>
      {of.sha256.slice(0, 12)}…
    </Typography.Text>
  )
}
