import { registries, registryAccount, type Registry } from '@zhisuan/contract/ims/registry'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { PasswordField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { invalidatedByRegistry } from './registryRules.ts'

interface Values {
  username: string
  password: string
}

/** Another password of the account by which the platform gets into a registry. */
export default function AccountDialog({ registry, onClose }: Dialog<{ registry: Registry }>) {
  const { t } = useTranslation('mirror')
  const change = useChange(registries.password, { invalidates: invalidatedByRegistry, silent: true })
  return (
    <FormDialog<Values>
      title={t('registry.passwordTitle', { name: registry.name })}
      okText={t('save')}
      initialValues={{ username: registry.username ?? '', password: '' }}
      doneText={t('registry.passwordDone')}
      onClose={onClose}
      onSubmit={(body) => change.mutateAsync({ params: { id: registry.id }, body })}
    >
      <p className="zs-soft">{t('registry.passwordNote')}</p>
      <TextField name="username" label={t('registry.field.username')} schema={registryAccount.shape.username} code />
      <PasswordField name="password" label={t('registry.newPassword')} schema={registryAccount.shape.password} />
    </FormDialog>
  )
}
