import Typography from 'antd/es/typography'
import { computeVolumeBackups } from '@zhisuan/contract/compute/volume'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { useComputeCloud } from '../ComputePage.tsx'
import { Failure, Messages } from './StorageParts.tsx'
import { StoragePage } from './StoragePage.tsx'
import { detailMs, isFailed, stateOf, titleOf } from './storageRules.ts'
import { useBackupActions } from './useBackupActions.tsx'
import './storage.css'

/** One backup: of what and when, what builds on it, and what the cloud says of it. */
export default function BackupDetail() {
  const { t } = useTranslation('computeStorage')
  const { id = '' } = useParams()
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const cloud = useComputeCloud()
  const query = useOne(computeVolumeBackups.get, { params: { cloud_id: cloud?.cloud_id ?? '', id } }, { enabled: cloud !== null, refreshMs: detailMs })
  const nameOf = (of: string): string => query.data?.names[of] ?? of
  const { actionsOf } = useBackupActions(cloud, nameOf, () => void navigate(paths.compute.backup.list()))
  return (
    <StoragePage>
      {() => (
        <DetailPage
          query={query}
          gone={{ title: t('backup.gone'), note: t('volume.goneNote'), to: paths.compute.backup.list() }}
          title={titleOf}
          status={(backup) => <StatusTag tone={stateOf(t, backup).tone}>{stateOf(t, backup).text}</StatusTag>}
          actions={actionsOf}
          notice={(backup) => isFailed(backup) && <Failure text={backup.failure ?? backup.messages[0]?.text ?? null} />}
          facts={(backup) => [
            { key: 'volume', label: t('column.volume'), value: <Link to={paths.compute.volume.detail(backup.volume_id)}>{nameOf(backup.volume_id)}</Link> },
            ...(backup.snapshot_id === null
              ? []
              : [
                  {
                    key: 'snapshot',
                    label: t('column.snapshot'),
                    value: <Link to={paths.compute.snapshot.detail(backup.snapshot_id)}>{nameOf(backup.snapshot_id)}</Link>,
                  },
                ]),
            { key: 'kind', label: t('column.kind'), value: t(backup.incremental ? 'backup.incremental' : 'backup.full') },
            { key: 'dependents', label: t('column.dependents'), value: t(backup.has_dependents ? 'backup.hasDependents' : 'backup.noDependents') },
            { key: 'size', label: t('column.volumeSize'), value: format.bytes(backup.size_bytes) },
            ...(platform
              ? [
                  {
                    key: 'project',
                    label: t('column.project'),
                    value: backup.keystone_project_id === null ? format.nothing : nameOf(backup.keystone_project_id),
                  },
                ]
              : []),
            { key: 'dataAt', label: t('column.dataAt'), value: format.dateTime(backup.data_at ?? backup.created_at) },
            { key: 'created', label: t('column.created'), value: format.dateTime(backup.created_at) },
            { key: 'updated', label: t('column.updated'), value: format.dateTime(backup.updated_at) },
            {
              key: 'id',
              label: t('column.id'),
              value: (
                <Typography.Text className="zs-code co-mono" copyable={{ text: backup.id, tooltips: false }}>
                  {backup.id}
                </Typography.Text>
              ),
            },
            { key: 'description', label: t('column.description'), value: backup.description === '' ? format.nothing : backup.description },
          ]}
          tabs={(backup) => [{ key: 'messages', label: t('tab.messages'), content: <Messages messages={backup.messages} /> }]}
        />
      )}
    </StoragePage>
  )
}
