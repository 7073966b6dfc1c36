import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Select from 'antd/es/select'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { eips } from '@zhisuan/contract/nextstack/eip'
import { natGateways, type NatGateway } from '@zhisuan/contract/nextstack/nat'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { vpcs } from '@zhisuan/contract/nextstack/vpc'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { SelectField } from '../../../kit/SelectField.tsx'
import { Field, SwitchField, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { invalidatedByNat } from './natRules.ts'

interface Values {
  name: string
  description: string
  vpc_id: string
  snat: boolean
  snat_eip_id: string | null
}

/** Gives a private network a NAT gateway. */
export function NatCreate({ cloud, onClose }: Dialog<{ cloud: CloudBasic }>) {
  const { t } = useTranslation('network')
  const [form] = Form.useForm<Values>()
  const name = Form.useWatch('name', form) ?? ''
  const create = useChange(natGateways.create, { invalidates: invalidatedByNat, silent: true })
  const { data, isPending } = useCall(vpcs.list, { query: { cloud_id: cloud.cloud_id, page_size: 1000, sort: 'name' } })
  const without = (data?.items ?? []).filter((vpc) => vpc.nat === null)
  return (
    <FormDialog<Values>
      form={form}
      title={t('nat.create')}
      okText={t('nat.createOk')}
      initialValues={{ name: '', description: '', snat: true }}
      doneText={t('nat.created', { name })}
      onClose={onClose}
      onSubmit={(body) => create.mutateAsync({ body: { ...body, snat_eip_id: null } })}
    >
      <NameField schema={natGateways.create.body.shape.name} />
      <Field name="vpc_id" label={t('nat.vpc')} missing={t('nat.vpcPlaceholder')}>
        <Select
          loading={isPending}
          placeholder={t('nat.vpcPlaceholder')}
          options={without.map((vpc) => ({ value: vpc.id, label: `${vpc.name}（${vpc.cidr}）` }))}
          showSearch={{ optionFilterProp: 'label' }}
        />
      </Field>
      <SwitchField name="snat" label={t('field.snat')} />
      <DescriptionField schema={natGateways.create.body.shape.description} />
    </FormDialog>
  )
}

/** Changes what a gateway is called, and how instances get out. */
export function NatEdit({ nat, onClose }: Dialog<{ nat: NatGateway }>) {
  const { t } = useTranslation('network')
  const [form] = Form.useForm<Values>()
  const snat = Form.useWatch('snat', form) ?? nat.snat
  const update = useChange(natGateways.update, { invalidates: invalidatedByNat, silent: true })
  const usable = useEipsOf(nat).filter((eip) => eip.status === 'available' || eip.bound_to?.id === nat.id)
  const { shape } = natGateways.update.body
  return (
    <FormDialog<Values>
      form={form}
      title={t('nat.editTitle', { name: nat.name })}
      okText={t('nat.save')}
      initialValues={{ name: nat.name, description: nat.description, snat: nat.snat, snat_eip_id: nat.snat_eip?.id ?? null }}
      doneText={t('nat.saved')}
      onClose={onClose}
      onSubmit={({ snat_eip_id, ...body }) =>
        update.mutateAsync({ params: { id: nat.id }, body: { ...body, snat_eip_id: body.snat ? (snat_eip_id ?? null) : null } })
      }
    >
      <NameField schema={shape.name} />
      <SwitchField name="snat" label={t('field.snat')} />
      {snat && (
        <Form.Item name="snat_eip_id" label={t('nat.snatEip')} extra={t('nat.snatEipNote')}>
          <Select allowClear placeholder={t('nat.snatHost')} options={usable.map(({ id, address }) => ({ value: id, label: address }))} />
        </Form.Item>
      )}
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}

interface RuleValues {
  eip_id: string
  protocol: 'tcp' | 'udp'
  outside_ports: string
  vm_id: string
  inside_ports: string
  description: string
}

/** Leads ports of an outside address to an instance. */
export function DnatAdd({ nat, onClose }: Dialog<{ nat: NatGateway }>) {
  const { t } = useTranslation('network')
  const add = useChange(natGateways.addRule, { invalidates: invalidatedByNat, silent: true })
  const bound = useEipsOf(nat).filter((eip) => eip.bound_to?.id === nat.id)
  const { data, isPending } = useCall(vms.list, { query: { vpc_id: nat.vpc.id, page_size: 1000, sort: 'name' } })
  const { shape } = natGateways.addRule.body
  return (
    <FormDialog<RuleValues>
      title={t('dnat.add')}
      okText={t('dnat.addOk')}
      initialValues={{ protocol: 'tcp', outside_ports: '', inside_ports: '', description: '', ...(bound.length === 1 && { eip_id: bound[0]?.id ?? '' }) }}
      doneText={t('dnat.added')}
      onClose={onClose}
      onSubmit={({ inside_ports, ...body }) =>
        add.mutateAsync({ params: { id: nat.id }, body: { ...body, inside_ports: inside_ports === '' ? null : inside_ports } })
      }
    >
      <Field name="eip_id" label={t('dnat.eip')} extra={bound.length === 0 ? t('dnat.noEip') : t('dnat.eipNote')} missing={t('dnat.eipNote')}>
        <Select options={bound.map(({ id, address }) => ({ value: id, label: address }))} />
      </Field>
      <SelectField name="protocol" label={t('dnat.protocol')} values={['tcp', 'udp'] as const} labelOf={(value) => t(`rule.${value}`)} />
      <Field name="outside_ports" label={t('dnat.outside')} extra={t('dnat.outsideNote')} schema={shape.outside_ports}>
        <Input className="zs-code" placeholder="80" />
      </Field>
      <Field name="vm_id" label={t('dnat.target')} missing={t('dnat.target')}>
        <Select loading={isPending} showSearch={{ optionFilterProp: 'label' }} options={(data?.items ?? []).map((vm) => ({ value: vm.id, label: vm.name }))} />
      </Field>
      <Field name="inside_ports" label={t('dnat.insidePorts')} extra={t('dnat.insidePortsNote')} schema={shape.outside_ports.optional()}>
        <Input className="zs-code" />
      </Field>
      <TextField name="description" label={t('dnat.description')} schema={shape.description} />
    </FormDialog>
  )
}

/** Outside addresses of the gateway's organisation on its cloud. */
function useEipsOf(nat: NatGateway) {
  const { data } = useCall(eips.list, { query: { cloud_id: nat.cloud_id, page_size: 1000, sort: 'address' } })
  return (data?.items ?? []).filter((eip) => eip.bp_id === nat.bp_id)
}
