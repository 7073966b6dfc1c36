import { useTranslation } from '../../i18n.ts'
import { fieldTexts } from '@zhisuan/contract/texts'
import { passwordAnew, passwordNew, passwordTyped } from '@zhisuan/contract/validation'
import { PasswordField } from '../../kit/fields.tsx'
import { samePassword } from '../../kit/rules.ts'

/** A new password, twice: fields `password` and `password_again`. Of an account that is being made it is no new one. */
export function NewPassword({ first = false }: { readonly first?: boolean }) {
  const { t } = useTranslation('public')
  return (
    <>
      <PasswordField
        name="password"
        label={t(first ? 'newPassword.first' : 'newPassword.password')}
        schema={first ? passwordNew : passwordAnew}
        required={false}
        extra={fieldTexts.passwordRule}
      />
      <PasswordField
        name="password_again"
        label={t(first ? 'newPassword.firstAgain' : 'newPassword.again')}
        dependencies={['password']}
        schema={passwordTyped}
        required={false}
        rules={[samePassword('password', fieldTexts.passwordsDiffer)]}
      />
    </>
  )
}
