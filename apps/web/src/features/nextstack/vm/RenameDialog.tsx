import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { constants } from '@zhisuan/contract/constants'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { invalidatedByVm } from './vmRules.ts'
import { field } from '../../../kit/rules.ts'

interface Values {
  name: string
  description: string
}

/** Changes what an instance is called here; the engine's own name of it stays. */
export function RenameDialog({ vm, onClose }: { readonly vm: Vm; readonly onClose: () => void }) {
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
      <Form.Item name="name" label={t('field.name')} extra={t('add.nameNote')} {...field(vms.rename.body.shape.name)}>
        <Input autoFocus maxLength={constants.nameMaxLength} />
      </Form.Item>
      <Form.Item name="description" label={t('field.description')} {...field(vms.rename.body.shape.description)}>
        <Input.TextArea rows={3} maxLength={255} showCount />
      </Form.Item>
    </FormDialog>
  )
}
