import { alertLogs, severities } from '@zhisuan/contract/omc/alarm'
import { useCallback, useMemo } from 'react'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import { AlertTable } from './AlertTable.tsx'
import './operations.css'
import '../../kit/chart.css'

const days = 14
const dayMs = 86_400_000

/** What goes on, what went on, and how often. */
export default function AlertPage() {
  const { t } = useTranslation('operations')
  const { data: counts, error, refetch } = useCall(alertLogs.counts, {}, { silent: true, refreshMs: 10_000 })
  const { data: trend, isPending } = useCall(alertLogs.trend, { query: { days } }, { silent: true, refreshMs: 60_000 })
  const number = useCallback((value: number) => format.number(value), [])
  const series = useMemo(
    () =>
      severities.map((severity) => ({
        name: t(`alarm.severities.${severity}`),
        points: (trend?.items ?? []).map((item) => [Date.parse(`${item.day}T00:00:00+08:00`), item[severity]] as const),
      })),
    [trend, t],
  )
  const first = Date.parse(`${trend?.items[0]?.day ?? ''}T00:00:00+08:00`)
  const from = Number.isNaN(first) ? Date.now() - (days - 1) * dayMs : first
  return (
    <>
      {counts === undefined && error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : (
        <ul className="om-tiles" aria-label={t('alert.counts')} aria-busy={counts === undefined}>
          {severities.map((severity) => (
            <li key={severity} className="om-tile">
              <span className="zs-soft">{t('alert.going', { severity: t(`alarm.severities.${severity}`) })}</span>
              <strong className={severity === 'critical' && (counts?.firing.critical ?? 0) > 0 ? 'zs-bad' : ''}>
                {format.number(counts?.firing[severity])}
              </strong>
            </li>
          ))}
          <li className="om-tile">
            <span className="zs-soft">{t('alert.unprocessedCount')}</span>
            <strong>{format.number(counts?.unprocessed)}</strong>
          </li>
          <li className="om-tile">
            <span className="zs-soft">{t('alert.today')}</span>
            <strong>{format.number(counts?.today)}</strong>
          </li>
        </ul>
      )}
      <div className="zs-card">
        <div className="zs-charts">
          <MetricChart
            title={t('alert.trend', { count: days })}
            series={series}
            format={number}
            base="whole"
            from={from}
            until={from + (days - 1) * dayMs}
            loading={isPending}
          />
        </div>
      </div>
      <div className="zs-card">
        <AlertTable />
      </div>
    </>
  )
}
