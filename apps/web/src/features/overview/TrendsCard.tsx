import Segmented from 'antd/es/segmented'
import { overview, trendRanges, trendSteps, type TrendRange } from '@zhisuan/contract/nextstack/overview'
import { useCallback, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import { historyOf, trendSeries } from './trendSeries.ts'
import './overview.css'

const refreshMs = 60_000
const group = 'nextstack.overview.trends'

/** How many instances there were, and what was promised to them. */
export function TrendsCard() {
  const { t } = useTranslation('overview')
  const [range, setRange] = useState<TrendRange>('day')
  const { data, error, isPending, refetch, dataUpdatedAt } = useCall(overview.trends, { query: { range } }, { refreshMs, silent: true })
  const count = useCallback((value: number) => t('trends.vmCount', { amount: format.number(value) }), [t])
  const cores = useCallback((value: number) => t('trends.cores', { amount: format.number(value) }), [t])
  const bytes = useCallback((value: number) => format.bytes(value), [])

  const until = dataUpdatedAt === 0 ? Date.now() : dataUpdatedAt
  const from = until - trendSteps[range].lengthMs
  const common = { from, until, loading: isPending, group }
  const series = trendSeries(data, range, { all: t('trends.all'), running: t('trends.running'), cpu: t('trends.cpu'), memory: t('trends.memory') })
  const history = data === undefined ? 'whole' : historyOf(data, from)
  return (
    <section className="zs-card" aria-labelledby="overview-trends">
      <div className="overview-head">
        <h2 className="zs-title" id="overview-trends">
          {t('trends.title')}
        </h2>
        {history !== 'whole' && (
          <span className="zs-soft">{history === 'young' ? t('trends.young') : t('trends.since', { since: format.dateTime(data?.since) })}</span>
        )}
        <Segmented
          className="overview-range"
          aria-label={t('trends.range.label')}
          value={range}
          options={trendRanges.map((value) => ({ value, label: t(`trends.range.${value}`) }))}
          onChange={setRange}
        />
      </div>
      {data === undefined && error !== null ? (
        <ErrorPanel error={error} title={t('failed', { what: t('trends.title') })} onRetry={() => void refetch()} />
      ) : (
        <div className="overview-charts">
          <MetricChart {...common} title={t('trends.vms')} series={series.vms} format={count} base="whole" />
          <MetricChart {...common} title={t('trends.cpu')} series={series.cpu} format={cores} base="whole" />
          <MetricChart {...common} title={t('trends.memory')} series={series.memory} format={bytes} base={1024} />
        </div>
      )}
    </section>
  )
}
