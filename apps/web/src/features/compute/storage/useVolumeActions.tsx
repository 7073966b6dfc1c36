import { computeImages } from '@zhisuan/contract/compute/image'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import {
  computeVolumeTransfers,
  computeVolumeBackups,
  computeVolumeSnapshots,
  computeVolumes,
  type computeVolumeCan,
  type ComputeVolume,
} from '@zhisuan/contract/compute/volume'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import { firstNames } from '../../../kit/firstNames.ts'
import { paths, withQuery } from '../../../paths.ts'
import { useMayCall } from '../../../session/user.ts'
import { KeepDialog } from './KeepDialog.tsx'
import { titleOf, invalidatedByStorage, whyNotVolume } from './storageRules.ts'
import { TransferDialog } from './TransferDialogs.tsx'
import { UpdateDialog } from './UpdateDialog.tsx'
import { AttachDialog, DeleteDialog, DetachDialog, GrowDialog, ResetDialog, RetypeDialog, ToImageDialog } from './VolumeDialogs.tsx'

/** What can be done to volumes: as actions of one, as batch actions. */
export function useVolumeActions(
  cloud: CloudBasic | null,
  nameOf: (id: string) => string,
  onDeleted?: () => void,
): {
  readonly actionsOf: (volume: ComputeVolume) => readonly Action[]
  readonly batchActions: readonly BatchAction<ComputeVolume>[]
} {
  const { t } = useTranslation('computeStorage')
  const mayReset = useMayCall(computeVolumes.resetStatus)
  const cloudId = cloud?.cloud_id ?? ''
  const setBootable = useChange(computeVolumes.setBootable, { invalidates: invalidatedByStorage })
  const remove = useChange(computeVolumes.delete, { invalidates: invalidatedByStorage, silent: true })
  const dialogs = {
    attach: (volume: ComputeVolume, close: () => void) => <AttachDialog cloudId={cloudId} volume={volume} onClose={close} />,
    detach: (volume: ComputeVolume, close: () => void) => <DetachDialog cloudId={cloudId} volume={volume} onClose={close} nameOf={nameOf} />,
    grow: (volume: ComputeVolume, close: () => void) => <GrowDialog cloudId={cloudId} volume={volume} onClose={close} />,
    snapshot: (volume: ComputeVolume, close: () => void) => <KeepDialog cloudId={cloudId} kind="snapshot" volume={volume} onClose={close} />,
    backup: (volume: ComputeVolume, close: () => void) => <KeepDialog cloudId={cloudId} kind="backup" volume={volume} onClose={close} />,
    retype: (volume: ComputeVolume, close: () => void) => <RetypeDialog cloudId={cloudId} volume={volume} onClose={close} />,
    transfer: (volume: ComputeVolume, close: () => void) => <TransferDialog cloudId={cloudId} volume={volume} onClose={close} />,
    toImage: (volume: ComputeVolume, close: () => void) => <ToImageDialog cloudId={cloudId} volume={volume} onClose={close} />,
    update: (volume: ComputeVolume, close: () => void) => <UpdateDialog cloudId={cloudId} kind="volume" of={volume} onClose={close} />,
    resetStatus: (volume: ComputeVolume, close: () => void) => <ResetDialog cloudId={cloudId} volume={volume} onClose={close} />,
    delete: (volume: ComputeVolume, close: () => void) => <DeleteDialog cloudId={cloudId} volume={volume} onClose={close} onDeleted={onDeleted} />,
  }
  const calls = {
    ...computeVolumes,
    snapshot: computeVolumeSnapshots.create,
    backup: computeVolumeBackups.create,
    transfer: computeVolumeTransfers.create,
    toImage: computeImages.create,
  }
  const opening = (kind: keyof typeof dialogs & keyof typeof computeVolumeCan, volume: ComputeVolume, more: Partial<Action> = {}): Action => ({
    key: kind,
    call: calls[kind],
    label: t(`action.${kind}`),
    disabledReason: whyNotVolume(t, kind, volume, cloud),
    dialog: (close) => dialogs[kind](volume, close),
    ...more,
  })

  return {
    actionsOf: (volume) => [
      ...(volume.attachments.length === 0 || volume.multiattach ? [opening('attach', volume)] : []),
      ...(volume.attachments.length > 0 ? [opening('detach', volume)] : []),
      opening('grow', volume),
      opening('snapshot', volume),
      opening('backup', volume),
      {
        key: 'copy',
        call: computeVolumes.create,
        label: t('action.copy'),
        disabledReason: whyNotVolume(t, 'copy', volume, cloud),
        href: withQuery(paths.compute.volume.add(), { volume: volume.id }),
      },
      {
        key: 'setBootable',
        call: computeVolumes.setBootable,
        label: t(volume.bootable ? 'action.unsetBootable' : 'action.setBootable'),
        disabledReason: whyNotVolume(t, 'setBootable', volume, cloud),
        doneText: t(volume.bootable ? 'done.notBootable' : 'done.bootable', { name: titleOf(volume) }),
        run: () => setBootable.mutateAsync({ params: { cloud_id: cloudId, id: volume.id }, body: { bootable: !volume.bootable } }),
      },
      opening('retype', volume),
      opening('toImage', volume),
      opening('transfer', volume),
      opening('update', volume),
      ...(mayReset ? [opening('resetStatus', volume)] : []),
      opening('delete', volume, { danger: true }),
    ],
    batchActions: [
      {
        key: 'delete',
        call: computeVolumes.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: (volume) => whyNotVolume(t, 'delete', volume, cloud),
        run: (volume) => remove.mutateAsync({ params: { cloud_id: cloudId, id: volume.id } }),
        confirm: (rows) => ({
          title: t('remove.titleMany', { count: rows.length }),
          body: (
            <>
              <p>{t('remove.body')}</p>
              <p>{t('remove.withSnapshots')}</p>
              <p>
                {t('remove.which')}
                {firstNames(rows.map(titleOf), t('remove.more', { count: rows.length }))}
              </p>
            </>
          ),
        }),
      },
    ],
  }
}
