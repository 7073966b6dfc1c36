import { useTranslation } from '../../i18n.ts'
import { TextAreaField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'

/** Asks why, and does it. */
export default function ReasonDialog({
  title,
  label,
  okText,
  doneText,
  onReason,
  onClose,
}: Dialog<{ title: string; label: string; okText: string; doneText: string; onReason: (reason: string) => Promise<unknown> }>) {
  const { t } = useTranslation('ticket')
  return (
    <FormDialog<{ reason: string }>
      title={title}
      okText={okText}
      initialValues={{ reason: '' }}
      doneText={doneText}
      onClose={onClose}
      onSubmit={({ reason }) => onReason(reason)}
    >
      <TextAreaField name="reason" label={label} missing={t('reply.missing')} rows={3} />
    </FormDialog>
  )
}
