import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { constants } from '@zhisuan/contract/constants'
import { useTranslation } from 'react-i18next'
import type { z } from 'zod'
import { field } from './rules.ts'

/** What something is called, in forms: the name rule of section 5, which is told beside it. */
export function NameField({ schema, focus = true }: { readonly schema: z.ZodType; readonly focus?: boolean }) {
  const { t } = useTranslation('kit')
  return (
    <Form.Item name="name" label={t('form.name')} extra={t('form.nameNote')} {...field(schema)}>
      <Input autoFocus={focus} maxLength={constants.nameMaxLength} />
    </Form.Item>
  )
}

/** What is said about it. */
export function DescriptionField({ schema, rows = 2 }: { readonly schema: z.ZodType; readonly rows?: number }) {
  const { t } = useTranslation('kit')
  return (
    <Form.Item name="description" label={t('form.description')} {...field(schema)}>
      <Input.TextArea rows={rows} maxLength={255} showCount />
    </Form.Item>
  )
}
