import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { constants } from '@zhisuan/contract/constants'
import { computeInstances, type ComputeInstance } from '@zhisuan/contract/compute/instance'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { useLines, type ItemOf } from '../../../api/hooks.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { readingOf } from '../../../kit/ResourceTable.tsx'
import { RowsTable, useTableState } from '../../../kit/RowsTable.tsx'
import { FailedServices } from '../../../kit/FailedServices.tsx'
import { isPassing } from './instanceRules.ts'

type Done = ItemOf<typeof computeInstances.actions>

/** What was done to an instance, as the cloud tells it: newest first. */
export function ActionLog({ instance, cloud }: { readonly instance: ComputeInstance; readonly cloud: CloudBasic }) {
  const { t } = useTranslation('computeInstance')
  const table = useTableState({ name: 'actions' })
  const result = useLines(
    computeInstances.actions,
    { params: { cloud_id: cloud.cloud_id, id: instance.id } },
    { refreshMs: () => (isPassing(instance) ? 3_000 : constants.listRefreshMs) },
  )
  const rows = result.data?.items ?? []
  const { page, size } = table.state
  return (
    <>
      <FailedServices failed={result.data?.failed ?? []} onRetry={() => void result.refetch()} />
      <RowsTable<Done>
        list={computeInstances.actions.id}
        name="actions"
        table={table}
        shown={{ ...readingOf(result), rows: rows.slice((page - 1) * size, page * size), total: rows.length }}
        rowKey="request_id"
        columns={actionColumns(t)}
        empty={{ title: t('actionLog.empty') }}
      />
    </>
  )
}

/** What people call an action of Nova's; its own word where there is none for it yet. */
const actionName = (t: TFunction<'computeInstance'>, action: string): string => t(`actionLog.of.${action as 'create'}`, { defaultValue: action })

const actionColumns = (t: TFunction<'computeInstance'>): readonly Column<Done>[] => [
  col.text('action', t('actionLog.column.action'), (one) => actionName(t, one.action), { width: 160 }),
  col.status(
    'result',
    t('actionLog.column.result'),
    (one) => ({ tone: one.message === null ? 'good' : 'bad', text: t(one.message === null ? 'actionLog.ok' : 'actionLog.failed'), note: one.message }),
    { width: 280 },
  ),
  col.date('started', t('actionLog.column.started'), (one) => one.started_at),
  col.code('request', t('actionLog.column.request'), (one) => one.request_id, { width: 340 }),
]
