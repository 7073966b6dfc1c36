import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { computeFloatingIps, type ComputeFloatingIp } from '@zhisuan/contract/compute/floating-ip'
import { computeNetworks, type ComputeNetwork } from '@zhisuan/contract/compute/network'
import { useEffect } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { NumberField } from '../../../kit/NumberField.tsx'
import { Field, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField } from '../../../kit/NameFields.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import { plainEipItems } from '../../../kit/price/items.ts'
import { LeastBalance } from '../../../kit/price/LeastBalance.tsx'
import { Price } from '../../../kit/price/Price.tsx'
import { useCloudChoices } from '../CloudTable.tsx'
import { FailedServices } from '../../../kit/FailedServices.tsx'
import { LineSelect } from '../network/LineSelect.tsx'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { targetsOf, invalidatedByFloatingIp } from './floatingIpRules.ts'
import { useGround } from './useGround.ts'

const { shape } = computeFloatingIps.allocate.body
const externals = (networks: readonly ComputeNetwork[]) =>
  networks.filter(({ external, enabled }) => external && enabled).map(({ id, name }) => ({ value: id, label: name === '' ? id : name }))

interface AllocateValues {
  network_id?: string
  count: number
  address?: string
  description: string
  project_id?: string
}
/** Takes addresses of an external network: all that are asked for, or none. */
export function FloatingIpAllocate({ cloudId, onClose }: Dialog<{ cloudId: string }>) {
  const { t } = useTranslation(['computeFloatingIp', 'price'])
  const platform = useIsPlatform()
  const [form] = Form.useForm<AllocateValues>()
  const count = Form.useWatch('count', form) ?? 1
  const allocate = useChange(computeFloatingIps.allocate, { invalidates: invalidatedByFloatingIp, silent: true })
  const networks = useCloudChoices(computeNetworks.list, cloudId).data
  const [only, ...others] = networks?.done === true ? externals(networks.items) : []
  const sole = others.length === 0 ? only?.value : undefined
  useEffect(() => {
    if (sole !== undefined && form.getFieldValue('network_id') === undefined) form.setFieldValue('network_id', sole)
  }, [form, sole])
  return (
    <FormDialog<AllocateValues>
      form={form}
      title={t('allocate')}
      okText={t('allocateOk')}
      initialValues={{ count: 1, description: '' }}
      doneText={t('allocated', { count })}
      onClose={onClose}
      onSubmit={({ network_id = '', address, project_id, ...values }) =>
        allocate.mutateAsync({
          params: { cloud_id: cloudId },
          body: {
            ...values,
            network_id,
            project_id: project_id ?? null,
            ...(values.count === 1 && address !== undefined && address.trim() !== '' && { address }),
          },
        })
      }
    >
      <Field name="network_id" label={t('field.network')} missing={t('field.networkRequired')}>
        <LineSelect
          call={computeNetworks.list}
          cloudId={cloudId}
          label={t('field.network')}
          placeholder={t(networks?.done === true && only === undefined ? 'field.networkNone' : 'field.networkChoose')}
          options={externals}
        />
      </Field>
      <NumberField name="count" label={t('field.count')} extra={t('field.countNote')} schema={shape.count} required />
      {platform && count === 1 && <TextField name="address" label={t('field.address')} extra={t('field.addressNote')} schema={shape.address} code />}
      <ProjectField />
      <DescriptionField schema={shape.description} />
      <Form.Item label={t('price:title')}>
        <Price items={plainEipItems} period="hour" times={count} />
        <LeastBalance />
      </Form.Item>
    </FormDialog>
  )
}

interface BindValues {
  /** The port, and which of its addresses: the server names the port where it cannot be. */
  port_id?: string
}
/** Chooses where it leads; what it cannot lead to says why. */
export function FloatingIpBind({ cloudId, ip, name, onClose }: Dialog<{ cloudId: string; ip: ComputeFloatingIp; name: string }>) {
  const { t } = useTranslation('computeFloatingIp')
  const bind = useChange(computeFloatingIps.bind, { invalidates: invalidatedByFloatingIp, silent: true })
  const { ground, name: nameOf, loading, error, failed, again } = useGround(cloudId)
  const options = targetsOf(ground, { networkId: ip.network_id, projectId: ip.keystone_project_id, ip }).map(({ port, address, why }) => {
    const called = port.use === 'instance' ? nameOf(port.device_id) : port.name === '' ? t('unused') : port.name
    const reason = why === null ? '' : why.kind === 'taken' ? t('why.taken', { address: why.by }) : t(`why.${why.kind}`)
    return {
      value: `${port.id} ${address}`,
      disabled: why !== null,
      // What it is found by.
      title: `${called} ${address} ${port.name}`,
      label: <Choice name={called} code={address} note={reason} />,
    }
  })
  return (
    <FormDialog<BindValues>
      title={t(ip.bound_to === null ? 'bindTitle' : 'rebindTitle', { address: ip.address })}
      okText={t(ip.bound_to === null ? 'bind' : 'rebind')}
      initialValues={{}}
      doneText={t('bound', { address: ip.address })}
      onClose={onClose}
      onSubmit={(values) => {
        const [port_id = '', fixed_address = ''] = (values.port_id ?? '').split(' ')
        return bind.mutateAsync({ params: { cloud_id: cloudId, id: ip.id }, body: { port_id, fixed_address, from_port_id: ip.bound_to?.port_id ?? null } })
      }}
    >
      {ip.bound_to !== null && <Alert className="zs-above" type="warning" showIcon title={t('rebindNote', { name })} />}
      {error !== null && <ErrorPanel error={error} onRetry={again} />}
      <FailedServices failed={failed} onRetry={again} />
      <Field name="port_id" label={t('field.target')} extra={t('field.targetNote', { network: nameOf(ip.network_id) })} missing={t('field.targetRequired')}>
        <Select<string>
          aria-label={t('field.target')}
          showSearch={{ optionFilterProp: 'title' }}
          loading={loading}
          placeholder={t('field.targetChoose')}
          notFoundContent={loading ? null : t('field.targetNone')}
          options={loading ? [] : options}
        />
      </Field>
    </FormDialog>
  )
}

/** A name and an address, and why it cannot be chosen. */
export const Choice = ({ name, code, note }: { readonly name: string; readonly code: string; readonly note: string }) => (
  <>
    {name} <span className="zs-code">{code}</span>
    {note !== '' && <div className="zs-name-note">{note}</div>}
  </>
)

export function FloatingIpEdit({ cloudId, ip, onClose }: Dialog<{ cloudId: string; ip: ComputeFloatingIp }>) {
  const { t } = useTranslation('computeFloatingIp')
  const update = useChange(computeFloatingIps.update, { invalidates: invalidatedByFloatingIp, silent: true })
  return (
    <FormDialog<{ description: string }>
      title={t('editTitle', { address: ip.address })}
      okText={t('save')}
      initialValues={{ description: ip.description }}
      doneText={t('saved')}
      onClose={onClose}
      onSubmit={(body) => update.mutateAsync({ params: { cloud_id: cloudId, id: ip.id }, body })}
    >
      <DescriptionField schema={computeFloatingIps.update.body.shape.description} />
    </FormDialog>
  )
}
