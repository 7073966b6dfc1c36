import Alert from 'antd/es/alert'
import { terminals, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate, useParams } from 'react-router'
import { request } from '../../../api/client.ts'
import { useCall } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { Terminal } from '../../../kit/Terminal.tsx'
import { paths, withQuery } from '../../../paths.ts'
import { useClouds } from '../../../session/cloud.ts'
import { CloudNotice, SandboxTag } from '../CloudNotice.tsx'
import '../nextstack.css'
import { VmSnapshots } from '../snapshot/VmSnapshots.tsx'
import { VmVolumes } from '../storage/VmVolumes.tsx'
import { useVmActions } from './useVmActions.tsx'
import { VmConsoleLog } from './VmConsoleLog.tsx'
import { VmMetrics } from './VmMetrics.tsx'
import { VmOperations } from './VmOperations.tsx'
import { VmOverview } from './VmOverview.tsx'
import { refreshMsOf } from './vmRules.ts'
import { VmStatusTag } from './VmStatusTag.tsx'

/** One instance: what it is, how it is, what was done to it, and a way in. */
export default function VmDetail() {
  const { t } = useTranslation(['nextstack', 'storage', 'snapshot'])
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const [gone, setGone] = useState(false)
  const query = useCall(vms.get, { params: { id } }, { silent: true, enabled: !gone, refreshMs: (vm) => refreshMsOf(vm === undefined ? [] : [vm]) })
  const cloud = useClouds().list.find(({ cloud_id }) => cloud_id === query.data?.cloud_id) ?? null
  const { actionsOf, dialogs } = useVmActions(cloud, () => void navigate(paths.nextstack.vm.list()))
  const missing = query.error?.status === 404
  useEffect(() => setGone(missing), [missing])

  if (missing || gone) {
    return (
      <div className="zs-card">
        <EmptyState
          title={t('detail.gone')}
          action={
            <Link to={paths.nextstack.vm.list()} className="zs-button zs-button-plain">
              {t('detail.back')}
            </Link>
          }
        >
          {t('detail.goneNote')}
        </EmptyState>
      </div>
    )
  }
  return (
    <>
      <DetailPage
        query={query}
        title={(vm) => vm.name}
        status={(vm) => (
          <>
            <VmStatusTag vm={vm} />
            {cloud?.sandbox === true && <SandboxTag />}
          </>
        )}
        actions={actionsOf}
        notice={(vm) => (
          <>
            {cloud !== null && <CloudNotice cloud={cloud} />}
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
          { key: 'terminal', label: t('detail.tab.terminal'), content: <VmTerminal vm={vm} /> },
        ]}
      />
      {dialogs}
    </>
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
