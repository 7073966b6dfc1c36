import { fileEntries, fileShares, type FileEntry, type FileSpace } from '@zhisuan/contract/files/file'
import { previewOf } from '@zhisuan/contract/files/preview'
import { lazy } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import type { BatchAction } from '../../kit/BatchBar.tsx'
import { saveFrom } from '../../kit/save.ts'
import { invalidatedByFiles } from './invalidated.ts'

const FolderDialog = lazy(() => import('./FolderDialog.tsx'))
const PreviewDialog = lazy(() => import('./PreviewDialog.tsx'))
const ShareDialog = lazy(() => import('./ShareDialog.tsx'))
const TargetDialog = lazy(() => import('./TargetDialog.tsx'))

/** What can be done to what is in a space, one by one and together. */
export function useEntryActions(space: FileSpace) {
  const { t } = useTranslation('files')
  const how = { invalidates: invalidatedByFiles, silent: true } as const
  const link = useChange(fileEntries.download, { silent: true })
  const remove = useChange(fileEntries.delete, how)
  const restore = useChange(fileEntries.restore, how)
  const purge = useChange(fileEntries.purge, how)
  const download = async (ids: string[]): Promise<void> => saveFrom((await link.mutateAsync({ body: { ids } })).path)
  const readOnly = space.writable ? null : t('space.readOnly')

  const binned = (entry: FileEntry): readonly Action[] => [
    {
      key: 'restore',
      call: fileEntries.restore,
      label: t('bin.restore'),
      doneText: t('bin.restored', { name: entry.name }),
      run: () => restore.mutateAsync({ body: { ids: [entry.id] } }),
    },
    {
      key: 'purge',
      call: fileEntries.purge,
      label: t('bin.purge'),
      danger: true,
      confirm: { title: t('bin.purgeTitle', { name: entry.name }), body: t(entry.kind === 'folder' ? 'bin.purgeFolder' : 'bin.purgeFile') },
      doneText: t('bin.purged', { name: entry.name }),
      run: () => purge.mutateAsync({ body: { ids: [entry.id] } }),
    },
  ]

  const actionsOf = (entry: FileEntry): readonly Action[] =>
    entry.deleted !== null
      ? binned(entry)
      : [
          { key: 'download', call: fileEntries.download, label: t('action.download'), run: () => download([entry.id]) },
          ...(entry.kind === 'file' && previewOf(entry.name) !== null
            ? [
                {
                  key: 'preview',
                  call: fileEntries.download,
                  label: t('action.preview'),
                  dialog: (close: () => void) => <PreviewDialog entry={entry} onClose={close} />,
                },
              ]
            : []),
          {
            key: 'share',
            call: fileShares.create,
            label: t('action.share'),
            dialog: (close) => <ShareDialog entry={entry} onClose={close} />,
          },
          {
            key: 'rename',
            call: fileEntries.rename,
            label: t('action.rename'),
            disabledReason: readOnly,
            dialog: (close) => <FolderDialog at={entry} entry={entry} onClose={close} />,
          },
          {
            key: 'move',
            call: fileEntries.move,
            label: t('action.move'),
            disabledReason: readOnly,
            dialog: (close) => <TargetDialog how="move" space={space} entries={[entry]} onClose={close} />,
          },
          {
            key: 'copy',
            call: fileEntries.copy,
            label: t('action.copy'),
            dialog: (close) => <TargetDialog how="copy" space={space} entries={[entry]} onClose={close} />,
          },
          ...(space.kind === 'public'
            ? []
            : [
                {
                  key: 'publish',
                  call: fileEntries.publish,
                  label: t('action.publish'),
                  dialog: (close: () => void) => <TargetDialog how="publish" space={space} entries={[entry]} onClose={close} />,
                },
              ]),
          {
            key: 'delete',
            call: fileEntries.delete,
            label: t('action.delete'),
            danger: true,
            disabledReason: readOnly,
            confirm: { title: t('delete.title', { name: entry.name }), body: t(entry.kind === 'folder' ? 'delete.folder' : 'delete.file') },
            doneText: t('delete.done', { name: entry.name }),
            run: () => remove.mutateAsync({ body: { ids: [entry.id] } }),
          },
        ]

  const idsOf = (entries: readonly FileEntry[]): string[] => entries.map(({ id }) => id)
  const batchActions = (bin: boolean): readonly BatchAction<FileEntry>[] =>
    bin
      ? [
          { key: 'restore', call: fileEntries.restore, label: t('bin.restore'), run: ({ id }) => restore.mutateAsync({ body: { ids: [id] } }) },
          {
            key: 'purge',
            call: fileEntries.purge,
            label: t('bin.purge'),
            danger: true,
            confirm: (rows) => ({ title: t('bin.purgeMany', { count: rows.length }), body: t('bin.purgeFolder') }),
            run: ({ id }) => purge.mutateAsync({ body: { ids: [id] } }),
          },
        ]
      : [
          { key: 'download', call: fileEntries.download, label: t('action.downloadZip'), open: (rows) => void download(idsOf(rows)) },
          {
            key: 'copy',
            call: fileEntries.copy,
            label: t('action.copy'),
            dialog: (rows, close) => <TargetDialog how="copy" space={space} entries={rows} onClose={close} />,
          },
          ...(space.writable
            ? [
                {
                  key: 'move',
                  call: fileEntries.move,
                  label: t('action.move'),
                  dialog: (rows: readonly FileEntry[], close: () => void) => <TargetDialog how="move" space={space} entries={rows} onClose={close} />,
                },
                {
                  key: 'delete',
                  call: fileEntries.delete,
                  label: t('action.delete'),
                  danger: true,
                  confirm: (rows: readonly FileEntry[]) => ({ title: t('delete.many', { count: rows.length }), body: t('delete.folder') }),
                  run: ({ id }: FileEntry) => remove.mutateAsync({ body: { ids: [id] } }),
                },
              ]
            : []),
        ]
  return { actionsOf, batchActions }
}
