import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { TextAreaField, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { invalidatedByVm } from './vmRules.ts'

interface Values {
  name: string
  description: string
}

/** Changes what an instance is called here; the engine's own name of it stays. */
export function RenameDialog({ vm, onClose }: Dialog<{ vm: Vm }>) {
  const { t } = useTranslation('nextstack')
  const rename = useChange(vms.rename, { invalidates: invalidatedByVm })
  return (
    <FormDialog<Values>
      title={t('rename.title', { name: vm.name })}
      okText={t('rename.ok')}
      initialValues={{ name: vm.name, description: vm.description }}
      doneText={t('done.rename')}
      onClose={onClose}
      onSubmit={(body) => rename.mutateAsync({ params: { id: vm.id }, body })}
    >
      <TextField name="name" label={t('field.name')} extra={t('add.nameNote')} schema={vms.rename.body.shape.name} autoFocus />
      <TextAreaField name="description" label={t('field.description')} schema={vms.rename.body.shape.description} rows={3} showCount />
    </FormDialog>
  )
}
