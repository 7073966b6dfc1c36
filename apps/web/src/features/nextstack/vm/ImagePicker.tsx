import Input from 'antd/es/input'
import Table from 'antd/es/table'
import type { ResponseOf } from '@zhisuan/contract/define'
import { images, type VmType } from '@zhisuan/contract/nextstack/vm'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useCall } from '../../../api/hooks.ts'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'

export type Image = ResponseOf<typeof images.list>['items'][number]

/** The images of a cloud that fit a type; undefined is not asked yet. */
export const useImages = (cloudId: string | undefined, type: VmType | undefined) =>
  useCall(images.list, { query: { cloud_id: cloudId ?? '', type } }, { enabled: cloudId !== undefined && type !== undefined, silent: true })

const searched = (image: Image): string => [image.name, image.description, image.os, image.release, image.architecture].join(' ').toLowerCase()

/** From this many on they can be searched. */
const searchFrom = 6

/** One of the images that a cloud can make instances of a type from. */
export function ImagePicker({ id, value, onChange, cloudId, type }: {
  readonly id?: string
  readonly value?: string
  readonly onChange?: (fingerprint: string) => void
  readonly cloudId: string | undefined
  readonly type: VmType
}) {
  const { t } = useTranslation('nextstack')
  const [text, setText] = useState('')
  const { data, error, isPending, refetch } = useImages(cloudId, type)
  if (error !== null && data === undefined) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const all = data?.items ?? []
  const wanted = text.trim().toLowerCase()
  const found = all.filter((image) => searched(image).includes(wanted))
  return (
    <div id={id} tabIndex={-1} className="ns-picker">
      {all.length >= searchFrom && <Input.Search allowClear aria-label={t('add.imageSearch')} placeholder={t('add.imageSearch')} value={text} onChange={(event) => setText(event.target.value)} className="ns-picker-search" />}
      <Table<Image>
        size="small"
        rowKey="fingerprint"
        loading={isPending}
        pagination={false}
        scroll={{ y: 300 }}
        dataSource={found}
        locale={{
          emptyText: isPending ? (
            ' '
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
              </div>
            ),
          },
          { key: 'os', title: t('add.imageColumn.os'), width: 150, responsive: ['md'], render: (_, image) => [image.os, image.release].filter((part) => part !== null).join(' ') || format.nothing },
          { key: 'architecture', title: t('add.imageColumn.architecture'), width: 96, responsive: ['lg'], render: (_, image) => image.architecture },
          { key: 'size', title: t('add.imageColumn.size'), width: 100, render: (_, image) => format.bytes(image.size_bytes) },
          { key: 'init', title: t('add.imageColumn.cloudInit'), width: 96, responsive: ['md'], render: (_, image) => (image.cloud_init ? t('add.cloudInitYes') : t('add.cloudInitNo')) },
        ]}
        rowSelection={{
          type: 'radio',
          selectedRowKeys: value === undefined ? [] : [value],
          getCheckboxProps: (image) => ({ 'aria-label': image.name }),
          onChange: ([chosen]) => chosen !== undefined && onChange?.(String(chosen)),
        }}
        onRow={(image) => ({ onClick: () => onChange?.(image.fingerprint), className: 'ns-row' })}
      />
    </div>
  )
}
