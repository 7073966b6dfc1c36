import { models, type Model } from '@zhisuan/contract/models/model'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { TextAreaField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'

/** Sends a model back that waits for a review, with a reason that its organisation reads. */
export default function RejectDialog({ model, onClose }: Dialog<{ model: Model }>) {
  const { t } = useTranslation('models')
  const review = useChange(models.review, { invalidates: [models.get, models.list], silent: true })
  return (
    <FormDialog<{ reason: string }>
      title={t('reject.title', { name: model.title })}
      okText={t('action.reject')}
      initialValues={{ reason: '' }}
      doneText={t('reject.done')}
      onClose={onClose}
      onSubmit={({ reason }) => review.mutateAsync({ params: { id: model.id }, body: { accept: false, reason } })}
    >
      <TextAreaField name="reason" label={t('reject.reason')} missing={t('reject.missing')} rows={3} />
    </FormDialog>
  )
}
