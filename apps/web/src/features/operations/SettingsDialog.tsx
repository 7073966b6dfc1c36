import { prometheus, type PrometheusInstance } from '@zhisuan/contract/omc/monitor'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { invalidatedByIntegration } from './monitorRules.ts'
import { SettingsFields } from './SettingsFields.tsx'

interface Values {
  name: string
  description: string
  settings?: PrometheusInstance['settings']
}
const { shape } = prometheus.update.body

/** Changes what a Prometheus is called, and how one works that the platform runs. */
export default function SettingsDialog({ instance, onClose }: Dialog<{ instance: PrometheusInstance }>) {
  const { t } = useTranslation('operations')
  const update = useChange(prometheus.update, { invalidates: invalidatedByIntegration, silent: true })
  const isKept = instance.origin === 'kept'
  const submit = ({ name, description, settings }: Values) =>
    update.mutateAsync({
      params: { id: instance.id },
      body: { name, description, ...(isKept && settings !== undefined && { settings: { ...settings, retention_gb: settings.retention_gb ?? null } }) },
    })
  return (
    <FormDialog<Values, unknown>
      title={t('settings.title', { name: instance.name })}
      okText={t('settings.save')}
      initialValues={{ name: instance.name, description: instance.description, settings: instance.settings }}
      doneText={t(isKept ? 'settings.saving' : 'settings.saved', { name: instance.name })}
      onClose={onClose}
      onSubmit={submit}
    >
      <NameField schema={shape.name.unwrap()} />
      {isKept && <SettingsFields />}
      <DescriptionField schema={shape.description.unwrap()} />
    </FormDialog>
  )
}
