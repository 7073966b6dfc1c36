import { componentPorts, integrations, monitorComponents, monitorConnection, type MonitorComponent } from '@zhisuan/contract/omc/monitor'
import Form from 'antd/es/form'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { useTranslation } from '../../i18n.ts'
import { useDialog } from '../../kit/dialogs.tsx'
import { PasswordField, RadioField, TextAreaField, TextField } from '../../kit/fields.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { Gone } from '../../kit/Gone.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { paths } from '../../paths.ts'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { invalidatedByIntegration, templateNames, templates } from './monitorRules.ts'
import { NodeField } from './NodeField.tsx'
import ScrapeConfigDialog from './ScrapeConfigDialog.tsx'
import { SettingsFields } from './SettingsFields.tsx'

interface Values {
  name: string
  description: string
  way: 'kept' | 'registered'
  access: 'none' | 'account' | 'token'
  place?: { node_id?: string; port: number }
  connection?: { url: string; certificate_authority?: string; account?: { username: string; password: string }; token?: string }
  settings?: { scrape_interval_seconds: number; retention_days: number; retention_gb: number | null }
}
const { shape } = integrations.create.body
const account = monitorConnection.shape.account.unwrap().shape

/** Installs a component on a node, or registers a Prometheus that exists; with a template its settings are filled in. */
export default function IntegrationAdd() {
  const { t } = useTranslation('operations')
  const { id = '', name: templateName = '' } = useParams()
  const component = monitorComponents.find((one) => one === id)
  usePageTitle(component === undefined ? null : t('component.installTitle', { name: t(`component.names.${component}`) }))
  if (component === undefined) return <Gone title={t('component.unknown')} back={t('component.backToCenter')} to={paths.operations.component.center()} />
  return <AddForm component={component} templateName={templateName} />
}

function AddForm({ component, templateName }: { readonly component: MonitorComponent; readonly templateName: string }) {
  const { t } = useTranslation('operations')
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const open = useDialog()
  const [form] = Form.useForm<Values>()
  const create = useChange(integrations.create, { invalidates: invalidatedByIntegration, silent: true })
  const first: Values['way'] = component === 'prometheus' && search.get('way') === 'registered' ? 'registered' : 'kept'
  const way = Form.useWatch('way', form) ?? first
  const access = Form.useWatch('access', form) ?? 'none'
  const template = templateNames.find((one) => one === templateName)

  const submit = async ({ name, description, place, connection, settings }: Values): Promise<void> => {
    const about = { name, description, component }
    const { certificate_authority: authority = '', account: given, token = '', url = '' } = connection ?? {}
    const made = await create.mutateAsync({
      body:
        way === 'kept'
          ? {
              ...about,
              place: { node_id: place?.node_id ?? '', ...(place !== undefined && { port: place.port }) },
              ...(settings !== undefined && { settings: { ...settings, retention_gb: settings.retention_gb ?? null } }),
            }
          : {
              ...about,
              connection: {
                url,
                ...(authority !== '' && { certificate_authority: authority }),
                ...(access === 'account' && given !== undefined && { account: given }),
                ...(access === 'token' && { token }),
              },
            },
    })
    notify('success', t(way === 'kept' ? 'component.installing' : 'component.registered', { name }))
    const scrape = 'scrape_config' in made ? made.scrape_config : null
    if (scrape !== null) open((close) => <ScrapeConfigDialog name={name} text={scrape} onClose={close} />)
    void navigate(paths.operations.component.installation(made.id))
  }

  return (
    <FormPage<Values>
      form={form}
      initialValues={{
        name: component === 'prometheus' ? 'prometheus' : '',
        description: '',
        way: first,
        access: 'none',
        place: { port: componentPorts[component] },
        settings: template === undefined ? { ...templates.standard } : { ...templates[template] },
      }}
      submitText={t(way === 'kept' ? 'component.installOne' : 'component.register')}
      onCancel={() => void navigate(paths.operations.component.center())}
      onSubmit={submit}
    >
      <NameField schema={shape.name} />
      {component === 'prometheus' && (
        <RadioField
          name="way"
          label={t('component.way')}
          extra={t(`component.wayNote.${way}`)}
          optionType="button"
          values={['kept', 'registered'] as const}
          labelOf={(one) => t(`component.ways.${one}`)}
        />
      )}
      {way === 'kept' && (
        <>
          <NodeField own={component === 'prometheus'} />
          <NumberField name={['place', 'port']} label={t('component.port')} extra={t('component.portNote')} schema={shape.place.unwrap().shape.port} required />
          {component === 'prometheus' && <SettingsFields />}
        </>
      )}
      {way === 'registered' && (
        <>
          <TextField
            name={['connection', 'url']}
            label={t('component.url')}
            extra={t('component.urlNote')}
            schema={monitorConnection.shape.url}
            code
            placeholder="http://prometheus.example.com:9090"
          />
          <RadioField
            name="access"
            label={t('component.access')}
            optionType="button"
            values={['none', 'account', 'token'] as const}
            labelOf={(one) => t(`component.accesses.${one}`)}
          />
          {access === 'account' && (
            <>
              <TextField name={['connection', 'account', 'username']} label={t('component.username')} schema={account.username} code />
              <PasswordField name={['connection', 'account', 'password']} label={t('component.password')} schema={account.password} />
            </>
          )}
          {access === 'token' && <PasswordField name={['connection', 'token']} label={t('component.token')} schema={monitorConnection.shape.token.unwrap()} />}
          <TextAreaField
            name={['connection', 'certificate_authority']}
            label={t('component.authority')}
            extra={t('component.authorityNote')}
            schema={monitorConnection.shape.certificate_authority}
            rows={3}
            code
            placeholder="-----BEGIN CERTIFICATE-----"
          />
        </>
      )}
      <DescriptionField schema={shape.description} />
    </FormPage>
  )
}
