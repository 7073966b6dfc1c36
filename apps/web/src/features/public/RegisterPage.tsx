import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Checkbox from 'antd/es/checkbox'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { errors } from '@zhisuan/contract/errors'
import { auth, verification } from '@zhisuan/contract/ums/auth'
import { useChange } from '../../api/hooks.ts'
import { CodeInput } from '../../kit/CodeInput.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { rulesOf } from '../../kit/rules.ts'
import { paths, withQuery } from '../../paths.ts'
import { AuthFrame } from './AuthFrame.tsx'
import { placeFailure } from './formFailure.ts'
import type { LoginState } from './LoginPage.tsx'
import { NewPassword } from './NewPassword.tsx'
import { Notice } from './Notice.tsx'
import { useSendCode } from './useSendCode.ts'
import { useSystemInfo } from './useSystemInfo.ts'

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

/** What may be done here depends on how the platform lets people in. */
export default function RegisterPage() {
  const { t } = useTranslation('public')
  const [search] = useSearchParams()
  const redirect = search.get('redirect') ?? undefined
  const { data: info, error, refetch } = useSystemInfo()
  const login = withQuery(paths.login(), { redirect })
  const toLogin = (
    <div className="zs-auth-more">
      <span>
        {t('register.hasAccount')}
        <Link to={login}>{t('register.login')}</Link>
      </span>
    </div>
  )
  return (
    <AuthFrame title={t('register.title')}>
      {error !== null && info === undefined && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {info?.register_mode === 'closed' && <Alert type="info" showIcon title={t('register.closed')} description={t('register.closedText')} />}
      {info !== undefined && info.register_mode !== 'closed' && !info.sms_available && (
        <Alert type="info" showIcon title={t('register.noSms')} description={t('register.closedText')} />
      )}
      {info !== undefined && info.register_mode !== 'closed' && info.sms_available && (
        <>
          {info.register_mode === 'approval' && <Alert type="info" showIcon title={t('register.approval')} className="zs-auth-alert" />}
          <RegisterForm login={login} />
        </>
      )}
      {toLogin}
    </AuthFrame>
  )
}

function RegisterForm({ login }: { readonly login: string }) {
  const { t } = useTranslation('public')
  const navigate = useNavigate()
  const [form] = Form.useForm<Values>()
  const [failure, setFailure] = useState<string | null>(null)
  const send = useSendCode(form, verification.registrationSms, setFailure)
  const register = useChange(auth.register, {
    silent: true,
    onDone: ({ status }, input) => {
      const state: LoginState = { message: t(status === 'pending' ? 'register.pending' : 'register.done'), username: input.body.username }
      void navigate(login, { state })
    },
  })
  const submit = ({ username, phone, code, password, organisation }: Values): void => {
    setFailure(null)
    register.mutate(
      { body: { username, phone, code, password, ...(organisation !== undefined && organisation.trim() !== '' && { organisation }) } },
      { onError: (error) => setFailure(placeFailure(form, error, places)) },
    )
  }
  return (
    <Form form={form} layout="vertical" size="large" requiredMark={false} validateTrigger="onBlur" onFinish={submit} scrollToFirstError={{ block: 'center', focus: true }}>
      {failure !== null && <Notice tone="bad">{failure}</Notice>}
      <Form.Item name="username" label={t('register.username')} rules={rulesOf(body.username)}>
        <Input autoComplete="username" autoCapitalize="none" spellCheck={false} maxLength={64} autoFocus />
      </Form.Item>
      <Form.Item name="phone" label={t('login.phone')} rules={rulesOf(body.phone)}>
        <Input type="tel" autoComplete="tel-national" maxLength={11} />
      </Form.Item>
      <Form.Item name="code" label={t('login.code')} rules={rulesOf(body.code)}>
        <CodeInput send={send} />
      </Form.Item>
      <NewPassword />
      <Form.Item name="organisation" label={t('register.organisation')} rules={rulesOf(body.organisation)} extra={t('register.organisationNote')}>
        <Input autoComplete="organization" maxLength={64} />
      </Form.Item>
      <Form.Item
        name="agreed"
        valuePropName="checked"
        validateTrigger="onChange"
        rules={[{ validator: async (_rule, agreed: unknown) => (agreed === true ? undefined : Promise.reject(new Error(t('register.agreeFirst')))) }]}
      >
        <Checkbox>
          {t('register.agree')}
          <Link to={paths.termsOfService()} target="_blank" rel="noreferrer">
            {t('register.terms')}
          </Link>
        </Checkbox>
      </Form.Item>
      <Button type="primary" htmlType="submit" block loading={register.isPending}>
        {t('register.submit')}
      </Button>
    </Form>
  )
}
