import type { ResponseOf } from '@zhisuan/contract/define'
import { stats, type NodePoint } from '@zhisuan/contract/omc/stats'
import Alert from 'antd/es/alert'
import { useCallback, useMemo } from 'react'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { withGaps, type ChartSeries } from '../../kit/chartSeries.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import '../../kit/chart.css'

const group = 'omc.stat.nodes'
/** What the platform keeps by itself goes no further back. */
const ownMinutesMost = 1_440
type Curves = ResponseOf<typeof stats.nodes>

/** A line of each node, and one of the day before where that was asked for. */
function linesOf(
  { items, interval_seconds }: Pick<Curves, 'items' | 'interval_seconds'>,
  figure: keyof Omit<NodePoint, 'at'>,
  before: (name: string) => string,
): ChartSeries[] {
  const line = (name: string, points: readonly NodePoint[]): ChartSeries => ({
    name,
    points: withGaps(
      points.map((point) => [Date.parse(point.at), point[figure]] as const),
      interval_seconds * 1_000,
    ),
  })
  return items.flatMap(({ node, points, before: day }) => [line(node.name, points), ...(day === null ? [] : [line(before(node.name), day)])])
}

/**
 * How busy nodes were: those of these ids, or those that are busiest now where there are none. All charts are of one time, and point together.
 * @param compare with the day before
 */
export function NodeCharts({ nodeIds, minutes, compare }: { readonly nodeIds: readonly string[]; readonly minutes: number; readonly compare: boolean }) {
  const { t } = useTranslation('operations')
  const { data, error, isPending, refetch, dataUpdatedAt } = useCall(
    stats.nodes,
    { body: { node_ids: [...nodeIds], minutes, compare } },
    { silent: true, refreshMs: minutes > 60 ? 60_000 : 15_000 },
  )
  const percent = useCallback((value: number) => format.percent(value), [])
  const series = useMemo(() => {
    const before = (name: string): string => t('stats.before', { name })
    const shown = data ?? { items: [], interval_seconds: 60 }
    return { cpu: linesOf(shown, 'cpu', before), memory: linesOf(shown, 'memory', before), gpu: linesOf(shown, 'gpu', before) }
  }, [data, t])
  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const until = dataUpdatedAt === 0 ? Date.now() : dataUpdatedAt
  const common = { from: until - minutes * 60_000, until, loading: isPending, group, format: percent, max: 1, named: true }
  const hasCards = series.gpu.some(({ points }) => points.some(([, value]) => value !== null))
  return (
    <>
      {data?.source === 'platform' && (minutes > ownMinutesMost || compare) && <Alert className="zs-above" type="info" showIcon title={t('stats.ownOnly')} />}
      {data?.items.length === 0 ? (
        <EmptyState title={t('stats.curvesNone')}>{t('stats.curvesNoneNote')}</EmptyState>
      ) : (
        <div className="zs-charts">
          <MetricChart {...common} title={t('stats.metrics.cpu')} series={series.cpu} />
          <MetricChart {...common} title={t('stats.metrics.memory')} series={series.memory} />
          {hasCards && <MetricChart {...common} title={t('stats.metrics.gpu')} series={series.gpu} />}
        </div>
      )}
    </>
  )
}
