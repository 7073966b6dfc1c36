import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Radio from 'antd/es/radio'
import {
  firewallActions,
  firewallProtocols,
  firewallRuleProblems,
  firewallRules,
  hasPorts,
  ipVersions,
  opensAll,
  type FirewallMatch,
  type FirewallRule,
} from '@zhisuan/contract/compute/firewall'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { SelectField } from '../../../kit/SelectField.tsx'
import { CheckField, Field, RadioField, SwitchField, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { refusing } from '../../../kit/rules.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { differing, invalidatedByFirewall } from './firewallText.ts'

type Side = 'source' | 'destination'
type Values = Pick<FirewallRule, 'name' | 'description' | 'action' | 'version' | 'enabled' | 'shared'> & { protocol: string; project_id?: string } & Record<
    `${Side}_${'address' | 'port'}`,
    string
  >

const blank: Values = {
  name: '',
  description: '',
  action: 'allow',
  protocol: 'tcp',
  version: 4,
  source_address: '',
  source_port: '',
  destination_address: '',
  destination_port: '',
  enabled: true,
  shared: false,
}
const any = 'any'
const said = (text: string | undefined): string | null => (text === undefined || text.trim() === '' ? null : text.trim())
const shape = firewallRules.update.body.shape

/** What stands in the form, as the rule that it makes: ports of a protocol without them are not meant. */
function matchOf(values: Values): FirewallMatch {
  const protocol = values.protocol === any ? null : values.protocol
  const port = (text: string | undefined): string | null => (hasPorts(protocol) ? said(text) : null)
  return {
    action: values.action,
    version: values.version,
    enabled: values.enabled,
    protocol,
    source_address: said(values.source_address),
    source_port: port(values.source_port),
    destination_address: said(values.destination_address),
    destination_port: port(values.destination_port),
  }
}

/** Makes a rule, or changes one: only what was changed is sent. */
export function RuleDialog({ cloudId, rule, onClose }: Dialog<{ cloudId: string; rule: FirewallRule | null }>) {
  const { t } = useTranslation('computeFirewall')
  const platform = useIsPlatform()
  const [form] = Form.useForm<Values>()
  const initial: Values =
    rule === null
      ? blank
      : {
          ...rule,
          protocol: rule.protocol ?? any,
          source_address: rule.source_address ?? '',
          source_port: rule.source_port ?? '',
          destination_address: rule.destination_address ?? '',
          destination_port: rule.destination_port ?? '',
        }
  const values: Values = { ...initial, ...Form.useWatch([], form) }
  const create = useChange(firewallRules.create, { invalidates: invalidatedByFirewall, silent: true })
  const update = useChange(firewallRules.update, { invalidates: invalidatedByFirewall, silent: true })
  const submit = (typed: Values): Promise<unknown> => {
    const { protocol, ...match } = matchOf({ ...initial, ...typed })
    const known = firewallProtocols.find((one) => one === protocol)
    const about = { name: typed.name, description: typed.description }
    if (rule === null)
      return create.mutateAsync({
        params: { cloud_id: cloudId },
        body: { ...about, ...match, protocol: known ?? null, project_id: typed.project_id ?? null, ...(platform && { shared: typed.shared }) },
      })
    const { name, description, action, version, enabled, source_address, source_port, destination_address, destination_port, shared } = rule
    const changes = differing(
      { name, description, action, version, enabled, source_address, source_port, destination_address, destination_port, shared },
      { ...about, ...match, shared: platform ? typed.shared : shared },
    )
    return update.mutateAsync({
      params: { cloud_id: cloudId, id: rule.id },
      body: { ...changes, ...(protocol !== rule.protocol && { protocol: known ?? null }) },
    })
  }
  // Beside its own field, as the server would say it.
  const fitting = (name: `${Side}_address`) =>
    refusing(() => firewallRuleProblems(matchOf({ ...initial, ...form.getFieldsValue() })).find((one) => one.field === name)?.message)
  const protocols: { value: string; label: string }[] = [
    ...firewallProtocols.map((value) => ({ value, label: t(`protocol.${value}`) })),
    { value: any, label: t('any') },
  ]
  if (rule !== null && rule.protocol !== null && !protocols.some(({ value }) => value === rule.protocol))
    protocols.push({ value: rule.protocol, label: rule.protocol.toUpperCase() })
  const side = (which: Side) => (
    <div className="zs-two">
      <Field
        name={`${which}_address`}
        label={t('field.address', { side: t(`field.${which}`) })}
        extra={t('field.addressNote')}
        dependencies={['version']}
        schema={shape[`${which}_address`]}
        required={false}
        rules={[fitting(`${which}_address`)]}
      >
        <Input className="zs-code" placeholder={values.version === 6 ? '2001:db8::/64' : '10.1.0.0/24'} />
      </Field>
      {hasPorts(values.protocol) && (
        <Field
          name={`${which}_port`}
          label={t('field.port', { side: t(`field.${which}`) })}
          extra={t('field.portNote')}
          schema={shape[`${which}_port`]}
          required={false}
        >
          <Input className="zs-code" placeholder="443" />
        </Field>
      )}
    </div>
  )
  return (
    <FormDialog<Values>
      form={form}
      title={rule === null ? t('rule.create') : t('rule.editTitle', { name: rule.name })}
      okText={rule === null ? t('rule.create') : t('save')}
      width={640}
      initialValues={initial}
      doneText={rule === null ? t('rule.created', { name: values.name }) : t('saved', { name: values.name })}
      onClose={onClose}
      onSubmit={submit}
    >
      {rule !== null && rule.policy_ids.length > 0 && (
        <Alert className="zs-above" type="info" showIcon title={t('rule.inUseNote', { count: rule.policy_ids.length })} />
      )}
      {rule === null ? (
        <>
          <NameField schema={firewallRules.create.body.shape.name} />
          <ProjectField />
        </>
      ) : (
        <TextField name="name" label={t('column.name')} schema={shape.name.unwrap()} autoFocus />
      )}
      <Form.Item name="action" label={t('column.action')} extra={t('actionNote')}>
        <Radio.Group optionType="button" options={firewallActions.map((value) => ({ value, label: t(`action.${value}`) }))} />
      </Form.Item>
      <div className="zs-two">
        <RadioField name="version" label={t('column.version')} optionType="button" values={ipVersions} labelOf={(value) => `IPv${value}`} />
        <SelectField<string> name="protocol" label={t('column.protocol')} options={protocols} />
      </div>
      {side('source')}
      {side('destination')}
      {opensAll(matchOf(values)) && (
        <Alert
          className="zs-above"
          type="warning"
          showIcon
          role="alert"
          title={t('rule.opensTitle', { version: values.version })}
          description={t('rule.opensBody')}
        />
      )}
      <SwitchField name="enabled" label={t('field.ruleEnabled')} extra={t('field.ruleEnabledNote')} />
      {platform && <CheckField name="shared" text={t('shared')} extra={t('sharedNote')} />}
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
