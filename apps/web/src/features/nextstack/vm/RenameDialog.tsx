import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Modal from 'antd/es/modal'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { constants } from '@zhisuan/contract/constants'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { useReturnFocus } from '../../../kit/focus.ts'
import { field, showFieldErrors } from '../../../kit/rules.ts'
import { touchedByVm } from './vmRules.ts'

interface Values {
  name: string
  description: string
}

/** Changes what an instance is called here; the engine's own name of it stays. */
export function RenameDialog({ vm, onClose }: { readonly vm: Vm; readonly onClose: () => void }) {
  const { t } = useTranslation('nextstack')
  useReturnFocus()
  const [form] = Form.useForm<Values>()
  const rename = useChange(vms.rename, { invalidates: touchedByVm })

  const submit = (values: Values): void =>
    rename.mutate(
      { params: { id: vm.id }, body: values },
      {
        onSuccess: () => {
          notify('success', t('done.rename'))
          onClose()
        },
        onError: (error) => void showFieldErrors(form, error.fields),
      },
    )

  return (
    <Modal
      open
      title={t('rename.title', { name: vm.name })}
      okText={t('rename.ok')}
      confirmLoading={rename.isPending}
      onOk={form.submit}
      onCancel={onClose}
      mask={{ closable: false }}
    >
      <Form<Values> form={form} layout="vertical" initialValues={{ name: vm.name, description: vm.description }} onFinish={submit}>
        <Form.Item name="name" label={t('field.name')} extra={t('add.nameNote')} {...field(vms.rename.body.shape.name)}>
          <Input autoFocus maxLength={constants.nameMaxLength} />
        </Form.Item>
        <Form.Item name="description" label={t('field.description')} {...field(vms.rename.body.shape.description)}>
          <Input.TextArea rows={3} maxLength={255} showCount />
        </Form.Item>
      </Form>
    </Modal>
  )
}
