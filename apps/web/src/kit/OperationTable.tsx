import Progress from 'antd/es/progress'
import type { Operation } from '@zhisuan/contract/operation'
import type { vms } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../i18n.ts'
import type { Action } from './actions.tsx'
import { col, type Column } from './columns.tsx'
import * as format from './format.ts'
import { operationMs } from './operationMs.ts'
import './operations.css'
import { ResourceTable } from './ResourceTable.tsx'
import type { StatusTone } from './StatusTag.tsx'

/** What people call the operations of a kind of things, and their steps. */
export interface OperationTexts {
  readonly what: (kind: string) => string
  readonly step: (kind: string, step: string) => string
}

export const operationTones: Readonly<Record<Operation['status'], StatusTone>> = {
  queued: 'busy',
  running: 'busy',
  unknown: 'warning',
  cancelling: 'busy',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'rest',
}

/** As far as its progress is shown. */
type Progressing = Pick<Operation, 'kind' | 'status' | 'steps_done' | 'steps_total' | 'step' | 'error' | 'finished_at'> & { readonly detail?: string | null }

const runs = ({ finished_at }: Pick<Operation, 'finished_at'>): boolean => finished_at === null

/** What was done to a thing, by whom, and how it went. */
export function OperationTable({
  call,
  id,
  busy,
  texts,
  rowActions,
}: {
  /** The instances', or one like it. */
  readonly call: typeof vms.operations
  readonly id: string
  /** Whether an operation is running. */
  readonly busy: boolean
  readonly texts: OperationTexts
  readonly rowActions?: (operation: Operation) => readonly Action[]
}) {
  const { t } = useTranslation('kit')
  const columns: readonly Column<Operation>[] = [
    col.text(
      'kind',
      t('operation.column.what'),
      (one) => (one.part === null ? texts.what(one.kind) : t('operation.ofPart', { what: texts.what(one.kind), part: one.part })),
      { width: 180 },
    ),
    col.status('status', t('operation.column.status'), (one) => ({ tone: operationTones[one.status], text: t(`operation.status.${one.status}`) }), {
      width: 100,
    }),
    col.custom('progress', t('operation.column.progress'), (one) => <OperationSteps operation={one} texts={texts} />, { width: 320 }),
    col.text('actor', t('operation.column.actor'), (one) => one.actor_name, { width: 120 }),
    col.date('created_at', t('operation.column.started'), (one) => one.started_at ?? one.created_at),
    col.text('duration', t('operation.column.duration'), (one) => format.duration(operationMs(one, Date.now())), { width: 110 }),
  ]
  return (
    <ResourceTable
      call={call}
      input={{ params: { id } }}
      name="operations"
      refreshMs={(response) => (response?.items.some(runs) === true || busy ? 1_000 : 5_000)}
      empty={{ title: t('operation.empty') }}
      columns={columns}
      {...(rowActions !== undefined && { rowActions })}
    />
  )
}

/** How many steps are done, which one runs where its name is known, and what made one fail. */
export function OperationSteps({ operation, texts }: { readonly operation: Progressing; readonly texts?: Pick<OperationTexts, 'step'> }) {
  const { t } = useTranslation('kit')
  const { kind, status, steps_done: done, steps_total: total, step, error, detail = null } = operation
  const named = step === null || texts === undefined ? null : texts.step(kind, step)
  return (
    <div className="zs-operation-steps">
      <Progress
        steps={total}
        percent={total === 0 ? 0 : (done / total) * 100}
        size="small"
        showInfo={false}
        strokeColor={status === 'failed' ? 'var(--bad)' : 'var(--brand)'}
        aria-label={t('operation.steps', { done, total })}
      />
      <span className="zs-number">{t('operation.steps', { done, total })}</span>
      {status === 'queued' && <span className="zs-soft">{t('operation.waiting')}</span>}
      {(status === 'running' || (status === 'unknown' && runs(operation))) && named !== null && (
        <span className="zs-soft">{t('operation.at', { step: named })}</span>
      )}
      {status === 'failed' && named !== null && <span className="zs-bad">{t('operation.failedAt', { step: named })}</span>}
      {error !== null && <div className="zs-operation-steps-error">{error}</div>}
      {detail !== null && <div className="zs-operation-steps-detail zs-code">{detail}</div>}
    </div>
  )
}
