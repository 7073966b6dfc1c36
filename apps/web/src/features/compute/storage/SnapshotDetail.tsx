import Typography from 'antd/es/typography'
import { computeVolumeSnapshots } from '@zhisuan/contract/compute/volume'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { useComputeCloud } from '../ComputePage.tsx'
import { snapshotState } from './SnapshotTable.tsx'
import { Failure, Messages } from './StorageParts.tsx'
import { StoragePage } from './StoragePage.tsx'
import { detailMs, isFailed, titleOf } from './storageRules.ts'
import { useSnapshotActions } from './useSnapshotActions.tsx'
import './storage.css'

/** One snapshot: of what and when, and what the cloud says of it. */
export default function SnapshotDetail() {
  const { t } = useTranslation('computeStorage')
  const { id = '' } = useParams()
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const cloud = useComputeCloud()
  const query = useOne(computeVolumeSnapshots.get, { params: { cloud_id: cloud?.cloud_id ?? '', id } }, { enabled: cloud !== null, refreshMs: detailMs })
  const { actionsOf } = useSnapshotActions(cloud, () => void navigate(paths.compute.snapshot.list()))
  return (
    <StoragePage>
      {() => (
        <DetailPage
          query={query}
          gone={{ title: t('snapshot.gone'), note: t('volume.goneNote'), to: paths.compute.snapshot.list() }}
          title={titleOf}
          status={(snapshot) => {
            const { tone, text, note } = snapshotState(t, snapshot)
            return <StatusTag tone={tone}>{note === null ? text : `${text} ${note}`}</StatusTag>
          }}
          actions={actionsOf}
          notice={(snapshot) => isFailed(snapshot) && <Failure text={snapshot.messages[0]?.text ?? null} />}
          facts={(snapshot) => [
            {
              key: 'volume',
              label: t('column.volume'),
              value: <Link to={paths.compute.volume.detail(snapshot.volume_id)}>{snapshot.names[snapshot.volume_id] ?? snapshot.volume_id}</Link>,
            },
            { key: 'size', label: t('column.volumeSize'), value: format.bytes(snapshot.size_bytes) },
            ...(platform
              ? [
                  {
                    key: 'project',
                    label: t('column.project'),
                    value:
                      snapshot.keystone_project_id === null ? format.nothing : (snapshot.names[snapshot.keystone_project_id] ?? snapshot.keystone_project_id),
                  },
                ]
              : []),
            { key: 'created', label: t('column.created'), value: format.dateTime(snapshot.created_at) },
            { key: 'updated', label: t('column.updated'), value: format.dateTime(snapshot.updated_at) },
            {
              key: 'id',
              label: t('column.id'),
              value: (
                <Typography.Text className="zs-code co-mono" copyable={{ text: snapshot.id, tooltips: false }}>
                  {snapshot.id}
                </Typography.Text>
              ),
            },
            { key: 'description', label: t('column.description'), value: snapshot.description === '' ? format.nothing : snapshot.description },
          ]}
          tabs={(snapshot) => [{ key: 'messages', label: t('tab.messages'), content: <Messages messages={snapshot.messages} /> }]}
        />
      )}
    </StoragePage>
  )
}
