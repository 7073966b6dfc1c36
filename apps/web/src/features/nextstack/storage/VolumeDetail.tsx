import Alert from 'antd/es/alert'
import Typography from 'antd/es/typography'
import { volumes, type Volume } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useCloud } from '../../../session/cloud.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudNotice, SandboxTag } from '../CloudNotice.tsx'
import { OperationTable } from '../../../kit/OperationTable.tsx'
import { BackupTable } from './BackupTable.tsx'
import { CapacityBar } from './CapacityBar.tsx'
import { SnapshotTable } from './SnapshotTable.tsx'
import { isPassing, volumeGone } from './storageRules.ts'
import { useVolumeActions } from './useVolumeActions.tsx'
import { volumeOperationTexts } from './volumeOperationText.ts'
import { AttachedTo, VolumeState } from './VolumeState.tsx'

/** One volume: what it is, where it is attached, how full it is, and what was kept of it. */
export default function VolumeDetail() {
  const { t } = useTranslation('storage')
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const { id = '' } = useParams()
  const query = useOne(volumes.get, { params: { id } }, { refreshMs: (volume) => whilePassing(volume, isPassing) })
  const cloud = useCloud(query.data?.cloud_id)
  const { actionsOf } = useVolumeActions(cloud, () => void navigate(paths.nextstack.volume.list()))
  return (
    <DetailPage
      query={query}
      gone={volumeGone(t)}
      title={(volume) => volume.name}
      status={(volume) => (
        <>
          <VolumeState volume={volume} />
          <SandboxTag cloud={cloud} />
        </>
      )}
      actions={actionsOf}
      notice={(volume) => (
        <>
          <CloudNotice cloud={cloud} />
          <Trouble volume={volume} />
        </>
      )}
      facts={(volume) => [
        {
          key: 'attached',
          label: t('column.attached'),
          value:
            volume.attached_to === null ? (
              t('volume.free')
            ) : (
              <span>
                <AttachedTo volume={volume} />
              </span>
            ),
        },
        { key: 'size', label: t('column.size'), value: format.bytes(volume.size_bytes) },
        { key: 'usage', label: t('column.usage'), value: <Usage volume={volume} /> },
        { key: 'content', label: t('column.content'), value: t(`content.${volume.content}`) },
        { key: 'pool', label: t('column.pool'), value: volume.pool },
        { key: 'cloud', label: t('column.cloud'), value: cloud?.name ?? format.nothing },
        ...(platform ? [{ key: 'bp', label: t('column.organisation'), value: volume.bp_name ?? format.nothing }] : []),
        { key: 'creator', label: t('column.creator'), value: volume.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(volume.created_at) },
        { key: 'updated', label: t('column.updated'), value: format.dateTime(volume.updated_at) },
        {
          key: 'id',
          label: t('column.id'),
          value: (
            <Typography.Text className="zs-code" copyable={{ text: volume.id, tooltips: false }}>
              {volume.id}
            </Typography.Text>
          ),
        },
        { key: 'description', label: t('column.description'), value: volume.description === '' ? format.nothing : volume.description },
      ]}
      tabs={(volume) => [
        { key: 'snapshots', label: t('tab.snapshots'), content: <SnapshotTable cloud={cloud} volume={volume} /> },
        { key: 'backups', label: t('tab.backups'), content: <BackupTable cloud={cloud} volume={volume} /> },
        {
          key: 'operations',
          label: t('tab.operations'),
          content: <OperationTable call={volumes.operations} id={volume.id} busy={volume.operation_id !== null} texts={volumeOperationTexts(t)} />,
        },
      ]}
    />
  )
}

/** What went wrong last, in full: the tag beside the title only hints at it. */
function Trouble({ volume }: { readonly volume: Volume }) {
  const { t } = useTranslation('storage')
  if (volume.status === 'lost') return <Alert className="zs-above" type="error" showIcon title={t('volume.status.lost')} description={t('volume.lostReason')} />
  if (volume.error === null) return null
  return (
    <Alert
      className="zs-above"
      type={volume.status === 'error' ? 'error' : 'warning'}
      showIcon
      title={t('failed')}
      description={volume.error}
      action={<Link to="?tab=operations">{t('tab.operations')}</Link>}
    />
  )
}

function Usage({ volume }: { readonly volume: Volume }) {
  const { t } = useTranslation('storage')
  if (volume.used_bytes === null) return <span className="zs-soft">{t('volume.usageUnknown')}</span>
  return <CapacityBar label={t('column.usage')} used={volume.used_bytes} total={volume.size_bytes} />
}
