import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { volumeBackupCan, volumeBackups, volumes, type VolumeBackup } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { allowed } from '../../../kit/allowed.ts'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import { copyText } from '../../../kit/copy.ts'
import { saveFrom } from '../../../kit/save.ts'
import { paths, withQuery } from '../../../paths.ts'
import { invalidatedByVolume } from './storageRules.ts'
import { cloudRefuses } from '../../../session/cloud.ts'

/** What can be done to backups. @param cloud null where it is not known; then it is not judged */
export function useBackupActions(cloud: CloudBasic | null): {
  readonly actionsOf: (backup: VolumeBackup) => readonly Action[]
  readonly batchActions: readonly BatchAction<VolumeBackup>[]
} {
  const { t } = useTranslation('storage')
  const link = useChange(volumeBackups.download)
  const remove = useChange(volumeBackups.delete, { invalidates: invalidatedByVolume, silent: true })
  const whyNot = (action: keyof typeof volumeBackupCan, { status }: VolumeBackup): string | null =>
    allowed(volumeBackupCan, action, status, t(`backup.status.${status}`))
  return {
    actionsOf: (backup) => {
      const { id, name } = backup
      return [
        {
          key: 'download',
          call: volumeBackups.download,
          label: t('action.download'),
          disabledReason: whyNot('download', backup),
          run: async () => saveFrom((await link.mutateAsync({ params: { id } })).path),
        },
        {
          key: 'restore',
          call: volumes.create,
          label: t('action.toVolume'),
          disabledReason: whyNot('restore', backup) ?? cloudRefuses(cloud),
          href: withQuery(paths.nextstack.volume.add(), { backup: id }),
        },
        {
          key: 'link',
          call: volumeBackups.download,
          label: t('action.copyLink'),
          disabledReason: whyNot('download', backup),
          run: async () => copyText(new URL((await link.mutateAsync({ params: { id } })).path, location.origin).href),
        },
        {
          key: 'checksum',
          call: null,
          label: t('action.copyChecksum'),
          disabledReason: backup.sha256 === null ? t('backup.noChecksum') : null,
          run: () => copyText(backup.sha256 ?? ''),
        },
        {
          key: 'delete',
          call: volumeBackups.delete,
          label: t('action.delete'),
          danger: true,
          disabledReason: whyNot('delete', backup),
          doneText: t('done.delete', { name }),
          confirm: {
            title: t('backup.deleteTitle', { name }),
            body: t(backup.volume === null ? 'backup.deleteLast' : 'backup.deleteBody'),
            typeToConfirm: name,
          },
          run: () => remove.mutateAsync({ params: { id } }),
        },
      ]
    },
    batchActions: [
      {
        key: 'delete',
        call: volumeBackups.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: (backup) => whyNot('delete', backup),
        run: ({ id }) => remove.mutateAsync({ params: { id } }),
        confirm: (of) => ({ title: t('backup.deleteMany', { count: of.length }), body: t('backup.deleteLast') }),
      },
    ],
  }
}
