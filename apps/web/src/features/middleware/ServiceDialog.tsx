import { databaseServices, type DatabaseService } from '@zhisuan/contract/middleware/service'
import Alert from 'antd/es/alert'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { invalidatedByService } from './serviceRules.ts'
import './middleware.css'

const { shape } = databaseServices.update.body

/** Renames a database or a cache, or gives it other parameters. */
export default function ServiceDialog({ service, onClose }: Dialog<{ service: DatabaseService }>) {
  const { t } = useTranslation('middleware')
  const update = useChange(databaseServices.update, { invalidates: invalidatedByService, silent: true })
  const { id, name, description, memory_mb, connections_most, type } = service
  return (
    <FormDialog<{ name: string; description: string; memory_mb: number; connections_most: number }, string>
      title={t('service.editTitle', { name })}
      okText={t('save')}
      initialValues={{ name, description, memory_mb, connections_most }}
      doneText={(saved) => t('saved', { name: saved })}
      onClose={onClose}
      onSubmit={async (body) => {
        await update.mutateAsync({ params: { id }, body })
        return body.name
      }}
    >
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
      <div className="mw-pair">
        <NumberField name="memory_mb" label={t('service.memory')} extra={t(`service.memoryNote.${type}`)} schema={shape.memory_mb} required />
        <NumberField name="connections_most" label={t('field.connections')} schema={shape.connections_most} required />
      </div>
      <Alert type="warning" showIcon title={t('service.parametersNote')} />
    </FormDialog>
  )
}
