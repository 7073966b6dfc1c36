import { splitContracts, splitRuns, type SplitRun } from '@zhisuan/contract/split/contract'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { useAskedPassword } from '../../kit/CurrentPassword.tsx'
import { TextAreaField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { invalidatedBySplit } from './splitTexts.ts'

const how = { invalidates: invalidatedBySplit, silent: true } as const

/** Splits a month that is over, once. */
export function RunCreate({ onClose }: Dialog) {
  const { t } = useTranslation('split')
  const create = useChange(splitRuns.create, how)
  const { data } = useCall(splitContracts.list, { query: { page_size: 1_000 } }, { silent: true })
  return (
    <FormDialog<{ contract_id: string; period: string }, SplitRun>
      title={t('run.create')}
      okText={t('run.create')}
      initialValues={{ period: '' }}
      doneText={({ period }) => t('run.created', { period })}
      onClose={onClose}
      onSubmit={(body) => create.mutateAsync({ body })}
    >
      <p className="zs-soft">{t('run.createNote')}</p>
      <SelectField<string>
        name="contract_id"
        label={t('column.contract')}
        missing={t('column.contract')}
        options={(data?.items ?? [])
          .filter(({ status }) => status !== 'draft')
          .map(({ id, name, provider }) => ({ value: id, label: `${name}（${provider.name}）` }))}
      />
      <TextField name="period" label={t('column.period')} placeholder="2026-11" schema={splitRuns.create.body.shape.period} code />
    </FormDialog>
  )
}

/** What somebody says of a statement: why not, why all the same, or by which transfer it was paid. */
export function RunText({ run, which, onClose }: Dialog<{ run: SplitRun; which: 'dispute' | 'answer' | 'pay' }>) {
  const { t } = useTranslation('split')
  const dispute = useChange(splitRuns.dispute, how)
  const answer = useChange(splitRuns.answer, how)
  const pay = useChange(splitRuns.pay, how)
  const params = { id: run.id }
  const { asking, passwordField } = useAskedPassword()
  const send = ({ text, password }: { text: string; password?: string }): Promise<SplitRun> => {
    if (which === 'dispute') return dispute.mutateAsync({ params, body: { reason: text } })
    return which === 'answer'
      ? answer.mutateAsync({ params, body: { text } })
      : asking(() => pay.mutateAsync({ params, body: { reference: text, ...(password !== undefined && { password }) } }))
  }
  const words = { dispute: ['run.dispute', 'run.disputed'], answer: ['run.answer', 'run.answered'], pay: ['run.pay', 'run.paid'] } as const
  const [label, done] = words[which]
  return (
    <FormDialog<{ text: string; password?: string }>
      title={`${t(label)} · ${run.period}`}
      okText={t(label)}
      initialValues={{ text: '' }}
      doneText={t(done)}
      onClose={onClose}
      onSubmit={send}
    >
      {which === 'answer' && run.dispute !== null && <blockquote>{run.dispute}</blockquote>}
      {which === 'pay' ? (
        <TextField name="text" label={t('run.reference')} extra={t('run.payNote')} schema={splitRuns.pay.body.shape.reference} code />
      ) : (
        <TextAreaField name="text" label={t(which === 'dispute' ? 'run.disputeReason' : 'run.answerText')} schema={splitRuns.answer.body.shape.text} rows={4} />
      )}
      {passwordField}
    </FormDialog>
  )
}
