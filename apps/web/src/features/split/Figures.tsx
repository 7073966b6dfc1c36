import Segmented from 'antd/es/segmented'
import Skeleton from 'antd/es/skeleton'
import type { SplitFigures } from '@zhisuan/contract/split/provider'
import type { UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import type { ApiError } from '../../api/client.ts'
import { useTranslation } from '../../i18n.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import { paths } from '../../paths.ts'
import { SoldLines } from './SoldLines.tsx'
import './split.css'

const ranges = [7, 30, 90] as const
const dayMs = 86_400_000

/** How far back one looks. */
export function useDays() {
  const { t } = useTranslation('split')
  const [days, setDays] = useState<number>(30)
  return {
    days,
    choice: (
      <Segmented<number>
        className="zs-above"
        aria-label={t('figures.range')}
        value={days}
        options={ranges.map((count) => ({ value: count, label: t('figures.days', { count }) }))}
        onChange={setDays}
      />
    ),
  }
}

/** What machines were sold for. @param of whose, and which @param leads whether models lead to pages of their own, which administrators have */
export function Figures({
  query,
  days,
  of = {},
  leads = false,
}: {
  readonly query: UseQueryResult<SplitFigures, ApiError>
  readonly days: number
  readonly of?: { readonly provider_id?: string; readonly model?: string }
  readonly leads?: boolean
}) {
  const { t } = useTranslation('split')
  const { data, error, refetch } = query
  if (error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton active paragraph={{ rows: 8 }} />
  const until = Date.now()
  const from = until - days * dayMs
  const at = (day: string): number => new Date(`${day}T00:00:00+08:00`).getTime()
  const hours = (value: number): string => format.number(value, 1)
  return (
    <>
      <dl className="sp-tiles">
        <div>
          <dt>{t('figures.amount')}</dt>
          <dd>{data.days.length === 0 ? format.money(data.amount) : <a href="#lines">{format.money(data.amount)}</a>}</dd>
        </div>
        <div>
          <dt>{t('figures.hours')}</dt>
          <dd>{hours(data.hours)}</dd>
        </div>
        <div>
          <dt>{t('figures.cards')}</dt>
          <dd>{format.number(data.cards)}</dd>
        </div>
      </dl>
      {data.days.length === 0 ? (
        <EmptyState title={t('figures.nothing')} />
      ) : (
        <>
          <MetricChart
            title={t('figures.byDay')}
            series={[{ name: t('figures.hours'), points: data.days.map((one) => [at(one.day), one.hours]) }]}
            format={hours}
            from={from}
            until={until}
          />
          <MetricChart
            title={t('figures.amountByDay')}
            series={[{ name: t('figures.amount'), points: data.days.map((one) => [at(one.day), Number(one.amount)]) }]}
            format={(value) => format.money(String(value))}
            from={from}
            until={until}
          />
          <h2 className="zs-heading">{t('figures.models')}</h2>
          <Models models={data.models} leads={leads} />
          <h2 className="zs-heading">{t('figures.week')}</h2>
          <Week week={data.week} />
          <h2 className="zs-heading" id="lines">
            {t('figures.lines')}
          </h2>
          <SoldLines of={{ days, ...of }} days={data.days} models={data.models} />
        </>
      )}
    </>
  )
}

function Models({ models, leads }: { readonly models: SplitFigures['models']; readonly leads: boolean }) {
  const { t } = useTranslation('split')
  return (
    <div className="sp-scroll" role="region" aria-label={t('figures.models')} tabIndex={0}>
      <table className="sp-models">
        <thead>
          <tr>
            <th scope="col">{t('column.model')}</th>
            <th scope="col">{t('column.provider')}</th>
            {(['cards', 'hours', 'use', 'price', 'amount'] as const).map((key) => (
              <th key={key} scope="col" className="zs-number">
                {t(`column.${key}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {models.map((one) => (
            <tr key={`${one.provider.id} ${one.model}`}>
              <th scope="row">{leads ? <Link to={paths.split.resourceData.detail(one.provider.id, one.model)}>{one.model}</Link> : one.model}</th>
              <td>{leads ? <Link to={paths.split.operationalData.detail(one.provider.id)}>{one.provider.name}</Link> : one.provider.name}</td>
              <td className="zs-number">{format.number(one.cards)}</td>
              <td className="zs-number">{format.number(one.hours, 1)}</td>
              <td className="zs-number">{format.percent(one.use)}</td>
              <td className="zs-number">{format.money(one.price)}</td>
              <td className="zs-number">
                {leads ? <Link to={paths.split.resourceData.detail(one.provider.id, one.model)}>{format.money(one.amount)}</Link> : format.money(one.amount)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const weekdays = [1, 2, 3, 4, 5, 6, 7] as const

/** Darker where more was sold; each field says how much. */
function Week({ week }: { readonly week: SplitFigures['week'] }) {
  const { t } = useTranslation('split')
  const most = Math.max(...week.map(({ hours }) => hours), 0)
  const at = (weekday: number, hour: number): number => week.find((one) => one.weekday === weekday && one.hour === hour)?.hours ?? 0
  return (
    <div className="sp-scroll" role="region" aria-label={t('figures.week')} tabIndex={0}>
      <table className="sp-week">
        <thead>
          <tr>
            <td />
            {Array.from({ length: 24 }, (_, hour) => (
              <th key={hour} scope="col" aria-label={t('figures.hour', { hour })}>
                {hour}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weekdays.map((weekday) => (
            <tr key={weekday}>
              <th scope="row">{t(`figures.weekday.d${weekday}`)}</th>
              {Array.from({ length: 24 }, (_, hour) => {
                const value = at(weekday, hour)
                return (
                  <td key={hour} title={format.number(value, 1)}>
                    <span className="sp-heat" style={{ opacity: most === 0 ? 0 : value / most }} aria-hidden="true" />
                    <span className="zs-hidden">{format.number(value, 1)}</span>
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
