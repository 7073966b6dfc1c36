import Alert from 'antd/es/alert'
import { computeVolumeBackups, computeVolumeSnapshots } from '@zhisuan/contract/compute/volume'
import { useChange } from '../../../api/hooks.ts'
import { useTranslation } from '../../../i18n.ts'
import { RadioField } from '../../../kit/fields.tsx'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { invalidatedByStorage, titleOf } from './storageRules.ts'

const calls = { snapshot: computeVolumeSnapshots.resetStatus, backup: computeVolumeBackups.resetStatus }
const values = ['available', 'error'] as const

/** For administrators, of what the cloud lost sight of while it was made, restored or deleted. */
export function ResetStatusDialog({
  kind,
  cloudId,
  of,
  onClose,
}: {
  readonly kind: keyof typeof calls
  readonly cloudId: string
  readonly of: { readonly id: string; readonly name: string }
  readonly onClose: () => void
}) {
  const { t } = useTranslation('computeStorage')
  const reset = useChange(calls[kind], { invalidates: invalidatedByStorage, silent: true })
  return (
    <FormDialog<{ status: (typeof values)[number] }>
      title={t('reset.title', { name: titleOf(of) })}
      okText={t('action.resetStatus')}
      initialValues={{ status: 'error' }}
      doneText={t('done.reset', { name: titleOf(of) })}
      onClose={onClose}
      onSubmit={(body) => reset.mutateAsync({ params: { cloud_id: cloudId, id: of.id }, body })}
    >
      <Alert className="zs-above" type="warning" showIcon title={t('reset.noteKept')} />
      <RadioField name="status" label={t('reset.status')} values={values} labelOf={(value) => t(`status.${value}`)} />
    </FormDialog>
  )
}
