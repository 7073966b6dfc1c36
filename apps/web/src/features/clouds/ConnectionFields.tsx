import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Radio from 'antd/es/radio'
import Select from 'antd/es/select'
import { cloudConnection, connectionsOf, type CloudConnection, type CloudProduct } from '@zhisuan/contract/cmp/cloud'
import { useTranslation } from '../../i18n.ts'
import { Field, PasswordField, TextField } from '../../kit/fields.tsx'
import { PemInput } from './PemInput.tsx'
import './clouds.css'

const [socket, https, , password, credential] = cloudConnection.options
const name = (key: string) => ['connection', key]

/** How to reach an engine, named as in the body of the call. */
export function ConnectionFields({
  product,
  registered,
}: {
  readonly product: CloudProduct
  /** Whether there are secrets already, which are kept where none are typed. */
  readonly registered: boolean
}) {
  const { t } = useTranslation('clouds')
  const types = connectionsOf(product)
  const chosen: CloudConnection['type'] | undefined = Form.useWatch(['connection', 'type'])
  const type = chosen !== undefined && types.includes(chosen) ? chosen : (types[0] ?? 'lxd-socket')
  return (
    <>
      <Form.Item name={name('type')} label={t('form.type')} extra={t(`form.connectionNote.${type}`)} required>
        <Radio.Group optionType="button" options={types.map((value) => ({ value, label: t(`form.connectionType.${value}`) }))} />
      </Form.Item>
      {type === 'lxd-socket' && (
        <TextField name={name('socket_path')} label={t('form.socketPath')} extra={t('form.socketPathNote')} schema={socket.shape.socket_path} code />
      )}
      {type === 'lxd-https' && <LxdFields />}
      {(type === 'openstack-password' || type === 'openstack-credential') && <OpenStackFields type={type} registered={registered} />}
    </>
  )
}

function LxdFields() {
  const { t } = useTranslation('clouds')
  return (
    <>
      <TextField name={name('url')} label={t('form.url')} schema={https.shape.url} code placeholder="https://10.0.0.10:8443" />
      <Field
        name={name('client_certificate')}
        label={t('form.clientCertificate')}
        extra={t('form.clientCertificateNote')}
        schema={https.shape.client_certificate}
      >
        <PemInput kind="CERTIFICATE" />
      </Field>
      <Field name={name('client_key')} label={t('form.clientKey')} extra={t('form.clientKeyNote')} schema={https.shape.client_key}>
        <PemInput kind="PRIVATE KEY" />
      </Field>
      <Field
        name={name('server_certificate')}
        label={t('form.serverCertificate')}
        extra={t('form.serverCertificateNote')}
        schema={https.shape.server_certificate}
      >
        <PemInput kind="CERTIFICATE" />
      </Field>
      <TextField name={name('project')} label={t('form.project')} extra={t('form.projectNote')} schema={https.shape.project} code />
    </>
  )
}

function OpenStackFields({ type, registered }: { readonly type: 'openstack-password' | 'openstack-credential'; readonly registered: boolean }) {
  const { t } = useTranslation('clouds')
  const kept = registered ? { placeholder: t('form.secretKept') } : {}
  // Of a cloud that has a secret none need be typed.
  const secret = (schema: typeof password.shape.password) => (registered ? schema.optional() : schema)
  return (
    <>
      <Field name={name('auth_url')} label={t('form.authUrl')} extra={t('form.authUrlNote')} schema={password.shape.auth_url}>
        <Input className="zs-code" spellCheck={false} autoComplete="off" placeholder="https://keystone.example.com:5000/v3" />
      </Field>
      {type === 'openstack-password' ? (
        <div className="cl-pairs">
          <TextField name={name('username')} label={t('form.username')} extra={t('form.usernameNote')} schema={password.shape.username} code />
          <PasswordField name={name('password')} label={t('form.password')} schema={secret(password.shape.password)} {...kept} />
          <TextField name={name('project')} label={t('form.openstackProject')} extra={t('form.openstackProjectNote')} schema={password.shape.project} code />
          <TextField name={name('region')} label={t('form.region')} extra={t('form.regionNote')} schema={password.shape.region} code />
        </div>
      ) : (
        <>
          <Alert className="zs-above" type="info" showIcon title={t('form.credentialLimits')} description={t('form.credentialLimitsNote')} />
          <div className="cl-pairs">
            <TextField name={name('credential_id')} label={t('form.credentialId')} schema={credential.shape.credential_id} code />
            <PasswordField name={name('credential_secret')} label={t('form.credentialSecret')} schema={secret(credential.shape.credential_secret)} {...kept} />
            <TextField name={name('region')} label={t('form.region')} extra={t('form.regionNote')} schema={credential.shape.region} code />
          </div>
        </>
      )}
      {type === 'openstack-password' && (
        <div className="cl-pairs">
          <TextField name={name('user_domain')} label={t('form.userDomain')} schema={password.shape.user_domain.unwrap()} code />
          <TextField name={name('project_domain')} label={t('form.projectDomain')} schema={password.shape.project_domain.unwrap()} code />
        </div>
      )}
      <Form.Item name={name('interface')} label={t('form.interface')} extra={t('form.interfaceNote')}>
        <Select options={password.shape.interface.unwrap().options.map((value) => ({ value, label: t(`form.interfaces.${value}`) }))} />
      </Form.Item>
      <Field
        name={name('certificate_authority')}
        label={t('form.certificateAuthority')}
        extra={t('form.certificateAuthorityNote')}
        schema={password.shape.certificate_authority}
      >
        <PemInput kind="CERTIFICATE" />
      </Field>
    </>
  )
}
