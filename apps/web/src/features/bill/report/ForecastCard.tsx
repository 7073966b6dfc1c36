import Skeleton from 'antd/es/skeleton'
import type { UsageForecast } from '@zhisuan/contract/bill/consume'
import { useTranslation } from '../../../i18n.ts'
import type { ApiError } from '../../../api/client.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { monthName } from './useBillQuery.tsx'
import './report.css'

/** What this month and the next are expected to cost, and how that is known. */
export function ForecastCard({
  forecast,
  error,
  retry,
}: {
  readonly forecast: UsageForecast | undefined
  readonly error: ApiError | null
  readonly retry: () => void
}) {
  const { t } = useTranslation('report')
  const band = ({ low, high }: UsageForecast['current']): string =>
    low === null || high === null ? t('forecast.noBand') : t('forecast.band', { low: format.money(low), high: format.money(high) })
  return (
    <section className="zs-card" aria-label={t('forecast.title')}>
      <div className="br-head">
        <h2 className="zs-title">{t('forecast.title')}</h2>
      </div>
      {forecast === undefined ? (
        error === null ? (
          <Skeleton active paragraph={{ rows: 3 }} />
        ) : (
          <ErrorPanel error={error} title={t('failed', { what: t('forecast.title') })} onRetry={retry} />
        )
      ) : (
        <>
          <dl className="br-facts">
            <div>
              <dt>{t('forecast.current', { month: monthName(t, forecast.month) })}</dt>
              <dd className="zs-number">
                {format.money(forecast.current.expected)} <span className="zs-soft">{band(forecast.current)}</span>
              </dd>
            </div>
            <div>
              <dt>{t('forecast.next', { month: monthName(t, forecast.next_month) })}</dt>
              <dd className="zs-number">
                {format.money(forecast.next.expected)} <span className="zs-soft">{band(forecast.next)}</span>
              </dd>
            </div>
            <div>
              <dt>{t('forecast.used', { at: format.dateTime(forecast.rated_until) })}</dt>
              <dd className="zs-number">{format.money(forecast.used)}</dd>
            </div>
            <div>
              <dt>{t('forecast.hourly')}</dt>
              <dd className="zs-number">
                {format.rate(forecast.hourly)}
                {Number(forecast.hourly) === 0 && <span className="zs-soft">{t('forecast.none')}</span>}
              </dd>
            </div>
          </dl>
          {forecast.changes.length > 0 && (
            <>
              <h3>{t('forecast.changes')}</h3>
              <ul className="br-changes">
                {forecast.changes.map(({ at, sku, kind, hourly_before, hourly_after }) => (
                  <li key={`${at} ${sku.id}`}>
                    <time className="zs-number" dateTime={at}>
                      {format.dateTime(at)}
                    </time>
                    <span>{t(`forecast.change.${kind}`, { sku: sku.name })}</span>
                    <span className="zs-number">{t('forecast.changeHourly', { before: format.rate(hourly_before), after: format.rate(hourly_after) })}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
          <details className="br-explained">
            <summary>{t('forecast.how')}</summary>
            <p>{t('forecast.howText')}</p>
            {forecast.current.low !== null && <p>{t('forecast.howBand', { days: forecast.days_known })}</p>}
          </details>
        </>
      )}
    </section>
  )
}
