import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Checkbox from 'antd/es/checkbox'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { errors } from '@zhisuan/contract/errors'
import { auth, verification } from '@zhisuan/contract/ums/auth'
import { invitations } from '@zhisuan/contract/ums/invitation'
import { request, type ApiError } from '../../api/client.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { CodeInput } from '../../kit/CodeInput.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { Field, TextField } from '../../kit/fields.tsx'
import * as format from '../../kit/format.ts'
import { paths, withQuery } from '../../paths.ts'
import { AuthFrame } from './AuthFrame.tsx'
import { placeFailure } from './formFailure.ts'
import type { LoginState } from './LoginPage.tsx'
import { NewPassword } from './NewPassword.tsx'
import { Notice } from './Notice.tsx'
import { useSendCode } from './useSendCode.ts'
import { useSystemInfo } from '../../session/useSystemInfo.ts'
import './public.css'

interface Values {
  username: string
  phone: string
  code: string
  password: string
  password_again: string
  organisation?: string
  agreed: boolean
}

const body = auth.register.body.shape
const places = {
  [errors.usernameTaken.code]: 'username',
  [errors.usernameInvalid.code]: 'username',
  [errors.phoneTaken.code]: 'phone',
  [errors.verificationCodeInvalid.code]: 'code',
  [errors.organisationNameTaken.code]: 'organisation',
}

/** Registering, or accepting an invitation that the address brings along. */
export default function RegisterPage() {
  const { t } = useTranslation('public')
  const [search] = useSearchParams()
  const redirect = search.get('redirect') ?? undefined
  const invitation = search.get('invitation')
  const login = withQuery(paths.login(), { redirect })
  return (
    <AuthFrame title={t(invitation === null ? 'register.title' : 'invited.title')}>
      {invitation === null ? <Registering login={login} /> : <Invited token={invitation} login={login} />}
      <div className="public-auth-more">
        <span>
          {t('register.hasAccount')}
          <Link to={login}>{t('register.login')}</Link>
        </span>
      </div>
    </AuthFrame>
  )
}

/** What may be done here depends on how the platform lets people in. */
function Registering({ login }: { readonly login: string }) {
  const { t } = useTranslation('public')
  const { data: info, error, refetch } = useSystemInfo()
  return (
    <>
      {error !== null && info === undefined && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {info?.register_mode === 'closed' && <Alert type="info" showIcon title={t('register.closed')} description={t('register.closedText')} />}
      {info !== undefined && info.register_mode !== 'closed' && !info.sms_available && (
        <Alert type="info" showIcon title={t('register.noSms')} description={t('register.closedText')} />
      )}
      {info !== undefined && info.register_mode !== 'closed' && info.sms_available && (
        <>
          {info.register_mode === 'approval' && <Alert type="info" showIcon title={t('register.approval')} className="zs-above" />}
          <RegisterForm login={login} />
        </>
      )}
    </>
  )
}

/** Whoever has the link is let in, however the platform lets in others. */
function Invited({ token, login }: { readonly token: string; readonly login: string }) {
  const { t } = useTranslation(['public', 'kit'])
  const invitation = useCall(invitations.look, { params: { token } }, { silent: true })
  const info = useSystemInfo()
  // 400: spent, taken back, too old, or no invitation at all.
  if (invitation.error?.status === 400)
    return <Alert type="error" showIcon title={t('invited.invalid')} description={t('invited.invalidText')} className="zs-above" />
  const failed = invitation.error ?? info.error
  if (invitation.data === undefined || info.data === undefined) {
    return failed === null ? null : <ErrorPanel error={failed} onRetry={() => void Promise.all([invitation.refetch(), info.refetch()])} />
  }
  const { bp_name, role, roles, invited_by, expires_at } = invitation.data
  return (
    <>
      <Alert
        type="info"
        showIcon
        className="zs-above"
        title={t('invited.to', { organisation: bp_name })}
        description={t('invited.by', {
          who: invited_by,
          role: roles.length === 0 ? t(`kit:roleNames.${role}`) : roles.join('、'),
          at: format.dateTime(expires_at),
        })}
      />
      {info.data.sms_available ? (
        <RegisterForm login={login} invitation={token} />
      ) : (
        <Alert type="info" showIcon title={t('invited.noSms')} description={t('register.closedText')} />
      )}
    </>
  )
}

/** @param invitation its token: then what organisation it is stands in it */
function RegisterForm({ login, invitation }: { readonly login: string; readonly invitation?: string }) {
  const { t } = useTranslation('public')
  const navigate = useNavigate()
  const [form] = Form.useForm<Values>()
  const [failure, setFailure] = useState<string | null>(null)
  const send = useSendCode(
    form,
    (phone) =>
      invitation === undefined
        ? request(verification.registrationSms, { params: { phone } })
        : request(invitations.code, { params: { token: invitation, phone } }),
    setFailure,
  )
  const toLogin = (username: string, message: string): void => {
    const state: LoginState = { message, username }
    void navigate(login, { state })
  }
  const register = useChange(auth.register, {
    silent: true,
    onDone: ({ status }, input) => toLogin(input.body.username, t(status === 'pending' ? 'register.pending' : 'register.done')),
  })
  const accept = useChange(invitations.accept, { silent: true, onDone: (_made, input) => toLogin(input.body.username, t('register.done')) })
  const submit = ({ username, phone, code, password, organisation }: Values): void => {
    setFailure(null)
    const outcome = { onError: (error: ApiError) => setFailure(placeFailure(form, error, places)) }
    const body = { username, phone, code, password }
    if (invitation !== undefined) accept.mutate({ params: { token: invitation }, body }, outcome)
    else register.mutate({ body: { ...body, ...(organisation !== undefined && organisation.trim() !== '' && { organisation }) } }, outcome)
  }
  return (
    <Form
      noValidate
      form={form}
      layout="vertical"
      size="large"
      requiredMark={false}
      validateTrigger="onBlur"
      onFinish={submit}
      scrollToFirstError={{ block: 'center', focus: true }}
    >
      {failure !== null && <Notice tone="bad">{failure}</Notice>}
      <Field name="username" label={t('register.username')} schema={body.username} required={false}>
        <Input autoComplete="username" autoCapitalize="none" spellCheck={false} autoFocus />
      </Field>
      <TextField name="phone" label={t('login.phone')} schema={body.phone} required={false} type="tel" autoComplete="tel-national" />
      <Field name="code" label={t('login.code')} schema={body.code} required={false}>
        <CodeInput send={send} />
      </Field>
      <NewPassword first />
      {invitation === undefined && (
        <Field name="organisation" label={t('register.organisation')} schema={body.organisation} extra={t('register.organisationNote')}>
          <Input autoComplete="organization" />
        </Field>
      )}
      <Form.Item
        name="agreed"
        valuePropName="checked"
        validateTrigger="onChange"
        rules={[{ validator: async (_rule, agreed: unknown) => (agreed === true ? undefined : Promise.reject(new Error(t('register.agreeFirst')))) }]}
      >
        <Checkbox>
          {t('register.agree')}
          <Link to={paths.termsOfService()} target="_blank" rel="noreferrer" className="zs-text-link">
            {t('register.terms')}
          </Link>
        </Checkbox>
      </Form.Item>
      <Button type="primary" htmlType="submit" block loading={register.isPending || accept.isPending}>
        {t('register.submit')}
      </Button>
    </Form>
  )
}
