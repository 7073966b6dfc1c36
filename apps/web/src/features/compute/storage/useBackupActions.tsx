import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeVolumes, computeVolumeBackups, type ComputeVolumeBackup } from '@zhisuan/contract/compute/volume'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import { firstNames } from '../../../kit/firstNames.ts'
import { paths, withQuery } from '../../../paths.ts'
import { useMayCall } from '../../../session/user.ts'
import { RestoreDialog } from './RestoreDialog.tsx'
import { titleOf, invalidatedByStorage, whyNotBackup } from './storageRules.ts'
import { ResetStatusDialog } from './ResetStatusDialog.tsx'
import { UpdateDialog } from './UpdateDialog.tsx'

/** What can be done to backups; as with volumes. */
export function useBackupActions(
  cloud: CloudBasic | null,
  nameOf: (id: string) => string,
  onDeleted?: () => void,
): {
  readonly actionsOf: (backup: ComputeVolumeBackup) => readonly Action[]
  readonly batchActions: readonly BatchAction<ComputeVolumeBackup>[]
} {
  const { t } = useTranslation('computeStorage')
  const dialogs = {
    restore: (backup: ComputeVolumeBackup, close: () => void) => <RestoreDialog cloudId={cloudId} backup={backup} nameOf={nameOf} onClose={close} />,
    resetStatus: (backup: ComputeVolumeBackup, close: () => void) => <ResetStatusDialog cloudId={cloudId} kind="backup" of={backup} onClose={close} />,
    update: (backup: ComputeVolumeBackup, close: () => void) => <UpdateDialog cloudId={cloudId} kind="backup" of={backup} onClose={close} />,
  }
  const cloudId = cloud?.cloud_id ?? ''
  const mayReset = useMayCall(computeVolumeBackups.resetStatus)
  const remove = useChange(computeVolumeBackups.delete, { invalidates: invalidatedByStorage, silent: true })
  const opening = (kind: keyof typeof dialogs, backup: ComputeVolumeBackup): Action => ({
    key: kind,
    call: computeVolumeBackups[kind],
    label: t(`action.${kind}`),
    disabledReason: whyNotBackup(t, kind, backup, cloud),
    dialog: (close) => dialogs[kind](backup, close),
  })
  return {
    actionsOf: (backup) => [
      opening('restore', backup),
      opening('update', backup),
      {
        key: 'createVolume',
        call: computeVolumes.create,
        label: t('action.createVolume'),
        disabledReason: whyNotBackup(t, 'createVolume', backup, cloud),
        href: withQuery(paths.compute.volume.add(), { backup: backup.id }),
      },
      ...(mayReset ? [opening('resetStatus', backup)] : []),
      {
        key: 'delete',
        call: computeVolumeBackups.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: whyNotBackup(t, 'delete', backup, cloud),
        doneText: t('done.delete', { name: titleOf(backup) }),
        confirm: { title: t('remove.titleBackup', { name: titleOf(backup) }), body: t('remove.bodyBackup'), typeToConfirm: titleOf(backup) },
        run: async () => {
          await remove.mutateAsync({ params: { cloud_id: cloudId, id: backup.id } })
          onDeleted?.()
        },
      },
    ],
    batchActions: [
      {
        key: 'delete',
        call: computeVolumeBackups.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: (backup) => whyNotBackup(t, 'delete', backup, cloud),
        run: (backup) => remove.mutateAsync({ params: { cloud_id: cloudId, id: backup.id } }),
        confirm: (rows) => ({
          title: t('remove.titleMany', { count: rows.length }),
          body: `${t('remove.bodyBackup')}${t('remove.which')}${firstNames(rows.map(titleOf), t('remove.more', { count: rows.length }))}`,
        }),
      },
    ],
  }
}
