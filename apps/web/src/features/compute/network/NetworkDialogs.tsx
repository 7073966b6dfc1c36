import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { computeNetworks, computeSubnets, type ComputeNetwork, type ComputeSubnet } from '@zhisuan/contract/compute/network'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { NumberField } from '../../../kit/NumberField.tsx'
import { CheckField, SwitchField, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { invalidatedByNetwork } from './networkText.ts'
import { noSubnet, settingsOf, SubnetFields, valuesOf, type SubnetValues } from './SubnetFields.tsx'
import '../compute.css'

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
export function NetworkCreate({ cloudId, onClose }: Dialog<{ cloudId: string }>) {
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
      <SwitchField name="withSubnet" label={t('field.withSubnet')} extra={t('field.withSubnetNote')} />
      {withSubnet && (
        <fieldset className="cp-part">
          <legend>{t('subnet.first')}</legend>
          <TextField name={['subnet', 'name']} label={t('field.subnetName')} schema={computeSubnets.create.body.shape.name} />
          <SubnetFields at={['subnet']} />
        </fieldset>
      )}
      <SwitchField name="port_security" label={t('column.portSecurity')} extra={t('field.portSecurityNote')} />
      <NumberField name="mtu" label={t('column.mtu')} extra={t('field.mtuNote')} schema={shape.mtu} />
      {platform && (
        <fieldset className="cp-part">
          <legend>{t('field.platform')}</legend>
          <CheckField name="shared" text={t('network.shared')} extra={t('field.sharedNote')} />
          <CheckField name="external" text={t('network.external')} extra={t('field.externalNote')} />
          <Form.Item name="provider_type" label={t('column.providerType')} extra={t('field.providerNote')}>
            <Select allowClear placeholder={t('field.providerAny')} options={provider.type.options.map((value) => ({ value, label: value.toUpperCase() }))} />
          </Form.Item>
          <TextField name="physical_network" label={t('column.physicalNetwork')} schema={provider.physical_network} />
          <NumberField name="segmentation_id" label={t('column.segmentation')} schema={provider.segmentation_id} />
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
export function NetworkEdit({ cloudId, network, onClose }: Dialog<{ cloudId: string; network: ComputeNetwork }>) {
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
      <TextField name="name" label={t('column.name')} schema={changes.name.unwrap()} autoFocus />
      <DescriptionField schema={changes.description} />
      <SwitchField name="enabled" label={t('column.enabled')} extra={t('field.enabledNote')} />
      <SwitchField name="port_security" label={t('column.portSecurity')} extra={t('field.portSecurityNote')} />
      <NumberField name="mtu" label={t('column.mtu')} schema={changes.mtu} />
      {platform && (
        <>
          <CheckField name="shared" text={t('network.shared')} extra={t('field.sharedNote')} />
          <CheckField name="external" text={t('network.external')} extra={t('field.externalNote')} />
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
export function SubnetCreate({ cloudId, network, onClose }: Dialog<{ cloudId: string; network: ComputeNetwork }>) {
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
      <TextField name="name" label={t('column.name')} schema={fields.name} autoFocus />
      <SubnetFields />
      <DescriptionField schema={fields.description} />
    </FormDialog>
  )
}

export function SubnetEdit({ cloudId, subnet, onClose }: Dialog<{ cloudId: string; subnet: ComputeSubnet }>) {
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
      <TextField name="name" label={t('column.name')} schema={fields.name} autoFocus />
      <SubnetFields fixed />
      <DescriptionField schema={fields.description} />
    </FormDialog>
  )
}
