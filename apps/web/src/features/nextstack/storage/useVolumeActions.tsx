import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { volumeBackups, volumeSnapshots, volumes, type Volume } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import { firstNames } from '../../../kit/firstNames.ts'
import { paths } from '../../../paths.ts'
import { PrepaidLost } from '../../../kit/price/PrepaidLost.tsx'
import { VolumeAttach } from './AttachDialogs.tsx'
import { VolumeGrow } from './GrowDialog.tsx'
import { Rename, VolumeKeep } from './NameDialogs.tsx'
import { invalidatedByVolume, whyNotVolume } from './storageRules.ts'
import { VolumeDetach } from './VolumeDetach.tsx'

/**
 * What can be done to volumes: as actions of one, as batch actions.
 * @param cloud null where it is not known; then it is not judged
 */
export function useVolumeActions(
  cloud: CloudBasic | null,
  onDeleted?: () => void,
): {
  readonly actionsOf: (volume: Volume) => readonly Action[]
  readonly batchActions: readonly BatchAction<Volume>[]
} {
  const { t } = useTranslation('storage')
  const dialogs = {
    attach: (volume: Volume, close: () => void) => <VolumeAttach volume={volume} onClose={close} />,
    detach: (volume: Volume, close: () => void) => <VolumeDetach volume={volume} onClose={close} />,
    grow: (volume: Volume, close: () => void) => <VolumeGrow volume={volume} onClose={close} />,
    snapshot: (volume: Volume, close: () => void) => <VolumeKeep volume={volume} kind="snapshot" onClose={close} />,
    backup: (volume: Volume, close: () => void) => <VolumeKeep volume={volume} kind="backup" onClose={close} />,
    rename: (volume: Volume, close: () => void) => <Rename of={volume} kind="volume" onClose={close} />,
  }
  const remove = useChange(volumes.delete, { invalidates: invalidatedByVolume, silent: true })

  const calls = { ...volumes, snapshot: volumeSnapshots.create, backup: volumeBackups.create, rename: volumes.update }
  const opening = (kind: keyof typeof dialogs, volume: Volume): Action => ({
    key: kind,
    call: calls[kind],
    label: t(`action.${kind}`),
    disabledReason: whyNotVolume(t, kind, volume, cloud),
    dialog: (close) => dialogs[kind](volume, close),
  })
  const whyNotDelete = (volume: Volume): string | null => (volume.status === 'in_use' ? t('delete.attached') : whyNotVolume(t, 'delete', volume, cloud))

  return {
    actionsOf: (volume) => [
      opening(volume.attached_to === null ? 'attach' : 'detach', volume),
      opening('grow', volume),
      opening('snapshot', volume),
      {
        key: 'restore',
        call: volumes.restore,
        label: t('action.restore'),
        disabledReason: whyNotVolume(t, 'restore', volume, cloud),
        href: paths.nextstack.volume.restore(volume.id),
      },
      opening('backup', volume),
      opening('rename', volume),
      {
        key: 'delete',
        call: volumes.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: whyNotDelete(volume),
        doneText: t('done.delete', { name: volume.name }),
        confirm: {
          title: t('delete.title', { name: volume.name }),
          body: (
            <>
              {volume.status === 'lost' ? t('delete.lost') : t('delete.body', { count: volume.snapshot_count })}
              <PrepaidLost type="nextstack.volume" ids={[volume.id]} />
            </>
          ),
          typeToConfirm: volume.name,
        },
        run: async () => {
          await remove.mutateAsync({ params: { id: volume.id } })
          onDeleted?.()
        },
      },
    ],
    batchActions: [
      {
        key: 'delete',
        call: volumes.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: whyNotDelete,
        run: (volume) => remove.mutateAsync({ params: { id: volume.id } }),
        confirm: (of) => ({
          title: t('delete.many', { count: of.length }),
          body: (
            <>
              <p>{t('delete.body', { count: of.reduce((sum, { snapshot_count }) => sum + snapshot_count, 0) })}</p>
              <p>
                {t('delete.which')}
                {firstNames(
                  of.map(({ name }) => name),
                  t('delete.more', { count: of.length }),
                )}
              </p>
              <PrepaidLost type="nextstack.volume" ids={of.map(({ id }) => id)} />
            </>
          ),
        }),
      },
    ],
  }
}
