import { providers, type Provider } from '@zhisuan/contract/market/provider'
import type { BodyInput } from '@zhisuan/contract/define'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { TextAreaField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'

type Values = BodyInput<typeof providers.create>
const { shape } = providers.create.body

/** Asks to become a provider, or changes what is said of one. */
export default function ProviderDialog({ provider, onClose }: Dialog<{ provider: Provider | null }>) {
  const { t } = useTranslation('market')
  const how = { invalidates: [providers.list, providers.get], silent: true } as const
  const create = useChange(providers.create, how)
  const update = useChange(providers.update, how)
  return (
    <FormDialog<Values, Provider>
      title={t(provider === null ? 'provider.apply' : 'provider.edit')}
      okText={t(provider === null ? 'provider.applyOk' : 'save')}
      initialValues={{ name: provider?.name ?? '', contact: provider?.contact ?? '', description: provider?.description ?? '' }}
      doneText={({ name }) => t(provider === null ? 'provider.applied' : 'saved', { name })}
      onClose={onClose}
      onSubmit={(body) => (provider === null ? create.mutateAsync({ body }) : update.mutateAsync({ params: { id: provider.id }, body }))}
    >
      <TextField name="name" label={t('field.providerName')} schema={shape.name} autoFocus />
      <TextField name="contact" label={t('field.contact')} extra={t('field.contactNote')} schema={shape.contact} />
      <TextAreaField name="description" label={t('field.description')} schema={shape.description} rows={3} />
    </FormDialog>
  )
}
