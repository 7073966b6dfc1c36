import Input from 'antd/es/input'
import { mountPath, type Volume } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { Field } from '../../../kit/fields.tsx'
import '../../../kit/form.css'

/** Where in the instance a file system is mounted; a disk is only said how to find. */
export function PathField({ name, content }: { readonly name: string | readonly string[]; readonly content: Volume['content'] }) {
  const { t } = useTranslation('storage')
  if (content === 'block') return <p className="zs-soft zs-field">{t('attach.blockNote')}</p>
  return (
    <Field name={typeof name === 'string' ? name : [...name]} label={t('field.path')} extra={t('field.pathNote')} schema={mountPath}>
      <Input className="zs-code" placeholder="/data" autoComplete="off" />
    </Field>
  )
}
