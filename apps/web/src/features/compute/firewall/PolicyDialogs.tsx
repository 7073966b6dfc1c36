import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { firewallPolicies, firewallRules, type FirewallPolicy, type FirewallRule } from '@zhisuan/contract/compute/firewall'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { CheckField, Field, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import { LineSelect, LineSelects } from '../network/LineSelect.tsx'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { called, differing, ruleText, invalidatedByFirewall } from './firewallText.ts'

interface Values {
  name: string
  description: string
  project_id?: string
  audited: boolean
  shared: boolean
  rule_ids: string[]
}
const useRuleChoice = () => {
  const { t } = useTranslation('computeFirewall')
  return (rules: readonly FirewallRule[]) =>
    rules.map((rule) => ({ value: rule.id, label: `${called(rule)} · ${t(`action.${rule.action}`)} ${ruleText(t, rule)}` }))
}

/** Makes a policy of rules in the order in which they were chosen. */
export function PolicyCreate({ cloudId, onClose }: Dialog<{ cloudId: string }>) {
  const { t } = useTranslation('computeFirewall')
  const platform = useIsPlatform()
  const choice = useRuleChoice()
  const [form] = Form.useForm<Values>()
  const name = Form.useWatch('name', form) ?? ''
  const create = useChange(firewallPolicies.create, { invalidates: invalidatedByFirewall, silent: true })
  const { shape } = firewallPolicies.create.body
  return (
    <FormDialog<Values>
      form={form}
      title={t('policy.create')}
      okText={t('policy.create')}
      width={600}
      initialValues={{ name: '', description: '', audited: false, shared: false, rule_ids: [] }}
      doneText={t('policy.created', { name })}
      onClose={onClose}
      onSubmit={({ shared, project_id = null, ...values }) =>
        create.mutateAsync({ params: { cloud_id: cloudId }, body: { ...values, project_id, ...(platform && { shared }) } })
      }
    >
      <NameField schema={shape.name} />
      <ProjectField />
      <Form.Item name="rule_ids" label={t('field.rules')} extra={t('field.rulesNote')}>
        <LineSelects call={firewallRules.list} cloudId={cloudId} label={t('field.rules')} options={choice} />
      </Form.Item>
      <Flags platform={platform} />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}

type EditValues = Omit<Values, 'rule_ids' | 'project_id'>
/** Changes what is said of a policy; whether it is audited is always said, since the cloud takes it back else. */
export function PolicyEdit({ cloudId, policy, onClose }: Dialog<{ cloudId: string; policy: FirewallPolicy }>) {
  const { t } = useTranslation('computeFirewall')
  const platform = useIsPlatform()
  const update = useChange(firewallPolicies.update, { invalidates: invalidatedByFirewall, silent: true })
  const { name, description, audited, shared } = policy
  const { shape } = firewallPolicies.update.body
  return (
    <FormDialog<EditValues>
      title={t('policy.editTitle', { name: called(policy) })}
      okText={t('save')}
      initialValues={{ name, description, audited, shared }}
      doneText={t('saved', { name: called(policy) })}
      onClose={onClose}
      onSubmit={(values) =>
        update.mutateAsync({
          params: { cloud_id: cloudId, id: policy.id },
          body: {
            ...differing({ name, description, shared }, { name: values.name, description: values.description, shared: platform ? values.shared : shared }),
            audited: values.audited,
          },
        })
      }
    >
      <TextField name="name" label={t('column.name')} schema={shape.name.unwrap()} autoFocus />
      <Flags platform={platform} />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}

function Flags({ platform }: { readonly platform: boolean }) {
  const { t } = useTranslation('computeFirewall')
  return (
    <>
      <CheckField name="audited" text={t('field.audited')} extra={t('field.auditedNote')} />
      {platform && <CheckField name="shared" text={t('shared')} extra={t('sharedNote')} />}
    </>
  )
}

const first = 'first'
/** Puts a rule into a policy, at a place. */
export function RuleInsert({ cloudId, policy, nameOf, onClose }: Dialog<{ cloudId: string; policy: FirewallPolicy; nameOf: (ruleId: string) => string }>) {
  const { t } = useTranslation('computeFirewall')
  const choice = useRuleChoice()
  const insert = useChange(firewallPolicies.insertRule, { invalidates: invalidatedByFirewall, silent: true })
  return (
    <FormDialog<{ rule_id?: string; place: string }>
      title={t('policy.addRuleTitle', { name: called(policy) })}
      okText={t('policy.addRule')}
      width={600}
      initialValues={{ place: policy.rule_ids.at(-1) ?? first }}
      doneText={t('policy.ruleAdded', { name: called(policy) })}
      onClose={onClose}
      onSubmit={({ rule_id = '', place }) =>
        insert.mutateAsync({ params: { cloud_id: cloudId, id: policy.id }, body: { rule_id, after: place === first ? null : place } })
      }
    >
      <Field name="rule_id" label={t('field.rule')} missing={t('field.ruleRequired')}>
        <LineSelect
          call={firewallRules.list}
          cloudId={cloudId}
          label={t('field.rule')}
          placeholder={t('field.ruleRequired')}
          options={(rules) => choice(rules.filter(({ id }) => !policy.rule_ids.includes(id)))}
        />
      </Field>
      <Form.Item name="place" label={t('field.place')} extra={t('policy.orderFixed')}>
        <Select<string>
          options={[
            { value: first, label: t('field.placeFirst') },
            ...policy.rule_ids.map((id, index) => ({ value: id, label: t('field.placeAfter', { number: index + 1, name: nameOf(id) }) })),
          ]}
        />
      </Form.Item>
    </FormDialog>
  )
}
