import { retention, retentions } from '@zhisuan/contract/compute/recycled'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { NumberField } from '../../../kit/NumberField.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'

/** How long the recycle bin of a cloud keeps what is deleted from now on. */
export function RetentionDialog({ cloudId, days, onClose }: Dialog<{ cloudId: string; days: number }>) {
  const { t } = useTranslation('computeInstance')
  const set = useChange(retentions.set, { invalidates: [retentions.get], silent: true })
  return (
    <FormDialog<{ days: number }>
      title={t('bin.set.title')}
      okText={t('bin.set.ok')}
      initialValues={{ days }}
      doneText={t('bin.set.done')}
      onClose={onClose}
      onSubmit={(body) => set.mutateAsync({ params: { cloud_id: cloudId }, body })}
    >
      <NumberField name="days" label={t('bin.set.days')} extra={t('bin.set.note')} schema={retention.shape.days} autoFocus />
    </FormDialog>
  )
}
