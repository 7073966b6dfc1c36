import type { ResponseOf } from '@zhisuan/contract/define'
import { stats } from '@zhisuan/contract/omc/stats'
import Table from 'antd/es/table'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import './operations.css'

type Region = ResponseOf<typeof stats.clusters>['items'][number]

/** What nodes have together, by regions, and how much of it is used. */
export function RegionTable() {
  const { t } = useTranslation('operations')
  const { data, error, refetch, isPending } = useCall(stats.clusters, {}, { silent: true, refreshMs: 10_000 })
  const shareOf = ({ used_bytes, total_bytes }: Region['memory']): string => (total_bytes === 0 ? format.nothing : format.percent(used_bytes / total_bytes))
  const totalOf = ({ total_bytes }: Region['memory']): string => (total_bytes === 0 ? '' : t('stats.total', { total: format.bytes(total_bytes) }))
  return (
    <section className="om-part" aria-labelledby="om-regions">
      <div className="zs-bar om-head">
        <h2 className="zs-title" id="om-regions">
          {t('stats.regions')}
        </h2>
      </div>
      {data === undefined && error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : (
        <Table<Region>
          size="small"
          pagination={false}
          loading={isPending}
          rowKey={({ region }) => region?.id ?? ''}
          dataSource={data?.items ?? []}
          columns={[
            col.text<Region>('region', t('stats.region'), ({ region }) => region?.name ?? t('stats.noRegion')),
            col.text<Region>('nodes', t('stats.nodes'), ({ node_count, online_count }) => t('stats.online', { online: online_count, count: node_count })),
            col.text<Region>('cpu', t('stats.metrics.cpu'), ({ cpu }) => format.percent(cpu), {
              note: ({ cpu_threads }) => t('stats.total', { total: t('stats.threads', { count: cpu_threads }) }),
            }),
            col.text<Region>('memory', t('stats.metrics.memory'), ({ memory }) => shareOf(memory), { note: ({ memory }) => totalOf(memory) }),
            col.text<Region>('disk', t('stats.metrics.disk'), ({ disk }) => shareOf(disk), { note: ({ disk }) => totalOf(disk) }),
            col.text<Region>('gpu', t('stats.metrics.gpu'), ({ gpu }) => format.percent(gpu), {
              note: ({ gpu_count }) => (gpu_count === 0 ? '' : t('stats.total', { total: t('stats.cards', { count: gpu_count }) })),
            }),
          ]}
        />
      )}
    </section>
  )
}
