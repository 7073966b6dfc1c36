import { fileEntries, fileSpaces, type FileEntry } from '@zhisuan/contract/files/file'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import type { Target } from './queue.ts'
import { invalidatedByFiles } from './invalidated.ts'

/** Makes a folder at a place, or calls what is there otherwise. */
export default function FolderDialog({ at, entry, onClose }: Dialog<{ at: Target; entry: FileEntry | null }>) {
  const { t } = useTranslation('files')
  const create = useChange(fileSpaces.createFolder, { invalidates: invalidatedByFiles, silent: true })
  const rename = useChange(fileEntries.rename, { invalidates: invalidatedByFiles, silent: true })
  return (
    <FormDialog<{ name: string }, FileEntry>
      title={entry === null ? t('folder.create') : t('rename.title', { name: entry.name })}
      okText={t(entry === null ? 'create' : 'save')}
      initialValues={{ name: entry?.name ?? '' }}
      doneText={({ name }) => t(entry === null ? 'folder.created' : 'rename.done', { name })}
      onClose={onClose}
      onSubmit={({ name }) =>
        entry === null
          ? create.mutateAsync({ params: { id: at.space_id }, body: { parent_id: at.parent_id, name } })
          : rename.mutateAsync({ params: { id: entry.id }, body: { name } })
      }
    >
      <TextField name="name" label={t('column.name')} schema={fileSpaces.createFolder.body.shape.name} />
    </FormDialog>
  )
}
