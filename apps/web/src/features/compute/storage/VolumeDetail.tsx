import Alert from 'antd/es/alert'
import Typography from 'antd/es/typography'
import { computeVolumes } from '@zhisuan/contract/compute/volume'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { useComputeCloud } from '../ComputePage.tsx'
import { BackupTable } from './BackupTable.tsx'
import { SnapshotTable } from './SnapshotTable.tsx'
import { AttachedTo, Failure, Messages } from './StorageParts.tsx'
import { StoragePage } from './StoragePage.tsx'
import { detailMs, isFailed, stateOf, titleOf } from './storageRules.ts'
import { useVolumeActions } from './useVolumeActions.tsx'
import './storage.css'

/** One volume: what it is, who has it, what was kept of it, and what the cloud says of it. */
export default function VolumeDetail() {
  const { t } = useTranslation('computeStorage')
  const { id = '' } = useParams()
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const cloud = useComputeCloud()
  const query = useOne(computeVolumes.get, { params: { cloud_id: cloud?.cloud_id ?? '', id } }, { enabled: cloud !== null, refreshMs: detailMs })
  const nameOf = (of: string): string => query.data?.names[of] ?? of
  const { actionsOf } = useVolumeActions(cloud, nameOf, () => void navigate(paths.compute.volume.list()))
  return (
    <StoragePage>
      {() => (
        <DetailPage
          query={query}
          gone={{ title: t('volume.gone'), note: t('volume.goneNote'), to: paths.compute.volume.list() }}
          title={titleOf}
          status={(volume) => <StatusTag tone={stateOf(t, volume).tone}>{stateOf(t, volume).text}</StatusTag>}
          actions={actionsOf}
          notice={(volume) => (
            <>
              {isFailed(volume) && <Failure text={volume.messages[0]?.text ?? null} />}
              {volume.status === 'awaiting-transfer' && <Alert className="zs-above" type="warning" showIcon title={t('volume.awaiting')} />}
            </>
          )}
          facts={(volume) => [
            {
              key: 'attached',
              label: t('column.attached'),
              value: (
                <span>
                  <AttachedTo attachments={volume.attachments} nameOf={nameOf} />
                </span>
              ),
            },
            { key: 'size', label: t('column.size'), value: format.bytes(volume.size_bytes) },
            { key: 'type', label: t('column.type'), value: volume.type ?? format.nothing },
            { key: 'bootable', label: t('column.bootable'), value: t(volume.bootable ? 'yes' : 'no') },
            { key: 'multiattach', label: t('column.multiattach'), value: t(volume.multiattach ? 'yes' : 'no') },
            { key: 'encrypted', label: t('column.encrypted'), value: t(volume.encrypted ? 'yes' : 'no') },
            { key: 'zone', label: t('column.zone'), value: volume.zone === '' ? format.nothing : volume.zone },
            { key: 'source', label: t('column.source'), value: <Source volume={volume} /> },
            ...(platform
              ? [
                  {
                    key: 'project',
                    label: t('column.project'),
                    value: volume.keystone_project_id === null ? format.nothing : nameOf(volume.keystone_project_id),
                  },
                ]
              : []),
            { key: 'created', label: t('column.created'), value: format.dateTime(volume.created_at) },
            { key: 'updated', label: t('column.updated'), value: format.dateTime(volume.updated_at) },
            {
              key: 'id',
              label: t('column.id'),
              value: (
                <Typography.Text className="zs-code co-mono" copyable={{ text: volume.id, tooltips: false }}>
                  {volume.id}
                </Typography.Text>
              ),
            },
            { key: 'description', label: t('column.description'), value: volume.description === '' ? format.nothing : volume.description },
          ]}
          tabs={(volume) => [
            { key: 'snapshots', label: t('tab.snapshots'), content: <SnapshotTable cloud={cloud} volume={volume} /> },
            { key: 'backups', label: t('tab.backups'), content: <BackupTable cloud={cloud} volume={volume} /> },
            { key: 'messages', label: t('tab.messages'), content: <Messages messages={volume.messages} /> },
          ]}
        />
      )}
    </StoragePage>
  )
}

/** What it was made from. */
function Source({ volume }: { readonly volume: ResponseOf<typeof computeVolumes.get> }) {
  const { t } = useTranslation('computeStorage')
  const nameOf = (of: string): string => volume.names[of] ?? of
  if (volume.snapshot_id !== null)
    return <Link to={paths.compute.snapshot.detail(volume.snapshot_id)}>{`${t('add.sources.snapshot')} ${nameOf(volume.snapshot_id)}`}</Link>
  if (volume.source_volume_id !== null)
    return <Link to={paths.compute.volume.detail(volume.source_volume_id)}>{`${t('add.sources.volume')} ${nameOf(volume.source_volume_id)}`}</Link>
  if (volume.image_id !== null)
    return <Link to={paths.compute.image.detail(volume.image_id)}>{`${t('add.sources.image')} ${volume.image_name ?? volume.image_id}`}</Link>
  return t('add.sources.empty')
}
