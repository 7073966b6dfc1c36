import { computeNetworks, computeSubnets, type ComputeNetwork, type ComputeSubnet } from '@zhisuan/contract/compute/network'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { NetworkEdit, SubnetCreate, SubnetEdit } from './NetworkDialogs.tsx'
import { subnetLabel, invalidatedByNetwork } from './networkText.ts'

/** What can be done to a network. */
export function useNetworkActions(cloudId: string, onDeleted?: () => void): { readonly actionsOf: (network: ComputeNetwork) => readonly Action[] } {
  const { t } = useTranslation('computeNetwork')
  const dialogs = {
    edit: (network: ComputeNetwork, close: () => void) => <NetworkEdit cloudId={cloudId} network={network} onClose={close} />,
    subnet: (network: ComputeNetwork, close: () => void) => <SubnetCreate cloudId={cloudId} network={network} onClose={close} />,
  }
  const remove = useChange(computeNetworks.delete, { invalidates: invalidatedByNetwork })
  const opening = (kind: keyof typeof dialogs, network: ComputeNetwork): Action => ({
    key: kind,
    call: kind === 'edit' ? computeNetworks.update : computeSubnets.create,
    label: t(kind === 'edit' ? 'edit' : 'subnet.create'),
    disabledReason: network.changeable ? null : t('notYours'),
    dialog: (close) => dialogs[kind](network, close),
  })
  return {
    actionsOf: (network) => [
      opening('edit', network),
      opening('subnet', network),
      {
        key: 'delete',
        call: computeNetworks.delete,
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
  }
}

/** The same for a subnet. */
export function useSubnetActions(cloudId: string, onDeleted?: () => void): { readonly actionsOf: (subnet: ComputeSubnet) => readonly Action[] } {
  const { t } = useTranslation('computeNetwork')
  const remove = useChange(computeSubnets.delete, { invalidates: invalidatedByNetwork })
  return {
    actionsOf: (subnet) => [
      {
        key: 'edit',
        call: computeSubnets.update,
        label: t('edit'),
        disabledReason: subnet.changeable ? null : t('notYours'),
        dialog: (close) => <SubnetEdit cloudId={cloudId} subnet={subnet} onClose={close} />,
      },
      {
        key: 'delete',
        call: computeSubnets.delete,
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
  }
}
