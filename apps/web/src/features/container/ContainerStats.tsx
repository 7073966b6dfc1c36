import { containers, type Container } from '@zhisuan/contract/cis/container'
import { useCallback, useEffect, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import { statsIntervalMs, statsSeries, withStats, type StatsSample } from './statsSeries.ts'
import '../../kit/chart.css'

const group = 'cis.container.stats'
/** The axis stands still while samples are few. */
const shownMs = 5 * 60_000

/** What a running container uses, drawn from when the page is opened: nobody keeps it. */
export function ContainerStats({
  container,
  memoryLimitBytes,
}: {
  readonly container: Pick<Container, 'id' | 'edge'>
  /** Null without: Docker then tells of the whole node's, beside which a container is nothing. */
  readonly memoryLimitBytes: number | null
}) {
  const { t } = useTranslation('container')
  const [samples, setSamples] = useState<readonly StatsSample[]>([])
  const { data, error, refetch } = useCall(
    containers.stats,
    { params: { id: container.id } },
    { silent: true, enabled: container.edge.online, refreshMs: statsIntervalMs },
  )
  useEffect(() => {
    if (data !== undefined) setSamples((now) => withStats(now, data))
  }, [data])
  const cores = useCallback((value: number) => t('stats.cores', { value: format.number(value, value < 0.1 ? 4 : 2) }), [t])
  const bytes = useCallback((value: number) => format.bytes(value), [])
  const rate = useCallback((value: number) => format.bytesPerSecond(value), [])
  const count = useCallback((value: number) => format.number(value), [])

  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const series = statsSeries(samples, {
    cpu: t('stats.cpu'),
    memory: t('stats.memory'),
    pids: t('stats.pids'),
    received: t('stats.received'),
    sent: t('stats.sent'),
    read: t('stats.read'),
    written: t('stats.written'),
  })
  const last = samples.at(-1)
  const first = samples[0]
  // Clocks of nodes differ from ours: the axis is theirs.
  const until = last === undefined ? Date.now() : Date.parse(last.at)
  const from = Math.min(until - shownMs, first === undefined ? until : Date.parse(first.at))
  const common = { from, until, loading: last === undefined, group }
  return (
    <>
      <p className="zs-soft" role="status">
        {error === null ? t('stats.live', { seconds: statsIntervalMs / 1_000 }) : t('stats.failed')}
      </p>
      <div className="zs-charts">
        <MetricChart {...common} title={t('stats.cpu')} series={series.cpu} format={cores} />
        <MetricChart
          {...common}
          title={t('stats.memory')}
          series={series.memory}
          format={bytes}
          base={1024}
          {...(memoryLimitBytes !== null && { max: memoryLimitBytes })}
        />
        <MetricChart {...common} title={t('stats.network')} series={series.network} format={rate} base={1024} />
        <MetricChart {...common} title={t('stats.disk')} series={series.disk} format={rate} base={1024} />
        <MetricChart {...common} title={t('stats.pids')} series={series.pids} format={count} base="whole" />
      </div>
    </>
  )
}
