import { computePorts, portCan, type ComputePort } from '@zhisuan/contract/compute/network'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { invalidatedByNetwork } from './networkText.ts'
import { PortEdit } from './PortDialogs.tsx'

/** What can be done to a port. */
export function usePortActions(cloudId: string, onDeleted?: () => void): { readonly actionsOf: (port: ComputePort) => readonly Action[] } {
  const { t } = useTranslation('computeNetwork')
  const remove = useChange(computePorts.delete, { invalidates: invalidatedByNetwork })
  const whyNot = (action: keyof typeof portCan, port: ComputePort): string | null => {
    const uses: readonly string[] = portCan[action]
    return !port.changeable ? t('notYours') : uses.includes(port.use) ? null : t('port.usedBy', { use: t(`use.${port.use}`) })
  }
  const nameOf = (port: ComputePort): string => (port.name === '' ? (port.addresses[0]?.address ?? port.mac) : port.name)
  return {
    actionsOf: (port) => [
      {
        key: 'edit',
        call: computePorts.update,
        label: t('edit'),
        disabledReason: whyNot('update', port),
        dialog: (close) => <PortEdit cloudId={cloudId} port={port} onClose={close} />,
      },
      {
        key: 'delete',
        call: computePorts.delete,
        label: t('delete'),
        danger: true,
        disabledReason: whyNot('delete', port),
        doneText: t('deleted', { name: nameOf(port) }),
        confirm: { title: t('port.deleteTitle', { name: nameOf(port) }), body: t('port.deleteBody') },
        run: async () => {
          await remove.mutateAsync({ params: { cloud_id: cloudId, id: port.id } })
          onDeleted?.()
        },
      },
    ],
  }
}
