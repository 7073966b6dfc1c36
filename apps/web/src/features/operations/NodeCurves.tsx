import { curvesMost, stats, type NodePoint } from '@zhisuan/contract/omc/stats'
import { edges } from '@zhisuan/contract/ecrm/edge'
import type { ResponseOf } from '@zhisuan/contract/define'
import Alert from 'antd/es/alert'
import Checkbox from 'antd/es/checkbox'
import Segmented from 'antd/es/segmented'
import Select from 'antd/es/select'
import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { withGaps, type ChartSeries } from '../../kit/chartSeries.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import { rangeText } from './Explorer.tsx'
import './operations.css'
import '../../kit/chart.css'

const ranges = [60, 360, 1_440, 10_080, 43_200] as const
const group = 'omc.stat.nodes'
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

/** How busy nodes were: those that are chosen, or those that are busiest now. All charts are of one time, and point together. */
export function NodeCurves() {
  const { t } = useTranslation('operations')
  const [search, setSearch] = useSearchParams()
  const minutes = ranges.find((range) => String(range) === search.get('minutes')) ?? 60
  const compare = search.get('compare') === 'true'
  const chosen = (search.get('nodes') ?? '').split(',').filter((id) => id !== '')
  const set = (key: string, value: string): void =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now)
        if (value === '') next.delete(key)
        else next.set(key, value)
        return next
      },
      { replace: true },
    )
  const { data: all } = useCall(edges.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  const { data, error, isPending, refetch, dataUpdatedAt } = useCall(
    stats.nodes,
    { body: { node_ids: chosen, minutes, compare } },
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
    <section aria-label={t('stats.curves')}>
      <div className="zs-bar om-head">
        <h2 className="zs-title">{t('stats.curves')}</h2>
        <Segmented
          aria-label={t('range.label')}
          value={minutes}
          options={ranges.map((value) => ({ value, label: rangeText(t, value) }))}
          onChange={(value) => set('minutes', String(value))}
        />
        <Select<string[]>
          className="om-nodes"
          mode="multiple"
          allowClear
          maxCount={curvesMost}
          maxTagCount="responsive"
          aria-label={t('stats.chosen')}
          placeholder={t('stats.busiest')}
          value={chosen}
          showSearch={{ optionFilterProp: 'label' }}
          options={(all?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(ids) => set('nodes', ids.join(','))}
        />
        <Checkbox checked={compare} onChange={({ target }) => set('compare', target.checked ? 'true' : '')}>
          {t('stats.compare')}
        </Checkbox>
      </div>
      {data?.source === 'platform' && (minutes > 1_440 || compare) && <Alert className="zs-above" type="info" showIcon title={t('stats.ownOnly')} />}
      {data?.items.length === 0 ? (
        <EmptyState title={t('stats.curvesNone')}>{t('stats.curvesNoneNote')}</EmptyState>
      ) : (
        <div className="zs-charts">
          <MetricChart {...common} title={t('stats.metrics.cpu')} series={series.cpu} />
          <MetricChart {...common} title={t('stats.metrics.memory')} series={series.memory} />
          {hasCards && <MetricChart {...common} title={t('stats.metrics.gpu')} series={series.gpu} />}
        </div>
      )}
    </section>
  )
}
