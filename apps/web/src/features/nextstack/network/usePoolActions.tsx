import { eipPools, type EipPool } from '@zhisuan/contract/nextstack/eip'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { EipPoolDialog } from './EipPoolDialog.tsx'
import { invalidatedByEip } from './eipRules.ts'

/** What can be done to a pool of outside addresses. */
export function usePoolActions(onDeleted?: () => void): { readonly actionsOf: (pool: EipPool) => readonly Action[] } {
  const { t } = useTranslation('network')
  const remove = useChange(eipPools.delete, { invalidates: invalidatedByEip })
  return {
    actionsOf: (pool) => [
      {
        key: 'edit',
        call: eipPools.update,
        label: t('pool.edit'),
        dialog: (close) => <EipPoolDialog cloudId={pool.cloud_id} pool={pool} onClose={close} />,
      },
      {
        key: 'delete',
        call: eipPools.delete,
        label: t('pool.delete'),
        danger: true,
        disabledReason: pool.address_used === 0 ? null : t('pool.inUse', { count: pool.address_used }),
        doneText: t('pool.deleted', { name: pool.name }),
        confirm: { title: t('pool.deleteTitle', { name: pool.name }), body: t('pool.deleteBody'), typeToConfirm: pool.name },
        run: async () => {
          await remove.mutateAsync({ params: { id: pool.id } })
          onDeleted?.()
        },
      },
    ],
  }
}
