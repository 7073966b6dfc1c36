import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Table from 'antd/es/table'
import {
  inOrder,
  ruleActions,
  ruleDirections,
  ruleProtocols,
  securityGroups,
  securityRule,
  type SecurityGroup,
  type SecurityRule,
} from '@zhisuan/contract/nextstack/security-group'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { toApiError, type ApiError } from '../../../api/client.ts'
import { useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { RadioField, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { invalidatedByGroup } from './groupRules.ts'
import './network.css'
import './topology.css'
import '../../../kit/actions.css'

/** The rules as a draft, in the order in which they are looked at; saved as a whole. */
export function RulesEditor({ group }: { readonly group: SecurityGroup }) {
  const { t } = useTranslation(['network', 'kit'])
  /** What the person made of the rules, and the revision that they began from; null while they changed nothing. */
  const [draft, setDraft] = useState<{ rules: readonly SecurityRule[]; revision: number } | null>(null)
  const [editing, setEditing] = useState<{ index: number | null; rule: SecurityRule } | null>(null)
  const [refused, setRefused] = useState<ApiError | null>(null)
  const save = useChange(securityGroups.setRules, { invalidates: invalidatedByGroup, silent: true })
  const rules = inOrder(draft?.rules ?? group.rules)
  const stale = draft !== null && draft.revision !== group.revision

  const change = (next: readonly SecurityRule[]): void => setDraft({ rules: next, revision: draft?.revision ?? group.revision })
  const submit = async (): Promise<void> => {
    if (draft === null) return
    setRefused(null)
    try {
      await save.mutateAsync({ params: { id: group.id }, body: { revision: draft.revision, rules: [...rules] } })
      notify('success', t('rule.saved'))
      setDraft(null)
    } catch (thrown) {
      setRefused(toApiError(thrown))
    }
  }

  return (
    <>
      <p className="zs-soft">{t('rule.order')}</p>
      {stale && (
        <Alert
          className="zs-above"
          type="warning"
          showIcon
          title={t('rule.changed')}
          description={t('rule.changedNote')}
          action={
            <Button size="small" onClick={() => setDraft(null)}>
              {t('rule.reload')}
            </Button>
          }
        />
      )}
      {refused !== null && (
        <Alert className="zs-above" type="error" showIcon title={[errorText(refused), ...refused.fields.map(({ message }) => message)].join('；')} />
      )}
      <div className="zs-buttons nt-rule-bar">
        <Button type={draft === null ? 'primary' : 'default'} onClick={() => setEditing({ index: null, rule: blank })}>
          {t('rule.add')}
        </Button>
        {draft !== null && (
          <>
            <Button type="primary" loading={save.isPending} disabled={stale} onClick={submit}>
              {t('rule.save')}
            </Button>
            <Button onClick={() => setDraft(null)}>{t('rule.reset')}</Button>
            <span role="status" className="zs-soft">
              {t('rule.unsaved')}
            </span>
          </>
        )}
      </div>
      <Table<SecurityRule & { index: number }>
        size="small"
        rowKey="index"
        pagination={false}
        dataSource={rules.map((rule, index) => ({ ...rule, index }))}
        locale={{ emptyText: <EmptyState title={t('rule.none')} /> }}
        columns={[
          { key: 'number', title: '#', width: 48, className: 'zs-number', render: (_, { index }) => index + 1 },
          { key: 'direction', title: t('rule.direction'), width: 80, render: (_, rule) => t(`rule.${rule.direction}`) },
          { key: 'action', title: t('rule.action'), width: 80, render: (_, rule) => <span className={`nt-${rule.action}`}>{t(`rule.${rule.action}`)}</span> },
          { key: 'protocol', title: t('rule.protocol'), width: 80, render: (_, rule) => t(`rule.${rule.protocol}`) },
          {
            key: 'ports',
            title: t('rule.ports'),
            width: 160,
            render: (_, rule) => (rule.ports === '' ? t('rule.portsAny') : <span className="zs-code">{rule.ports}</span>),
          },
          {
            key: 'remote',
            title: t('rule.remote'),
            width: 180,
            render: (_, rule) => (rule.remote === '0.0.0.0/0' ? t('rule.remoteAny') : <span className="zs-code">{rule.remote}</span>),
          },
          { key: 'description', title: t('rule.description'), render: (_, rule) => rule.description },
          {
            key: 'actions',
            title: t('kit:table.actions'),
            width: 130,
            render: (_, { index, ...rule }) => (
              <span className="zs-actions">
                <Button type="link" size="small" onClick={() => setEditing({ index, rule })}>
                  {t('vpc.edit')}
                </Button>
                <Button
                  type="link"
                  size="small"
                  danger
                  aria-label={t('rule.removeOf', { number: index + 1 })}
                  onClick={() => change(rules.filter((_rule, at) => at !== index))}
                >
                  {t('rule.remove')}
                </Button>
              </span>
            ),
          },
        ]}
      />
      {editing !== null && (
        <RuleDialog
          rule={editing.rule}
          fresh={editing.index === null}
          onClose={() => setEditing(null)}
          onDone={(rule) => {
            change(editing.index === null ? [...rules, rule] : rules.map((one, at) => (at === editing.index ? rule : one)))
          }}
        />
      )}
    </>
  )
}

const blank: SecurityRule = { direction: 'ingress', action: 'allow', protocol: 'tcp', ports: '', remote: '0.0.0.0/0', description: '' }
const { shape } = securityRule

function RuleDialog({ rule, fresh, onDone, onClose }: Dialog<{ rule: SecurityRule; fresh: boolean; onDone: (rule: SecurityRule) => void }>) {
  const { t } = useTranslation('network')
  const [form] = Form.useForm<SecurityRule>()
  const protocol = Form.useWatch('protocol', form) ?? rule.protocol
  const hasPorts = protocol === 'tcp' || protocol === 'udp'
  return (
    <FormDialog<SecurityRule>
      form={form}
      title={fresh ? t('rule.add') : t('rule.edit')}
      okText={t('rule.ok')}
      initialValues={rule}
      onClose={onClose}
      onSubmit={async (values) => onDone(securityRule.parse({ ...values, ports: hasPorts ? (values.ports ?? '') : '' }))}
    >
      <RadioField name="direction" label={t('rule.direction')} optionType="button" values={ruleDirections} labelOf={(value) => t(`rule.${value}`)} />
      <RadioField name="action" label={t('rule.action')} optionType="button" values={ruleActions.toReversed()} labelOf={(value) => t(`rule.${value}`)} />
      <RadioField name="protocol" label={t('rule.protocol')} optionType="button" values={ruleProtocols} labelOf={(value) => t(`rule.${value}`)} />
      {hasPorts && <TextField name="ports" label={t('rule.ports')} extra={t('rule.portsNote')} schema={shape.ports} code placeholder="22" />}
      <TextField name="remote" label={t('rule.remote')} extra={t('rule.remoteNote')} schema={shape.remote} code />
      <TextField name="description" label={t('rule.description')} schema={shape.description} />
    </FormDialog>
  )
}
