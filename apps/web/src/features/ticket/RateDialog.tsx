import Rate from 'antd/es/rate'
import { tickets } from '@zhisuan/contract/ticket/ticket'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { Field, TextAreaField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { invalidatedByTicket } from './ticketTexts.ts'

const { shape } = tickets.rate.body

/** How it went: once. */
export default function RateDialog({ id, onClose }: Dialog<{ id: string }>) {
  const { t } = useTranslation('ticket')
  const rate = useChange(tickets.rate, { invalidates: invalidatedByTicket, silent: true })
  return (
    <FormDialog<{ score: number; text: string }>
      title={t('action.rateTitle')}
      okText={t('action.rate')}
      initialValues={{ score: 5, text: '' }}
      doneText={t('action.rated')}
      onClose={onClose}
      onSubmit={(body) => rate.mutateAsync({ params: { id }, body })}
    >
      <Field name="score" label={t('action.rateScore')} schema={shape.score}>
        <Rate />
      </Field>
      <TextAreaField name="text" label={t('action.rateText')} schema={shape.text} rows={3} />
    </FormDialog>
  )
}
