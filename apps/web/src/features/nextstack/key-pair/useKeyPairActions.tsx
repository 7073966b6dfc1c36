import type { Call } from '@zhisuan/contract/define'
import { keyPairs, type KeyPair } from '@zhisuan/contract/nextstack/key-pair'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { copyText } from '../../../kit/copy.ts'

/** What is no longer true after a key was made, changed or deleted. */
export const touchedByKeyPair: readonly Call[] = [keyPairs.list, keyPairs.get, quotas.mine]

/** What can be done to a key. */
export function useKeyPairActions(onEdit: (keyPair: KeyPair) => void, onDeleted?: () => void): (keyPair: KeyPair) => readonly Action[] {
  const { t } = useTranslation('nextstackCompute')
  const remove = useChange(keyPairs.delete, { invalidates: touchedByKeyPair })
  return (keyPair) => [
    { key: 'copy', label: t('keyPair.copyPublic'), run: () => copyText(keyPair.public_key) },
    {
      key: 'edit',
      label: t('action.edit'),
      run: () => {
        onEdit(keyPair)
        return undefined
      },
    },
    {
      key: 'delete',
      label: t('action.delete'),
      danger: true,
      confirm: {
        title: t('confirm.delete', { name: keyPair.name }),
        body: (
          <>
            {keyPair.vm_count > 0 && <p>{t('keyPair.deleteIn', { count: keyPair.vm_count })}</p>}
            <p>{t('keyPair.deleteNote')}</p>
          </>
        ),
      },
      doneText: t('keyPair.done.delete', { name: keyPair.name }),
      run: async () => {
        await remove.mutateAsync({ params: { id: keyPair.id } })
        onDeleted?.()
      },
    },
  ]
}
