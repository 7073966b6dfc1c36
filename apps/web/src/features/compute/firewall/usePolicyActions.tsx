import { firewallPolicies, type FirewallPolicy } from '@zhisuan/contract/compute/firewall'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { called, invalidatedByFirewall } from './firewallText.ts'
import { PolicyEdit } from './PolicyDialogs.tsx'

/** What can be done to a policy. */
export function usePolicyActions(cloudId: string, onDeleted: () => void): { readonly actionsOf: (policy: FirewallPolicy) => readonly Action[] } {
  const { t } = useTranslation('computeFirewall')
  const remove = useChange(firewallPolicies.delete, { invalidates: invalidatedByFirewall })
  return {
    actionsOf: (policy) => {
      const off = !policy.changeable ? t('notYours') : policy.default ? t('policy.isDefault') : null
      const name = called(policy)
      return [
        {
          key: 'edit',
          call: firewallPolicies.update,
          label: t('edit'),
          disabledReason: off,
          dialog: (close) => <PolicyEdit cloudId={cloudId} policy={policy} onClose={close} />,
        },
        {
          key: 'delete',
          call: firewallPolicies.delete,
          label: t('delete'),
          danger: true,
          disabledReason: off ?? (policy.group_ids.length > 0 ? t('policy.used', { count: policy.group_ids.length }) : null),
          doneText: t('deleted', { name }),
          confirm: { title: t('policy.deleteTitle', { name }), body: t('policy.deleteBody') },
          run: async () => {
            await remove.mutateAsync({ params: { cloud_id: cloudId, id: policy.id } })
            onDeleted()
          },
        },
      ]
    },
  }
}
