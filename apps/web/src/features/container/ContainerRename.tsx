import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { containers, type Container } from '@zhisuan/contract/cis/container'
import { constants } from '@zhisuan/contract/constants'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../api/hooks.ts'
import { FormDialog } from '../../kit/FormDialog.tsx'
import { field } from '../../kit/rules.ts'
import { invalidatedByContainer } from './containerRules.ts'

/** Gives a container another name, here and in its Docker. */
export function ContainerRename({ container, onClose }: { readonly container: Container; readonly onClose: () => void }) {
  const { t } = useTranslation('container')
  const rename = useChange(containers.action, { invalidates: invalidatedByContainer, silent: true })
  return (
    <FormDialog<{ name: string }>
      title={t('rename.title', { name: container.name })}
      okText={t('rename.ok')}
      doneText={t('done.rename')}
      initialValues={{ name: container.name }}
      onSubmit={({ name }) => rename.mutateAsync({ params: { id: container.id }, body: { action: 'rename', name } })}
      onClose={onClose}
    >
      <Form.Item name="name" label={t('field.name')} extra={t('rename.note')} {...field(containers.deploy.body.shape.name)}>
        <Input autoFocus maxLength={constants.nameMaxLength} />
      </Form.Item>
    </FormDialog>
  )
}
