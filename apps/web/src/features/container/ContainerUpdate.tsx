import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Modal from 'antd/es/modal'
import Skeleton from 'antd/es/skeleton'
import { containers, type Container } from '@zhisuan/contract/cis/container'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { invalidatedByContainer } from './containerRules.ts'
import { SpecFields } from './SpecFields.tsx'
import { specOf, valuesOf, type SpecValues } from './specForm.ts'

/** Makes a container anew with another specification, on the node where it is. */
export function ContainerUpdate({ container, onClose }: Dialog<{ container: Container }>) {
  const { t } = useTranslation('container')
  const [form] = Form.useForm<{ spec: SpecValues }>()
  const { data, error, refetch } = useCall(containers.get, { params: { id: container.id } }, { silent: true })
  const update = useChange(containers.action, { invalidates: invalidatedByContainer, silent: true })
  const title = t('update.title', { name: container.name })
  if (data === undefined || data.spec === null) {
    return (
      <Modal open title={title} footer={null} onCancel={onClose}>
        {data !== undefined ? (
          <EmptyState title={t('spec.unknown')} />
        ) : error === null ? (
          <Skeleton active />
        ) : (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        )}
      </Modal>
    )
  }
  const initial = valuesOf(data.spec)
  return (
    <FormDialog<{ spec: SpecValues }>
      title={title}
      okText={t('update.ok')}
      doneText={t('done.update', { name: container.name })}
      form={form}
      initialValues={{ spec: initial }}
      // Fields that are not drawn, such as those of a check that is off, antd leaves out.
      onSubmit={({ spec }) => update.mutateAsync({ params: { id: container.id }, body: { action: 'update', spec: specOf({ ...initial, ...spec }) } })}
      onClose={onClose}
      width={880}
    >
      <Alert className="zs-above" type="warning" showIcon title={t('update.note')} />
      <SpecFields edgeId={container.edge.id} />
    </FormDialog>
  )
}
