import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Radio from 'antd/es/radio'
import Select from 'antd/es/select'
import Typography from 'antd/es/typography'
import { identityProviders, linkings, type IdentityProvider, type IdentityProviderInput } from '@zhisuan/contract/ums/identityProvider'
import { auth } from '@zhisuan/contract/ums/auth'
import { useTranslation } from '../../i18n.ts'
import { toApiError } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { col } from '../../kit/columns.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { CheckField, Field, PasswordField, RadioField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { OrganisationSelect } from '../../kit/OrganisationSelect.tsx'
import { useKeeping } from '../../session/keeping.ts'
import { useCurrentUser } from '../../session/user.ts'
import './settings.css'

const { shape } = identityProviders.create.body
const touched = [identityProviders.list, auth.ways] as const

/** Where people sign in besides: providers of OpenID Connect. The platform’s, and those that organisations set up for themselves. */
export function IdentityProviders() {
  const { t } = useTranslation('settings')
  const { everybody } = useKeeping()
  const remove = useChange(identityProviders.delete, { invalidates: touched })
  return (
    <ResourceTable
      call={identityProviders.list}
      name="providers"
      create={{ call: identityProviders.create, label: t('provider.add'), dialog: (close) => <ProviderDialog provider={null} onClose={close} /> }}
      empty={{ title: t('provider.empty'), note: t(everybody ? 'provider.emptyNote' : 'provider.emptyNoteOwn') }}
      nameOf={({ name }) => name}
      columns={[
        col.text<IdentityProvider>('name', t('provider.name'), ({ name }) => name, { width: everybody ? 200 : 150 }),
        col.code<IdentityProvider>('issuer', t('provider.issuer'), ({ issuer }) => issuer, { width: everybody ? 320 : 220 }),
        col.text<IdentityProvider>('enabled', t('provider.state'), ({ enabled }) => t(enabled ? 'provider.on' : 'provider.off'), { width: 80 }),
        col.number<IdentityProvider>('people', t('provider.people'), ({ people }) => people, { width: 110 }),
        ...(everybody
          ? [
              col.text<IdentityProvider>(
                'by',
                t('provider.by'),
                ({ by_organisation }) => t(by_organisation ? 'provider.byOrganisation' : 'provider.byPlatform'),
                {
                  width: 100,
                },
              ),
              col.text<IdentityProvider>('organisation', t('provider.organisation'), ({ bp_name }) => bp_name, { width: 180 }),
            ]
          : [
              col.custom<IdentityProvider>('address', t('provider.address'), ({ sign_in_address }) => sign_in_address && <CopyCode text={sign_in_address} />, {
                width: 270,
              }),
            ]),
        col.date<IdentityProvider>('updated', t('column.updated'), ({ updated_at }) => updated_at),
      ]}
      rowActions={(provider) => [
        {
          key: 'edit',
          label: t('edit'),
          call: identityProviders.update,
          dialog: (close) => <ProviderDialog provider={provider} onClose={close} />,
        },
        {
          key: 'delete',
          label: t('remove'),
          call: identityProviders.delete,
          danger: true,
          confirm: { title: t('provider.removeTitle', { name: provider.name }), body: t('provider.removeBody', { count: provider.people }) },
          doneText: t('provider.removed', { name: provider.name }),
          run: () => remove.mutateAsync({ params: { id: provider.id } }),
        },
      ]}
    />
  )
}

type Values = Omit<IdentityProviderInput, 'bp_id'> & { bp_id?: string | null }

function ProviderDialog({ provider, onClose }: Dialog<{ provider: IdentityProvider | null }>) {
  const { t } = useTranslation('settings')
  const { everybody } = useKeeping()
  /** Fewer settings: it could be everybody whom it may name. */
  const own = provider?.by_organisation ?? !everybody
  const user = useCurrentUser()
  const [form] = Form.useForm<Values>()
  const create = useChange(identityProviders.create, { silent: true, invalidates: touched })
  const update = useChange(identityProviders.update, { silent: true, invalidates: touched })
  const submit = async ({ bp_id, client_secret, ...values }: Values): Promise<void> => {
    const body = {
      ...values,
      bp_id: own ? ((provider ?? user)?.bp_id ?? null) : (bp_id ?? null),
      ...(client_secret !== undefined && client_secret !== '' && { client_secret }),
    }
    await (provider === null ? create.mutateAsync({ body }) : update.mutateAsync({ params: { id: provider.id }, body }))
  }
  const creates = Form.useWatch('creates_people', form)
  return (
    <FormDialog<Values>
      form={form}
      width={640}
      title={provider === null ? t('provider.add') : t('provider.editTitle', { name: provider.name })}
      okText={t('save')}
      doneText={t('provider.saved')}
      onClose={onClose}
      onSubmit={submit}
      initialValues={
        provider ?? {
          enabled: true,
          scopes: ['openid', 'profile', 'email'],
          claims: { username: 'preferred_username', email: 'email', phone: 'phone_number', display_name: 'name' },
          linking: 'owner',
          creates_people: false,
          role: 'TENANT',
          email_domains: [],
          mfa_values: [],
          ends_session: false,
        }
      }
    >
      {provider !== null && <Registered provider={provider} />}
      <TextField name="name" label={t('provider.name')} extra={t(own ? 'provider.nameNoteOwn' : 'provider.nameNote')} schema={shape.name} />
      <Field name="issuer" label={t('provider.issuer')} extra={t(own ? 'provider.issuerNoteOwn' : 'provider.issuerNote')} schema={shape.issuer}>
        <Input autoComplete="off" inputMode="url" placeholder="https://login.example.com/realms/main" />
      </Field>
      <TextField name="client_id" label={t('provider.clientId')} schema={shape.client_id} />
      <PasswordField
        name="client_secret"
        label={t('provider.secret')}
        extra={provider?.has_secret === true ? t('provider.secretKept') : undefined}
        schema={shape.client_secret}
      />
      <ConnectionCheck form={form} id={provider?.id} />
      <SelectField name="scopes" label={t('provider.scopes')} schema={shape.scopes} mode="tags" open={false} suffixIcon={null} />
      <Field name="linking" label={t('provider.linking')} schema={shape.linking}>
        <Radio.Group
          className="settings-choices"
          options={linkings.filter((value) => !own || value !== 'email').map((value) => ({ value, label: t(`provider.linkings.${value}`) }))}
        />
      </Field>
      <CheckField name="creates_people" text={t('provider.creates')} />
      {!own && (
        <Form.Item name="bp_id" label={t('provider.organisation')} extra={t('provider.organisationNote')} required={creates === true}>
          <OrganisationSelect
            label={t('provider.organisation')}
            known={provider !== null && provider.bp_id !== null ? { id: provider.bp_id, name: provider.bp_name ?? provider.bp_id } : undefined}
          />
        </Form.Item>
      )}
      <RadioField
        name="role"
        label={t('provider.role')}
        options={[
          { value: 'TENANT', label: t('provider.roleTenant') },
          { value: null, label: t('provider.roleNone') },
        ]}
      />
      <Field name="email_domains" label={t('provider.domains')} extra={t('provider.domainsNote')} schema={shape.email_domains}>
        <Select mode="tags" open={false} suffixIcon={null} placeholder="example.com" />
      </Field>
      {!own && (
        <Field name="mfa_values" label={t('provider.mfa')} extra={t('provider.mfaNote')} schema={shape.mfa_values}>
          <Select mode="tags" open={false} suffixIcon={null} placeholder="mfa" />
        </Field>
      )}
      {(['username', 'display_name', 'email', 'phone'] as const).map((claim) => (
        <TextField key={claim} name={['claims', claim]} label={t(`provider.claims.${claim}`)} />
      ))}
      <CheckField name="ends_session" text={t('provider.endsSession')} />
      <CheckField name="enabled" text={t(own ? 'provider.enableOwn' : 'provider.enable')} />
    </FormDialog>
  )
}

/** What the provider has to be told of us. */
function Registered({ provider: { sign_in_address, redirect_uri, post_logout_redirect_uri } }: { readonly provider: IdentityProvider }) {
  const { t } = useTranslation('settings')
  if (redirect_uri === null || post_logout_redirect_uri === null) return <Alert type="warning" showIcon className="zs-above" title={t('provider.noAddress')} />
  return (
    <Alert
      type="info"
      className="zs-above"
      title={t('provider.register')}
      description={
        <>
          <div>{t('provider.redirectUri')}</div>
          <Typography.Text copyable className="zs-code">
            {redirect_uri}
          </Typography.Text>
          <div>{t('provider.logoutUri')}</div>
          <Typography.Text copyable className="zs-code">
            {post_logout_redirect_uri}
          </Typography.Text>
          {sign_in_address !== null && (
            <>
              <div>{t('provider.addressNote')}</div>
              <Typography.Text copyable className="zs-code">
                {sign_in_address}
              </Typography.Text>
            </>
          )}
        </>
      }
    />
  )
}

/** Whether one could sign in with what is typed now. */
function ConnectionCheck({ form, id }: { readonly form: ReturnType<typeof Form.useForm<Values>>[0]; readonly id: string | undefined }) {
  const { t } = useTranslation('settings')
  const test = useChange(identityProviders.test, { silent: true })
  const run = async (): Promise<void> => {
    const { issuer, client_id, client_secret } = await form.validateFields(['issuer', 'client_id', 'client_secret'])
    test.mutate({ body: { issuer, client_id, ...(id !== undefined && { id }), ...(client_secret !== undefined && client_secret !== '' && { client_secret }) } })
  }
  const found = test.data
  return (
    <Form.Item>
      <Button loading={test.isPending} onClick={() => void run().catch(() => undefined)}>
        {t('provider.test')}
      </Button>
      {test.error !== null && !test.isPending && <Alert type="error" showIcon className="settings-provider-result" title={errorText(toApiError(test.error))} />}
      {found !== undefined && !test.isPending && (
        <Alert
          type={found.problem === null ? 'success' : 'error'}
          showIcon
          className="settings-provider-result"
          title={t(found.problem === null ? 'provider.fine' : `provider.problems.${found.problem}`)}
          description={found.detail}
        />
      )}
    </Form.Item>
  )
}
