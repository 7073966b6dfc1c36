import { serviceAgents, type Edge, type ServiceAgent } from '@zhisuan/contract/ecrm/edge'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { ActionButton, type Action } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import './edge.css'
import { serviceAgentTones, invalidatedByServiceAgent } from './edgeRules.ts'
import { DescriptionField, NameField } from './NameFields.tsx'

/** Ports of the platform that lead to ports of one node. */
export function ServiceAgents({ edge }: { readonly edge: Pick<Edge, 'id' | 'name'> }) {
  const { t } = useTranslation('edge')
  const remove = useChange(serviceAgents.delete, { invalidates: invalidatedByServiceAgent })
  const create = (
    <ActionButton
      action={{
        key: 'create',
        call: serviceAgents.create,
        label: t('serviceAgent.create'),
        dialog: (close) => <ServiceAgentCreate edge={edge} onClose={close} />,
      }}
    />
  )
  const actionsOf = ({ id, name, connection_count: count }: ServiceAgent): readonly Action[] => [
    {
      key: 'delete',
      call: serviceAgents.delete,
      label: t('action.delete'),
      danger: true,
      confirm: { title: t('serviceAgent.deleteTitle', { name }), body: t('serviceAgent.deleteBody', { count }) },
      doneText: t('delete.done', { name }),
      run: () => remove.mutateAsync({ params: { id } }),
    },
  ]
  return (
    <>
      <ResourceTable
        name="ports"
        call={serviceAgents.list}
        input={{ query: { edge_id: edge.id } }}
        columns={[
          col.name<ServiceAgent>('name', t('column.name'), (one) => one.name, { sort: true, note: (one) => one.description }),
          col.status<ServiceAgent>('status', t('column.status'), (one) => ({
            tone: serviceAgentTones[one.status],
            text: t(`serviceAgent.status.${one.status}`),
            note: one.error,
          })),
          col.code<ServiceAgent>('listen', t('serviceAgent.listen'), (one) => String(one.listen_port), { width: 120 }),
          col.code<ServiceAgent>('target', t('serviceAgent.target'), (one) => String(one.target_port), { width: 120 }),
          col.number<ServiceAgent>('connections', t('serviceAgent.connections'), (one) => one.connection_count, { width: 100 }),
          col.date<ServiceAgent>('created_at', t('column.created'), (one) => one.created_at, { sort: true }),
        ]}
        rowActions={actionsOf}
        toolbar={create}
        empty={{ title: t('serviceAgent.none'), note: t('serviceAgent.noneNote') }}
      />
    </>
  )
}

function ServiceAgentCreate({ edge, onClose }: Dialog<{ edge: Pick<Edge, 'id' | 'name'> }>) {
  const { t } = useTranslation('edge')
  const { shape } = serviceAgents.create.body
  const create = useChange(serviceAgents.create, { invalidates: invalidatedByServiceAgent, silent: true })
  return (
    <FormDialog<{ name: string; description: string; target_port: number; listen_port: number }>
      title={t('serviceAgent.createTitle', { name: edge.name })}
      okText={t('create')}
      initialValues={{ name: '', description: '' }}
      doneText={t('serviceAgent.created')}
      onClose={onClose}
      onSubmit={(body) => create.mutateAsync({ body: { ...body, edge_id: edge.id } })}
    >
      <NameField kind="ecrm.serviceAgent" />
      <div className="ed-pair">
        <NumberField
          name="target_port"
          label={t('serviceAgent.target')}
          extra={t('serviceAgent.targetNote')}
          schema={shape.target_port}
          className="ed-number"
        />
        <NumberField
          name="listen_port"
          label={t('serviceAgent.listen')}
          extra={t('serviceAgent.listenNote')}
          schema={shape.listen_port}
          className="ed-number"
        />
      </div>
      <DescriptionField />
    </FormDialog>
  )
}
