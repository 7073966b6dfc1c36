import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { useTranslation } from 'react-i18next'
import { fieldTexts } from '@zhisuan/contract/texts'
import { passwordNew, passwordTyped } from '@zhisuan/contract/validation'
import { rulesOf, samePassword } from '../../kit/rules.ts'

/** A new password, twice: fields `password` and `password_again`. */
export function NewPassword() {
  const { t } = useTranslation('public')
  return (
    <>
      <Form.Item name="password" label={t('newPassword.password')} rules={rulesOf(passwordNew)} extra={fieldTexts.passwordRule}>
        <Input.Password autoComplete="new-password" />
      </Form.Item>
      <Form.Item
        name="password_again"
        label={t('newPassword.again')}
        dependencies={['password']}
        rules={[...rulesOf(passwordTyped), samePassword('password', fieldTexts.passwordsDiffer)]}
      >
        <Input.Password autoComplete="new-password" />
      </Form.Item>
    </>
  )
}
