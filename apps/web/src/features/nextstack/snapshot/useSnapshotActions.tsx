import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { snapshots, type VmSnapshot } from '@zhisuan/contract/nextstack/snapshot'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import { firstNames } from '../../../kit/firstNames.ts'
import * as format from '../../../kit/format.ts'
import { SnapshotClone, SnapshotRename } from './SnapshotDialogs.tsx'
import { invalidatedBySnapshot, whyNotSnapshot } from './snapshotRules.ts'

/**
 * What can be done to snapshots of instances.
 * @param cloud null where it is not known; then it is not judged
 */
export function useSnapshotActions(
  cloud: CloudBasic | null,
  onDeleted?: () => void,
): {
  readonly actionsOf: (snapshot: VmSnapshot) => readonly Action[]
  readonly batchActions: readonly BatchAction<VmSnapshot>[]
} {
  const { t } = useTranslation('snapshot')
  const dialogs = {
    clone: (snapshot: VmSnapshot, close: () => void) => <SnapshotClone snapshot={snapshot} onClose={close} />,
    rename: (snapshot: VmSnapshot, close: () => void) => <SnapshotRename snapshot={snapshot} onClose={close} />,
  }
  const restore = useChange(snapshots.restore, { invalidates: invalidatedBySnapshot })
  const remove = useChange(snapshots.delete, { invalidates: invalidatedBySnapshot, silent: true })
  const opening = (kind: keyof typeof dialogs, snapshot: VmSnapshot): Action => ({
    key: kind,
    call: kind === 'clone' ? snapshots.clone : snapshots.update,
    label: t(`action.${kind}`),
    disabledReason: whyNotSnapshot(t, kind, snapshot, cloud),
    dialog: (close) => dialogs[kind](snapshot, close),
  })
  return {
    actionsOf: (snapshot) => {
      const { id, name, vm } = snapshot
      const lost = snapshot.status === 'lost'
      return [
        {
          key: 'restore',
          call: snapshots.restore,
          label: t('action.restore'),
          danger: true,
          disabledReason: whyNotSnapshot(t, 'restore', snapshot, cloud),
          doneText: t('done.restore', { vm: vm.name, name }),
          confirm: { title: t('restore.title', { vm: vm.name, name }), body: <RestoreNote snapshot={snapshot} />, typeToConfirm: vm.name },
          run: () => restore.mutateAsync({ params: { id } }),
        },
        opening('clone', snapshot),
        opening('rename', snapshot),
        {
          key: 'delete',
          call: snapshots.delete,
          label: t('action.delete'),
          danger: true,
          disabledReason: whyNotSnapshot(t, 'delete', snapshot, cloud),
          doneText: t(lost ? 'done.deleteLost' : 'done.delete', { name }),
          confirm: { title: t('delete.title', { name }), body: lost ? t('delete.lost') : t('delete.body', { vm: vm.name }) },
          run: async () => {
            await remove.mutateAsync({ params: { id } })
            onDeleted?.()
          },
        },
      ]
    },
    batchActions: [
      {
        key: 'delete',
        call: snapshots.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: (snapshot) => whyNotSnapshot(t, 'delete', snapshot, cloud),
        run: ({ id }) => remove.mutateAsync({ params: { id } }),
        confirm: (of) => ({
          title: t('delete.many', { count: of.length }),
          body: (
            <>
              <p>{t('delete.manyBody')}</p>
              <p>
                {t('delete.which')}
                {firstNames(
                  of.map(({ name }) => name),
                  t('delete.more', { count: of.length }),
                )}
              </p>
            </>
          ),
        }),
      },
    ],
  }
}

/** What is lost by it, and what is not. */
function RestoreNote({ snapshot }: { readonly snapshot: VmSnapshot }) {
  const { t } = useTranslation('snapshot')
  return (
    <>
      <p>
        <strong>{t('restore.lost', { time: format.dateTime(snapshot.created_at) })}</strong>
      </p>
      <p>{t('restore.power')}</p>
      <p>{t('restore.stays')}</p>
      <p className="zs-soft">{t('restore.advice')}</p>
    </>
  )
}
