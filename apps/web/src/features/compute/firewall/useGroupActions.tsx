import type { Call } from '@zhisuan/contract/define'
import { firewallCan, firewallGroups, type FirewallGroup } from '@zhisuan/contract/compute/firewall'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { DrawDialog } from '../../../kit/dialogs.tsx'
import { called, invalidatedByFirewall } from './firewallText.ts'
import { GroupEdit, PortsAdd } from './GroupDialogs.tsx'

/** Why its ports cannot be changed now; null where they can. */
export function usePortsReason(): (group: FirewallGroup) => string | null {
  const { t } = useTranslation('computeFirewall')
  const allowed: readonly string[] = firewallCan.ports
  return (group) => (!group.changeable ? t('notYours') : allowed.includes(group.status) ? null : t('group.pending'))
}

/** What can be done to a firewall. */
export function useGroupActions(cloudId: string, onDeleted: () => void): { readonly actionsOf: (group: FirewallGroup) => readonly Action[] } {
  const { t } = useTranslation('computeFirewall')
  const portsReason = usePortsReason()
  const update = useChange(firewallGroups.update, { invalidates: invalidatedByFirewall })
  const remove = useChange(firewallGroups.delete, { invalidates: invalidatedByFirewall })
  return {
    actionsOf: (group) => {
      const ports = portsReason(group)
      const off = ports ?? (group.default ? t('group.isDefault') : null)
      const deletable: readonly string[] = firewallCan.delete
      const params = { cloud_id: cloudId, id: group.id }
      const name = called(group)
      const count = group.port_ids.length
      const opening = (key: string, by: Call, label: string, disabledReason: string | null, dialog: DrawDialog): Action => ({
        key,
        call: by,
        label,
        disabledReason,
        dialog,
      })
      return [
        opening('edit', firewallGroups.update, t('edit'), off, (close) => <GroupEdit cloudId={cloudId} group={group} onClose={close} />),
        opening('ports', firewallGroups.addPorts, t('group.addPorts'), ports, (close) => <PortsAdd cloudId={cloudId} group={group} onClose={close} />),
        {
          key: 'switch',
          call: firewallGroups.update,
          label: t(group.enabled ? 'disable' : 'enable'),
          disabledReason: off,
          doneText: t(group.enabled ? 'disabledDone' : 'enabledDone', { name }),
          ...(group.enabled && count > 0 && { confirm: { title: t('group.disableTitle', { name }), body: t('group.disableBody', { count }) } }),
          run: () => update.mutateAsync({ params, body: { enabled: !group.enabled } }),
        },
        {
          key: 'delete',
          call: firewallGroups.delete,
          label: t('delete'),
          danger: true,
          disabledReason: off ?? (count > 0 || !deletable.includes(group.status) ? t('group.active', { count }) : null),
          doneText: t('deleted', { name }),
          confirm: { title: t('group.deleteTitle', { name }), body: t('group.deleteBody') },
          run: async () => {
            await remove.mutateAsync({ params })
            onDeleted()
          },
        },
      ]
    },
  }
}
