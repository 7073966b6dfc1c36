import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { computeSecurityGroups, kindOfGroup, type ComputeSecurityGroup } from '@zhisuan/contract/compute/security-group'
import type { templateNames } from '@zhisuan/contract/nextstack/security-group'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { Field } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { TemplateField } from '../../../kit/TemplateField.tsx'
import { changedOf } from '../network/NetworkDialogs.tsx'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { invalidatedByGroup } from './securityRules.ts'

interface CreateValues {
  name: string
  description: string
  template: (typeof templateNames)[number]
  project_id?: string
}
/** Makes a group from a template; its rules are changed on its own page. */
export function SecurityGroupCreate({ cloudId, onClose }: Dialog<{ cloudId: string }>) {
  const { t } = useTranslation('computeSecurity')
  const [form] = Form.useForm<CreateValues>()
  const name = Form.useWatch('name', form) ?? ''
  const create = useChange(computeSecurityGroups.create, { invalidates: invalidatedByGroup, silent: true })
  const { shape } = computeSecurityGroups.create.body
  return (
    <FormDialog<CreateValues>
      form={form}
      title={t('group.create')}
      okText={t('group.create')}
      initialValues={{ name: '', description: '', template: 'ssh' }}
      doneText={t('group.created', { name })}
      onClose={onClose}
      onSubmit={({ project_id, ...values }) => create.mutateAsync({ params: { cloud_id: cloudId }, body: { ...values, project_id: project_id ?? null } })}
    >
      <NameField schema={shape.name} />
      <TemplateField extra={t('group.templateNote')} />
      <ProjectField />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}

type EditValues = Pick<ComputeSecurityGroup, 'name' | 'description'>
export function SecurityGroupEdit({ cloudId, group, onClose }: Dialog<{ cloudId: string; group: ComputeSecurityGroup }>) {
  const { t } = useTranslation('computeSecurity')
  const update = useChange(computeSecurityGroups.update, { invalidates: invalidatedByGroup, silent: true })
  const { name, description } = group
  const fixed = kindOfGroup(group) === 'default'
  const { shape } = computeSecurityGroups.update.body
  return (
    <FormDialog<EditValues>
      title={t('group.editTitle', { name })}
      okText={t('group.save')}
      initialValues={{ name, description }}
      doneText={t('group.saved', { name })}
      onClose={onClose}
      onSubmit={(values) => update.mutateAsync({ params: { cloud_id: cloudId, id: group.id }, body: changedOf({ name, description }, values) })}
    >
      <Field name="name" label={t('column.name')} {...(fixed && { extra: t('group.defaultName') })} schema={shape.name.unwrap()}>
        <Input autoFocus={!fixed} disabled={fixed} />
      </Field>
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
