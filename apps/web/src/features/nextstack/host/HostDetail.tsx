import Alert from 'antd/es/alert'
import { hosts, type HostDetail as Detail } from '@zhisuan/contract/nextstack/host'
import { useTranslation } from '../../../i18n.ts'
import { useParams } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage, DetailTabs } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useCloud } from '../../../session/cloud.ts'
import { CloudNotice } from '../CloudNotice.tsx'
import './host.css'
import { HostDisks, HostGpus, HostNics } from './HostParts.tsx'
import { isPassing } from './hostRules.ts'
import { HostState } from './HostState.tsx'
import { HostVms } from './HostVms.tsx'
import { LoadBar } from './LoadBar.tsx'
import { useHostActions } from './useHostActions.tsx'

/** One machine: how full it is, what runs on it, and what it is made of. */
export default function HostDetail() {
  const { t } = useTranslation('hardware')
  const { id = '' } = useParams()
  const query = useOne(hosts.get, { params: { id } }, { refreshMs: (host) => whilePassing(host, isPassing) })
  const cloud = useCloud(query.data?.cloud_id)
  const actionsOf = useHostActions(() => cloud)
  return (
    <DetailPage
      query={query}
      gone={{ title: t('missing'), to: paths.nextstack.hypervisorNode.list(), back: t('back') }}
      title={(host) => host.name}
      status={(host) => <HostState host={host} />}
      actions={actionsOf}
      notice={(host) => (
        <>
          <CloudNotice cloud={cloud} />
          {host.status === 'offline' && (
            <Alert
              className="zs-above"
              type="error"
              showIcon
              title={t('offlineTitle')}
              description={
                <>
                  {t('offlineNote')} {host.status_message}
                </>
              }
            />
          )}
          {host.status === 'gone' && <Alert className="zs-above" type="warning" showIcon title={t('goneTitle')} description={t('goneNote')} />}
          {host.error !== null && <Alert className="zs-above" type="error" showIcon title={t('failed')} description={host.error} />}
        </>
      )}
      facts={(host) => [
        { key: 'cloud', label: t('fact.cloud'), value: cloud?.name ?? format.nothing },
        { key: 'system', label: t('fact.system'), value: said([host.system.vendor, host.system.product]) },
        { key: 'architecture', label: t('fact.architecture'), value: said([host.architecture]) },
        { key: 'cpu', label: t('fact.cpu'), value: t('fact.cpuOf', { ...host.cpu, model: said([host.cpu.model]) }) },
        { key: 'memory', label: t('fact.memory'), value: format.bytes(host.memory.total_bytes) },
        { key: 'disk', label: t('column.disk'), value: format.bytes(host.disk_bytes) },
        { key: 'kernel', label: t('fact.kernel'), value: said([host.system.kernel]) },
        { key: 'firmware', label: t('fact.firmware'), value: said([host.system.firmware]) },
        { key: 'address', label: t('column.address'), value: host.address === null ? format.nothing : <span className="zs-code">{host.address}</span> },
        { key: 'seen', label: t('column.seen'), value: format.dateTime(host.seen_at) },
      ]}
    >
      {(host) => (
        <>
          <Loads host={host} />
          <DetailTabs
            tabs={[
              { key: 'vms', label: t('tab.vms'), content: <HostVms host={host} /> },
              { key: 'gpus', label: t('tab.gpus'), content: <HostGpus host={host} /> },
              { key: 'disks', label: t('tab.disks'), content: <HostDisks host={host} /> },
              { key: 'nics', label: t('tab.nics'), content: <HostNics host={host} /> },
            ]}
          />
        </>
      )}
    </DetailPage>
  )
}

const said = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ') || format.nothing

function Loads({ host: { cpu, memory } }: { readonly host: Detail }) {
  const { t } = useTranslation('hardware')
  const bytes = (used: number) => t('load.bytes', { used: format.bytes(used), total: format.bytes(memory.total_bytes) })
  return (
    <div className="zs-card nh-loads">
      <LoadBar
        shown
        label={t('load.cpu')}
        used={cpu.promised}
        total={cpu.threads}
        words={t('load.threads', { used: format.number(cpu.promised), total: format.number(cpu.threads) })}
      />
      <LoadBar shown label={t('load.memory')} used={memory.promised_bytes} total={memory.total_bytes} words={bytes(memory.promised_bytes)} />
      <LoadBar shown label={t('load.used')} used={memory.used_bytes} total={memory.total_bytes} words={bytes(memory.used_bytes)} />
    </div>
  )
}
