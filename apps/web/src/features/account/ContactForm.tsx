import Button from 'antd/es/button'
import Form from 'antd/es/form'
import type { ReactNode } from 'react'
import { useTranslation } from '../../i18n.ts'
import { verification } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { CodeInput } from '../../kit/CodeInput.tsx'
import { Field, TextField } from '../../kit/fields.tsx'
import { showRefusal } from '../../kit/refusals.ts'
import { AccountForm } from './AccountForm.tsx'
import { CurrentPassword } from '../../kit/CurrentPassword.tsx'
import './account.css'

interface FormProps {
  /** What is set now, or null. */
  readonly current: string | null
  /** What the person is called at sign-in, for password managers. */
  readonly name: string
  readonly onDirty: (dirty: boolean) => void
}

interface Values {
  readonly phone: string
  readonly email: string
  readonly code: string
  readonly password: string
}

/** The server checks the password as `old_password`; here it is the one password there is. */
const serverNames = { old_password: 'password' }
const someTyped = (values: object): boolean => Object.values(values).some((value) => value !== undefined && value !== '')

/** Another phone, proved by a code sent to it and the current password. */
export function PhoneForm(props: FormProps) {
  const { t } = useTranslation('account')
  const change = useChange(users.changePhone, { invalidates: [users.current], silent: true })
  const sendCode = useChange(verification.patchSms, { silent: true })
  return (
    <ContactForm
      {...props}
      of="phone"
      pending={change.isPending}
      onSend={({ phone }) => sendCode.mutateAsync({ params: { phone } })}
      onSubmit={({ phone, code, password }) => change.mutateAsync({ body: { phone, code, password } })}
    >
      <TextField
        name="phone"
        label={t('newPhone')}
        schema={users.changePhone.body.shape.phone}
        validateTrigger="onBlur"
        type="tel"
        autoComplete="tel-national"
      />
    </ContactForm>
  )
}

/** Another mailbox, proved in the same way. */
export function EmailForm(props: FormProps) {
  const { t } = useTranslation('account')
  const change = useChange(users.changeEmail, { invalidates: [users.current], silent: true })
  const sendCode = useChange(verification.patchEmail, { silent: true })
  return (
    <ContactForm
      {...props}
      of="email"
      pending={change.isPending}
      onSend={({ email }) => sendCode.mutateAsync({ params: { email } })}
      onSubmit={({ email, code, password }) => change.mutateAsync({ body: { email, code, password } })}
    >
      <TextField name="email" label={t('newEmail')} schema={users.changeEmail.body.shape.email} validateTrigger="onBlur" type="email" autoComplete="email" />
    </ContactForm>
  )
}

const words = {
  phone: { form: 'accountPhone', current: 'currentPhone', bind: 'bindPhone', change: 'changePhone', done: 'phoneChanged' },
  email: { form: 'accountEmail', current: 'currentEmail', bind: 'bindEmail', change: 'changeEmail', done: 'emailChanged' },
} as const

interface ContactFormProps extends FormProps {
  readonly of: keyof typeof words
  readonly pending: boolean
  readonly onSend: (typed: Values) => Promise<{ readonly retry_after_seconds: number }>
  readonly onSubmit: (values: Values) => Promise<unknown>
  readonly children: ReactNode
}
function ContactForm({ of, current, name, pending, onDirty, onSend, onSubmit, children }: ContactFormProps) {
  const { t } = useTranslation('account')
  const [form] = Form.useForm<Values>()
  const send = async (): Promise<number | null> => {
    try {
      // Refuses with the field's own error where it is none.
      const typed = await form.validateFields([of])
      const { retry_after_seconds } = await onSend(typed)
      notify('success', t('codeSentTo', { address: typed[of] }))
      return retry_after_seconds
    } catch (error) {
      if (!isValidation(error)) showRefusal(form, error)
      return null
    }
  }
  const submit = async (values: Values): Promise<void> => {
    try {
      await onSubmit(values)
      form.resetFields()
      onDirty(false)
      notify('success', t(words[of].done))
    } catch (error) {
      showRefusal(form, error, serverNames)
    }
  }
  return (
    <AccountForm<Values> form={form} name={words[of].form} onValuesChange={(_, values) => onDirty(someTyped(values))} onFinish={submit}>
      <p className="account-current">
        {t(words[of].current)}：<strong>{current ?? t('notSet')}</strong>
      </p>
      {children}
      <Field name="code" label={t('code')} extra={t('codeHint')} schema={users.changePhone.body.shape.code} validateTrigger="onSubmit">
        <CodeInput send={send} />
      </Field>
      <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />
      <CurrentPassword focus={false} />
      <Button type="primary" htmlType="submit" loading={pending}>
        {t(current === null ? words[of].bind : words[of].change)}
      </Button>
    </AccountForm>
  )
}

/** What antd's validateFields rejects with: the field says it already. */
const isValidation = (error: unknown): boolean => typeof error === 'object' && error !== null && 'errorFields' in error
