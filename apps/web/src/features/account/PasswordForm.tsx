import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { useTranslation } from '../../i18n.ts'
import { fieldTexts } from '@zhisuan/contract/texts'
import { users } from '@zhisuan/contract/ums/user'
import { passwordAnew, passwordOld } from '@zhisuan/contract/validation'
import { z } from 'zod'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { PasswordField } from '../../kit/fields.tsx'
import { samePassword } from '../../kit/rules.ts'
import { showRefusal } from '../../kit/refusals.ts'
import { AccountForm } from './AccountForm.tsx'

interface Values {
  readonly old_password: string
  readonly password: string
  readonly password_again: string
}

const again = z.string(fieldTexts.newPasswordRequired).min(1, fieldTexts.newPasswordRequired)

/** One's own password: the old one, and the new one twice. */
export function PasswordForm({ name, onDirty }: { readonly name: string; readonly onDirty: (dirty: boolean) => void }) {
  const { t } = useTranslation('account')
  const [form] = Form.useForm<Values>()
  const change = useChange(users.changePassword, { silent: true })

  const submit = async ({ old_password, password }: Values): Promise<void> => {
    try {
      await change.mutateAsync({ body: { old_password, password } })
      form.resetFields()
      onDirty(false)
      notify('success', t('passwordChanged'))
    } catch (error) {
      showRefusal(form, error)
    }
  }

  return (
    <AccountForm<Values>
      form={form}
      name="accountPassword"
      onValuesChange={(_, values) => onDirty(Object.values(values).some((value) => value !== undefined && value !== ''))}
      onFinish={submit}
    >
      {/* For password managers, which file a password under a name. */}
      <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />
      <PasswordField name="old_password" label={t('oldPassword')} schema={passwordOld} validateTrigger="onSubmit" autoComplete="current-password" />
      <PasswordField name="password" label={t('newPassword')} extra={t('passwordHint')} schema={passwordAnew} validateTrigger="onBlur" />
      <PasswordField
        name="password_again"
        label={t('passwordAgain')}
        dependencies={['password']}
        schema={again}
        rules={[samePassword('password', fieldTexts.passwordsDiffer)]}
        validateTrigger="onBlur"
      />
      <Button type="primary" htmlType="submit" loading={change.isPending}>
        {t('changePassword')}
      </Button>
    </AccountForm>
  )
}
