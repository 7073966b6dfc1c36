import Alert from 'antd/es/alert'
import { snapshots, type VmSnapshot } from '@zhisuan/contract/nextstack/snapshot'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { useOne, useCall } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useCloud } from '../../../session/cloud.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudNotice, SandboxTag } from '../CloudNotice.tsx'
import { VmOperations } from '../vm/VmOperations.tsx'
import { makerOf, isPassing } from './snapshotRules.ts'
import { SnapshotState } from './SnapshotTable.tsx'
import { useSnapshotActions } from './useSnapshotActions.tsx'

/** One snapshot of an instance: of what, when and by whom, and what can be made of it. */
export default function SnapshotDetail() {
  const { t } = useTranslation('snapshot')
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const { id = '' } = useParams()
  const query = useOne(snapshots.get, { params: { id } }, { refreshMs: (one) => whilePassing(one, isPassing) })
  const cloud = useCloud(query.data?.cloud_id)
  const { actionsOf } = useSnapshotActions(cloud, () => void navigate(paths.nextstack.snap.list()))
  return (
    <DetailPage
      query={query}
      gone={{ title: t('detail.gone'), to: paths.nextstack.snap.list(), back: t('detail.back') }}
      title={(snapshot) => snapshot.name}
      status={(snapshot) => (
        <>
          <SnapshotState snapshot={snapshot} />
          <SandboxTag cloud={cloud} />
        </>
      )}
      actions={actionsOf}
      notice={(snapshot) => (
        <>
          <CloudNotice cloud={cloud} />
          {snapshot.status === 'lost' && <Alert className="zs-above" type="error" showIcon title={t('status.lost')} description={t('lostReason')} />}
          {snapshot.error !== null && <Alert className="zs-above" type="error" showIcon title={t('failed')} description={snapshot.error} />}
        </>
      )}
      facts={(snapshot) => [
        { key: 'vm', label: t('column.vm'), value: <Link to={paths.nextstack.vm.detail(snapshot.vm.id)}>{snapshot.vm.name}</Link> },
        { key: 'size', label: t('column.size'), value: snapshot.size_bytes === null ? t('sizeUnknown') : format.bytes(snapshot.size_bytes) },
        { key: 'cloud', label: t('column.cloud'), value: cloud?.name ?? format.nothing },
        ...(platform ? [{ key: 'bp', label: t('column.organisation'), value: snapshot.bp_name ?? format.nothing }] : []),
        { key: 'creator', label: t('column.creator'), value: <Maker snapshot={snapshot} /> },
        { key: 'created', label: t('column.created'), value: format.dateTime(snapshot.created_at) },
        { key: 'updated', label: t('column.updated'), value: format.dateTime(snapshot.updated_at) },
        { key: 'id', label: t('column.id'), value: <span className="zs-code">{snapshot.id}</span> },
        { key: 'description', label: t('column.description'), value: snapshot.description === '' ? format.nothing : snapshot.description },
      ]}
      tabs={(snapshot) => [
        { key: 'overview', label: t('detail.tab.overview'), content: <Uses snapshot={snapshot} /> },
        { key: 'operations', label: t('detail.tab.operations'), content: <History snapshot={snapshot} /> },
      ]}
    />
  )
}

function Maker({ snapshot }: { readonly snapshot: VmSnapshot }) {
  const { t } = useTranslation('snapshot')
  const maker = makerOf(snapshot)
  if (maker === 'person') return snapshot.created_by
  return maker === 'engine' ? t('maker.engine') : t('detail.bySchedule', { name: snapshot.created_by })
}

function Uses({ snapshot }: { readonly snapshot: VmSnapshot }) {
  const { t } = useTranslation('snapshot')
  const vm = snapshot.vm.name
  return (
    <>
      <h2 className="zs-heading">{t('detail.useTitle')}</h2>
      <ul>
        <li>{t('detail.useRestore', { vm })}</li>
        <li>{t('detail.useClone', { vm })}</li>
        <li>{t('detail.useLimits')}</li>
      </ul>
    </>
  )
}

/** What was done to its instance: making snapshots and setting back to them, among the rest. */
function History({ snapshot }: { readonly snapshot: VmSnapshot }) {
  const { t } = useTranslation('snapshot')
  const { data: vm } = useCall(vms.get, { params: { id: snapshot.vm.id } }, { silent: true })
  return (
    <>
      <h2 className="zs-heading">{t('detail.history', { vm: snapshot.vm.name })}</h2>
      {vm !== undefined && <VmOperations vm={vm} />}
    </>
  )
}
