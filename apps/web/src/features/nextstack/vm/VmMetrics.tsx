import Alert from 'antd/es/alert'
import Segmented from 'antd/es/segmented'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { useCallback } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useSearchParams } from 'react-router'
import { useCall } from '../../../api/hooks.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { MetricChart } from '../../../kit/MetricChart.tsx'
import { vmSeries } from './vmSeries.ts'
import '../nextstack.css'
import '../../../kit/chart.css'

const ranges = [5, 15, 60] as const
const group = 'nextstack.vm.metrics'

/** How busy an instance was in the last minutes. */
export function VmMetrics({ vm }: { readonly vm: Vm }) {
  const { t } = useTranslation('nextstack')
  const [search, setSearch] = useSearchParams()
  const minutes = ranges.find((range) => String(range) === search.get('minutes')) ?? 15
  const { data, error, isPending, refetch, dataUpdatedAt } = useCall(
    vms.metrics,
    { params: { id: vm.id }, query: { minutes } },
    { silent: true, refreshMs: (metrics) => (metrics?.interval_seconds ?? 5) * 1000 },
  )
  const percent = useCallback((value: number) => format.percent(value), [])
  const bytes = useCallback((value: number) => format.bytes(value), [])
  const rate = useCallback((value: number) => format.bytesPerSecond(value), [])

  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const series = vmSeries(data, {
    cpu: t('metrics.cpu'),
    memory: t('metrics.memory'),
    disk: t('metrics.disk'),
    received: t('metrics.received'),
    sent: t('metrics.sent'),
  })
  const until = dataUpdatedAt === 0 ? Date.now() : dataUpdatedAt
  const common = { from: until - minutes * 60_000, until, loading: isPending, group }
  const seconds = data?.interval_seconds ?? 5
  return (
    <>
      <div className="ns-metrics-head">
        <Segmented
          aria-label={t('metrics.range')}
          value={minutes}
          options={ranges.map((value) => ({ value, label: t('metrics.minutes', { count: value }) }))}
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
        <span className="zs-soft" role="status">
          {error !== null
            ? t('metrics.failed')
            : data !== undefined && data.items.length < 2 && vm.status === 'running'
              ? t('metrics.young', { seconds })
              : t('metrics.live', { seconds })}
          {t('metrics.kept')}
        </span>
      </div>
      {vm.status !== 'running' && <Alert className="zs-above" type="info" showIcon title={t('metrics.off')} />}
      <div className="zs-charts">
        <MetricChart {...common} title={t('metrics.cpu')} series={series.cpu} format={percent} max={1} />
        <MetricChart {...common} title={t('metrics.memory')} series={series.memory} format={bytes} max={vm.memory_bytes} base={1024} />
        <MetricChart {...common} title={t('metrics.network')} series={series.network} format={rate} base={1024} />
        <MetricChart {...common} title={t('metrics.disk')} series={series.disk} format={bytes} max={vm.disk_bytes} base={1024} />
      </div>
    </>
  )
}
