import Input from 'antd/es/input'
import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import { computeFlavors, type ComputeFlavor } from '@zhisuan/contract/compute/flavor'
import { useDeferredValue, useId, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { clearable } from '../../../kit/clearable.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { computeFlavorItems } from '../../../kit/price/items.ts'
import { BriefPrice } from '../../../kit/price/Price.tsx'
import { useCloudChoices } from '../CloudTable.tsx'
import '../../../kit/addPage.css'

const right = { align: 'right', className: 'zs-number' } as const

/** One of the sizes that instances come in; small ones first. Clouds have hundreds: they are searched and paged. */
export function FlavorPicker({
  cloudId,
  id,
  value,
  onChange,
  off,
  ownDisk = true,
}: {
  readonly cloudId: string | null
  readonly id?: string
  readonly value?: string | null
  readonly onChange?: (id: string) => void
  /** Why one cannot be chosen. */
  readonly off?: (flavor: ComputeFlavor) => string | null
  /** Whether the root disk is that of the size, and has its price. */
  readonly ownDisk?: boolean
}) {
  const { t } = useTranslation('computeInstance')
  // Of one name, so that the arrow keys choose among them.
  const group = useId()
  const [text, setText] = useState('')
  const wanted = useDeferredValue(text.trim().toLowerCase())
  const { data, error, refetch } = useCloudChoices(computeFlavors.list, cloudId)
  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const flavors = (data?.items ?? [])
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .toSorted((one, other) => one.vcpus - other.vcpus || one.memory_bytes - other.memory_bytes || one.disk_bytes - other.disk_bytes)
  const isOff = (flavor: ComputeFlavor): boolean => (off?.(flavor) ?? null) !== null
  return (
    <div id={id} tabIndex={-1} className="zs-picker">
      <Input
        allowClear={clearable}
        className="zs-picker-search"
        aria-label={t('add.flavorSearch')}
        placeholder={t('add.flavorSearch')}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Table<ComputeFlavor>
        size="small"
        rowKey="id"
        pagination={{ size: 'small', defaultPageSize: 8, hideOnSinglePage: true, showSizeChanger: false }}
        dataSource={flavors}
        locale={{ emptyText: data === undefined ? <Skeleton active title={false} paragraph={{ rows: 4, width: '100%' }} /> : t('add.flavorNone') }}
        columns={[
          {
            key: 'name',
            title: t('add.flavorColumn.name'),
            render: (_, flavor) => (
              <>
                {flavor.name} <span className="zs-soft">{off?.(flavor)}</span>
              </>
            ),
          },
          { key: 'vcpus', ...right, title: t('add.flavorColumn.vcpus'), render: (_, flavor) => format.number(flavor.vcpus) },
          { key: 'memory', ...right, title: t('add.flavorColumn.memory'), render: (_, flavor) => format.bytes(flavor.memory_bytes) },
          {
            key: 'disk',
            ...right,
            title: t('add.flavorColumn.disk'),
            render: (_, flavor) => (flavor.disk_bytes === 0 ? t('add.diskOfImage') : format.bytes(flavor.disk_bytes)),
          },
          {
            key: 'price',
            ...right,
            title: t('add.flavorColumn.price'),
            render: (_, flavor) => <BriefPrice items={computeFlavorItems(flavor, ownDisk)} />,
          },
        ]}
        rowSelection={{
          type: 'radio',
          columnTitle: <span className="zs-hidden">{t('add.choose')}</span>,
          selectedRowKeys: value === undefined || value === null ? [] : [value],
          getCheckboxProps: (flavor) => ({ name: group, disabled: isOff(flavor), 'aria-label': flavor.name }),
          onChange: ([chosen]) => chosen !== undefined && onChange?.(String(chosen)),
        }}
        onRow={(flavor) => ({ onClick: () => !isOff(flavor) && onChange?.(flavor.id), className: isOff(flavor) ? 'zs-choice-off' : 'zs-choice' })}
      />
    </div>
  )
}
