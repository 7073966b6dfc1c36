import Alert from 'antd/es/alert'
import { registryUsers } from '@zhisuan/contract/ims/registry'
import { fieldTexts } from '@zhisuan/contract/texts'
import { passwordTyped } from '@zhisuan/contract/validation'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { PasswordField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { samePassword } from '../../kit/rules.ts'

interface Values {
  password: string
  password_again: string
}

/**
 * One's own password for the registries, which programs sign in by.
 * @param first whether there was none
 */
export default function PasswordDialog({ first, onSet, onClose }: Dialog<{ first: boolean; onSet: () => void }>) {
  const { t } = useTranslation('mirror')
  const set = useChange(registryUsers.create, { invalidates: [registryUsers.list, registryUsers.exist], silent: true })
  return (
    <FormDialog<Values>
      title={t(first ? 'password.first' : 'password.another')}
      okText={t('save')}
      initialValues={{ password: '', password_again: '' }}
      doneText={t('password.done')}
      onClose={onClose}
      onSubmit={async ({ password }) => {
        await set.mutateAsync({ body: { password } })
        onSet()
      }}
    >
      <Alert className="zs-above" type="info" showIcon title={t(first ? 'password.firstNote' : 'password.anotherNote')} />
      <PasswordField name="password" label={t('password.new')} schema={registryUsers.create.body.shape.password} extra={fieldTexts.passwordRule} />
      <PasswordField
        name="password_again"
        label={t('password.again')}
        dependencies={['password']}
        schema={passwordTyped}
        rules={[samePassword('password', fieldTexts.passwordsDiffer)]}
      />
    </FormDialog>
  )
}
