import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { useTranslation } from 'react-i18next'
import { fieldTexts } from '@zhisuan/contract/texts'
import { passwordNew, passwordTyped } from '@zhisuan/contract/validation'
import { rulesOf, samePassword } from '../../kit/rules.ts'

/** A new password, twice: fields `password` and `password_again`. Of an account that is being made it is no new one. */
export function NewPassword({ first = false }: { readonly first?: boolean }) {
  const { t } = useTranslation('public')
  return (
    <>
      <Form.Item name="password" label={t(first ? 'newPassword.first' : 'newPassword.password')} rules={rulesOf(passwordNew)} extra={fieldTexts.passwordRule}>
        <Input.Password autoComplete="new-password" />
      </Form.Item>
      <Form.Item
        name="password_again"
        label={t(first ? 'newPassword.firstAgain' : 'newPassword.again')}
        dependencies={['password']}
        rules={[...rulesOf(passwordTyped), samePassword('password', fieldTexts.passwordsDiffer)]}
      >
        <Input.Password autoComplete="new-password" />
      </Form.Item>
    </>
  )
}
