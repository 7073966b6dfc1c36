import { lazy, Suspense } from 'react'
import { useTranslation } from '../i18n.ts'
import './chart.css'
import type { Base } from './chartScale.ts'
import { summarise, type ChartSeries } from './chartSeries.ts'
import { nothing } from './format.ts'

export interface MetricChartProps {
  readonly title: string
  readonly series: readonly ChartSeries[]
  /** A value with its unit. */
  readonly format: (value: number) => string
  /** From when to when, in milliseconds since 1970: the axis stands still while samples are few. */
  readonly from: number
  readonly until: number
  /** End of the value axis where it is known, such as 1 for a share or an instance's memory. Else it fits the values. */
  readonly max?: number
  /** 1024 where values are bytes, `whole` where they are counted. */
  readonly base?: Base
  /** Nothing is known yet. */
  readonly loading?: boolean
  /** The name of a line is said also where it is the only one: which it is depends on what was chosen. */
  readonly named?: boolean
  /** Charts of one name point at the same moment together. */
  readonly group?: string
}

const ChartView = lazy(() => import('./chartView.tsx'))

/** Lines over time, with their newest and highest values said in words. Its place does not move while data arrives. */
export function MetricChart(props: MetricChartProps) {
  const { t } = useTranslation('kit')
  const { title, series, format, loading = false, named = false } = props
  const summaries = summarise(series)
  const empty = summaries.every(({ max }) => max === null)
  const said = (value: number | null): string => (value === null ? nothing : format(value))
  return (
    <figure className="zs-chart">
      <figcaption className="zs-chart-head">
        <span className="zs-chart-title">{title}</span>
        <ul className="zs-chart-summary">
          {summaries.map(({ name, latest, max }, index) => (
            <li key={name}>
              <span className={`zs-chart-key zs-chart-key-${index % 4}`} aria-hidden="true" />
              {(named || series.length > 1) && `${name} `}
              <strong>{said(latest)}</strong>
              {max !== null && <span className="zs-chart-max">{t('chart.max', { value: said(max) })}</span>}
            </li>
          ))}
        </ul>
      </figcaption>
      <div className="zs-chart-place">
        <Suspense fallback={null}>
          <ChartView
            {...props}
            label={t('chart.label', {
              title,
              summary: summaries.map(({ name, latest, max }) => t('chart.one', { name, latest: said(latest), max: said(max) })).join('；'),
            })}
          />
        </Suspense>
        {empty && <div className="zs-chart-empty">{loading ? t('chart.loading') : t('chart.empty')}</div>}
      </div>
    </figure>
  )
}
