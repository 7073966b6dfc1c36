import { databaseServices, type DatabaseService } from '@zhisuan/contract/middleware/service'
import Alert from 'antd/es/alert'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { PasswordField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { invalidatedByService } from './serviceRules.ts'

const { shape } = databaseServices.password.body

/** Gives a database or a cache another password. */
export default function ServicePassword({ service, onClose }: Dialog<{ service: DatabaseService }>) {
  const { t } = useTranslation('middleware')
  const change = useChange(databaseServices.password, { invalidates: invalidatedByService, silent: true })
  const { id, name } = service
  return (
    <FormDialog<{ password?: string }>
      title={t('service.rotateTitle', { name })}
      okText={t('service.rotate')}
      initialValues={{}}
      doneText={t('service.rotating', { name })}
      onClose={onClose}
      onSubmit={({ password }) => change.mutateAsync({ params: { id }, body: { ...(password !== undefined && password !== '' && { password }) } })}
    >
      <Alert className="zs-above" type="warning" showIcon title={t('service.rotateNote')} />
      <PasswordField
        name="password"
        label={t('service.password')}
        extra={t('service.passwordNote')}
        schema={shape.password}
        required={false}
        autoComplete="new-password"
      />
    </FormDialog>
  )
}
