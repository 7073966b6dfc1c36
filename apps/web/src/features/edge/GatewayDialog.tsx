import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { edges, gateways, type Edge } from '@zhisuan/contract/ecrm/edge'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { NumberField } from '../../kit/NumberField.tsx'
import { Field, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import './edge.css'
import { invalidatedByGateway } from './edgeRules.ts'
import { DescriptionField, NameField } from './NameFields.tsx'

interface Values {
  name: string
  description: string
  edge_id: string
  address: string
  port: number
}
const { shape } = gateways.create.body

/** Where others of the site most likely reach a node. */
const addressOf = ({ addresses }: Pick<Edge, 'addresses'>): string => addresses.find((address) => !address.includes(':')) ?? addresses[0] ?? ''

/**
 * Makes a node the gateway of its site.
 * @param siteId the one whose nodes can be chosen; all that stand in one where it is left out
 */
export function GatewayDialog({ siteId, onClose }: Dialog<{ siteId?: string }>) {
  const { t } = useTranslation('edge')
  const [form] = Form.useForm<Values>()
  const name = Form.useWatch('name', form) ?? ''
  const create = useChange(gateways.create, { invalidates: invalidatedByGateway, silent: true })
  const { data, isPending } = useCall(edges.list, { query: { page_size: 1000, sort: 'name', ...(siteId !== undefined && { site_id: siteId }) } })
  const fit = (data?.items ?? []).filter(({ site, status }) => site !== null && (status === 'online' || status === 'offline'))
  return (
    <FormDialog<Values>
      form={form}
      title={t('gateway.create')}
      okText={t('create')}
      initialValues={{ name: '', description: '', address: '', port: 8443 }}
      doneText={t('gateway.created', { name })}
      onClose={onClose}
      onSubmit={(body) => create.mutateAsync({ body })}
    >
      <NameField kind="ecrm.gateway" />
      <Field name="edge_id" label={t('gateway.edge')} extra={t('gateway.edgeNote')} missing={t('gateway.edgePlaceholder')}>
        <Select
          loading={isPending}
          showSearch={{ optionFilterProp: 'label' }}
          placeholder={t('gateway.edgePlaceholder')}
          options={fit.map((edge) => ({ value: edge.id, label: `${edge.name}（${edge.site?.name ?? ''}）` }))}
          onChange={(id: string) => {
            const edge = fit.find((one) => one.id === id)
            if (edge !== undefined && !form.isFieldTouched('address')) form.setFieldValue('address', addressOf(edge))
          }}
        />
      </Field>
      <div className="ed-pair">
        <TextField name="address" label={t('gateway.host')} extra={t('gateway.hostNote')} schema={shape.address} code />
        <NumberField name="port" label={t('gateway.port')} schema={shape.port} className="ed-number" />
      </div>
      <DescriptionField />
    </FormDialog>
  )
}
