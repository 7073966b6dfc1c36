import { useTranslation } from '../../i18n.ts'
import { TextAreaField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'

/** Refuses something with a reason that its provider reads. */
export default function ReasonDialog({
  title,
  okText,
  onGiven,
  onClose,
}: Dialog<{ title: string; okText: string; onGiven: (reason: string) => Promise<unknown> }>) {
  const { t } = useTranslation('market')
  return (
    <FormDialog<{ reason: string }>
      title={title}
      okText={okText}
      initialValues={{ reason: '' }}
      doneText={t('reason.done')}
      onClose={onClose}
      onSubmit={({ reason }) => onGiven(reason)}
    >
      <TextAreaField name="reason" label={t('reason.label')} missing={t('reason.missing')} rows={3} />
    </FormDialog>
  )
}
