import Input from 'antd/es/input'
import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import type { ResponseOf } from '@zhisuan/contract/define'
import { images, type VmType } from '@zhisuan/contract/nextstack/vm'
import { useId, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { clearable } from '../../../kit/clearable.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import type { Controlled } from '../../../kit/fields.tsx'
import '../nextstack.css'
import '../../../kit/addPage.css'

export type Image = ResponseOf<typeof images.list>['items'][number]

/** The images of a cloud that fit a type; undefined is not asked yet. */
export const useImages = (cloudId: string | undefined, type: VmType | undefined) =>
  useCall(images.list, { query: { cloud_id: cloudId ?? '', type } }, { enabled: cloudId !== undefined && type !== undefined, silent: true })

const searched = (image: Image): string => [image.name, image.description, image.os, image.release, image.architecture].join(' ').toLowerCase()

const right = { align: 'right', className: 'zs-number' } as const

/** From this many on they can be searched. */
const searchFrom = 6

/** One of the images that a cloud can make instances of a type from. */
export function ImagePicker({ id, value, onChange, cloudId, type }: Controlled<string, { cloudId: string | undefined; type: VmType }>) {
  const { t } = useTranslation('nextstack')
  const [text, setText] = useState('')
  // Of one name, so that the arrow keys choose among them.
  const group = useId()
  const { data, error, isPending, refetch } = useImages(cloudId, type)
  if (error !== null && data === undefined) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const all = data?.items ?? []
  const wanted = text.trim().toLowerCase()
  const found = all.filter((image) => searched(image).includes(wanted))
  return (
    <div id={id} tabIndex={-1} className="zs-picker">
      {all.length >= searchFrom && (
        <Input.Search
          allowClear={clearable}
          aria-label={t('add.imageSearch')}
          placeholder={t('add.imageSearch')}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="zs-picker-search"
        />
      )}
      <Table<Image>
        size="small"
        rowKey="fingerprint"
        pagination={false}
        scroll={{ y: 300 }}
        dataSource={found}
        locale={{
          emptyText: isPending ? (
            <Skeleton active title={false} paragraph={{ rows: 4, width: '100%' }} />
          ) : all.length === 0 ? (
            <EmptyState title={t('add.imageNone', { type: t(`type.${type}`) })}>{t('add.imageNoneNote')}</EmptyState>
          ) : (
            t('add.imageNoMatch', { text: text.trim() })
          ),
        }}
        columns={[
          {
            key: 'name',
            title: t('add.imageColumn.name'),
            render: (_, image) => (
              <div className="ns-image">
                <div>{image.name}</div>
                {image.description !== '' && image.description !== image.name && <div className="zs-name-note">{image.description}</div>}
                <Needs image={image} />
              </div>
            ),
          },
          {
            key: 'visibility',
            title: t('add.imageColumn.visibility'),
            width: 84,
            responsive: ['md'],
            render: (_, image) => t(`add.imageVisibility.${image.visibility}`),
          },
          {
            key: 'os',
            title: t('add.imageColumn.os'),
            width: 120,
            responsive: ['md'],
            render: (_, image) => [image.os, image.release].filter((part) => part !== null).join(' ') || format.nothing,
          },
          { key: 'architecture', title: t('add.imageColumn.architecture'), width: 80, responsive: ['xl'], render: (_, image) => image.architecture },
          { key: 'size', title: t('add.imageColumn.size'), width: 84, ...right, render: (_, image) => format.bytes(image.size_bytes) },
          {
            key: 'init',
            title: t('add.imageColumn.cloudInit'),
            width: 88,
            responsive: ['md'],
            render: (_, image) => (image.cloud_init ? t('add.cloudInitYes') : t('add.cloudInitNo')),
          },
        ]}
        rowSelection={{
          type: 'radio',
          columnTitle: <span className="zs-hidden">{t('add.choose')}</span>,
          selectedRowKeys: value === undefined ? [] : [value],
          getCheckboxProps: (image) => ({ name: group, 'aria-label': image.name }),
          onChange: ([chosen]) => chosen !== undefined && onChange?.(String(chosen)),
        }}
        onRow={(image) => ({ onClick: () => onChange?.(image.fingerprint), className: 'zs-choice' })}
      />
    </div>
  )
}

/** The smallest flavor that may be used with it, where it asks for one. */
function Needs({ image: { min_cpu_cores, min_memory_bytes, min_disk_bytes } }: { readonly image: Image }) {
  const { t } = useTranslation('nextstack')
  const needs = [
    ...(min_cpu_cores > 0 ? [t('add.imageNeed.cpu', { count: min_cpu_cores })] : []),
    ...(min_memory_bytes > 0 ? [t('add.imageNeed.memory', { size: format.bytes(min_memory_bytes) })] : []),
    ...(min_disk_bytes > 0 ? [t('add.imageNeed.disk', { size: format.bytes(min_disk_bytes) })] : []),
  ]
  return needs.length === 0 ? null : <div className="zs-name-note">{t('add.imageNeeds', { needs: needs.join('，') })}</div>
}
