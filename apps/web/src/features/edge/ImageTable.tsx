import Table from 'antd/es/table'
import type { ResponseOf } from '@zhisuan/contract/define'
import { edgeImages, type Edge } from '@zhisuan/contract/ecrm/edge'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { ActionMenu, type Action } from '../../kit/actions.tsx'
import { col, type Column } from '../../kit/columns.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { namesOf, shortId } from './pullRules.ts'

export type EdgeImage = ResponseOf<typeof edgeImages.images>['items'][number]

/** The container images on a node, asked of its Docker. */
export function ImageTable({
  edge,
  keyword,
  actionsOf,
}: {
  readonly edge: Pick<Edge, 'id' | 'status'>
  readonly keyword: string
  readonly actionsOf?: (image: EdgeImage) => readonly Action[]
}) {
  const { t } = useTranslation('edge')
  const { data, error, isPending, refetch } = useCall(
    edgeImages.images,
    { params: { id: edge.id }, query: { ...(keyword !== '' && { keyword }) } },
    { silent: true, refreshMs: 10_000, enabled: edge.status === 'online' },
  )
  if (edge.status !== 'online') return <EmptyState title={t('image.offline')} />
  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const columns: Column<EdgeImage>[] = [
    col.name<EdgeImage>('name', t('image.name'), (image) => namesOf(image)[0] ?? image.id, { width: 320, note: (image) => image.tags.slice(1).join('、') }),
    col.code<EdgeImage>('id', t('image.id'), (image) => shortId(image.id), { width: 130 }),
    col.bytes<EdgeImage>('size', t('image.size'), (image) => image.size_bytes, { width: 110 }),
    col.text<EdgeImage>('used', t('image.usedBy'), (image) => image.used_by.join('、'), { width: 240 }),
    col.date<EdgeImage>('created_at', t('image.created'), (image) => image.created_at),
  ]
  if (actionsOf !== undefined)
    columns.push({
      key: '@actions',
      title: t('column.actions'),
      width: 100,
      render: (_, image) => <ActionMenu actions={actionsOf(image)} />,
    })
  return (
    <>
      {error !== null && <ErrorPanel error={error} title={t('image.stale')} onRetry={() => void refetch()} />}
      <Table<EdgeImage>
        size="small"
        rowKey="id"
        loading={isPending}
        columns={columns}
        dataSource={data?.items ?? []}
        pagination={{ size: 'small', pageSize: 20, hideOnSinglePage: true }}
        locale={{ emptyText: <EmptyState title={t(keyword === '' ? 'image.none' : 'image.noMatch')} /> }}
      />
    </>
  )
}
