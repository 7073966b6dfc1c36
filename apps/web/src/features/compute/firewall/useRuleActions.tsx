import { firewallRules, type FirewallRule } from '@zhisuan/contract/compute/firewall'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { called, invalidatedByFirewall } from './firewallText.ts'
import { RuleDialog } from './RuleDialog.tsx'

/** What can be done to a rule. */
export function useRuleActions(cloudId: string, onDeleted: () => void): { readonly actionsOf: (rule: FirewallRule) => readonly Action[] } {
  const { t } = useTranslation('computeFirewall')
  const update = useChange(firewallRules.update, { invalidates: invalidatedByFirewall })
  const remove = useChange(firewallRules.delete, { invalidates: invalidatedByFirewall })
  return {
    actionsOf: (rule) => {
      const off = rule.changeable ? null : t('notYours')
      const params = { cloud_id: cloudId, id: rule.id }
      const name = called(rule)
      const count = rule.policy_ids.length
      return [
        {
          key: 'edit',
          call: firewallRules.update,
          label: t('edit'),
          disabledReason: off,
          dialog: (close) => <RuleDialog cloudId={cloudId} rule={rule} onClose={close} />,
        },
        {
          key: 'switch',
          call: firewallRules.update,
          label: t(rule.enabled ? 'disable' : 'enable'),
          disabledReason: off,
          doneText: t(rule.enabled ? 'disabledDone' : 'enabledDone', { name }),
          ...(rule.enabled && count > 0 && { confirm: { title: t('rule.disableTitle', { name }), body: t('rule.disableBody', { count }) } }),
          run: () => update.mutateAsync({ params, body: { enabled: !rule.enabled } }),
        },
        {
          key: 'delete',
          call: firewallRules.delete,
          label: t('delete'),
          danger: true,
          disabledReason: off ?? (count > 0 ? t('rule.used', { count }) : null),
          doneText: t('deleted', { name }),
          confirm: { title: t('rule.deleteTitle', { name }), body: t('rule.deleteBody') },
          run: async () => {
            await remove.mutateAsync({ params })
            onDeleted()
          },
        },
      ]
    },
  }
}
