import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import { flavors, type Flavor } from '@zhisuan/contract/nextstack/flavor'
import { useId } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import '../../../kit/addPage.css'

/** All sizes at once: nobody has so many that people would page through them. */
export const useFlavors = () => useCall(flavors.list, { query: { page_size: 1000, sort: 'cpu_cores' } }, { silent: true })

const right = { align: 'right', className: 'zs-number' } as const

/** One of the sizes that instances come in; small ones first. */
export function FlavorPicker({
  id,
  value,
  onChange,
  off,
}: {
  readonly id?: string
  readonly value?: string
  readonly onChange?: (id: string) => void
  /** Why one cannot be chosen. */
  readonly off?: (flavor: Flavor) => string | null
}) {
  const { t } = useTranslation('nextstack')
  // Of one name, so that the arrow keys choose among them.
  const group = useId()
  const { data, error, isPending, refetch } = useFlavors()
  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const isOff = (flavor: Flavor): boolean => (off?.(flavor) ?? null) !== null
  return (
    <div id={id} tabIndex={-1} className="zs-picker">
      <Table<Flavor>
        size="small"
        rowKey="id"
        pagination={false}
        scroll={{ y: 324 }}
        dataSource={(data?.items ?? []).toSorted((one, other) => one.cpu_cores - other.cpu_cores || one.memory_bytes - other.memory_bytes)}
        locale={{ emptyText: isPending ? <Skeleton active title={false} paragraph={{ rows: 6, width: '100%' }} /> : t('add.flavorNone') }}
        columns={[
          {
            key: 'name',
            title: t('add.flavorColumn.name'),
            render: (_, flavor) => (
              <>
                {flavor.name} {flavor.gpu !== null && <span>{t('add.flavorGpu', flavor.gpu)}</span>} <span className="zs-soft">{off?.(flavor)}</span>
              </>
            ),
          },
          { key: 'cpu', ...right, title: t('add.flavorColumn.cpu'), render: (_, flavor) => t('cores', { count: flavor.cpu_cores }) },
          { key: 'memory', ...right, title: t('add.flavorColumn.memory'), render: (_, flavor) => format.bytes(flavor.memory_bytes) },
          { key: 'disk', ...right, title: t('add.flavorColumn.disk'), render: (_, flavor) => format.bytes(flavor.disk_bytes) },
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
