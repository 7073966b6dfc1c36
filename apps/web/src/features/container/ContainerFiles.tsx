import FileOutlined from '@ant-design/icons/es/icons/FileOutlined'
import FolderOutlined from '@ant-design/icons/es/icons/FolderOutlined'
import LinkOutlined from '@ant-design/icons/es/icons/LinkOutlined'
import UploadOutlined from '@ant-design/icons/es/icons/UploadOutlined'
import Button from 'antd/es/button'
import Input from 'antd/es/input'
import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import { containers, type Container } from '@zhisuan/contract/cis/container'
import { machineCopies } from '@zhisuan/contract/files/machine'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useCallback, useRef, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link, useSearchParams } from 'react-router'
import { useBlocker } from '../../kit/navigation.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { clearable } from '../../kit/clearable.tsx'
import { ConfirmDialog } from '../../kit/ConfirmDialog.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { PathCrumbs, PathForm } from '../../kit/PathForm.tsx'
import { saveFrom } from '../../kit/save.ts'
import { childPath, cleanPath, modeText } from '../../kit/directoryPath.ts'
import { whyNotContainer } from './containerRules.ts'
import { tellError } from '../../api/tellError.ts'
import { useMayCall } from '../../session/user.ts'
import { MachineCopies, useMachineCopy } from '../files/MachineCopies.tsx'
import { UploadList } from './UploadList.tsx'
import { useUploads } from './useUploads.ts'
import './container.css'

type Entry = ResponseOf<typeof containers.files>['items'][number]

const icons = { file: FileOutlined, directory: FolderOutlined, link: LinkOutlined, other: FileOutlined } as const
const rowsShown = 100

/** The files of a container: directories are walked, files go in and out. The address knows where one is. */
export function ContainerFiles({ container }: { readonly container: Container }) {
  const { t } = useTranslation('container')
  const refused = whyNotContainer(t, 'files', container)
  return refused === null ? <Files key={container.container_id ?? ''} containerId={container.id} /> : <EmptyState title={refused} />
}

function Files({ containerId }: { readonly containerId: string }) {
  const { t } = useTranslation(['container', 'kit', 'files'])
  const openCopy = useMachineCopy()
  const [mayBring, mayKeep] = [useMayCall(machineCopies.toMachine), useMayCall(machineCopies.fromMachine)]
  const [search, setSearch] = useSearchParams()
  const directory = cleanPath(search.get('path') ?? '/')
  const { data, error, isFetching, isPlaceholderData, refetch } = useCall(
    containers.files,
    { params: { id: containerId }, query: { path: directory } },
    { silent: true },
  )
  const [wanted, setWanted] = useState({ of: directory, text: '' })
  const link = useChange(containers.fileLink)
  const machine = { kind: 'cis.container', id: containerId } as const
  const reread = useCallback(() => void refetch(), [refetch])
  const copy = (how: 'to_machine' | 'from_machine', path: string): void => openCopy(how, { machine, path })
  const uploads = useUploads(containerId, () => void refetch())
  const chooser = useRef<HTMLInputElement>(null)
  const [replacing, setReplacing] = useState<{ files: readonly File[]; names: readonly string[] } | null>(null)

  // Walking through directories leaves nothing.
  const blocker = useBlocker(
    ({ currentLocation: from, nextLocation: to }) => uploads.busy && (from.pathname !== to.pathname || tabOf(from.search) !== tabOf(to.search)),
  )

  const known = isPlaceholderData ? undefined : data
  const items = (known?.items ?? []).toSorted(byKindAndName)
  // Each directory is looked through anew.
  const typed = wanted.of === directory ? wanted.text : ''
  const text = typed.trim().toLowerCase()
  const rows = text === '' ? items : items.filter(({ name }) => name.toLowerCase().includes(text))
  const address = (path: string): string => {
    const next = new URLSearchParams(search)
    next.set('path', path)
    return `?${next.toString()}`
  }
  const save = (path: string): void =>
    link.mutate({ params: { id: containerId }, body: { how: 'download', path } }, { onSuccess: ({ path: from }) => saveFrom(from), onError: tellError })
  const send = (files: readonly File[]): void => uploads.add(files.map((file) => ({ path: childPath(directory, file.name), name: file.name, file })))
  const choose = (files: readonly File[]): void => {
    const names = files.map(({ name }) => name).filter((name) => items.some((entry) => entry.name === name))
    if (names.length > 0) setReplacing({ files, names })
    else send(files)
  }

  return (
    <>
      <div className="zs-bar">
        <PathForm key={directory} directory={directory} onGo={(path) => setSearch(new URLSearchParams(address(path)))} />
        <Button icon={<UploadOutlined aria-hidden />} disabled={known === undefined} onClick={() => chooser.current?.click()}>
          {t('file.upload')}
        </Button>
        {mayBring && (
          <Button disabled={known === undefined} onClick={() => copy('to_machine', directory)}>
            {t('files:machine.fromSpace')}
          </Button>
        )}
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          onChange={({ currentTarget }) => {
            choose([...(currentTarget.files ?? [])])
            // The same file may be chosen again.
            currentTarget.value = ''
          }}
        />
        <Button disabled={known === undefined || link.isPending} onClick={() => save(directory)}>
          {t('file.downloadAll')}
        </Button>
        <Button loading={isFetching} onClick={() => void refetch()}>
          {t('file.refresh')}
        </Button>
        <Input
          allowClear={clearable}
          className="cn-file-filter"
          aria-label={t('file.filter')}
          placeholder={t('file.filter')}
          value={typed}
          onChange={(event) => setWanted({ of: directory, text: event.target.value })}
        />
      </div>
      <PathCrumbs directory={directory} addressOf={address} />
      <UploadList uploads={uploads} />
      <MachineCopies machine={machine} onArrived={reread} />
      {error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : known === undefined ? (
        <Skeleton active paragraph={{ rows: 8 }} />
      ) : (
        <Table<Entry>
          size="small"
          rowKey="name"
          dataSource={rows}
          pagination={rows.length > rowsShown ? { pageSize: rowsShown, showSizeChanger: false, size: 'small' } : false}
          locale={{ emptyText: <EmptyState title={text === '' ? t('file.empty') : t('file.noMatch')} /> }}
          columns={[
            { key: 'name', title: t('file.name'), render: (_, entry) => <EntryName entry={entry} to={address(childPath(directory, entry.name))} /> },
            {
              key: 'size',
              title: t('file.size'),
              width: 120,
              align: 'right',
              className: 'zs-number',
              render: (_, { kind, size_bytes }) => (kind === 'file' ? format.bytes(size_bytes) : format.nothing),
            },
            {
              key: 'mode',
              title: t('file.mode'),
              responsive: ['md'],
              width: 120,
              render: (_, { mode }) => (
                <span className="zs-code" title={mode}>
                  {modeText(mode)}
                </span>
              ),
            },
            {
              key: 'modified',
              title: t('file.modified'),
              responsive: ['md'],
              width: 180,
              className: 'zs-number',
              render: (_, { modified_at }) => format.dateTime(modified_at),
            },
            {
              key: 'actions',
              title: t('kit:table.actions'),
              width: mayKeep ? 190 : 90,
              render: (_, { name, kind }) =>
                kind === 'other' ? null : (
                  <>
                    <Button
                      type="link"
                      size="small"
                      disabled={link.isPending}
                      aria-label={t('file.downloadOf', { name })}
                      onClick={() => save(childPath(directory, name))}
                    >
                      {t('file.download')}
                    </Button>
                    {mayKeep && (
                      <Button
                        type="link"
                        size="small"
                        aria-label={t('files:machine.toSpaceOf', { name })}
                        onClick={() => copy('from_machine', childPath(directory, name))}
                      >
                        {t('files:machine.toSpace')}
                      </Button>
                    )}
                  </>
                ),
            },
          ]}
        />
      )}
      <p className="zs-soft">{t('file.note')}</p>
      {blocker.state === 'blocked' && (
        <ConfirmDialog
          confirmation={{ title: t('file.leave'), body: t('file.leaveBody'), keepText: t('file.stay') }}
          danger
          okText={t('file.leaveOk')}
          onCancel={() => blocker.reset()}
          onConfirm={async () => blocker.proceed()}
        />
      )}
      {replacing !== null && (
        <ConfirmDialog
          confirmation={{ title: t('file.replaceTitle'), body: t('file.replaceBody', { names: replacing.names.join('、') }) }}
          danger
          okText={t('file.replace')}
          onCancel={() => setReplacing(null)}
          onConfirm={async () => {
            send(replacing.files)
            setReplacing(null)
          }}
        />
      )}
    </>
  )
}

const tabOf = (search: string): string | null => new URLSearchParams(search).get('tab')

const byKindAndName = (one: Entry, other: Entry): number =>
  Number(other.kind === 'directory') - Number(one.kind === 'directory') || one.name.localeCompare(other.name)

function EntryName({ entry: { name, kind, target }, to }: { readonly entry: Entry; readonly to: string }) {
  const { t } = useTranslation('container')
  const Icon = icons[kind]
  return (
    <span className="zs-code">
      <Icon aria-label={t(`file.kind.${kind}`)} /> {/* Where a link leads is known when it is opened. */}
      {kind === 'directory' || kind === 'link' ? <Link to={to}>{name}</Link> : name}
      {target !== null && <span className="zs-soft">{` → ${target}`}</span>}
    </span>
  )
}
