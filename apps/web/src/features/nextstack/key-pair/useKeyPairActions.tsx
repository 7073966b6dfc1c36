import { keyPairs, type KeyPair } from '@zhisuan/contract/nextstack/key-pair'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { copyText } from '../../../kit/copy.ts'
import { KeyPairDialog, invalidatedByKeyPair } from './KeyPairDialog.tsx'

/** What can be done to a key. */
export function useKeyPairActions(onDeleted?: () => void): (keyPair: KeyPair) => readonly Action[] {
  const { t } = useTranslation('nextstackCompute')
  const remove = useChange(keyPairs.delete, { invalidates: invalidatedByKeyPair })
  return (keyPair) => [
    { key: 'copy', call: null, label: t('keyPair.copyPublic'), run: () => copyText(keyPair.public_key) },
    {
      key: 'edit',
      call: keyPairs.update,
      label: t('action.edit'),
      dialog: (close) => <KeyPairDialog kind="edit" keyPair={keyPair} onClose={close} />,
    },
    {
      key: 'delete',
      call: keyPairs.delete,
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
