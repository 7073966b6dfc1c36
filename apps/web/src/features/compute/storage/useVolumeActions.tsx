import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeVolumes, type computeVolumeCan, type ComputeVolume } from '@zhisuan/contract/compute/volume'
import { useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import { firstNames } from '../../../kit/firstNames.ts'
import { paths, withQuery } from '../../../paths.ts'
import { useMayCall } from '../../../session/user.ts'
import { KeepDialog } from './KeepDialog.tsx'
import { titleOf, touchedByStorage, whyNotVolume } from './storageRules.ts'
import { TransferDialog } from './TransferDialogs.tsx'
import { UpdateDialog } from './UpdateDialog.tsx'
import { AttachDialog, DeleteDialog, DetachDialog, GrowDialog, ResetDialog, RetypeDialog, ToImageDialog } from './VolumeDialogs.tsx'

type DialogKind = 'attach' | 'detach' | 'grow' | 'snapshot' | 'backup' | 'retype' | 'transfer' | 'toImage' | 'update' | 'resetStatus' | 'delete'

/** What can be done to volumes: as actions of one, as batch actions, and the dialogs that some of them open, which the page has to draw. */
export function useVolumeActions(
  cloud: CloudBasic | null,
  nameOf: (id: string) => string,
  onDeleted?: () => void,
): {
  readonly actionsOf: (volume: ComputeVolume) => readonly Action[]
  readonly batchActions: readonly BatchAction<ComputeVolume>[]
  readonly dialogs: ReactNode
} {
  const { t } = useTranslation('computeStorage')
  const mayReset = useMayCall(computeVolumes.resetStatus)
  const [dialog, setDialog] = useState<{ kind: DialogKind; volume: ComputeVolume } | null>(null)
  const cloudId = cloud?.cloud_id ?? ''
  const setBootable = useChange(computeVolumes.setBootable, { invalidates: touchedByStorage })
  // The batch's summary says what failed.
  const removeQuietly = useChange(computeVolumes.delete, { invalidates: touchedByStorage, silent: true })
  const close = (): void => setDialog(null)
  const opening = (kind: DialogKind & keyof typeof computeVolumeCan, volume: ComputeVolume, more: Partial<Action> = {}): Action => ({
    key: kind,
    label: t(`action.${kind}`),
    disabledReason: whyNotVolume(t, kind, volume, cloud),
    run: () => {
      setDialog({ kind, volume })
      return undefined
    },
    ...more,
  })
  const of = dialog === null ? null : { cloudId, volume: dialog.volume, onClose: close }

  return {
    actionsOf: (volume) => [
      ...(volume.attachments.length === 0 || volume.multiattach ? [opening('attach', volume)] : []),
      ...(volume.attachments.length > 0 ? [opening('detach', volume)] : []),
      opening('grow', volume),
      opening('snapshot', volume),
      opening('backup', volume),
      {
        key: 'copy',
        label: t('action.copy'),
        disabledReason: whyNotVolume(t, 'copy', volume, cloud),
        href: withQuery(paths.compute.volume.add(), { volume: volume.id }),
      },
      {
        key: 'setBootable',
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
        label: t('action.delete'),
        danger: true,
        disabledReason: (volume) => whyNotVolume(t, 'delete', volume, cloud),
        run: (volume) => removeQuietly.mutateAsync({ params: { cloud_id: cloudId, id: volume.id } }),
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
    dialogs: of !== null && dialog !== null && (
      <>
        {dialog.kind === 'attach' && <AttachDialog {...of} />}
        {dialog.kind === 'detach' && <DetachDialog {...of} nameOf={nameOf} />}
        {dialog.kind === 'grow' && <GrowDialog {...of} />}
        {(dialog.kind === 'snapshot' || dialog.kind === 'backup') && <KeepDialog cloudId={cloudId} kind={dialog.kind} volume={dialog.volume} onClose={close} />}
        {dialog.kind === 'retype' && <RetypeDialog {...of} />}
        {dialog.kind === 'transfer' && <TransferDialog {...of} />}
        {dialog.kind === 'toImage' && <ToImageDialog {...of} />}
        {dialog.kind === 'update' && <UpdateDialog cloudId={cloudId} kind="volume" of={dialog.volume} onClose={close} />}
        {dialog.kind === 'resetStatus' && <ResetDialog {...of} />}
        {dialog.kind === 'delete' && <DeleteDialog {...of} onDeleted={onDeleted} />}
      </>
    ),
  }
}
