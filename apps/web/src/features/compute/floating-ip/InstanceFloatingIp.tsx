import Form from 'antd/es/form'
import { computeFloatingIps } from '@zhisuan/contract/compute/floating-ip'
import type { ComputeInstance } from '@zhisuan/contract/compute/instance'
import { useEffect } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { SelectField } from '../../../kit/SelectField.tsx'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { plainEipItems } from '../../../kit/price/items.ts'
import { NewPrice } from '../../../kit/price/NewPrice.tsx'
import { FailedServices } from '../../../kit/FailedServices.tsx'
import { useCloudLines } from '../CloudTable.tsx'
import { useOwner } from '../tenancy/useOwner.ts'
import { Choice } from './FloatingIpDialogs.tsx'
import { fixedOf, isTarget, sourcesOf, invalidatedByFloatingIp } from './floatingIpRules.ts'
import { useGround } from './useGround.ts'

interface Of {
  readonly cloudId: string
  readonly instance: Pick<ComputeInstance, 'id' | 'name' | 'keystone_project_id'>
  /** Only of this port. */
  readonly portId?: string
  readonly onClose: () => void
}
interface BindValues {
  /** The port, and which of its addresses. */
  port_id?: string
  /** `ip` and the id of what is there, or `network` and where a new one comes from. */
  source?: string
}

/** Leads a floating IP to an instance: one that is free, or one that is allocated for it. */
export function InstanceFloatingBind({ cloudId, instance, portId, onClose }: Of) {
  const { t } = useTranslation('computeFloatingIp')
  const [form] = Form.useForm<BindValues>()
  const options = { invalidates: invalidatedByFloatingIp, silent: true } as const
  const bind = useChange(computeFloatingIps.bind, options)
  const allocate = useChange(computeFloatingIps.allocate, options)
  const { ground, name, loading, error, failed, again } = useGround(cloudId)
  const ports = ground.ports.filter(
    (port) => port.device_id === instance.id && isTarget(instance.keystone_project_id)(port) && (portId === undefined || port.id === portId),
  )
  const targets = ports.flatMap((port) => fixedOf(port).map(({ address }) => ({ port, address, value: `${port.id} ${address}` })))
  const chosen = Form.useWatch('port_id', form)
  const fresh = Form.useWatch('source', form)?.startsWith('network ') === true
  const owner = useOwner(cloudId, instance.keystone_project_id)
  const target = targets.find(({ value }) => value === chosen)
  const first = loading ? undefined : targets[0]?.value
  useEffect(() => {
    if (first !== undefined && form.getFieldValue('port_id') === undefined) form.setFieldValue('port_id', first)
  }, [form, first])
  const sources: ReturnType<typeof sourcesOf> = target === undefined ? { free: [], fresh: [] } : sourcesOf(ground, target.port, target.address)
  const why = (reached: boolean, networkId: string): string => (reached ? '' : t('why.unreachedFrom', { network: name(networkId) }))
  const groups = [
    {
      label: t('field.ipFree'),
      options: sources.free.map(({ ip, reached }) => ({
        value: `ip ${ip.id}`,
        disabled: !reached,
        title: `${ip.address} ${ip.description} ${name(ip.network_id)}`,
        label: <Choice name={name(ip.network_id)} code={ip.address} note={why(reached, ip.network_id) || ip.description} />,
      })),
    },
    {
      label: t('field.ipNew'),
      options: sources.fresh.map(({ network, reached }) => ({
        value: `network ${network.id}`,
        disabled: !reached,
        title: name(network.id),
        label: <Choice name={t('field.ipFrom', { network: name(network.id) })} code="" note={why(reached, network.id)} />,
      })),
    },
  ].filter((group) => group.options.length > 0)
  const submit = ({ port_id: wanted = '', source = '' }: BindValues): Promise<unknown> => {
    const [port_id = '', fixed_address = ''] = wanted.split(' ')
    const [kind, id = ''] = source.split(' ')
    const params = { cloud_id: cloudId }
    if (kind === 'ip') return bind.mutateAsync({ params: { ...params, id }, body: { port_id, fixed_address } })
    return allocate.mutateAsync({ params, body: { network_id: id, port_id, fixed_address } })
  }
  return (
    <FormDialog<BindValues>
      form={form}
      title={t('bindInstance', { name: instance.name })}
      okText={t('bind')}
      initialValues={{}}
      doneText={t('boundNew')}
      onClose={onClose}
      onSubmit={submit}
    >
      {error !== null && <ErrorPanel error={error} onRetry={again} />}
      <FailedServices failed={failed} onRetry={again} />
      <SelectField<string>
        name="port_id"
        label={t('field.own')}
        missing={t('field.ownRequired')}
        loading={loading}
        notFoundContent={loading ? null : t('noFixed')}
        onChange={() => form.resetFields(['source'])}
        options={loading ? [] : targets.map(({ port, address, value }) => ({ value, label: <Choice name={name(port.network_id)} code={address} note="" /> }))}
      />
      <SelectField<string>
        name="source"
        label={t('field.ip')}
        missing={t('field.ipRequired')}
        showSearch={{ optionFilterProp: 'title' }}
        loading={loading}
        placeholder={t('field.ipChoose')}
        notFoundContent={loading ? null : t('field.ipNone')}
        options={loading ? [] : groups}
      />
      {fresh && <NewPrice items={plainEipItems} bpId={owner} />}
    </FormDialog>
  )
}

interface UnbindValues {
  ip?: string
}
/** Takes a floating IP from an instance. */
export function InstanceFloatingUnbind({ cloudId, instance, portId, onClose }: Of) {
  const { t } = useTranslation('computeFloatingIp')
  const [form] = Form.useForm<UnbindValues>()
  const unbind = useChange(computeFloatingIps.unbind, { invalidates: invalidatedByFloatingIp, silent: true })
  const { data, error, refetch } = useCloudLines(computeFloatingIps.list, cloudId)
  const ips = (data?.items ?? []).filter(({ bound_to }) => bound_to?.instance_id === instance.id && (portId === undefined || bound_to.port_id === portId))
  const wanted = Form.useWatch('ip', form)
  const chosen = ips.find(({ id }) => id === wanted)
  const first = data?.done === true ? ips[0]?.id : undefined
  useEffect(() => {
    if (first !== undefined && form.getFieldValue('ip') === undefined) form.setFieldValue('ip', first)
  }, [form, first])
  return (
    <FormDialog<UnbindValues>
      form={form}
      title={t('unbindInstance', { name: instance.name })}
      okText={t('unbind')}
      initialValues={{}}
      doneText={t('unbound', { address: chosen?.address ?? '' })}
      onClose={onClose}
      onSubmit={({ ip = '' }) =>
        unbind.mutateAsync({ params: { cloud_id: cloudId, id: ip }, body: { from_port_id: ips.find(({ id }) => id === ip)?.bound_to?.port_id ?? '' } })
      }
    >
      {error !== null && data === undefined && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      <p>{t('unbindInstanceBody')}</p>
      <SelectField<string>
        name="ip"
        label={t('field.ip')}
        missing={t('field.ipRequired')}
        loading={data?.done !== true && error === null}
        notFoundContent={data?.done === true ? t('noFloating') : null}
        options={ips.map(({ id, address, bound_to }) => ({
          value: id,
          label: <Choice name={address} code={`→ ${bound_to?.fixed_address ?? ''}`} note="" />,
        }))}
      />
    </FormDialog>
  )
}
