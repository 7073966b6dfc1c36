import { regions } from '@zhisuan/contract/ecrm/region'
import { useTranslation } from '../../i18n.ts'
import { TextAreaField, TextField } from '../../kit/fields.tsx'
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
    <TextField
      name="name"
      label={t('field.name')}
      extra={t('field.nameNote')}
      rules={[...rules, ...unique.rules]}
      validateTrigger={unique.validateTrigger}
      validateFirst
      required={required}
      autoFocus
    />
  )
}

export function DescriptionField() {
  const { t } = useTranslation('edge')
  return <TextAreaField name="description" label={t('field.description')} schema={shape.description} rows={2} showCount />
}
