import { edges } from '@zhisuan/contract/ecrm/edge'
import { serviceGateways, type ServiceGateway } from '@zhisuan/contract/middleware/gateway'
import type { BodyInput } from '@zhisuan/contract/define'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { invalidatedByGateway } from './gatewayRules.ts'

type Values = BodyInput<typeof serviceGateways.create>
const { shape } = serviceGateways.create.body

/** Has a gateway run on a node, or has one work otherwise. */
export default function GatewayDialog({ gateway, onClose }: Dialog<{ gateway: ServiceGateway | null }>) {
  const { t } = useTranslation('middleware')
  const create = useChange(serviceGateways.create, { invalidates: invalidatedByGateway, silent: true })
  const update = useChange(serviceGateways.update, { invalidates: invalidatedByGateway, silent: true })
  const { data, isPending } = useCall(edges.list, { query: { page_size: 1_000, sort: 'name' } }, { silent: true, enabled: gateway === null })
  // Whoever has a node reads all that passes through it: only the platform's own.
  const own = (data?.items ?? []).filter(({ bp_id, status }) => bp_id === null && (status === 'online' || status === 'offline'))
  return (
    <FormDialog<Values, string>
      title={gateway === null ? t('gateway.create') : t('gateway.editTitle', { name: gateway.name })}
      okText={t(gateway === null ? 'gateway.create' : 'save')}
      initialValues={{
        name: gateway?.name ?? '',
        description: gateway?.description ?? '',
        connections_most: gateway?.connections_most ?? 10_000,
        drain_minutes: gateway?.drain_minutes ?? 30,
        ...(gateway === null && { control_port: 19_700 }),
      }}
      doneText={(name) => t(gateway === null ? 'gateway.creating' : 'saved', { name })}
      onClose={onClose}
      onSubmit={async (values) => {
        if (gateway === null) await create.mutateAsync({ body: values })
        else {
          const { name, description, connections_most, drain_minutes } = values
          const changes = {
            name,
            ...(description !== undefined && { description }),
            ...(connections_most !== undefined && { connections_most }),
            ...(drain_minutes !== undefined && { drain_minutes }),
          }
          await update.mutateAsync({ params: { id: gateway.id }, body: changes })
        }
        return values.name
      }}
    >
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
      {gateway === null && (
        <SelectField<string>
          name="node_id"
          label={t('column.node')}
          extra={t('gateway.nodeNote')}
          missing={t('gateway.nodeMissing')}
          loading={isPending}
          showSearch={{ optionFilterProp: 'label' }}
          notFoundContent={t('gateway.nodeNone')}
          options={own.map(({ id, name, status }) => ({
            value: id,
            label: status === 'online' ? name : t('gateway.nodeAway', { name }),
            disabled: status !== 'online',
          }))}
        />
      )}
      <NumberField name="connections_most" label={t('field.connections')} schema={shape.connections_most} />
      <NumberField name="drain_minutes" label={t('field.drain')} extra={t('field.drainNote')} schema={shape.drain_minutes} />
      {gateway === null && <NumberField name="control_port" label={t('field.controlPort')} extra={t('field.controlPortNote')} schema={shape.control_port} />}
    </FormDialog>
  )
}
