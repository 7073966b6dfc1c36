import { computeNetworks, computeSubnets, type ComputeNetwork, type ComputeSubnet } from '@zhisuan/contract/compute/network'
import { useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { NetworkEdit, SubnetCreate, SubnetEdit } from './NetworkDialogs.tsx'
import { subnetLabel, touchedByNetwork } from './networkText.ts'

type Dialog = { readonly kind: 'edit' | 'subnet'; readonly network: ComputeNetwork }

/** What can be done to a network, and the dialogs that some of it opens, which the page has to draw. */
export function useNetworkActions(
  cloudId: string,
  onDeleted?: () => void,
): { readonly actionsOf: (network: ComputeNetwork) => readonly Action[]; readonly dialogs: ReactNode } {
  const { t } = useTranslation('computeNetwork')
  const [dialog, setDialog] = useState<Dialog | null>(null)
  const remove = useChange(computeNetworks.delete, { invalidates: touchedByNetwork })
  const opening = (kind: Dialog['kind'], network: ComputeNetwork): Action => ({
    key: kind,
    label: t(kind === 'edit' ? 'edit' : 'subnet.create'),
    disabledReason: network.changeable ? null : t('notYours'),
    run: () => {
      setDialog({ kind, network })
      return undefined
    },
  })
  const close = (): void => setDialog(null)
  return {
    actionsOf: (network) => [
      opening('edit', network),
      opening('subnet', network),
      {
        key: 'delete',
        label: t('delete'),
        danger: true,
        disabledReason: network.changeable ? null : t('notYours'),
        doneText: t('deleted', { name: network.name }),
        confirm: { title: t('network.deleteTitle', { name: network.name }), body: t('network.deleteBody', { count: network.subnets.length }) },
        run: async () => {
          await remove.mutateAsync({ params: { cloud_id: cloudId, id: network.id } })
          onDeleted?.()
        },
      },
    ],
    dialogs: (
      <>
        {dialog?.kind === 'edit' && <NetworkEdit cloudId={cloudId} network={dialog.network} onClose={close} />}
        {dialog?.kind === 'subnet' && <SubnetCreate cloudId={cloudId} network={dialog.network} onClose={close} />}
      </>
    ),
  }
}

/** The same for a subnet. */
export function useSubnetActions(
  cloudId: string,
  onDeleted?: () => void,
): { readonly actionsOf: (subnet: ComputeSubnet) => readonly Action[]; readonly dialogs: ReactNode } {
  const { t } = useTranslation('computeNetwork')
  const [editing, setEditing] = useState<ComputeSubnet | null>(null)
  const remove = useChange(computeSubnets.delete, { invalidates: touchedByNetwork })
  return {
    actionsOf: (subnet) => [
      {
        key: 'edit',
        label: t('edit'),
        disabledReason: subnet.changeable ? null : t('notYours'),
        run: () => {
          setEditing(subnet)
          return undefined
        },
      },
      {
        key: 'delete',
        label: t('delete'),
        danger: true,
        disabledReason: subnet.changeable ? null : t('notYours'),
        doneText: t('deleted', { name: subnetLabel(subnet) }),
        confirm: { title: t('subnet.deleteTitle', { name: subnetLabel(subnet) }), body: t('subnet.deleteBody') },
        run: async () => {
          await remove.mutateAsync({ params: { cloud_id: cloudId, id: subnet.id } })
          onDeleted?.()
        },
      },
    ],
    dialogs: editing !== null && <SubnetEdit cloudId={cloudId} subnet={editing} onClose={() => setEditing(null)} />,
  }
}
