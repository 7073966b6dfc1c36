import { hosts, hostStatuses, type Host } from '@zhisuan/contract/nextstack/host'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { isPassing } from './hostRules.ts'
import { HostState } from './HostState.tsx'
import { LoadBar } from './LoadBar.tsx'
import { useHostActions } from './useHostActions.tsx'
import './host.css'

/** The machines of the chosen cloud that instances run on. */
export default function HostList() {
  const { t } = useTranslation('hardware')
  const cloud = useNextStackCloud()
  const actionsOf = useHostActions(() => cloud)
  return (
    <NextStackPage>
      <ResourceTable
        call={hosts.list}
        input={{ query: { cloud_id: cloud?.cloud_id } }}
        enabled={cloud !== null}
        columns={hostColumns(t)}
        filters={[filter.oneOf('status', t('filter.status'), hostStatuses, (value) => t(`status.${value}`)), filter.keyword(t('filter.keyword'))]}
        rowActions={actionsOf}
        passing={isPassing}
        empty={{ title: t('empty'), note: t('emptyNote') }}
      />
    </NextStackPage>
  )
}

const hostColumns = (t: TFunction<'hardware'>): readonly Column<Host>[] => [
  col.name('name', t('column.name'), (host) => host.name, {
    sort: true,
    to: (host) => paths.nextstack.hypervisorNode.detail(host.id),
    note: (host) => host.cpu.model,
  }),
  col.custom(
    'status',
    t('column.status'),
    (host) => (
      <>
        <HostState host={host} />
        {host.error !== null && <div className="zs-name-note zs-bad">{host.error}</div>}
      </>
    ),
    { sort: true, width: 130 },
  ),
  col.custom(
    'cpu',
    t('column.cpu'),
    ({ cpu }) => (
      <LoadBar
        label={t('load.cpu')}
        used={cpu.promised}
        total={cpu.threads}
        words={t('load.threads', { used: format.number(cpu.promised), total: format.number(cpu.threads) })}
      />
    ),
    { width: 170 },
  ),
  col.custom(
    'memory',
    t('column.memory'),
    ({ memory }) => (
      <LoadBar
        label={t('load.memory')}
        used={memory.promised_bytes}
        total={memory.total_bytes}
        words={t('load.bytes', { used: format.bytes(memory.promised_bytes), total: format.bytes(memory.total_bytes) })}
      />
    ),
    { width: 170 },
  ),
  col.custom(
    'gpus',
    t('column.gpus'),
    ({ gpus }) =>
      gpus.length === 0 ? format.nothing : gpus.map(({ model, count, used }) => <GpuUse key={model} model={model} words={t('gpus', { used, count })} />),
    { width: 140 },
  ),
  col.number('vms', t('column.vms'), (host) => host.vm_count, { width: 90 }),
  col.bytes('disk', t('column.disk'), (host) => host.disk_bytes, { width: 110, off: true }),
  col.code('address', t('column.address'), (host) => host.address, { width: 170, off: true }),
  col.date('seen_at', t('column.seen'), (host) => host.seen_at, { off: true }),
]

function GpuUse({ model, words }: { readonly model: string; readonly words: string }) {
  return (
    <div className="nh-gpu">
      <div className="zs-number">{words}</div>
      <div className="zs-name-note">
        <span className="zs-cut" title={model}>
          {model}
        </span>
      </div>
    </div>
  )
}
