import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import { flavors, type Flavor } from '@zhisuan/contract/nextstack/flavor'
import { quotaTexts } from '@zhisuan/contract/texts'
import { useId } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { flavorItems } from '../../../kit/price/items.ts'
import { BriefPrice } from '../../../kit/price/Price.tsx'
import '../../../kit/addPage.css'

/** Where something is to be put: into a cloud, or where an instance is. */
export interface FlavorPlace {
  readonly cloud_id?: string | undefined
  readonly vm_id?: string | undefined
}

/** All sizes at once; which of them are beyond the hosts of a place is said of it. */
export const useFlavors = (place: FlavorPlace = {}) => useCall(flavors.list, { query: { page_size: 1000, sort: 'cpu_cores', ...place } }, { silent: true })

const right = { align: 'right', className: 'zs-number' } as const

/** One of the sizes that instances come in; small ones first. */
export function FlavorPicker({
  id,
  value,
  onChange,
  off,
  place,
  diskOf = ({ disk_bytes }) => disk_bytes,
  bpId = null,
}: {
  readonly id?: string
  readonly value?: string
  readonly onChange?: (id: string) => void
  /** Why one cannot be chosen. */
  readonly off?: (flavor: Flavor) => string | null
  readonly place: FlavorPlace
  /** How large its disk would be, which has its price. */
  readonly diskOf?: (flavor: Flavor) => number
  /** Whose it will be. */
  readonly bpId?: string | null
}) {
  const { t } = useTranslation('nextstack')
  // Of one name, so that the arrow keys choose among them.
  const group = useId()
  const { data, error, isPending, refetch } = useFlavors(place)
  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const reasonOf = (flavor: Flavor): string | null =>
    flavor.beyond === null ? (off?.(flavor) ?? null) : t('add.flavorHosts', { resource: quotaTexts[flavor.beyond] })
  const isOff = (flavor: Flavor): boolean => reasonOf(flavor) !== null
  return (
    <div id={id} tabIndex={-1} className="zs-picker">
      <Table<Flavor>
        size="small"
        rowKey="id"
        pagination={{ size: 'small', defaultPageSize: 10, hideOnSinglePage: true, showSizeChanger: false }}
        dataSource={(data?.items ?? []).toSorted((one, other) => one.cpu_cores - other.cpu_cores || one.memory_bytes - other.memory_bytes)}
        locale={{ emptyText: isPending ? <Skeleton active title={false} paragraph={{ rows: 6, width: '100%' }} /> : t('add.flavorNone') }}
        columns={[
          {
            key: 'name',
            title: t('add.flavorColumn.name'),
            render: (_, flavor) => (
              <>
                {flavor.name} {flavor.gpu !== null && <span>{t('add.flavorGpu', flavor.gpu)}</span>} <span className="zs-soft">{reasonOf(flavor)}</span>
              </>
            ),
          },
          { key: 'cpu', ...right, title: t('add.flavorColumn.cpu'), render: (_, flavor) => t('cores', { count: flavor.cpu_cores }) },
          { key: 'memory', ...right, title: t('add.flavorColumn.memory'), render: (_, flavor) => format.bytes(flavor.memory_bytes) },
          { key: 'disk', ...right, title: t('add.flavorColumn.disk'), render: (_, flavor) => format.bytes(flavor.disk_bytes) },
          {
            key: 'price',
            ...right,
            title: t('add.flavorColumn.price'),
            render: (_, flavor) => <BriefPrice items={flavorItems(flavor, diskOf(flavor))} bpId={bpId} />,
          },
        ]}
        rowSelection={{
          type: 'radio',
          columnTitle: <span className="zs-hidden">{t('add.choose')}</span>,
          selectedRowKeys: value === undefined ? [] : [value],
          getCheckboxProps: (flavor) => ({ name: group, disabled: isOff(flavor), 'aria-label': flavor.name }),
          onChange: ([chosen]) => chosen !== undefined && onChange?.(String(chosen)),
        }}
        onRow={(flavor) => ({ onClick: () => !isOff(flavor) && onChange?.(flavor.id), className: isOff(flavor) ? 'zs-choice-off' : 'zs-choice' })}
      />
    </div>
  )
}
