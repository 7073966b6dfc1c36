import FileOutlined from '@ant-design/icons/es/icons/FileOutlined'
import FolderOutlined from '@ant-design/icons/es/icons/FolderOutlined'
import Breadcrumb from 'antd/es/breadcrumb'
import Button from 'antd/es/button'
import Checkbox from 'antd/es/checkbox'
import Segmented from 'antd/es/segmented'
import Spin from 'antd/es/spin'
import { fileSpaces, type FileEntry, type FileSpace } from '@zhisuan/contract/files/file'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import './files.css'

/** A folder of a space, with those that it lies in, the outermost first. */
export interface SpacePlace {
  readonly space: FileSpace
  readonly path: readonly { readonly id: string; readonly name: string }[]
}

/**
 * Goes through the folders of spaces within a dialog.
 * @param hidden folders that it does not go into
 * @param picked what is chosen of what is there; left out: only folders are shown, and one of them is gone to
 */
export function SpaceBrowser({
  spaces,
  at,
  hidden,
  picked,
  onGo,
}: {
  readonly spaces: readonly FileSpace[]
  readonly at: SpacePlace
  readonly hidden?: ReadonlySet<string> | undefined
  readonly picked?: { readonly chosen: readonly FileEntry[]; readonly onChange: (chosen: readonly FileEntry[]) => void }
  readonly onGo: (to: SpacePlace) => void
}) {
  const { t } = useTranslation('files')
  const { space, path } = at
  const parent_id = path.at(-1)?.id
  const inside = useCall(
    fileSpaces.entries,
    { params: { id: space.id }, query: { page_size: 1_000, ...(parent_id !== undefined && { parent_id }) } },
    { silent: true },
  )
  const shown = (inside.data?.items ?? []).filter(({ kind, id }) => (picked !== undefined || kind === 'folder') && hidden?.has(id) !== true)
  const go = (to: SpacePlace['path']): void => onGo({ space, path: to })
  const pick = (entry: FileEntry, chosen: boolean): void => picked?.onChange([...picked.chosen.filter(({ id }) => id !== entry.id), ...(chosen ? [entry] : [])])
  return (
    <>
      {spaces.length > 1 && (
        <Segmented
          className="fl-spaces"
          aria-label={t('space.choose')}
          value={space.id}
          options={spaces.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(id) => {
            const to = spaces.find((one) => one.id === id)
            if (to !== undefined) onGo({ space: to, path: [] })
          }}
        />
      )}
      <Breadcrumb
        className="fl-path"
        items={[{ id: '', name: space.name }, ...path].map(({ id, name }, index) => ({
          key: id,
          title: (
            <Button type="link" size="small" onClick={() => go(path.slice(0, index))}>
              {name}
            </Button>
          ),
        }))}
      />
      <div className="fl-folders">
        {inside.error !== null ? (
          <ErrorPanel error={inside.error} onRetry={() => void inside.refetch()} />
        ) : inside.data === undefined ? (
          <Spin />
        ) : shown.length === 0 ? (
          <p className="zs-soft">{t(picked === undefined ? 'target.noFolders' : 'folder.empty')}</p>
        ) : (
          <ul className="zs-list" aria-label={t(picked === undefined ? 'target.folders' : 'machine.entries')}>
            {shown.map((entry) => (
              <li key={entry.id} className="fl-pick">
                {picked !== undefined && (
                  <Checkbox
                    aria-label={entry.name}
                    checked={picked.chosen.some(({ id }) => id === entry.id)}
                    onChange={({ target }) => pick(entry, target.checked)}
                  />
                )}
                {entry.kind === 'folder' ? (
                  <Button type="text" block icon={<FolderOutlined aria-hidden />} onClick={() => go([...path, { id: entry.id, name: entry.name }])}>
                    {entry.name}
                  </Button>
                ) : (
                  <span className="fl-pick-file">
                    <FileOutlined aria-hidden />
                    <span className="zs-cut" title={entry.name}>
                      {entry.name}
                    </span>
                    <span className="zs-soft zs-number">{format.bytes(entry.size_bytes ?? 0)}</span>
                  </span>
                )}
              </li>
            ))}
          </ul>
        )}
      </div>
    </>
  )
}
