import Form from 'antd/es/form'
import { firewallGroups, firewallPolicies, type FirewallGroup, type FirewallPolicy } from '@zhisuan/contract/compute/firewall'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { CheckField, SwitchField, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import { LineSelect } from '../network/LineSelect.tsx'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { called, differing, invalidatedByFirewall } from './firewallText.ts'
import { PortSelect } from './PortSelect.tsx'

interface Values {
  name: string
  description: string
  project_id?: string
  enabled: boolean
  shared: boolean
  ingress_policy_id?: string | undefined
  egress_policy_id?: string | undefined
  port_ids: string[]
}

/** Makes a firewall, with its ports or without. */
export function GroupCreate({ cloudId, onClose }: Dialog<{ cloudId: string }>) {
  const { t } = useTranslation('computeFirewall')
  const platform = useIsPlatform()
  const [form] = Form.useForm<Values>()
  const name = Form.useWatch('name', form) ?? ''
  const create = useChange(firewallGroups.create, { invalidates: invalidatedByFirewall, silent: true })
  const { shape } = firewallGroups.create.body
  return (
    <FormDialog<Values>
      form={form}
      title={t('group.create')}
      okText={t('group.create')}
      width={600}
      initialValues={{ name: '', description: '', enabled: true, shared: false, port_ids: [] }}
      doneText={t('group.created', { name })}
      onClose={onClose}
      onSubmit={({ shared, ingress_policy_id = null, egress_policy_id = null, project_id = null, ...values }) =>
        create.mutateAsync({ params: { cloud_id: cloudId }, body: { ...values, ingress_policy_id, egress_policy_id, project_id, ...(platform && { shared }) } })
      }
    >
      <NameField schema={shape.name} />
      <ProjectField />
      <GroupFields cloudId={cloudId} platform={platform} />
      <Form.Item name="port_ids" label={t('field.ports')} extra={t('field.portsNote')}>
        <PortSelect cloudId={cloudId} />
      </Form.Item>
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}

type EditValues = Omit<Values, 'port_ids' | 'project_id'>
/** Changes a firewall; only what was changed is sent. Its ports are changed by themselves. */
export function GroupEdit({ cloudId, group, onClose }: Dialog<{ cloudId: string; group: FirewallGroup }>) {
  const { t } = useTranslation('computeFirewall')
  const platform = useIsPlatform()
  const update = useChange(firewallGroups.update, { invalidates: invalidatedByFirewall, silent: true })
  const { name, description, enabled, shared, ingress_policy_id, egress_policy_id } = group
  const { shape } = firewallGroups.update.body
  const submit = (values: EditValues): Promise<unknown> => {
    const before = { name, description, enabled, shared, ingress_policy_id, egress_policy_id }
    // A policy that was cleared is none.
    const after = {
      name: values.name,
      description: values.description,
      enabled: values.enabled,
      shared: platform ? values.shared : shared,
      ingress_policy_id: values.ingress_policy_id ?? null,
      egress_policy_id: values.egress_policy_id ?? null,
    }
    return update.mutateAsync({ params: { cloud_id: cloudId, id: group.id }, body: differing(before, after) })
  }
  return (
    <FormDialog<EditValues>
      title={t('group.editTitle', { name: called(group) })}
      okText={t('save')}
      width={600}
      initialValues={{
        name,
        description,
        enabled,
        shared,
        ...(ingress_policy_id !== null && { ingress_policy_id }),
        ...(egress_policy_id !== null && { egress_policy_id }),
      }}
      doneText={t('saved', { name: called(group) })}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField name="name" label={t('column.name')} schema={shape.name.unwrap()} autoFocus />
      <GroupFields cloudId={cloudId} platform={platform} />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}

function GroupFields({ cloudId, platform }: { readonly cloudId: string; readonly platform: boolean }) {
  const { t } = useTranslation('computeFirewall')
  const options = (policies: readonly FirewallPolicy[]) => policies.map((policy) => ({ value: policy.id, label: called(policy) }))
  return (
    <>
      {(['ingress', 'egress'] as const).map((way) => (
        <Form.Item key={way} name={`${way}_policy_id`} label={t(`column.${way}`)} extra={way === 'egress' && t('field.policyNote')}>
          <LineSelect call={firewallPolicies.list} cloudId={cloudId} label={t(`column.${way}`)} placeholder={t('field.policyNone')} options={options} />
        </Form.Item>
      ))}
      <SwitchField name="enabled" label={t('column.switch')} extra={t('field.enabledNote')} />
      {platform && <CheckField name="shared" text={t('shared')} extra={t('sharedNote')} />}
    </>
  )
}

/** Puts further ports under a firewall. */
export function PortsAdd({ cloudId, group, onClose }: Dialog<{ cloudId: string; group: FirewallGroup }>) {
  const { t } = useTranslation('computeFirewall')
  const add = useChange(firewallGroups.addPorts, { invalidates: invalidatedByFirewall, silent: true })
  return (
    <FormDialog<{ port_ids: string[] }>
      title={t('group.addPortsTitle', { name: called(group) })}
      okText={t('group.addPorts')}
      width={600}
      initialValues={{ port_ids: [] }}
      doneText={t('group.portsAdded', { name: called(group) })}
      onClose={onClose}
      onSubmit={({ port_ids }) => add.mutateAsync({ params: { cloud_id: cloudId, id: group.id }, body: { port_ids } })}
    >
      <Form.Item
        name="port_ids"
        label={t('field.ports')}
        extra={t('field.portsNote')}
        required
        rules={[{ required: true, type: 'array', min: 1, message: t('field.portsRequired') }]}
      >
        <PortSelect cloudId={cloudId} project={group.keystone_project_id} />
      </Form.Item>
    </FormDialog>
  )
}
