import { computeVolumeBackups, computeVolumes, computeVolumeSnapshots } from '@zhisuan/contract/compute/volume'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { titleOf, invalidatedByStorage } from './storageRules.ts'

/** Changes what a volume, a snapshot or a backup is called. */
export function UpdateDialog({
  cloudId,
  kind,
  of,
  onClose,
}: Dialog<{ cloudId: string; kind: 'volume' | 'snapshot' | 'backup'; of: { readonly id: string; readonly name: string; readonly description: string } }>) {
  const { t } = useTranslation('computeStorage')
  const options = { invalidates: invalidatedByStorage, silent: true } as const
  const volume = useChange(computeVolumes.update, options)
  const snapshot = useChange(computeVolumeSnapshots.update, options)
  const backup = useChange(computeVolumeBackups.update, options)
  const { shape } = computeVolumes.update.body
  return (
    <FormDialog<{ name: string; description: string }>
      title={t('update.title', { name: titleOf(of) })}
      okText={t('update.ok')}
      initialValues={{ name: of.name, description: of.description }}
      doneText={t('done.update')}
      onClose={onClose}
      onSubmit={(body) => ({ volume, snapshot, backup })[kind].mutateAsync({ params: { cloud_id: cloudId, id: of.id }, body })}
    >
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
