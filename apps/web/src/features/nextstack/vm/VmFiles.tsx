import FileOutlined from '@ant-design/icons/es/icons/FileOutlined'
import FolderOutlined from '@ant-design/icons/es/icons/FolderOutlined'
import LinkOutlined from '@ant-design/icons/es/icons/LinkOutlined'
import Button from 'antd/es/button'
import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import type { DirectoryEntry } from '@zhisuan/contract/directory'
import { machineCopies } from '@zhisuan/contract/files/machine'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { useCallback } from 'react'
import { Link, useSearchParams } from 'react-router'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { childPath, cleanPath, modeText } from '../../../kit/directoryPath.ts'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { PathCrumbs, PathForm } from '../../../kit/PathForm.tsx'
import { useMayCall } from '../../../session/user.ts'
import { MachineCopies, useMachineCopy } from '../../files/MachineCopies.tsx'

const icons = { file: FileOutlined, directory: FolderOutlined, link: LinkOutlined, other: FileOutlined } as const
const rowsShown = 100

/** The files of an instance: its directories are walked, files go from and to spaces. The address knows where one is. */
export function VmFiles({ vm }: { readonly vm: Vm }) {
  const { t } = useTranslation(['files', 'nextstack'])
  return vm.status === 'running' ? <Files vmId={vm.id} /> : <EmptyState title={t('machine.vmOff', { state: t(`nextstack:status.${vm.status}`) })} />
}

function Files({ vmId }: { readonly vmId: string }) {
  const { t } = useTranslation(['files', 'kit'])
  const openCopy = useMachineCopy()
  const [mayBring, mayKeep] = [useMayCall(machineCopies.toMachine), useMayCall(machineCopies.fromMachine)]
  const [search, setSearch] = useSearchParams()
  const directory = cleanPath(search.get('path') ?? '/root')
  const { data, error, isFetching, isPlaceholderData, refetch } = useCall(vms.files, { params: { id: vmId }, query: { path: directory } }, { silent: true })
  const reread = useCallback(() => void refetch(), [refetch])
  const machine = { kind: 'nextstack.vm', id: vmId } as const
  const known = isPlaceholderData ? undefined : data
  const address = (path: string): string => {
    const next = new URLSearchParams(search)
    next.set('path', path)
    return `?${next.toString()}`
  }
  return (
    <>
      <div className="zs-bar">
        <PathForm key={directory} directory={directory} onGo={(path) => setSearch(new URLSearchParams(address(path)))} />
        {mayBring && (
          <Button disabled={known === undefined} onClick={() => openCopy('to_machine', { machine, path: directory })}>
            {t('machine.fromSpace')}
          </Button>
        )}
        <Button loading={isFetching} onClick={reread}>
          {t('machine.refresh')}
        </Button>
      </div>
      <PathCrumbs directory={directory} addressOf={address} />
      <MachineCopies machine={machine} onArrived={reread} />
      {error !== null ? (
        <ErrorPanel error={error} onRetry={reread} />
      ) : known === undefined ? (
        <Skeleton active paragraph={{ rows: 8 }} />
      ) : (
        <Table<DirectoryEntry>
          size="small"
          rowKey="name"
          dataSource={known.items.toSorted(byKindAndName)}
          pagination={known.items.length > rowsShown ? { pageSize: rowsShown, showSizeChanger: false, size: 'small' } : false}
          locale={{ emptyText: <EmptyState title={t('machine.empty')} /> }}
          columns={[
            { key: 'name', title: t('column.name'), render: (_, entry) => <EntryName entry={entry} to={address(childPath(directory, entry.name))} /> },
            {
              key: 'size',
              title: t('column.size'),
              width: 120,
              align: 'right',
              className: 'zs-number',
              render: (_, { kind, size_bytes }) => (kind === 'file' ? format.bytes(size_bytes) : format.nothing),
            },
            {
              key: 'mode',
              title: t('machine.mode'),
              responsive: ['md'],
              width: 120,
              render: (_, { mode }) => <span className="zs-code">{modeText(mode)}</span>,
            },
            {
              key: 'modified',
              title: t('column.changed'),
              responsive: ['md'],
              width: 180,
              className: 'zs-number',
              render: (_, { modified_at }) => format.dateTime(modified_at),
            },
            {
              key: 'actions',
              title: t('kit:table.actions'),
              width: 110,
              render: (_, { name, kind }) =>
                kind === 'other' || !mayKeep ? null : (
                  <Button
                    type="link"
                    size="small"
                    aria-label={t('machine.toSpaceOf', { name })}
                    onClick={() => openCopy('from_machine', { machine, path: childPath(directory, name) })}
                  >
                    {t('machine.toSpace')}
                  </Button>
                ),
            },
          ]}
        />
      )}
      <p className="zs-soft">{t('machine.vmNote')}</p>
    </>
  )
}

const byKindAndName = (one: DirectoryEntry, other: DirectoryEntry): number =>
  Number(other.kind === 'directory') - Number(one.kind === 'directory') || one.name.localeCompare(other.name)

function EntryName({ entry: { name, kind, target }, to }: { readonly entry: DirectoryEntry; readonly to: string }) {
  const { t } = useTranslation('files')
  const Icon = icons[kind]
  return (
    <span className="zs-code">
      <Icon aria-label={t(`machine.entryKind.${kind}`)} /> {/* Where a link leads is known when it is opened. */}
      {kind === 'directory' || kind === 'link' ? <Link to={to}>{name}</Link> : name}
      {target !== null && <span className="zs-soft">{` → ${target}`}</span>}
    </span>
  )
}
