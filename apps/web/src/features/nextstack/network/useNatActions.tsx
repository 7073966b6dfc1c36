import { natGateways, type NatGateway } from '@zhisuan/contract/nextstack/nat'
import { useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { DnatAdd, NatEdit } from './NatDialogs.tsx'
import { touchedByNat } from './natRules.ts'

/** What can be done to a NAT gateway, and the dialogs that some of it opens, which the page has to draw. */
export function useNatActions(onDeleted?: () => void): { readonly actionsOf: (nat: NatGateway) => readonly Action[]; readonly dialogs: ReactNode } {
  const { t } = useTranslation('network')
  const [dialog, setDialog] = useState<{ kind: 'edit' | 'rule'; nat: NatGateway } | null>(null)
  const remove = useChange(natGateways.delete, { invalidates: touchedByNat })
  const close = (): void => setDialog(null)
  const opening = (kind: 'edit' | 'rule', label: string, nat: NatGateway): Action => ({
    key: kind,
    label,
    disabledReason: nat.status === 'deleting' ? t('nat.busy', { state: t('nat.status.deleting') }) : null,
    run: () => {
      setDialog({ kind, nat })
      return undefined
    },
  })
  return {
    actionsOf: (nat) => [
      opening('rule', t('dnat.add'), nat),
      opening('edit', t('nat.edit'), nat),
      {
        key: 'delete',
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
    dialogs: (
      <>
        {dialog?.kind === 'edit' && <NatEdit nat={dialog.nat} onClose={close} />}
        {dialog?.kind === 'rule' && <DnatAdd nat={dialog.nat} onClose={close} />}
      </>
    ),
  }
}
