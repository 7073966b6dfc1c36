import Form from 'antd/es/form'
import { regions } from '@zhisuan/contract/ecrm/region'
import {
  registries,
  registryAccount,
  registryConnection,
  registryEngines,
  type Registry,
  type RegistryEngine,
  type RegistryPlace,
  type RegistryTls,
} from '@zhisuan/contract/ims/registry'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { CheckField, PasswordField, RadioField, TextAreaField, TextField } from '../../kit/fields.tsx'
import { useDialog } from '../../kit/dialogs.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { PlaceFields, TlsFields } from './PlaceFields.tsx'
import { invalidatedByRegistry } from './registryRules.ts'
import RegistrySetup from './RegistrySetup.tsx'

interface Values {
  name: string
  description: string
  region_id?: string | null
  reconnect: boolean
  origin: Registry['origin']
  way: 'token' | 'account'
  // Named as in the body of the call, so that what the server refuses stands beside its field.
  connection?: Connection
  place?: Pick<RegistryPlace, 'port'> & Partial<Pick<RegistryPlace, 'node_id' | 'host'>> & { tls: Tls }
  tls?: Tls
}
interface Tls {
  kind: RegistryTls['kind']
  certificate?: string
  key?: string
  certificate_authority?: string
}
interface Connection {
  engine: RegistryEngine
  url: string
  certificate_authority?: string
  account?: { username: string; password?: string }
}
const { shape } = registries.create.body

/** As the calls take it: what was left empty is not said. */
function connectionOf({ engine, url, certificate_authority: authority = '', account }: Connection, way: Values['way']): Connection {
  return {
    engine,
    url,
    ...(authority !== '' && { certificate_authority: authority }),
    ...(way === 'account' && account !== undefined && { account: { username: account.username, ...(account.password && { password: account.password }) } }),
  }
}

function tlsOf({ kind, certificate = '', key = '', certificate_authority: authority = '' }: Tls): RegistryTls {
  return kind === 'ours' ? { kind } : { kind, certificate, key, ...(authority !== '' && { certificate_authority: authority }) }
}

/** Registers a registry or has one made, or with one changes it; what it has to be told is shown after it was made. */
export default function RegistryDialog({ registry, onClose }: Dialog<{ registry: Registry | null }>) {
  const { t } = useTranslation('mirror')
  const open = useDialog()
  const registered = registry !== null && registry.username !== null
  const [form] = Form.useForm<Values>()
  const create = useChange(registries.create, { invalidates: invalidatedByRegistry, silent: true })
  const update = useChange(registries.update, { invalidates: invalidatedByRegistry, silent: true })
  const { data, isPending } = useCall(regions.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  const engine = Form.useWatch(['connection', 'engine'], form) ?? registry?.engine ?? 'distribution'
  // Harbor takes no tokens of ours.
  const chosenWay = Form.useWatch('way', form) ?? (registered ? 'account' : 'token')
  const way = engine === 'harbor' ? 'account' : chosenWay
  const reconnects = Form.useWatch('reconnect', form) ?? false
  const origin = Form.useWatch('origin', form) ?? registry?.origin ?? 'kept'
  const connects = origin === 'registered' && (registry === null || reconnects)

  const submit = async ({ name, description, region_id, connection, place, tls }: Values): Promise<string> => {
    const about = { name, description, region_id: region_id ?? null }
    const reached = connection !== undefined && connectionOf(connection, way)
    if (registry !== null) {
      const changes = { ...(reached !== false && { connection: reached }), ...(tls !== undefined && { tls: tlsOf(tls) }) }
      await update.mutateAsync({ params: { id: registry.id }, body: { ...about, ...changes } })
    } else if (place !== undefined) {
      await create.mutateAsync({ body: { ...about, place: { node_id: '', host: '', ...place, tls: tlsOf(place.tls) } } })
    } else if (reached !== false) {
      const { account, ...rest } = reached
      const made = await create.mutateAsync({
        body: { ...about, connection: { ...rest, ...(account !== undefined && { account: { ...account, password: account.password ?? '' } }) } },
      })
      if (made.token_service !== null || made.notifications !== null) open((close) => <RegistrySetup registry={made} onClose={close} />)
    }
    return name
  }

  return (
    <FormDialog<Values, string>
      form={form}
      width={640}
      title={registry === null ? t('registry.create') : t('registry.editTitle', { name: registry.name })}
      okText={t(registry === null ? 'registry.create' : 'save')}
      initialValues={{
        name: registry?.name ?? '',
        description: registry?.description ?? '',
        region_id: registry?.region?.id ?? null,
        reconnect: false,
        origin: registry?.origin ?? 'kept',
        place: { port: 5000, tls: { kind: 'ours' } },
        tls: { kind: registry?.tls?.kind ?? 'ours' },
        way: registered ? 'account' : 'token',
        connection: {
          engine: registry?.engine ?? 'distribution',
          url: registry?.url ?? '',
          certificate_authority: registry?.certificate_authority ?? '',
          account: { username: registry?.username ?? '', password: '' },
        },
      }}
      doneText={(name) => t(registry !== null ? 'saved' : form.getFieldValue('origin') === 'kept' ? 'registry.making' : 'registry.created', { name })}
      onClose={onClose}
      onSubmit={submit}
    >
      <NameField schema={shape.name} />
      <SelectField<string>
        name="region_id"
        label={t('registry.field.region')}
        extra={t('registry.field.regionNote')}
        allowClear
        loading={isPending}
        placeholder={t('registry.everywhere')}
        showSearch={{ optionFilterProp: 'label' }}
        options={(data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      />
      {registry === null && (
        <RadioField
          name="origin"
          label={t('registry.field.origin')}
          extra={t(`registry.originNote.${origin}`)}
          optionType="button"
          values={['kept', 'registered'] as const}
          labelOf={(one) => t(`registry.origin.${one}`)}
        />
      )}
      {registry === null && origin === 'kept' && <PlaceFields />}
      {registry !== null && (
        <CheckField
          name="reconnect"
          text={t(origin === 'kept' ? 'registry.field.recertify' : 'registry.field.reconnect')}
          extra={t(origin === 'kept' ? 'registry.field.recertifyNote' : 'registry.field.reconnectNote')}
        />
      )}
      {registry !== null && origin === 'kept' && reconnects && <TlsFields at={['tls']} />}
      {connects && (
        <>
          <RadioField
            name={['connection', 'engine']}
            label={t('registry.field.engine')}
            {...(engine === 'harbor' && { extra: t('registry.field.harborNote') })}
            optionType="button"
            disabled={registry !== null}
            values={registryEngines}
            labelOf={(one) => t(`registry.engine.${one}`)}
          />
          <TextField
            name={['connection', 'url']}
            label={t('registry.field.url')}
            extra={t('registry.field.urlNote')}
            schema={registryConnection.shape.url}
            code
            placeholder="https://registry.example.com"
          />
          <TextAreaField
            name={['connection', 'certificate_authority']}
            label={t('registry.field.authority')}
            extra={t('registry.field.authorityNote')}
            schema={registryConnection.shape.certificate_authority}
            rows={3}
            code
            placeholder="-----BEGIN CERTIFICATE-----"
          />
          {engine !== 'harbor' && (
            <RadioField
              name="way"
              label={t('registry.field.way')}
              extra={t(way === 'token' ? 'registry.field.tokenNote' : 'registry.field.accountNote')}
              optionType="button"
              values={['token', 'account'] as const}
              labelOf={(one) => t(`registry.field.${one}`)}
            />
          )}
          {way === 'account' && (
            <>
              <TextField name={['connection', 'account', 'username']} label={t('registry.field.username')} schema={registryAccount.shape.username} code />
              <PasswordField
                name={['connection', 'account', 'password']}
                label={t('registry.field.password')}
                schema={registered ? registryAccount.shape.password.optional() : registryAccount.shape.password}
                {...(registered && { placeholder: t('registry.field.kept') })}
              />
            </>
          )}
        </>
      )}
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
