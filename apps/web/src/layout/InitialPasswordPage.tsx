import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { useTranslation } from '../i18n.ts'
import { useNavigate } from 'react-router'
import { errors } from '@zhisuan/contract/errors'
import { fieldTexts } from '@zhisuan/contract/texts'
import { users } from '@zhisuan/contract/ums/user'
import { passwordNew, passwordTyped } from '@zhisuan/contract/validation'
import { useChange } from '../api/hooks.ts'
import { notify } from '../api/notify.ts'
import { errorText } from '../api/toasts.ts'
import { Field, PasswordField } from '../kit/fields.tsx'
import { field, samePassword, showFieldErrors } from '../kit/rules.ts'
import { paths } from '../paths.ts'
import { signOut } from '../session/session.ts'
import Antd from '../kit/Antd.tsx'

interface Values {
  old_password: string
  password: string
  password_again: string
}

function InitialPasswordForm() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [form] = Form.useForm<Values>()
  const change = useChange(users.changePassword, {
    silent: true,
    invalidates: [users.current],
    onDone: () => notify('success', t('initialPassword.done')),
  })
  const submit = (values: Values): void =>
    change.mutate(
      { body: { old_password: values.old_password, password: values.password } },
      {
        onError: (error) => {
          if (error.code === errors.fieldsInvalid.code) showFieldErrors(form, error.fields)
          else if (error.code === errors.oldPasswordInvalid.code) form.setFields([{ name: 'old_password', errors: [errorText(error)] }])
          else form.setFields([{ name: 'password', errors: [errorText(error)] }])
        },
      },
    )
  return (
    <main id="main" className="zs-alone">
      <section className="zs-card zs-alone-card" aria-labelledby="initial-title">
        <h1 id="initial-title">{t('initialPassword.title')}</h1>
        <p className="zs-soft">{t('initialPassword.text')}</p>
        <Form noValidate form={form} layout="vertical" onFinish={submit} requiredMark={false}>
          <Field name="old_password" label={t('initialPassword.old')} schema={passwordTyped} validateTrigger="onSubmit">
            <Input.Password autoComplete="current-password" autoFocus />
          </Field>
          <PasswordField name="password" label={t('initialPassword.new')} schema={passwordNew} validateTrigger="onBlur" extra={fieldTexts.passwordRule} />
          <PasswordField
            name="password_again"
            label={t('initialPassword.again')}
            dependencies={['password']}
            validateTrigger="onBlur"
            rules={[...field(passwordTyped).rules, samePassword('password', fieldTexts.passwordsDiffer)]}
          />
          <Button type="primary" htmlType="submit" block loading={change.isPending}>
            {t('initialPassword.submit')}
          </Button>
        </Form>
        <Button
          type="link"
          block
          onClick={() => {
            void signOut().then(() => navigate(paths.login()))
          }}
        >
          {t('user.signOut')}
        </Button>
      </section>
    </main>
  )
}

/** With an initial password nothing else can be done than to replace it: the server answers 91001 to all other calls. */
export default function InitialPasswordPage() {
  return (
    <Antd>
      <InitialPasswordForm />
    </Antd>
  )
}
