import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import { portBalances, portChecks, portProtocols, servicePorts, type ServiceGateway, type ServicePort } from '@zhisuan/contract/middleware/gateway'
import type { BodyInput } from '@zhisuan/contract/define'
import Button from 'antd/es/button'
import Checkbox from 'antd/es/checkbox'
import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { Field, RadioField, SwitchField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { RemoveRow } from '../../kit/RemoveRow.tsx'
import { invalidatedByGateway } from './gatewayRules.ts'
import './middleware.css'

type Values = Omit<BodyInput<typeof servicePorts.create>, 'gateway_id'>
const { shape } = servicePorts.create.body
const target = shape.targets.element.shape
const check = shape.check.unwrap().shape
const blankTarget = { address: '', weight: 100, backup: false, enabled: true }

/** Has a gateway listen at a port, or changes one as a whole. */
export default function PortDialog({ gateway, port, onClose }: Dialog<{ gateway: ServiceGateway; port: ServicePort | null }>) {
  const { t } = useTranslation('middleware')
  const [form] = Form.useForm<Values>()
  const protocol = Form.useWatch('protocol', form) ?? port?.protocol ?? 'http'
  const kind = Form.useWatch(['check', 'kind'], form) ?? port?.check.kind ?? 'tcp'
  const create = useChange(servicePorts.create, { invalidates: invalidatedByGateway, silent: true })
  const update = useChange(servicePorts.update, { invalidates: invalidatedByGateway, silent: true })
  return (
    <FormDialog<Values, string>
      form={form}
      width={760}
      title={port === null ? t('port.create') : t('port.editTitle', { name: port.name })}
      okText={t(port === null ? 'port.create' : 'save')}
      initialValues={
        port === null
          ? {
              name: '',
              description: '',
              protocol: 'http',
              balance: 'roundrobin',
              sticky: false,
              check: { kind: 'tcp', path: '/', interval_seconds: 2, timeout_seconds: 2, rise: 3, fall: 3 },
              idle_seconds: 60,
              connections_most: null,
              allowed: [],
              // An empty row to type in; its port is asked for.
              targets: [blankTarget] as unknown as Values['targets'],
            }
          : { ...port, targets: port.targets.map(({ id, address, port: at, weight, backup, enabled }) => ({ id, address, port: at, weight, backup, enabled })) }
      }
      doneText={(name) => t(port === null ? 'port.creating' : 'port.changing', { name })}
      onClose={onClose}
      onSubmit={async ({ sticky, ...values }) => {
        const body = { ...values, sticky: protocol === 'http' && sticky === true }
        if (port === null) await create.mutateAsync({ body: { ...body, gateway_id: gateway.id } })
        else await update.mutateAsync({ params: { id: port.id }, body: { ...body, revision: port.revision } })
        return values.name
      }}
    >
      <div className="mw-pair">
        <NameField schema={shape.name} />
        <NumberField name="port" label={t('port.listens')} schema={shape.port} />
      </div>
      <RadioField name="protocol" label={t('field.protocol')} values={portProtocols} labelOf={(one) => one.toUpperCase()} optionType="button" />
      <Form.Item label={t('port.targets')} required>
        <Form.List name="targets">
          {(rows, { add, remove }, { errors }) => (
            <div className="zs-rows">
              {rows.map(({ key, name }) => (
                <div key={key} className="zs-row mw-target">
                  <Form.Item name={[name, 'id']} hidden>
                    <input />
                  </Form.Item>
                  <TextField
                    name={[name, 'address']}
                    schema={target.address}
                    placeholder={t('field.address')}
                    aria-label={`${t('field.address')} ${name + 1}`}
                    code
                  />
                  <NumberField name={[name, 'port']} schema={target.port} placeholder={t('field.port')} aria-label={`${t('field.port')} ${name + 1}`} />
                  <NumberField name={[name, 'weight']} schema={target.weight} prefix={t('field.weight')} aria-label={`${t('field.weight')} ${name + 1}`} />
                  <Form.Item name={[name, 'backup']} valuePropName="checked">
                    <Checkbox>{t('field.backup')}</Checkbox>
                  </Form.Item>
                  <Form.Item name={[name, 'enabled']} valuePropName="checked">
                    <Checkbox>{t('field.enabled')}</Checkbox>
                  </Form.Item>
                  <RemoveRow index={name} onRemove={() => remove(name)} />
                </div>
              ))}
              <Form.ErrorList errors={errors} />
              <Button icon={<PlusOutlined aria-hidden />} disabled={rows.length >= 100} onClick={() => add(blankTarget)}>
                {t('target.add')}
              </Button>
            </div>
          )}
        </Form.List>
      </Form.Item>
      <p className="zs-soft">{t('target.note')}</p>
      <RadioField name="balance" label={t('field.balance')} values={portBalances} labelOf={(one) => t(`port.balance.${one}`)} optionType="button" />
      {protocol === 'http' && <SwitchField name="sticky" label={t('field.sticky')} extra={t('field.stickyNote')} />}
      <RadioField
        name={['check', 'kind']}
        label={t('field.check')}
        values={portChecks.filter((one) => one !== 'http' || protocol === 'http')}
        labelOf={(one) => t(`port.check.${one}`)}
        optionType="button"
      />
      {kind !== 'none' && (
        <div className="mw-pair">
          {kind === 'http' && <TextField name={['check', 'path']} label={t('field.path')} schema={check.path} code />}
          <NumberField name={['check', 'interval_seconds']} label={t('field.interval')} schema={check.interval_seconds} />
          <NumberField name={['check', 'timeout_seconds']} label={t('field.timeout')} schema={check.timeout_seconds} />
          <NumberField name={['check', 'rise']} label={t('field.rise')} schema={check.rise} />
          <NumberField name={['check', 'fall']} label={t('field.fall')} schema={check.fall} />
        </div>
      )}
      <div className="mw-pair">
        <NumberField name="idle_seconds" label={t('field.idle')} schema={shape.idle_seconds} />
        <NumberField
          name="connections_most"
          label={t('field.connections')}
          placeholder={t('field.connectionsAll')}
          schema={shape.connections_most}
          required={false}
        />
      </div>
      <Field name="allowed" label={t('field.allowed')} extra={t('field.allowedNote')} schema={shape.allowed} required={false}>
        <Select mode="tags" open={false} suffixIcon={null} tokenSeparators={[' ', ',', '，', ';', '\n']} placeholder="10.0.0.0/8" />
      </Field>
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
