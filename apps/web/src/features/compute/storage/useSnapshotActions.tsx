import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeVolumeBackups, computeVolumes, computeVolumeSnapshots, type ComputeVolumeSnapshot } from '@zhisuan/contract/compute/volume'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import { firstNames } from '../../../kit/firstNames.ts'
import { paths, withQuery } from '../../../paths.ts'
import { useMayCall } from '../../../session/user.ts'
import { KeepDialog } from './KeepDialog.tsx'
import { titleOf, invalidatedByStorage, whyNotSnapshot } from './storageRules.ts'
import { ResetStatusDialog } from './ResetStatusDialog.tsx'
import { UpdateDialog } from './UpdateDialog.tsx'

/** What can be done to snapshots; as with volumes. */
export function useSnapshotActions(
  cloud: CloudBasic | null,
  onDeleted?: () => void,
): {
  readonly actionsOf: (snapshot: ComputeVolumeSnapshot) => readonly Action[]
  readonly batchActions: readonly BatchAction<ComputeVolumeSnapshot>[]
} {
  const { t } = useTranslation('computeStorage')
  const dialogs = {
    backup: (snapshot: ComputeVolumeSnapshot, close: () => void) => <KeepDialog cloudId={cloudId} kind="backup" snapshot={snapshot} onClose={close} />,
    resetStatus: (snapshot: ComputeVolumeSnapshot, close: () => void) => <ResetStatusDialog cloudId={cloudId} kind="snapshot" of={snapshot} onClose={close} />,
    update: (snapshot: ComputeVolumeSnapshot, close: () => void) => <UpdateDialog cloudId={cloudId} kind="snapshot" of={snapshot} onClose={close} />,
  }
  const cloudId = cloud?.cloud_id ?? ''
  const mayReset = useMayCall(computeVolumeSnapshots.resetStatus)
  const remove = useChange(computeVolumeSnapshots.delete, { invalidates: invalidatedByStorage, silent: true })
  const opening = (kind: keyof typeof dialogs, snapshot: ComputeVolumeSnapshot): Action => ({
    key: kind,
    call: kind === 'backup' ? computeVolumeBackups.create : computeVolumeSnapshots[kind],
    label: t(`action.${kind}`),
    disabledReason: whyNotSnapshot(t, kind, snapshot, cloud),
    dialog: (close) => dialogs[kind](snapshot, close),
  })
  return {
    actionsOf: (snapshot) => [
      {
        key: 'createVolume',
        call: computeVolumes.create,
        label: t('action.createVolume'),
        disabledReason: whyNotSnapshot(t, 'createVolume', snapshot, cloud),
        href: withQuery(paths.compute.volume.add(), { snapshot: snapshot.id }),
      },
      opening('backup', snapshot),
      opening('update', snapshot),
      ...(mayReset ? [opening('resetStatus', snapshot)] : []),
      {
        key: 'delete',
        call: computeVolumeSnapshots.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: whyNotSnapshot(t, 'delete', snapshot, cloud),
        doneText: t('done.delete', { name: titleOf(snapshot) }),
        confirm: { title: t('remove.titleSnapshot', { name: titleOf(snapshot) }), body: t('remove.bodySnapshot') },
        run: async () => {
          await remove.mutateAsync({ params: { cloud_id: cloudId, id: snapshot.id } })
          onDeleted?.()
        },
      },
    ],
    batchActions: [
      {
        key: 'delete',
        call: computeVolumeSnapshots.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: (snapshot) => whyNotSnapshot(t, 'delete', snapshot, cloud),
        run: (snapshot) => remove.mutateAsync({ params: { cloud_id: cloudId, id: snapshot.id } }),
        confirm: (rows) => ({
          title: t('remove.titleMany', { count: rows.length }),
          body: `${t('remove.bodySnapshot')}${t('remove.which')}${firstNames(rows.map(titleOf), t('remove.more', { count: rows.length }))}`,
        }),
      },
    ],
  }
}
