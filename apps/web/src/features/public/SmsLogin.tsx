import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { errors } from '@zhisuan/contract/errors'
import { auth, verification } from '@zhisuan/contract/ums/auth'
import { otp } from '@zhisuan/contract/ums/second-factor'
import { request } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { CodeInput } from '../../kit/CodeInput.tsx'
import { rulesOf } from '../../kit/rules.ts'
import Antd from '../../kit/Antd.tsx'
import { beginSession } from '../../session/session.ts'
import { placeFailure } from './formFailure.ts'
import { Notice } from './Notice.tsx'
import { useSendCode } from './useSendCode.ts'

interface Values {
  phone: string
  code: string
  otp?: string
}

const body = auth.sms.body.shape
const places = { [errors.verificationCodeInvalid.code]: 'code', [errors.secondFactorMismatch.code]: 'otp' }

function SmsLoginForm() {
  const { t } = useTranslation('public')
  const [form] = Form.useForm<Values>()
  const [failure, setFailure] = useState<string | null>(null)
  /** Whether the server asked for a second factor. */
  const [second, setSecond] = useState(false)
  const send = useSendCode(form, (phone) => request(verification.authSms, { params: { phone } }), setFailure)
  const login = useChange(auth.sms, { silent: true, onDone: beginSession })
  const submit = (values: Values): void => {
    setFailure(null)
    login.mutate(
      { body: values },
      {
        onError: (error) => {
          if (error.code === errors.secondFactorRequired.code) setSecond(true)
          else setFailure(placeFailure(form, error, places))
        },
      },
    )
  }
  return (
    <Form form={form} layout="vertical" size="large" requiredMark={false} validateTrigger="onSubmit" onFinish={submit}>
      {failure !== null && <Notice tone="bad">{failure}</Notice>}
      <Form.Item name="phone" label={t('login.phone')} rules={rulesOf(body.phone)}>
        <Input type="tel" autoComplete="tel-national" maxLength={11} />
      </Form.Item>
      <Form.Item name="code" label={t('login.code')} rules={rulesOf(body.code)}>
        <CodeInput send={send} />
      </Form.Item>
      {second && (
        <Form.Item name="otp" label={t('login.otp')} rules={rulesOf(otp)}>
          <Input autoComplete="one-time-code" maxLength={16} autoFocus />
        </Form.Item>
      )}
      <Button type="primary" htmlType="submit" block loading={login.isPending}>
        {t('login.submit')}
      </Button>
    </Form>
  )
}

export default function SmsLogin() {
  return (
    <Antd>
      <SmsLoginForm />
    </Antd>
  )
}
