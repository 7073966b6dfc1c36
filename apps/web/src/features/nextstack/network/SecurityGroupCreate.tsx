import Form from 'antd/es/form'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { securityGroups, type templateNames } from '@zhisuan/contract/nextstack/security-group'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { invalidatedByGroup } from './groupRules.ts'
import { TemplateField } from '../../../kit/TemplateField.tsx'

interface Values {
  name: string
  description: string
  template: (typeof templateNames)[number]
}
const { shape } = securityGroups.create.body

/** Makes a group from a template; its rules are changed on its own page. */
export function SecurityGroupCreate({ cloud, onClose }: Dialog<{ cloud: CloudBasic }>) {
  const { t } = useTranslation('network')
  const [form] = Form.useForm<Values>()
  const name = Form.useWatch('name', form) ?? ''
  const create = useChange(securityGroups.create, { invalidates: invalidatedByGroup, silent: true })
  return (
    <FormDialog<Values>
      form={form}
      title={t('group.create')}
      okText={t('group.createOk')}
      initialValues={{ name: '', description: '', template: 'ssh' }}
      doneText={t('group.created', { name })}
      onClose={onClose}
      onSubmit={(values) => create.mutateAsync({ body: { ...values, cloud_id: cloud.cloud_id } })}
    >
      <NameField schema={shape.name} />
      <TemplateField />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
