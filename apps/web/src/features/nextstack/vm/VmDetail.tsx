import Alert from 'antd/es/alert'
import { terminals, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { request } from '../../../api/client.ts'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { Terminal } from '../../../kit/Terminal.tsx'
import { paths, withQuery } from '../../../paths.ts'
import { useCloud } from '../../../session/cloud.ts'
import { CloudNotice, SandboxTag } from '../CloudNotice.tsx'
import '../nextstack.css'
import { VmSnapshots } from '../snapshot/VmSnapshots.tsx'
import { VmVolumes } from '../storage/VmVolumes.tsx'
import { useVmActions } from './useVmActions.tsx'
import { VmConsoleLog } from './VmConsoleLog.tsx'
import { VmFiles } from './VmFiles.tsx'
import { VmMetrics } from './VmMetrics.tsx'
import { VmOperations } from './VmOperations.tsx'
import { VmOverview } from './VmOverview.tsx'
import { isChanging } from './vmRules.ts'
import { VmStatusTag } from './VmStatusTag.tsx'

/** One instance: what it is, how it is, what was done to it, and a way in. */
export default function VmDetail() {
  const { t } = useTranslation(['nextstack', 'storage', 'snapshot'])
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const query = useOne(vms.get, { params: { id } }, { refreshMs: (vm) => whilePassing(vm, isChanging) })
  const cloud = useCloud(query.data?.cloud_id)
  const { actionsOf } = useVmActions(cloud, () => void navigate(paths.nextstack.vm.list()))
  return (
    <DetailPage
      query={query}
      gone={{ title: t('detail.gone'), note: t('detail.goneNote'), to: paths.nextstack.vm.list(), back: t('detail.back') }}
      title={(vm) => vm.name}
      status={(vm) => (
        <>
          <VmStatusTag vm={vm} />
          <SandboxTag cloud={cloud} />
        </>
      )}
      actions={actionsOf}
      about={({ id }) => ({ kind: 'nextstack.vm', id })}
      notice={(vm) => (
        <>
          <CloudNotice cloud={cloud} />
          <VmTrouble vm={vm} />
        </>
      )}
      tabs={(vm) => [
        { key: 'overview', label: t('detail.tab.overview'), content: <VmOverview vm={vm} /> },
        { key: 'metrics', label: t('detail.tab.metrics'), content: <VmMetrics vm={vm} /> },
        { key: 'volumes', label: t('storage:vm.tab'), content: <VmVolumes vm={vm} /> },
        { key: 'snapshots', label: t('snapshot:tab.snapshots'), content: <VmSnapshots vm={vm} /> },
        { key: 'operations', label: t('detail.tab.operations'), content: <VmOperations vm={vm} /> },
        { key: 'console', label: t('detail.tab.console'), content: <VmConsoleLog vm={vm} /> },
        { key: 'files', label: t('detail.tab.files'), content: <VmFiles vm={vm} /> },
        { key: 'terminal', label: t('detail.tab.terminal'), content: <VmTerminal vm={vm} /> },
      ]}
    />
  )
}

/** What went wrong last, in full: the tag beside the title only hints at it. */
function VmTrouble({ vm }: { readonly vm: Vm }) {
  const { t } = useTranslation('nextstack')
  if (vm.status === 'lost') return <Alert className="zs-above" type="error" showIcon title={t('status.lost')} description={t('lostReason')} />
  if (vm.error === null) return null
  return (
    <Alert
      className="zs-above"
      type={vm.status === 'error' ? 'error' : 'warning'}
      showIcon
      title={t('detail.failed')}
      description={vm.error}
      action={<Link to="?tab=operations">{t('detail.tab.operations')}</Link>}
    />
  )
}

function VmTerminal({ vm }: { readonly vm: Vm }) {
  const { t } = useTranslation('nextstack')
  if (vm.status !== 'running') return <EmptyState title={t('terminal.off', { state: t(`status.${vm.status}`) })} />
  return (
    <>
      <p className="ns-line-end">
        <Link to={withQuery(paths.nextstack.vm.command(), { id: vm.id })}>{t('terminal.full')}</Link>
      </p>
      <div className="zs-terminal-tall">
        <Terminal key={vm.id} resumeKey={vm.id} label={vm.name} open={(body) => request(terminals.open, { params: { id: vm.id }, body })} />
      </div>
    </>
  )
}
