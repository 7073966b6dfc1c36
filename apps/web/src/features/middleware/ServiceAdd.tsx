import { edges } from '@zhisuan/contract/ecrm/edge'
import { databaseServices, serviceListens, serviceTypes, serviceUsualPorts, type ServiceType } from '@zhisuan/contract/middleware/service'
import type { BodyInput } from '@zhisuan/contract/define'
import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import { useNavigate, useSearchParams } from 'react-router'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { useTranslation } from '../../i18n.ts'
import { PasswordField, RadioField } from '../../kit/fields.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { paths } from '../../paths.ts'
import { detailOf, invalidatedByService, typeNames } from './serviceRules.ts'

type Values = BodyInput<typeof databaseServices.create>
const { shape } = databaseServices.create.body

/** Has a database or a cache run on a node. */
export default function ServiceAdd() {
  const { t } = useTranslation('middleware')
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const [form] = Form.useForm<Values>()
  const create = useChange(databaseServices.create, { invalidates: invalidatedByService })
  const { data, isPending } = useCall(edges.list, { query: { page_size: 1_000, sort: 'name' } }, { silent: true })
  const first = serviceTypes.find((one) => one === search.get('type')) ?? 'mysql'
  const type = Form.useWatch('type', form) ?? first
  const listens = Form.useWatch('listens', form) ?? 'all'
  // Whoever has a node reads all that is kept on it: only the platform's own.
  const own = (data?.items ?? []).filter(({ bp_id, status }) => bp_id === null && (status === 'online' || status === 'offline'))
  return (
    <FormPage<Values>
      form={form}
      initialValues={{
        name: '',
        description: '',
        type: first,
        listens: 'all',
        port: serviceUsualPorts[first],
        memory_mb: 256,
        connections_most: 100,
      }}
      submitText={t('service.create')}
      onCancel={() => void navigate(paths.middleware.service.list())}
      onSubmit={async ({ password, ...values }) => {
        const made = await create.mutateAsync({ body: { ...values, ...(password !== undefined && password !== '' && { password }) } })
        notify('success', t('service.creating', { name: made.name }))
        void navigate(detailOf(made))
      }}
    >
      <RadioField<ServiceType>
        name="type"
        label={t('column.type')}
        values={serviceTypes}
        labelOf={(one) => typeNames[one]}
        optionType="button"
        extra={t(`service.typeNote.${type}`)}
        onChange={({ target }) => form.setFieldValue('port', serviceUsualPorts[serviceTypes.find((one) => one === target.value) ?? type])}
      />
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
      <SelectField<string>
        name="node_id"
        label={t('column.node')}
        extra={t(`service.nodeNote.${type}`)}
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
      <RadioField name="listens" label={t('service.listens')} values={serviceListens} labelOf={(one) => t(`service.listensOf.${one}`)} optionType="button" />
      {listens === 'all' && <Alert className="zs-above" type="warning" showIcon title={t('service.openNote')} />}
      <NumberField name="port" label={t('field.port')} schema={shape.port} required />
      <NumberField name="memory_mb" label={t('service.memory')} extra={t(`service.memoryNote.${type}`)} schema={shape.memory_mb} />
      <NumberField name="connections_most" label={t('field.connections')} schema={shape.connections_most} />
      <PasswordField
        name="password"
        label={t('service.password')}
        extra={t('service.passwordNote')}
        schema={shape.password}
        required={false}
        autoComplete="new-password"
      />
    </FormPage>
  )
}
