import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { eipPools, eips, type Eip } from '@zhisuan/contract/nextstack/eip'
import { natGateways } from '@zhisuan/contract/nextstack/nat'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { Field, RadioField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { eipItems } from '../../../kit/price/items.ts'
import { PriceChange } from '../../../kit/price/Price.tsx'
import { BandwidthField } from './BandwidthField.tsx'
import { invalidatedByEip } from './eipRules.ts'
import './network.css'

interface BindValues {
  kind: 'vm' | 'nat'
  target_id: string
}

/** Leads an outside address to an instance, or gives it to a NAT gateway. */
export function EipBind({ eip, onClose }: Dialog<{ eip: Eip }>) {
  const { t } = useTranslation('network')
  const [form] = Form.useForm<BindValues>()
  const kind = Form.useWatch('kind', form) ?? 'vm'
  const bind = useChange(eips.bind, { invalidates: invalidatedByEip, silent: true })
  const query = { cloud_id: eip.cloud_id, page_size: 1000, sort: 'name' } as const
  const instances = useCall(vms.list, { query }, { enabled: kind === 'vm' })
  const gateways = useCall(natGateways.list, { query }, { enabled: kind === 'nat' })
  const options =
    kind === 'vm'
      ? (instances.data?.items ?? [])
          .filter((vm) => vm.bp_id === eip.bp_id && vm.vpc !== null && vm.eip === null)
          .map((vm) => ({ value: vm.id, label: `${vm.name}（${vm.vpc?.name ?? ''}）` }))
      : (gateways.data?.items ?? []).filter((nat) => nat.bp_id === eip.bp_id).map((nat) => ({ value: nat.id, label: `${nat.name}（${nat.vpc.name}）` }))
  return (
    <FormDialog<BindValues>
      form={form}
      title={t('eip.bindTitle', { address: eip.address })}
      okText={t('eip.bindOk')}
      initialValues={{ kind: 'vm' }}
      doneText={t('eip.bound', { address: eip.address })}
      onClose={onClose}
      onSubmit={(body) => bind.mutateAsync({ params: { id: eip.id }, body })}
    >
      <RadioField
        name="kind"
        label={t('eip.bindKind')}
        optionType="button"
        onChange={() => form.resetFields(['target_id'])}
        options={[
          { value: 'vm', label: t('eip.bindVm') },
          { value: 'nat', label: t('eip.bindNat') },
        ]}
      />
      <Field name="target_id" label={t(`eip.kind.${kind}`)} {...(kind === 'vm' && { extra: t('eip.bindVmNote') })} missing={t('eip.bindKind')}>
        <Select showSearch={{ optionFilterProp: 'label' }} loading={kind === 'vm' ? instances.isPending : gateways.isPending} options={options} />
      </Field>
    </FormDialog>
  )
}

interface EditValues {
  name: string
  description: string
  bandwidth_mbps: number | null
}

/** Changes what an outside address is called, and how much goes through it. */
export function EipEdit({ eip, onClose }: Dialog<{ eip: Eip }>) {
  const { t } = useTranslation('network')
  const update = useChange(eips.update, { invalidates: invalidatedByEip, silent: true })
  const [form] = Form.useForm<EditValues>()
  const bandwidth = Form.useWatch('bandwidth_mbps', form)
  const { shape } = eips.update.body
  const pools = useCall(eipPools.list, { query: { cloud_id: eip.cloud_id, page_size: 1000, sort: 'name' } }, { silent: true }).data?.items
  return (
    <FormDialog<EditValues>
      form={form}
      title={t('eip.editTitle', { address: eip.address })}
      okText={t('eip.save')}
      initialValues={{ name: eip.name, description: eip.description, bandwidth_mbps: eip.bandwidth_mbps }}
      doneText={t('eip.saved')}
      onClose={onClose}
      onSubmit={({ bandwidth_mbps, ...body }) => update.mutateAsync({ params: { id: eip.id }, body: { ...body, bandwidth_mbps: bandwidth_mbps ?? null } })}
    >
      <NameField schema={shape.name} />
      <BandwidthField
        schema={shape.bandwidth_mbps}
        bpId={eip.bp_id}
        pool={pools?.find(({ id }) => id === eip.pool.id)}
        limits={eip.limits_bandwidth}
        free={eip.bandwidth_mbps === null}
      />
      {bandwidth !== undefined && bandwidth !== null && bandwidth !== eip.bandwidth_mbps && (
        <PriceChange now={eipItems(eip)} then={eipItems({ ...eip, bandwidth_mbps: bandwidth })} bpId={eip.bp_id} />
      )}
      <DescriptionField schema={shape.description} rows={3} />
    </FormDialog>
  )
}
