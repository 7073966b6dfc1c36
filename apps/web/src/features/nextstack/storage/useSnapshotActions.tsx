import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { volumeSnapshotCan, volumeSnapshots, volumes, type VolumeSnapshot } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { allowed } from '../../../kit/allowed.ts'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import { paths, withQuery } from '../../../paths.ts'
import { Rename } from './NameDialogs.tsx'
import { invalidatedByVolume } from './storageRules.ts'
import { cloudRefuses } from '../../../session/cloud.ts'

/**
 * What can be done to snapshots of volumes, and the dialog that some of it opens, which the page has
 * to draw.
 * @param cloud null where it is not known; then it is not judged
 */
export function useSnapshotActions(
  cloud: CloudBasic | null,
  onDeleted?: () => void,
): {
  readonly actionsOf: (snapshot: VolumeSnapshot) => readonly Action[]
  readonly batchActions: readonly BatchAction<VolumeSnapshot>[]
} {
  const { t } = useTranslation('storage')
  const remove = useChange(volumeSnapshots.delete, { invalidates: invalidatedByVolume, silent: true })
  const whyNot = (action: keyof typeof volumeSnapshotCan, { status }: VolumeSnapshot): string | null =>
    (action === 'rename' ? null : cloudRefuses(cloud)) ?? allowed(volumeSnapshotCan, action, status, t(`snapshot.status.${status}`))
  return {
    actionsOf: (snapshot) => {
      const { id, name } = snapshot
      return [
        {
          key: 'restore',
          call: volumes.restore,
          label: t('action.restore'),
          disabledReason: whyNot('restore', snapshot),
          href: withQuery(paths.nextstack.volume.restore(snapshot.volume.id), { snapshot: id }),
        },
        {
          key: 'toVolume',
          call: volumes.create,
          label: t('action.toVolume'),
          disabledReason: whyNot('createVolume', snapshot),
          href: withQuery(paths.nextstack.volume.add(), { snapshot: id }),
        },
        {
          key: 'rename',
          call: volumeSnapshots.update,
          label: t('action.rename'),
          disabledReason: whyNot('rename', snapshot),
          dialog: (close) => <Rename of={snapshot} kind="snapshot" onClose={close} />,
        },
        {
          key: 'delete',
          call: volumeSnapshots.delete,
          label: t('action.delete'),
          danger: true,
          disabledReason: whyNot('delete', snapshot),
          doneText: t('done.delete', { name }),
          confirm: {
            title: t('snapshot.deleteTitle', { name }),
            body: snapshot.status === 'lost' ? t('delete.lost') : t('snapshot.deleteBody', { volume: snapshot.volume.name }),
          },
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
        call: volumeSnapshots.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: (snapshot) => whyNot('delete', snapshot),
        run: ({ id }) => remove.mutateAsync({ params: { id } }),
        confirm: (of) => ({ title: t('snapshot.deleteMany', { count: of.length }), body: t('snapshot.deleteManyBody') }),
      },
    ],
  }
}
