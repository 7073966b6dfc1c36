import { serviceAccounts, serviceDatabases } from '@zhisuan/contract/middleware/service'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { PasswordField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { invalidatedByContent } from './serviceRules.ts'

const { shape } = serviceAccounts.create.body

/** Lets somebody else into databases of a service. */
export default function AccountDialog({ id, onClose }: Dialog<{ id: string }>) {
  const { t } = useTranslation('middleware')
  const create = useChange(serviceAccounts.create, { invalidates: invalidatedByContent, silent: true })
  const { data, isPending } = useCall(serviceDatabases.list, { params: { id } }, { silent: true })
  return (
    <FormDialog<{ name: string; password: string; databases: string[] }, string>
      title={t('service.account.create')}
      okText={t('service.account.create')}
      initialValues={{ name: '', databases: [] }}
      doneText={(name) => t('service.account.created', { name })}
      onClose={onClose}
      onSubmit={async (body) => (await create.mutateAsync({ params: { id }, body })).name}
    >
      <TextField name="name" label={t('column.name')} extra={t('service.nameNote')} schema={shape.name} code autoCapitalize="none" spellCheck={false} />
      <PasswordField name="password" label={t('service.password')} extra={t('service.passwordRule')} schema={shape.password} autoComplete="new-password" />
      <SelectField<string[]>
        name="databases"
        label={t('service.account.databases')}
        extra={t('service.account.databasesNote')}
        schema={shape.databases}
        required={false}
        mode="multiple"
        loading={isPending}
        options={(data?.items ?? []).map(({ name }) => ({ value: name, label: name }))}
      />
    </FormDialog>
  )
}
