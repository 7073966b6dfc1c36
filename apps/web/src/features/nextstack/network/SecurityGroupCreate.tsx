import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { securityGroups, templateNames } from '@zhisuan/contract/nextstack/security-group'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { touchedByGroup } from './groupRules.ts'
import './network.css'

interface Values {
  name: string
  description: string
  template: (typeof templateNames)[number]
}
const { shape } = securityGroups.create.body

/** Makes a group from a template; its rules are changed on its own page. */
export function SecurityGroupCreate({ cloud, onClose }: { readonly cloud: CloudBasic; readonly onClose: () => void }) {
  const { t } = useTranslation('network')
  const [form] = Form.useForm<Values>()
  const name = Form.useWatch('name', form) ?? ''
  const create = useChange(securityGroups.create, { invalidates: touchedByGroup, silent: true })
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
      <Form.Item name="template" label={t('field.template')}>
        <Radio.Group
          className="nt-templates"
          options={templateNames.map((value) => ({
            value,
            label: (
              <>
                {t(`group.template.${value}`)}
                <div className="zs-name-note">{t(`group.templateNote.${value}`)}</div>
              </>
            ),
          }))}
        />
      </Form.Item>
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
