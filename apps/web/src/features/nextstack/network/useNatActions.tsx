import { natGateways, type NatGateway } from '@zhisuan/contract/nextstack/nat'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { DnatAdd, NatEdit } from './NatDialogs.tsx'
import { invalidatedByNat } from './natRules.ts'

/** What can be done to a NAT gateway. */
export function useNatActions(onDeleted?: () => void): { readonly actionsOf: (nat: NatGateway) => readonly Action[] } {
  const { t } = useTranslation('network')
  const dialogs = {
    edit: (nat: NatGateway, close: () => void) => <NatEdit nat={nat} onClose={close} />,
    rule: (nat: NatGateway, close: () => void) => <DnatAdd nat={nat} onClose={close} />,
  }
  const remove = useChange(natGateways.delete, { invalidates: invalidatedByNat })
  const opening = (kind: keyof typeof dialogs, label: string, nat: NatGateway): Action => ({
    key: kind,
    call: kind === 'edit' ? natGateways.update : natGateways.addRule,
    label,
    disabledReason: nat.status === 'deleting' ? t('nat.busy', { state: t('nat.status.deleting') }) : null,
    dialog: (close) => dialogs[kind](nat, close),
  })
  return {
    actionsOf: (nat) => [
      opening('rule', t('dnat.add'), nat),
      opening('edit', t('nat.edit'), nat),
      {
        key: 'delete',
        call: natGateways.delete,
        label: t('nat.delete'),
        danger: true,
        disabledReason: nat.status === 'deleting' ? t('nat.busy', { state: t('nat.status.deleting') }) : null,
        doneText: t('nat.deleted', { name: nat.name }),
        confirm: { title: t('nat.deleteTitle', { name: nat.name }), body: t('nat.deleteBody', { count: nat.rules.length }) },
        run: async () => {
          await remove.mutateAsync({ params: { id: nat.id } })
          onDeleted?.()
        },
      },
    ],
  }
}
