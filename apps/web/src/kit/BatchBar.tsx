import Button from 'antd/es/button'
import Modal from 'antd/es/modal'
import Progress from 'antd/es/progress'
import { useState, type ReactNode } from 'react'
import type { Call } from '@zhisuan/contract/define'
import { useTranslation } from '../i18n.ts'
import { toApiError } from '../api/client.ts'
import { errorText } from '../api/toasts.ts'
import { ActionButton } from './actions.tsx'
import { runBatch, type BatchOutcome } from './batch.ts'
import { ConfirmDialog, type Confirmation } from './ConfirmDialog.tsx'
import { useDialog } from './dialogs.tsx'
import { useReturnFocus } from './focus.ts'
import './batch.css'

interface BatchChoice<Row> {
  readonly key: string
  /** The call that it makes for each: it is off where that is refused anyway. Null where it makes none. */
  readonly call: Pick<Call, 'id' | 'access'> | null
  readonly label: string
  readonly danger?: boolean
  /** Rows that it cannot be done to are left out, and the summary says why. */
  readonly disabledReason?: (row: Row) => string | null
  readonly confirm?: (rows: readonly Row[]) => Confirmation
}

export type BatchAction<Row> = BatchChoice<Row> &
  (
    | {
        /** For one row. Make its call with `useChange(…, { silent: true })`: the summary says what failed. */
        readonly run: (row: Row) => Promise<unknown>
        readonly dialog?: never
        readonly open?: never
      }
    | {
        /** For all rows that it can be done to: a dialog, drawn over the page. */
        readonly dialog: (rows: readonly Row[], close: () => void) => ReactNode
        readonly run?: never
        readonly open?: never
      }
    | {
        /** For all rows that it can be done to: a page that they are taken to. */
        readonly open: (rows: readonly Row[]) => void
        readonly run?: never
        readonly dialog?: never
      }
  )

/** What can be done to the selected rows, how far it is, and how each went. */
export function BatchBar<Row>({
  rows,
  nameOf,
  actions,
  onClear,
}: {
  readonly rows: readonly Row[]
  readonly nameOf: (row: Row) => ReactNode
  readonly actions: readonly BatchAction<Row>[]
  readonly onClear: () => void
}) {
  const { t } = useTranslation('kit')
  useReturnFocus()
  const openDialog = useDialog()
  const [asking, setAsking] = useState<BatchAction<Row> | null>(null)
  const [work, setWork] = useState<{ action: BatchAction<Row>; total: number; outcomes: readonly (BatchOutcome<Row> & { skipped?: string })[] } | null>(null)

  const begin = async (action: BatchAction<Row>): Promise<void> => {
    const skipped = rows.flatMap((row) => {
      const reason = action.disabledReason?.(row) ?? null
      return reason === null ? [] : [{ row, error: null, skipped: reason }]
    })
    const doable = rows.filter((row) => (action.disabledReason?.(row) ?? null) === null)
    if (action.dialog !== undefined) {
      openDialog((close) => action.dialog(doable, close))
      return
    }
    if (action.open !== undefined) {
      action.open(doable)
      return
    }
    setWork({ action, total: rows.length, outcomes: skipped })
    await runBatch(doable, action.run, (outcome) => setWork((now) => now && { ...now, outcomes: [...now.outcomes, outcome] }))
  }

  const done = work?.outcomes.length ?? 0
  const finished = work !== null && done === work.total
  const failed = work?.outcomes.filter((one) => one.error !== null).length ?? 0
  const left = work?.outcomes.filter((one) => one.skipped !== undefined).length ?? 0
  return (
    <div className="zs-batch" role="region" aria-label={t('batch.region')}>
      <span>{t('batch.selected', { count: rows.length })}</span>
      {actions.map((action) => {
        const none = rows.every((row) => (action.disabledReason?.(row) ?? null) !== null)
        return (
          <ActionButton
            key={action.key}
            look="default"
            disabled={none}
            action={{
              key: action.key,
              call: action.call,
              label: action.label,
              danger: action.danger === true,
              run: () => void (action.confirm === undefined ? void begin(action) : setAsking(action)),
            }}
          />
        )
      })}
      <Button type="link" onClick={onClear}>
        {t('batch.clear')}
      </Button>
      {asking?.confirm !== undefined && (
        <ConfirmDialog
          confirmation={asking.confirm(rows)}
          danger={asking.danger ?? false}
          okText={asking.label}
          onCancel={() => setAsking(null)}
          onConfirm={async () => {
            setAsking(null)
            await begin(asking)
          }}
        />
      )}
      <Modal
        open={work !== null}
        title={work?.action.label}
        closable={finished}
        mask={{ closable: false }}
        footer={
          <Button
            type="primary"
            disabled={!finished}
            onClick={() => {
              setWork(null)
              if (failed === 0) onClear()
            }}
          >
            {t('batch.close')}
          </Button>
        }
        onCancel={() => setWork(null)}
      >
        <Progress percent={work === null ? 0 : Math.round((done / work.total) * 100)} status={!finished ? 'active' : failed > 0 ? 'exception' : 'success'} />
        <p aria-live="polite">
          {finished ? t('batch.summary', { done: done - failed - left, failed, skipped: left }) : t('batch.running', { done, total: work?.total ?? 0 })}
        </p>
        <ul className="zs-batch-list">
          {work?.outcomes.map((outcome, index) => (
            <li key={index}>
              <span className="zs-cut">{nameOf(outcome.row)}</span>
              <span className={outcome.error === null ? 'zs-soft' : 'zs-bad'}>
                {outcome.skipped ?? (outcome.error === null ? t('batch.ok') : errorText(toApiError(outcome.error)))}
              </span>
            </li>
          ))}
        </ul>
      </Modal>
    </div>
  )
}
