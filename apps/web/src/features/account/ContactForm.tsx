import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { useTranslation } from 'react-i18next'
import { verification } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { CodeInput } from '../../kit/CodeInput.tsx'
import { Field, PasswordField, TextField } from '../../kit/fields.tsx'
import { showRefusal } from '../../kit/refusals.ts'
import './account.css'

interface FormProps {
  /** What is set now, or null. */
  readonly current: string | null
  /** What the person is called at sign-in, for password managers. */
  readonly name: string
  readonly onDirty: (dirty: boolean) => void
}

interface PhoneValues {
  readonly phone: string
  readonly code: string
  readonly password: string
}

/** The server checks the password as `old_password`; here it is the one password there is. */
const serverNames = { old_password: 'password' }
const someTyped = (values: object): boolean => Object.values(values).some((value) => value !== undefined && value !== '')

/** Another phone, proved by a code sent to it and the current password. */
export function PhoneForm({ current, name, onDirty }: FormProps) {
  const { t } = useTranslation('account')
  const [form] = Form.useForm<PhoneValues>()
  const change = useChange(users.changePhone, { invalidates: [users.current], silent: true })
  const sendCode = useChange(verification.patchSms, { silent: true })
  const { shape } = users.changePhone.body

  const send = async (): Promise<number | null> => {
    try {
      // Refuses with the field's own error where the number is none.
      const { phone } = await form.validateFields(['phone'])
      const { retry_after_seconds } = await sendCode.mutateAsync({ params: { phone } })
      notify('success', t('codeSentTo', { address: phone }))
      return retry_after_seconds
    } catch (error) {
      if (!isValidation(error)) showRefusal(form, error)
      return null
    }
  }
  const submit = async (values: PhoneValues): Promise<void> => {
    try {
      await change.mutateAsync({ body: values })
      form.resetFields()
      onDirty(false)
      notify('success', t('phoneChanged'))
    } catch (error) {
      showRefusal(form, error, serverNames)
    }
  }

  return (
    <Form<PhoneValues>
      form={form}
      name="accountPhone"
      layout="vertical"
      className="account-form"
      requiredMark={false}
      onValuesChange={(_, values) => onDirty(someTyped(values))}
      onFinish={submit}
      scrollToFirstError={{ block: 'center', focus: true }}
    >
      <p className="account-current">
        {t('currentPhone')}：<strong>{current ?? t('notSet')}</strong>
      </p>
      <TextField name="phone" label={t('newPhone')} schema={shape.phone} validateTrigger="onBlur" type="tel" autoComplete="tel-national" maxLength={11} />
      <Field name="code" label={t('code')} extra={t('codeHint')} schema={shape.code} validateTrigger="onSubmit">
        <CodeInput send={send} />
      </Field>
      <CurrentPassword name={name} />
      <Button type="primary" htmlType="submit" loading={change.isPending}>
        {current === null ? t('bindPhone') : t('changePhone')}
      </Button>
    </Form>
  )
}

interface EmailValues {
  readonly email: string
  readonly code: string
  readonly password: string
}

/** Another mailbox, proved in the same way. */
export function EmailForm({ current, name, onDirty }: FormProps) {
  const { t } = useTranslation('account')
  const [form] = Form.useForm<EmailValues>()
  const change = useChange(users.changeEmail, { invalidates: [users.current], silent: true })
  const sendCode = useChange(verification.patchEmail, { silent: true })
  const { shape } = users.changeEmail.body

  const send = async (): Promise<number | null> => {
    try {
      const { email } = await form.validateFields(['email'])
      const { retry_after_seconds } = await sendCode.mutateAsync({ params: { email } })
      notify('success', t('codeSentTo', { address: email }))
      return retry_after_seconds
    } catch (error) {
      if (!isValidation(error)) showRefusal(form, error)
      return null
    }
  }
  const submit = async (values: EmailValues): Promise<void> => {
    try {
      await change.mutateAsync({ body: values })
      form.resetFields()
      onDirty(false)
      notify('success', t('emailChanged'))
    } catch (error) {
      showRefusal(form, error, serverNames)
    }
  }

  return (
    <Form<EmailValues>
      form={form}
      name="accountEmail"
      layout="vertical"
      className="account-form"
      requiredMark={false}
      onValuesChange={(_, values) => onDirty(someTyped(values))}
      onFinish={submit}
      scrollToFirstError={{ block: 'center', focus: true }}
    >
      <p className="account-current">
        {t('currentEmail')}：<strong>{current ?? t('notSet')}</strong>
      </p>
      <TextField name="email" label={t('newEmail')} schema={shape.email} validateTrigger="onBlur" type="email" autoComplete="email" maxLength={254} />
      <Field name="code" label={t('code')} extra={t('codeHint')} schema={shape.code} validateTrigger="onSubmit">
        <CodeInput send={send} />
      </Field>
      <CurrentPassword name={name} />
      <Button type="primary" htmlType="submit" loading={change.isPending}>
        {current === null ? t('bindEmail') : t('changeEmail')}
      </Button>
    </Form>
  )
}

function CurrentPassword({ name }: { readonly name: string }) {
  const { t } = useTranslation('account')
  return (
    <>
      <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />
      <PasswordField
        name="password"
        label={t('currentPassword')}
        extra={t('currentPasswordHint')}
        schema={users.changePhone.body.shape.password}
        validateTrigger="onSubmit"
        autoComplete="current-password"
      />
    </>
  )
}

/** What antd's validateFields rejects with: the field says it already. */
const isValidation = (error: unknown): boolean => typeof error === 'object' && error !== null && 'errorFields' in error
