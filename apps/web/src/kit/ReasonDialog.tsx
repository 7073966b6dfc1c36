import { TextAreaField } from './fields.tsx'
import { FormDialog, type Dialog } from './FormDialog.tsx'
import { useTranslation } from '../i18n.ts'

/** Asks why, and does it. */
export default function ReasonDialog({
  title,
  label,
  missing,
  okText,
  doneText,
  onReason,
  onClose,
}: Dialog<{
  title: string
  /** Left out: only that it is the reason. */
  label?: string
  /** Said where nothing is written, such as who will read it. */
  missing: string
  okText: string
  doneText: string
  onReason: (reason: string) => Promise<unknown>
}>) {
  const { t } = useTranslation('kit')
  return (
    <FormDialog<{ reason: string }>
      title={title}
      okText={okText}
      initialValues={{ reason: '' }}
      doneText={doneText}
      onClose={onClose}
      onSubmit={({ reason }) => onReason(reason)}
    >
      <TextAreaField name="reason" label={label ?? t('reason')} missing={missing} rows={3} />
    </FormDialog>
  )
}
