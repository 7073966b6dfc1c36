import Progress from 'antd/es/progress'
import { vms, type Vm, type VmOperation } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from 'react-i18next'
import { col, type Column } from '../../../kit/columns.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { operationMs, operationText, operationTones, stepText } from './vmOperationText.ts'

const runs = ({ status }: VmOperation): boolean => status === 'queued' || status === 'running'

/** What was done to an instance, by whom, and how it went. */
export function VmOperations({ vm }: { readonly vm: Vm }) {
  const { t } = useTranslation('nextstack')
  const columns: readonly Column<VmOperation>[] = [
    col.text('kind', t('operation.column.what'), (one) => operationText(t, one.kind), { width: 110 }),
    col.status('status', t('operation.column.status'), (one) => ({ tone: operationTones[one.status], text: t(`operation.status.${one.status}`) }), { width: 100 }),
    col.custom('progress', t('operation.column.progress'), (one) => <Steps operation={one} />, { width: 320 }),
    col.text('actor', t('operation.column.actor'), (one) => one.actor_name, { width: 120 }),
    col.date('created_at', t('operation.column.started'), (one) => one.started_at ?? one.created_at),
    col.text('duration', t('operation.column.duration'), (one) => format.duration(operationMs(one, Date.now())), { width: 110 }),
  ]
  return (
    <ResourceTable
      call={vms.operations}
      input={{ params: { id: vm.id } }}
      name="operations"
      rows={({ items }) => items}
      rowKey="id"
      refreshMs={(response) => (response?.items.some(runs) === true || vm.operation_id !== null ? 1_000 : 5_000)}
      empty={<EmptyState title={t('operation.empty')} />}
      columns={columns}
    />
  )
}

/** How many steps are done, which one runs, and what made one fail. */
function Steps({ operation }: { readonly operation: VmOperation }) {
  const { t } = useTranslation('nextstack')
  const { status, steps_done: done, steps_total: total, step, error } = operation
  return (
    <div className="ns-steps">
      <Progress
        steps={total}
        percent={total === 0 ? 0 : (done / total) * 100}
        size="small"
        showInfo={false}
        strokeColor={status === 'failed' ? '#d4380d' : '#1668dc'}
        aria-label={t('operation.steps', { done, total })}
      />
      <span className="zs-number">{t('operation.steps', { done, total })}</span>
      {status === 'queued' && <span className="ns-soft">{t('operation.waiting')}</span>}
      {status === 'running' && step !== null && <span className="ns-soft">{t('operation.at', { step: stepText(t, step) })}</span>}
      {status === 'failed' && step !== null && <span className="ns-bad">{t('operation.failedAt', { step: stepText(t, step) })}</span>}
      {error !== null && <div className="ns-steps-error">{error}</div>}
    </div>
  )
}
