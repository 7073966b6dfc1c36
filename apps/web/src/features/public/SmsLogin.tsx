import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { errors } from '@zhisuan/contract/errors'
import { auth, verification } from '@zhisuan/contract/ums/auth'
import { otp } from '@zhisuan/contract/ums/second-factor'
import { request } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { CodeInput } from '../../kit/CodeInput.tsx'
import Antd from '../../kit/Antd.tsx'
import { Field, TextField } from '../../kit/fields.tsx'
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
    <Form noValidate form={form} layout="vertical" size="large" requiredMark={false} validateTrigger="onSubmit" onFinish={submit}>
      {failure !== null && <Notice tone="bad">{failure}</Notice>}
      <TextField name="phone" label={t('login.phone')} schema={body.phone} required={false} type="tel" autoComplete="tel-national" />
      <Field name="code" label={t('login.code')} schema={body.code} required={false}>
        <CodeInput send={send} />
      </Field>
      {second && <TextField name="otp" label={t('login.otp')} schema={otp} required={false} autoComplete="one-time-code" autoFocus />}
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
