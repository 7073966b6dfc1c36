import Alert from 'antd/es/alert'
import { volumeSnapshots } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useCloud } from '../../../session/cloud.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudNotice } from '../CloudNotice.tsx'
import { SnapshotState } from './SnapshotTable.tsx'
import { isPassing } from './storageRules.ts'
import { useSnapshotActions } from './useSnapshotActions.tsx'
import './storage.css'

/** One snapshot of a volume: of what and when, and what can be made of it. */
export default function SnapshotDetail() {
  const { t } = useTranslation('storage')
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const { id = '' } = useParams()
  const query = useOne(volumeSnapshots.get, { params: { id } }, { refreshMs: (one) => whilePassing(one, isPassing) })
  const cloud = useCloud(query.data?.cloud_id)
  const { actionsOf } = useSnapshotActions(cloud, () => void navigate(paths.nextstack.volumeSnap.list()))
  return (
    <DetailPage
      query={query}
      gone={{ title: t('snapshot.gone'), to: paths.nextstack.volumeSnap.list(), back: t('snapshot.back') }}
      title={(snapshot) => snapshot.name}
      status={(snapshot) => <SnapshotState snapshot={snapshot} />}
      actions={actionsOf}
      notice={(snapshot) => (
        <>
          <CloudNotice cloud={cloud} />
          {snapshot.status === 'lost' && (
            <Alert className="zs-above" type="error" showIcon title={t('snapshot.status.lost')} description={t('snapshot.lostReason')} />
          )}
          {snapshot.error !== null && <Alert className="zs-above" type="error" showIcon title={t('failed')} description={snapshot.error} />}
        </>
      )}
      facts={(snapshot) => [
        { key: 'volume', label: t('column.volume'), value: <Link to={paths.nextstack.volume.detail(snapshot.volume.id)}>{snapshot.volume.name}</Link> },
        { key: 'size', label: t('column.volumeSize'), value: format.bytes(snapshot.size_bytes) },
        { key: 'cloud', label: t('column.cloud'), value: cloud?.name ?? format.nothing },
        ...(platform ? [{ key: 'bp', label: t('column.organisation'), value: snapshot.bp_name ?? format.nothing }] : []),
        { key: 'creator', label: t('column.creator'), value: snapshot.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(snapshot.created_at) },
        { key: 'id', label: t('column.id'), value: <span className="zs-code">{snapshot.id}</span> },
        { key: 'description', label: t('column.description'), value: snapshot.description === '' ? format.nothing : snapshot.description },
      ]}
    >
      {(snapshot) => (
        <section className="zs-card">
          <h2>{t('snapshot.useTitle')}</h2>
          <ul className="st-uses">
            <li>{t('snapshot.useRestore', { name: snapshot.volume.name })}</li>
            <li>{t('snapshot.useVolume')}</li>
            <li>{t('snapshot.useLimits')}</li>
          </ul>
        </section>
      )}
    </DetailPage>
  )
}
