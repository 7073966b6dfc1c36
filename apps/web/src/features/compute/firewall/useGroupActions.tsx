import { firewallCan, firewallGroups, type FirewallGroup } from '@zhisuan/contract/compute/firewall'
import { useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { called, touchedByFirewall } from './firewallText.ts'
import { GroupEdit, PortsAdd } from './GroupDialogs.tsx'

type Dialog = { readonly kind: 'edit' | 'ports'; readonly group: FirewallGroup }

/** Why its ports cannot be changed now; null where they can. */
export function usePortsReason(): (group: FirewallGroup) => string | null {
  const { t } = useTranslation('computeFirewall')
  const allowed: readonly string[] = firewallCan.ports
  return (group) => (!group.changeable ? t('notYours') : allowed.includes(group.status) ? null : t('group.pending'))
}

/** What can be done to a firewall, and the dialogs that some of it opens, which the page has to draw. */
export function useGroupActions(
  cloudId: string,
  onDeleted: () => void,
): { readonly actionsOf: (group: FirewallGroup) => readonly Action[]; readonly dialogs: ReactNode } {
  const { t } = useTranslation('computeFirewall')
  const [dialog, setDialog] = useState<Dialog | null>(null)
  const portsReason = usePortsReason()
  const update = useChange(firewallGroups.update, { invalidates: touchedByFirewall })
  const remove = useChange(firewallGroups.delete, { invalidates: touchedByFirewall })
  const close = (): void => setDialog(null)
  return {
    actionsOf: (group) => {
      const ports = portsReason(group)
      const off = ports ?? (group.default ? t('group.isDefault') : null)
      const deletable: readonly string[] = firewallCan.delete
      const params = { cloud_id: cloudId, id: group.id }
      const name = called(group)
      const count = group.port_ids.length
      const opening = (kind: Dialog['kind'], label: string, disabledReason: string | null): Action => ({
        key: kind,
        label,
        disabledReason,
        run: () => {
          setDialog({ kind, group })
          return undefined
        },
      })
      return [
        opening('edit', t('edit'), off),
        opening('ports', t('group.addPorts'), ports),
        {
          key: 'switch',
          label: t(group.enabled ? 'disable' : 'enable'),
          disabledReason: off,
          doneText: t(group.enabled ? 'disabledDone' : 'enabledDone', { name }),
          ...(group.enabled && count > 0 && { confirm: { title: t('group.disableTitle', { name }), body: t('group.disableBody', { count }) } }),
          run: () => update.mutateAsync({ params, body: { enabled: !group.enabled } }),
        },
        {
          key: 'delete',
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
    dialogs: (
      <>
        {dialog?.kind === 'edit' && <GroupEdit cloudId={cloudId} group={dialog.group} onClose={close} />}
        {dialog?.kind === 'ports' && <PortsAdd cloudId={cloudId} group={dialog.group} onClose={close} />}
      </>
    ),
  }
}
