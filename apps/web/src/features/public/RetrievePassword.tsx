import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { errors } from '@zhisuan/contract/errors'
import { auth, verification } from '@zhisuan/contract/ums/auth'
import { request } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { CodeInput } from '../../kit/CodeInput.tsx'
import Antd from '../../kit/Antd.tsx'
import { Field, TextField } from '../../kit/fields.tsx'
import { placeFailure } from './formFailure.ts'
import { NewPassword } from './NewPassword.tsx'
import { Notice } from './Notice.tsx'
import { useSendCode } from './useSendCode.ts'

interface Values {
  phone: string
  code: string
  password: string
  password_again: string
}

interface RetrievePasswordProps {
  readonly onBack: () => void
  readonly onDone: () => void
}

const body = auth.retrievePassword.body.shape
const places = { [errors.verificationCodeInvalid.code]: 'code', [errors.phoneUnknown.code]: 'phone', [errors.passwordUnchanged.code]: 'password' }

function RetrievePasswordForm({ onBack, onDone }: RetrievePasswordProps) {
  const { t } = useTranslation('public')
  const [form] = Form.useForm<Values>()
  const [failure, setFailure] = useState<string | null>(null)
  const send = useSendCode(form, (phone) => request(verification.authSms, { params: { phone } }), setFailure)
  const retrieve = useChange(auth.retrievePassword, { silent: true, onDone })
  const submit = ({ phone, code, password }: Values): void => {
    setFailure(null)
    retrieve.mutate({ body: { phone, code, password } }, { onError: (error) => setFailure(placeFailure(form, error, places)) })
  }
  return (
    <Form noValidate form={form} layout="vertical" size="large" requiredMark={false} validateTrigger="onBlur" onFinish={submit}>
      <p className="zs-soft">{t('retrieve.text')}</p>
      {failure !== null && <Notice tone="bad">{failure}</Notice>}
      <TextField name="phone" label={t('login.phone')} schema={body.phone} required={false} type="tel" autoComplete="tel-national" autoFocus />
      <Field name="code" label={t('login.code')} schema={body.code} required={false}>
        <CodeInput send={send} />
      </Field>
      <NewPassword />
      <Button type="primary" htmlType="submit" block loading={retrieve.isPending}>
        {t('retrieve.submit')}
      </Button>
      <Button type="link" block onClick={onBack}>
        {t('retrieve.back')}
      </Button>
    </Form>
  )
}

/** A new password by a code to the phone. */
export default function RetrievePassword(props: RetrievePasswordProps) {
  return (
    <Antd>
      <RetrievePasswordForm {...props} />
    </Antd>
  )
}
