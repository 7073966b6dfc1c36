import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { constants } from '@zhisuan/contract/constants'
import { regions } from '@zhisuan/contract/ecrm/region'
import { useTranslation } from 'react-i18next'
import { field } from '../../kit/rules.ts'
import { uniqueName } from './uniqueName.ts'

// All things of the edge are named and described by the same rules.
const { shape } = regions.create.body

/** What something of the edge is called. */
export function NameField({ kind, own }: { readonly kind: Parameters<typeof uniqueName>[0]; readonly own?: string }) {
  const { t } = useTranslation('edge')
  const { required, rules } = field(shape.name)
  const unique = uniqueName(kind, own)
  return (
    <Form.Item
      name="name"
      label={t('field.name')}
      extra={t('field.nameNote')}
      required={required}
      rules={[...rules, ...unique.rules]}
      validateTrigger={unique.validateTrigger}
      validateFirst
    >
      <Input autoFocus maxLength={constants.nameMaxLength} />
    </Form.Item>
  )
}

export function DescriptionField() {
  const { t } = useTranslation('edge')
  return (
    <Form.Item name="description" label={t('field.description')} {...field(shape.description)}>
      <Input.TextArea rows={2} maxLength={255} showCount />
    </Form.Item>
  )
}
