import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { auth } from '@zhisuan/contract/ums/auth'
import { useChange } from '../../api/hooks.ts'
import { rulesOf } from '../../kit/rules.ts'
import { beginSession } from '../../session/session.ts'
import { placeFailure } from './formFailure.ts'

interface Values {
  username: string
  password: string
}

const body = auth.password.body.shape

/** The guard leads on once there is a token. */
export function PasswordLogin({ username, onUsername }: { readonly username: string; readonly onUsername: (username: string) => void }) {
  const { t } = useTranslation('public')
  const [form] = Form.useForm<Values>()
  const [failure, setFailure] = useState<string | null>(null)
  const login = useChange(auth.password, { silent: true, onDone: beginSession })
  const submit = (values: Values): void => {
    setFailure(null)
    login.mutate(
      { body: { username: values.username.trim(), password: values.password } },
      {
        onError: (error) => {
          setFailure(placeFailure(form, error))
          form.focusField('password')
        },
      },
    )
  }
  return (
    <Form form={form} layout="vertical" size="large" requiredMark={false} initialValues={{ username }} validateTrigger="onSubmit" onFinish={submit}>
      {failure !== null && <Alert type="error" showIcon title={failure} className="zs-auth-alert" role="alert" />}
      <Form.Item name="username" label={t('login.username')} rules={rulesOf(body.username)}>
        <Input autoComplete="username" autoCapitalize="none" spellCheck={false} autoFocus onChange={(event) => onUsername(event.target.value)} />
      </Form.Item>
      <Form.Item name="password" label={t('login.password')} rules={rulesOf(body.password)}>
        <Input.Password autoComplete="current-password" />
      </Form.Item>
      <Button type="primary" htmlType="submit" block loading={login.isPending}>
        {t('login.submit')}
      </Button>
    </Form>
  )
}
