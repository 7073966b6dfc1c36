import Alert from 'antd/es/alert'
import Segmented from 'antd/es/segmented'
import { edges, type EdgeDetail } from '@zhisuan/contract/ecrm/edge'
import { useCallback, useMemo } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useSearchParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import { NodeCharts } from '../operations/NodeCharts.tsx'
import { nodeSeries, sampleMs } from './nodeSeries.ts'
import './edge.css'
import '../../kit/chart.css'

/** Of the last day the platform keeps all figures itself; of what was before a Prometheus knows. */
const ownRanges = [5, 15, 60, 360, 1_440] as const
const longRanges = [10_080, 43_200] as const
const ranges = [...ownRanges, ...longRanges]
/** Averages of minutes do not change more often. */
const averagesMs = 60_000
const group = 'ecrm.edge.metrics'

/** How busy a node was in the last minutes, hours or days. */
export function NodeMetrics({ edge }: { readonly edge: EdgeDetail }) {
  const { t } = useTranslation('edge')
  const [search, setSearch] = useSearchParams()
  const minutes = ranges.find((range) => String(range) === search.get('minutes')) ?? 15
  const own = ownRanges.find((range) => range === minutes)
  const text = (value: number): string =>
    value < 60
      ? t('metrics.minutes', { count: value })
      : value <= 1_440
        ? t('metrics.hours', { count: value / 60 })
        : t('metrics.days', { count: value / 1_440 })
  return (
    <>
      <div className="ed-metrics-head">
        <Segmented
          aria-label={t('metrics.range')}
          value={minutes}
          options={ranges.map((value) => ({ value, label: text(value) }))}
          onChange={(value) =>
            setSearch(
              (now) => {
                const next = new URLSearchParams(now)
                next.set('minutes', String(value))
                return next
              },
              { replace: true },
            )
          }
        />
      </div>
      {own === undefined ? <NodeCharts nodeIds={[edge.id]} minutes={minutes} compare={false} /> : <OwnMetrics edge={edge} minutes={own} />}
    </>
  )
}

function OwnMetrics({ edge, minutes }: { readonly edge: EdgeDetail; readonly minutes: (typeof ownRanges)[number] }) {
  const { t } = useTranslation('edge')
  const refreshMs = minutes > 60 ? averagesMs : sampleMs
  const { data, error, isPending, refetch, dataUpdatedAt } = useCall(
    edges.metrics,
    { params: { id: edge.id }, query: { minutes } },
    { silent: true, refreshMs },
  )
  const percent = useCallback((value: number) => format.percent(value), [])
  const bytes = useCallback((value: number) => format.bytes(value), [])
  const rate = useCallback((value: number) => format.bytesPerSecond(value), [])
  const number = useCallback((value: number) => format.number(value), [])
  const celsius = useCallback((value: number) => t('metrics.degrees', { value: format.number(value) }), [t])
  const { facts } = edge
  const series = useMemo(
    () =>
      nodeSeries(data?.items ?? [], (data?.interval_seconds ?? 0) * 1_000, facts, {
        cpu: t('metrics.cpu'),
        memory: t('metrics.memory'),
        received: t('metrics.received'),
        sent: t('metrics.sent'),
        load: (count) => t('metrics.minutes', { count }),
      }),
    [data, facts, t],
  )

  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const until = dataUpdatedAt === 0 ? Date.now() : dataUpdatedAt
  const common = { from: until - minutes * 60_000, until, loading: isPending, group }
  const memory = data?.items.at(-1)?.memory.total_bytes ?? edge.memory_bytes
  const cardBytes = Math.max(0, ...(facts?.gpus ?? []).map((gpu) => gpu.memory_bytes))
  return (
    <>
      <p className="zs-soft" role="status">
        {error === null ? t('metrics.live', { seconds: refreshMs / 1000 }) : t('metrics.failed')}
      </p>
      {edge.status !== 'online' && <Alert className="zs-above" type="info" showIcon title={t('metrics.off')} />}
      <div className="zs-charts">
        <MetricChart {...common} title={t('metrics.cpu')} series={series.cpu} format={percent} max={1} />
        <MetricChart {...common} title={t('metrics.memory')} series={series.memory} format={bytes} {...(memory !== null && { max: memory })} base={1024} />
        <MetricChart {...common} title={t('metrics.network')} series={series.network} format={rate} base={1024} />
        <MetricChart {...common} title={t('metrics.load')} series={series.load} format={number} />
        {series.disks.length > 0 && <MetricChart {...common} title={t('metrics.disks')} series={series.disks} format={percent} max={1} />}
        {series.gpuShare.length > 0 && (
          <>
            <MetricChart {...common} title={t('metrics.gpuShare')} series={series.gpuShare} format={percent} max={1} />
            <MetricChart
              {...common}
              title={t('metrics.gpuMemory')}
              series={series.gpuMemory}
              format={bytes}
              {...(cardBytes > 0 && { max: cardBytes })}
              base={1024}
            />
            <MetricChart {...common} title={t('metrics.gpuTemperature')} series={series.gpuTemperature} format={celsius} />
          </>
        )}
      </div>
    </>
  )
}
