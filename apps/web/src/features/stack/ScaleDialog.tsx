import { services, type Service } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { NumberField } from '../../kit/NumberField.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { invalidatedByStack } from './stackRules.ts'
import './stack.css'

const [scaled] = services.action.body.options

/** How many containers of a service there are to be. */
export function ScaleDialog({ service: { id, name, replicas, ports }, onClose }: Dialog<{ service: Service }>) {
  const { t } = useTranslation('application')
  const scale = useChange(services.action, { invalidates: invalidatedByStack, silent: true })
  return (
    <FormDialog<{ replicas: number }>
      title={t('scale.title', { name })}
      okText={t('action.scale')}
      doneText={t('done.scaleService', { name })}
      initialValues={{ replicas }}
      onSubmit={(values) => scale.mutateAsync({ params: { id }, body: { action: 'scale', ...values } })}
      onClose={onClose}
    >
      <NumberField name="replicas" label={t('scale.replicas')} extra={t('scale.note')} schema={scaled.shape.replicas} autoFocus className="as-short" />
      {ports.length > 0 && <p className="zs-soft">{t('scale.ports')}</p>}
    </FormDialog>
  )
}
