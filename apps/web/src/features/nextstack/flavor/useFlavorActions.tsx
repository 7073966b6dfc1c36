import { flavors, type Flavor } from '@zhisuan/contract/nextstack/flavor'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { FlavorDrawer, invalidatedByFlavor } from './FlavorDrawer.tsx'

/** What an administrator can do to a size. */
export function useFlavorActions(onDeleted?: () => void): (flavor: Flavor) => readonly Action[] {
  const { t } = useTranslation('nextstackCompute')
  const remove = useChange(flavors.delete, { invalidates: invalidatedByFlavor })
  return (flavor) => [
    {
      key: 'edit',
      call: flavors.update,
      label: t('action.edit'),
      dialog: (close) => <FlavorDrawer flavor={flavor} onClose={close} />,
    },
    {
      key: 'delete',
      call: flavors.delete,
      label: t('action.delete'),
      danger: true,
      disabledReason: flavor.vm_count > 0 ? t('flavor.inUse', { count: flavor.vm_count }) : null,
      confirm: { title: t('confirm.delete', { name: flavor.name }), body: t('flavor.deleteNote') },
      doneText: t('flavor.done.delete', { name: flavor.name }),
      run: async () => {
        await remove.mutateAsync({ params: { id: flavor.id } })
        onDeleted?.()
      },
    },
  ]
}
