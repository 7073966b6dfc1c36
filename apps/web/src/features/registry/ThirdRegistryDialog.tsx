import Form from 'antd/es/form'
import { thirdRegistries, type ThirdRegistry } from '@zhisuan/contract/ims/preheat'
import { registryAccount } from '@zhisuan/contract/ims/registry'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { PasswordField, RadioField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { invalidatedByThird } from './preheatRules.ts'

interface Values {
  name: string
  description: string
  url: string
  way: 'anonymous' | 'account'
  account?: { username: string; password?: string }
}
const { shape } = thirdRegistries.create.body

/** Registers a third party's registry, or with one changes it; it is tried before it is kept. */
export default function ThirdRegistryDialog({ registry, onClose }: Dialog<{ registry: ThirdRegistry | null }>) {
  const { t } = useTranslation('mirror')
  const [form] = Form.useForm<Values>()
  const create = useChange(thirdRegistries.create, { invalidates: invalidatedByThird, silent: true })
  const update = useChange(thirdRegistries.update, { invalidates: invalidatedByThird, silent: true })
  const way = Form.useWatch('way', form) ?? (registry !== null && registry.username === null ? 'anonymous' : 'account')
  return (
    <FormDialog<Values, ThirdRegistry>
      form={form}
      title={registry === null ? t('third.create') : t('registry.editTitle', { name: registry.name })}
      okText={t(registry === null ? 'third.create' : 'save')}
      initialValues={{
        name: registry?.name ?? '',
        description: registry?.description ?? '',
        url: registry?.url ?? '',
        way,
        account: { username: registry?.username ?? '', password: '' },
      }}
      doneText={({ name }) => t(registry === null ? 'registry.created' : 'saved', { name })}
      onClose={onClose}
      onSubmit={({ way: chosen, account, ...about }) => {
        const username = account?.username ?? ''
        const password = account?.password ?? ''
        if (registry === null) return create.mutateAsync({ body: { ...about, ...(chosen === 'account' && { account: { username, password } }) } })
        return update.mutateAsync({
          params: { id: registry.id },
          body: { ...about, ...(chosen === 'account' && { account: { username, ...(password !== '' && { password }) } }) },
        })
      }}
    >
      <NameField schema={shape.name} />
      <TextField name="url" label={t('registry.field.url')} extra={t('third.urlNote')} schema={shape.url} code placeholder="https://registry-1.docker.io" />
      <RadioField
        name="way"
        label={t('registry.field.way')}
        extra={t('third.wayNote')}
        optionType="button"
        values={['account', 'anonymous'] as const}
        labelOf={(one) => t(one === 'account' ? 'registry.field.account' : 'third.anonymous')}
      />
      {way === 'account' && (
        <>
          <TextField name={['account', 'username']} label={t('registry.field.username')} schema={registryAccount.shape.username} code />
          <PasswordField
            name={['account', 'password']}
            label={t('registry.field.password')}
            schema={registry?.username != null ? registryAccount.shape.password.optional() : registryAccount.shape.password}
            {...(registry?.username != null && { placeholder: t('registry.field.kept') })}
          />
        </>
      )}
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
