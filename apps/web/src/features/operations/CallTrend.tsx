import { apiLogs } from '@zhisuan/contract/omc/log'
import Segmented from 'antd/es/segmented'
import { useCallback, useMemo, useState } from 'react'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import './operations.css'
import '../../kit/chart.css'

const hourMs = 3_600_000
const group = 'omc.apiLog.trend'
const ranges = [24, 72, 168, 720] as const

/** How many calls there were in each hour, by how they ended, and how long they took. */
export function CallTrend() {
  const { t } = useTranslation('operations')
  const [hours, setHours] = useState<(typeof ranges)[number]>(24)
  const { data, error, isPending, refetch } = useCall(apiLogs.trend, { query: { hours } }, { silent: true, refreshMs: 60_000 })
  const count = useCallback((value: number) => format.number(value), [])
  const ms = useCallback((value: number) => t('log.msOf', { value: format.number(value, 1) }), [t])
  const items = data?.items
  const series = useMemo(() => {
    const line = (name: string, value: (item: NonNullable<typeof items>[number]) => number | null) => ({
      name,
      points: (items ?? []).map((item) => [Date.parse(item.at), value(item)] as const),
    })
    return {
      calls: [
        line(t('log.outcome.ok'), ({ ok }) => ok),
        line(t('log.outcome.refused'), ({ refused }) => refused),
        line(t('log.outcome.failed'), ({ failed }) => failed),
      ],
      ms: [line(t('log.average'), (item) => item.ms)],
    }
  }, [items, t])
  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const from = Date.parse(items?.[0]?.at ?? new Date(Date.now() - hours * hourMs).toISOString())
  const until = Date.parse(items?.at(-1)?.at ?? new Date().toISOString())
  const common = { from, until: Math.max(until, from + hourMs), loading: isPending, group }
  return (
    <section aria-label={t('log.trend')}>
      <div className="zs-bar om-head">
        <h2 className="zs-title">{t('log.trend')}</h2>
        <Segmented
          aria-label={t('range.label')}
          value={hours}
          options={ranges.map((value) => ({ value, label: value < 72 ? t('range.hours', { count: value }) : t('range.days', { count: value / 24 }) }))}
          onChange={setHours}
        />
      </div>
      <div className="zs-charts">
        <MetricChart {...common} title={t('log.calls')} series={series.calls} format={count} base="whole" />
        <MetricChart {...common} title={t('log.times')} series={series.ms} format={ms} />
      </div>
    </section>
  )
}
