import { serviceDatabases } from '@zhisuan/contract/middleware/service'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { invalidatedByContent } from './serviceRules.ts'

const { shape } = serviceDatabases.create.body

/** Makes a database in a service. */
export default function DatabaseDialog({ id, onClose }: Dialog<{ id: string }>) {
  const { t } = useTranslation('middleware')
  const create = useChange(serviceDatabases.create, { invalidates: invalidatedByContent, silent: true })
  return (
    <FormDialog<{ name: string }, string>
      title={t('service.database.create')}
      okText={t('service.database.create')}
      initialValues={{ name: '' }}
      doneText={(name) => t('service.database.created', { name })}
      onClose={onClose}
      onSubmit={async (body) => (await create.mutateAsync({ params: { id }, body })).name}
    >
      <TextField name="name" label={t('column.name')} extra={t('service.nameNote')} schema={shape.name} code autoCapitalize="none" spellCheck={false} />
    </FormDialog>
  )
}
