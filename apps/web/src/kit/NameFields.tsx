import { useTranslation } from '../i18n.ts'
import type { z } from 'zod'
import { TextAreaField, TextField } from './fields.tsx'

/** What something is called, in forms: the name rule of section 5, which is told beside it. */
export function NameField({ schema, focus = true }: { readonly schema: z.ZodType; readonly focus?: boolean }) {
  const { t } = useTranslation('kit')
  return <TextField name="name" label={t('form.name')} extra={t('form.nameNote')} schema={schema} autoFocus={focus} />
}

/** What is said about it. */
export function DescriptionField({ schema, rows = 2 }: { readonly schema: z.ZodType; readonly rows?: number }) {
  const { t } = useTranslation('kit')
  return <TextAreaField name="description" label={t('form.description')} schema={schema} rows={rows} showCount />
}
