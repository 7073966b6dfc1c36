import Checkbox from 'antd/es/checkbox'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import InputNumber from 'antd/es/input-number'
import Select from 'antd/es/select'
import Switch from 'antd/es/switch'
import { computeNetworks, computeSubnets, type ComputeNetwork, type ComputeSubnet } from '@zhisuan/contract/compute/network'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { field } from '../../../kit/rules.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { invalidatedByNetwork } from './networkText.ts'
import { noSubnet, settingsOf, SubnetFields, valuesOf, type SubnetValues } from './SubnetFields.tsx'

interface Values {
  name: string
  description: string
  project_id?: string
  withSubnet: boolean
  subnet: SubnetValues & { name: string }
  mtu: number | null
  port_security: boolean
  shared: boolean
  external: boolean
  provider_type: string | null
  physical_network: string
  segmentation_id: number | null
}
const shape = computeNetworks.create.body.shape
const provider = shape.provider.unwrap().unwrap().shape

/** Makes a network with its first subnet: both, or none. */
export function NetworkCreate({ cloudId, onClose }: { readonly cloudId: string; readonly onClose: () => void }) {
  const { t } = useTranslation('computeNetwork')
  const platform = useIsPlatform()
  const [form] = Form.useForm<Values>()
  const name = Form.useWatch('name', form) ?? ''
  const withSubnet = Form.useWatch('withSubnet', form) ?? true
  const create = useChange(computeNetworks.create, { invalidates: invalidatedByNetwork, silent: true })
  const submit = ({ withSubnet: first, subnet, provider_type, physical_network, segmentation_id, ...values }: Values) =>
    create.mutateAsync({
      params: { cloud_id: cloudId },
      body: {
        name: values.name,
        description: values.description,
        project_id: values.project_id ?? null,
        mtu: values.mtu ?? null,
        port_security: values.port_security,
        ...(platform && { shared: values.shared, external: values.external }),
        ...(platform &&
          typeof provider_type === 'string' && {
            provider: { type: provider.type.parse(provider_type), physical_network: physical_network.trim() === '' ? null : physical_network, segmentation_id },
          }),
        subnet: first ? { ...(subnet.name.trim() !== '' && { name: subnet.name }), cidr: subnet.cidr, ...settingsOf(subnet) } : null,
      },
    })
  return (
    <FormDialog<Values>
      form={form}
      title={t('network.create')}
      okText={t('network.create')}
      width={600}
      initialValues={{
        name: '',
        description: '',
        withSubnet: true,
        subnet: { name: '', ...noSubnet },
        mtu: null,
        port_security: true,
        shared: false,
        external: false,
        provider_type: null,
        physical_network: '',
        segmentation_id: null,
      }}
      doneText={t('network.created', { name })}
      onClose={onClose}
      onSubmit={submit}
    >
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
      <ProjectField />
      <Form.Item name="withSubnet" label={t('field.withSubnet')} extra={t('field.withSubnetNote')} valuePropName="checked">
        <Switch />
      </Form.Item>
      {withSubnet && (
        <fieldset className="cp-part">
          <legend>{t('subnet.first')}</legend>
          <Form.Item name={['subnet', 'name']} label={t('field.subnetName')} {...field(computeSubnets.create.body.shape.name)}>
            <Input maxLength={64} />
          </Form.Item>
          <SubnetFields at={['subnet']} />
        </fieldset>
      )}
      <Form.Item name="port_security" label={t('column.portSecurity')} extra={t('field.portSecurityNote')} valuePropName="checked">
        <Switch />
      </Form.Item>
      <Form.Item name="mtu" label={t('column.mtu')} extra={t('field.mtuNote')} {...field(shape.mtu)}>
        <InputNumber min={68} max={9216} precision={0} />
      </Form.Item>
      {platform && (
        <fieldset className="cp-part">
          <legend>{t('field.platform')}</legend>
          <Form.Item name="shared" valuePropName="checked" extra={t('field.sharedNote')}>
            <Checkbox>{t('network.shared')}</Checkbox>
          </Form.Item>
          <Form.Item name="external" valuePropName="checked" extra={t('field.externalNote')}>
            <Checkbox>{t('network.external')}</Checkbox>
          </Form.Item>
          <Form.Item name="provider_type" label={t('column.providerType')} extra={t('field.providerNote')}>
            <Select allowClear placeholder={t('field.providerAny')} options={provider.type.options.map((value) => ({ value, label: value.toUpperCase() }))} />
          </Form.Item>
          <Form.Item name="physical_network" label={t('column.physicalNetwork')} {...field(provider.physical_network)}>
            <Input maxLength={64} />
          </Form.Item>
          <Form.Item name="segmentation_id" label={t('column.segmentation')} {...field(provider.segmentation_id)}>
            <InputNumber min={1} max={16_777_215} precision={0} />
          </Form.Item>
        </fieldset>
      )}
    </FormDialog>
  )
}

interface EditValues {
  name: string
  description: string
  enabled: boolean
  port_security: boolean
  mtu: number | null
  shared: boolean
  external: boolean
}
/** Changes a network; only what was changed is sent, so that what another changed meanwhile stays. */
export function NetworkEdit({ cloudId, network, onClose }: { readonly cloudId: string; readonly network: ComputeNetwork; readonly onClose: () => void }) {
  const { t } = useTranslation('computeNetwork')
  const platform = useIsPlatform()
  const update = useChange(computeNetworks.update, { invalidates: invalidatedByNetwork, silent: true })
  const { name, description, enabled, port_security, mtu, shared, external } = network
  const initial: EditValues = { name, description, enabled, port_security, mtu, shared, external }
  const { shape: changes } = computeNetworks.update.body
  return (
    <FormDialog<EditValues>
      title={t('network.editTitle', { name })}
      okText={t('save')}
      initialValues={initial}
      doneText={t('saved', { name })}
      onClose={onClose}
      onSubmit={(values) => update.mutateAsync({ params: { cloud_id: cloudId, id: network.id }, body: changedOf(initial, values) })}
    >
      <Form.Item name="name" label={t('column.name')} {...field(changes.name.unwrap())}>
        <Input autoFocus maxLength={255} />
      </Form.Item>
      <DescriptionField schema={changes.description} />
      <Form.Item name="enabled" label={t('column.enabled')} extra={t('field.enabledNote')} valuePropName="checked">
        <Switch />
      </Form.Item>
      <Form.Item name="port_security" label={t('column.portSecurity')} extra={t('field.portSecurityNote')} valuePropName="checked">
        <Switch />
      </Form.Item>
      <Form.Item name="mtu" label={t('column.mtu')} {...field(changes.mtu)}>
        <InputNumber min={68} max={9216} precision={0} />
      </Form.Item>
      {platform && (
        <>
          <Form.Item name="shared" valuePropName="checked" extra={t('field.sharedNote')}>
            <Checkbox>{t('network.shared')}</Checkbox>
          </Form.Item>
          <Form.Item name="external" valuePropName="checked" extra={t('field.externalNote')}>
            <Checkbox>{t('network.external')}</Checkbox>
          </Form.Item>
        </>
      )}
    </FormDialog>
  )
}

/** Of what stands in a form, what differs from what was there. */
export function changedOf<T extends object>(before: T, after: T): { [K in keyof T]?: NonNullable<T[K]> } {
  // A number that was cleared is left as it is: nothing here can be without one.
  return Object.fromEntries(Object.entries(after).filter(([key, value]) => value !== null && value !== before[key as keyof T])) as {
    [K in keyof T]?: NonNullable<T[K]>
  }
}

type SubnetFormValues = SubnetValues & { name: string; description: string }

/** A further subnet of a network. */
export function SubnetCreate({ cloudId, network, onClose }: { readonly cloudId: string; readonly network: ComputeNetwork; readonly onClose: () => void }) {
  const { t } = useTranslation('computeNetwork')
  const create = useChange(computeSubnets.create, { invalidates: invalidatedByNetwork, silent: true })
  const { shape: fields } = computeSubnets.create.body
  return (
    <FormDialog<SubnetFormValues>
      title={t('subnet.createTitle', { name: network.name })}
      okText={t('subnet.create')}
      width={600}
      initialValues={{ name: '', description: '', ...noSubnet }}
      doneText={t('subnet.created')}
      onClose={onClose}
      onSubmit={({ name, description, ...values }) =>
        create.mutateAsync({
          params: { cloud_id: cloudId },
          body: { network_id: network.id, ...(name.trim() !== '' && { name }), description, cidr: values.cidr, ...settingsOf(values) },
        })
      }
    >
      <Form.Item name="name" label={t('column.name')} {...field(fields.name)}>
        <Input autoFocus maxLength={64} />
      </Form.Item>
      <SubnetFields />
      <DescriptionField schema={fields.description} />
    </FormDialog>
  )
}

export function SubnetEdit({ cloudId, subnet, onClose }: { readonly cloudId: string; readonly subnet: ComputeSubnet; readonly onClose: () => void }) {
  const { t } = useTranslation('computeNetwork')
  const update = useChange(computeSubnets.update, { invalidates: invalidatedByNetwork, silent: true })
  const { shape: fields } = computeSubnets.update.body
  const before = valuesOf(subnet)
  return (
    <FormDialog<SubnetFormValues>
      title={t('subnet.editTitle', { name: subnet.name === '' ? subnet.cidr : subnet.name })}
      okText={t('save')}
      width={600}
      initialValues={{ name: subnet.name, description: subnet.description, ...before }}
      doneText={t('subnet.saved')}
      onClose={onClose}
      onSubmit={({ name, description, ...values }) => {
        const { gateway, pools, ...rest } = settingsOf({ ...before, ...values })
        // A gateway or pools that are in use cannot even be set to what they are.
        return update.mutateAsync({
          params: { cloud_id: cloudId, id: subnet.id },
          body: {
            name,
            description,
            ...rest,
            ...(gateway !== undefined && gateway !== subnet.gateway && { gateway }),
            ...(pools !== undefined && values.pools !== before.pools && { pools }),
          },
        })
      }}
    >
      <Form.Item name="name" label={t('column.name')} {...field(fields.name)}>
        <Input autoFocus maxLength={255} />
      </Form.Item>
      <SubnetFields fixed />
      <DescriptionField schema={fields.description} />
    </FormDialog>
  )
}
