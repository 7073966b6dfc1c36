import FileOutlined from '@ant-design/icons/es/icons/FileOutlined'
import FolderOutlined from '@ant-design/icons/es/icons/FolderOutlined'
import Breadcrumb from 'antd/es/breadcrumb'
import Button from 'antd/es/button'
import Progress from 'antd/es/progress'
import Segmented from 'antd/es/segmented'
import { fileEntries, fileSpaces, type FileEntry, type FileSpace, type SpaceKind } from '@zhisuan/contract/files/file'
import { lazy, useRef, useState, type DragEvent } from 'react'
import { Link, useSearchParams } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { useCall, useOne } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { useDialog } from '../../kit/dialogs.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { Gone } from '../../kit/Gone.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { fromDrop, fromInput } from './chosen.ts'
import { enqueue } from './queue.ts'
import { UploadPanel } from './UploadPanel.tsx'
import { useEntryActions } from './useEntryActions.tsx'
import './files.css'

const FolderDialog = lazy(() => import('./FolderDialog.tsx'))
const PreviewDialog = lazy(() => import('./PreviewDialog.tsx'))

/** As it stands in the address: there is one of each kind, and of each project one. */
const keyOf = ({ kind, id }: FileSpace): string => (kind === 'project' ? id : kind)

/** What is in some spaces: which of them, which folder and whether its bin stands in the address. */
export function SpaceView({ kinds }: { readonly kinds: readonly SpaceKind[] }) {
  const { t } = useTranslation('files')
  const [search, setSearch] = useSearchParams()
  const { data, error, refetch } = useCall(fileSpaces.list, {}, { silent: true })
  if (data === undefined)
    return error === null ? (
      <PagePlaceholder />
    ) : (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  const spaces = data.items.filter(({ kind }) => kinds.includes(kind))
  const space = spaces.find((one) => keyOf(one) === search.get('space')) ?? spaces[0]
  if (space === undefined) return null
  const { used_bytes: used, quota_bytes: quota } = space.project ?? data.usage
  return (
    <>
      <div className="fl-head">
        {spaces.length > 1 && (
          <Segmented
            aria-label={t('space.choose')}
            value={keyOf(space)}
            options={spaces.map((one) => ({ value: keyOf(one), label: one.name }))}
            onChange={(key) => setSearch({ space: key })}
          />
        )}
        <span className="zs-soft">{t('space.holds', { count: space.file_count, size: format.bytes(space.used_bytes) })}</span>
        {space.project?.quota_bytes === null && <span className="zs-soft">{t('space.projectUsed', { used: format.bytes(space.project.used_bytes) })}</span>}
        {space.kind !== 'public' && quota !== null && (
          <span className="fl-usage">
            <Progress
              percent={Math.min(100, (used / quota) * 100)}
              showInfo={false}
              size="small"
              status={used >= quota ? 'exception' : 'normal'}
              aria-label={t('space.quota')}
            />
            <span className="zs-soft zs-number">
              {t(space.project === null ? 'space.usedOf' : 'space.projectUsedOf', { used: format.bytes(used), quota: format.bytes(quota) })}
            </span>
          </span>
        )}
      </div>
      <FolderView key={`${space.id} ${search.get('folder') ?? ''} ${search.get('bin') ?? ''}`} space={space} />
    </>
  )
}

function FolderView({ space }: { readonly space: FileSpace }) {
  const { t } = useTranslation('files')
  const [search] = useSearchParams()
  const folderId = search.get('folder')
  const bin = search.get('bin') === 'true'
  const folder = useOne(fileEntries.get, { params: { id: folderId ?? '' } }, { enabled: folderId !== null })
  const open = useDialog()
  const { actionsOf, batchActions } = useEntryActions(space)
  const [over, setOver] = useState(false)
  const files = useRef<HTMLInputElement>(null)
  const folders = useRef<HTMLInputElement>(null)
  const parent_id = folderId
  const target = { space_id: space.id, parent_id }
  const may = space.writable && !bin
  const within = (id: string | null) => `?${new URLSearchParams({ space: keyOf(space), ...(id !== null && { folder: id }) })}`
  if (folder.error?.status === 404) return <Gone title={t('folder.gone')} to={within(null)} back={t('folder.toTop')} />

  const dropped = async (event: DragEvent): Promise<void> => {
    event.preventDefault()
    setOver(false)
    if (may) enqueue(target, await fromDrop(event.dataTransfer))
  }
  return (
    <div
      className={`fl-drop ${over && may ? 'fl-over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false)
      }}
      onDrop={(event) => void dropped(event)}
    >
      {over && may && <div className="fl-over-note">{t('upload.drop')}</div>}
      {!bin && <UploadPanel spaceId={space.id} />}
      {/* At the top the page's own heading says where one is. */}
      {(bin || folderId !== null) && (
        <Breadcrumb
          className="fl-path"
          items={[
            { key: '', title: bin ? t('bin.title') : <Link to={within(null)}>{space.name}</Link> },
            ...(bin ? [] : (folder.data?.path ?? [])).map(({ id, name }) => ({ key: id, title: <Link to={within(id)}>{name}</Link> })),
            ...(bin || folder.data === undefined ? [] : [{ key: folder.data.id, title: folder.data.name }]),
          ]}
        />
      )}
      <ResourceTable
        call={fileSpaces.entries}
        input={{ params: { id: space.id }, query: { ...(parent_id !== null && { parent_id }), ...(bin && { bin: 'true' as const }) } }}
        columns={[
          col.custom<FileEntry>(
            'name',
            t('column.name'),
            (entry) => (
              <span className="fl-name">
                {entry.kind === 'folder' ? <FolderOutlined aria-label={t('kind.folder')} /> : <FileOutlined aria-label={t('kind.file')} />}
                {bin ? (
                  <span className="zs-cut">{entry.name}</span>
                ) : entry.kind === 'folder' ? (
                  <Link className="zs-cut" title={entry.name} to={within(entry.id)}>
                    {entry.name}
                  </Link>
                ) : (
                  <Button type="link" className="fl-open" title={entry.name} onClick={() => open((close) => <PreviewDialog entry={entry} onClose={close} />)}>
                    {entry.name}
                  </Button>
                )}
              </span>
            ),
            { sort: true },
          ),
          col.bytes<FileEntry>('size_bytes', t('column.size'), ({ size_bytes }) => size_bytes, { width: 110, sort: true }),
          col.text<FileEntry>('by', t('column.creator'), ({ created_by }) => created_by, { width: 120 }),
          col.code<FileEntry>('sha256', 'SHA-256', ({ sha256 }) => sha256, { width: 200, off: true }),
          col.date<FileEntry>('updated_at', t('column.changed'), ({ updated_at }) => updated_at, { sort: true, when: !bin }),
          col.text<FileEntry>('from', t('column.from'), ({ deleted }) => deleted?.from, { width: 180, when: bin }),
          col.text<FileEntry>('deletedBy', t('column.deletedBy'), ({ deleted }) => deleted?.by, { width: 110, when: bin }),
          col.date<FileEntry>('ends', t('column.ends'), ({ deleted }) => deleted?.ends_at, { when: bin }),
        ]}
        filters={[filter.keyword(bin ? t('bin.keyword') : t('folder.keyword'))]}
        rowActions={actionsOf}
        batchActions={batchActions(bin)}
        nameOf={({ name }) => name}
        {...(may && {
          create: {
            call: fileSpaces.upload,
            label: t('upload.files'),
            run: () => files.current?.click(),
          },
        })}
        toolbar={
          <>
            {may && (
              <>
                <Button onClick={() => folders.current?.click()}>{t('upload.folder')}</Button>
                <Button onClick={() => open((close) => <FolderDialog at={target} entry={null} onClose={close} />)}>{t('folder.create')}</Button>
              </>
            )}
            {space.writable && (
              <Link className="zs-button zs-button-plain" to={bin ? within(null) : `?${new URLSearchParams({ space: keyOf(space), bin: 'true' })}`}>
                {t(bin ? 'bin.leave' : 'bin.title')}
              </Link>
            )}
          </>
        }
        empty={bin ? { title: t('bin.empty'), note: t('bin.emptyNote') } : { title: t('folder.empty'), note: t(may ? 'folder.emptyNote' : 'folder.emptyRead') }}
      />
      <input
        ref={files}
        type="file"
        multiple
        hidden
        aria-label={t('upload.files')}
        onChange={({ currentTarget }) => {
          enqueue(target, fromInput(currentTarget.files))
          currentTarget.value = ''
        }}
      />
      <input
        // React has no property of that name.
        ref={(input) => {
          folders.current = input
          input?.setAttribute('webkitdirectory', '')
        }}
        type="file"
        hidden
        aria-label={t('upload.folder')}
        onChange={({ currentTarget }) => {
          enqueue(target, fromInput(currentTarget.files))
          currentTarget.value = ''
        }}
      />
    </div>
  )
}
