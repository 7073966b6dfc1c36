import Segmented from 'antd/es/segmented'
import Skeleton from 'antd/es/skeleton'
import { ticketDesk } from '@zhisuan/contract/ticket/desk'
import { useState } from 'react'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import { minutesText } from './ticketTexts.ts'
import './ticket.css'

const ranges = [7, 30, 90] as const

/** How the desk stands, and how it went. */
export function Figures() {
  const { t } = useTranslation('ticket')
  const [days, setDays] = useState<(typeof ranges)[number]>(30)
  const { data, error, refetch } = useCall(ticketDesk.figures, { query: { days } }, { silent: true })
  if (error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton active paragraph={{ rows: 8 }} />
  const minutes = (value: number | null): string => (value === null ? format.nothing : minutesText(t, value))
  const now = [
    ['open', format.number(data.open)],
    ['unassigned', format.number(data.unassigned)],
    ['late', format.number(data.late)],
    ['asking', format.number(data.asking)],
    ['reviewing', format.number(data.reviewing)],
  ] as const
  const then = [
    ['created', format.number(data.created)],
    ['done', format.number(data.done)],
    ['answer', minutes(data.answer_minutes)],
    ['solve', minutes(data.solve_minutes)],
    ['inTime', format.percent(data.in_time)],
    ['score', data.score === null ? format.nothing : format.number(data.score, 1)],
  ] as const
  const moments = data.days.map((one) => new Date(`${one.day}T00:00:00+08:00`).getTime())
  const series = (['created', 'done'] as const).map((key) => ({
    name: t(`center.figure.${key}`),
    points: data.days.map((one, index): readonly [number, number] => [moments[index] ?? 0, one[key]]),
  }))
  return (
    <>
      <h2 className="zs-heading">{t('center.now')}</h2>
      <Tiles values={now} />
      <Segmented
        aria-label={t('center.dayRange')}
        className="zs-above"
        value={days}
        options={ranges.map((count) => ({ value: count, label: t('center.days', { count }) }))}
        onChange={setDays}
      />
      <Tiles values={then} />
      <MetricChart
        title={t('center.trend')}
        series={series}
        format={(value) => format.number(value, 0)}
        base="whole"
        from={moments[0] ?? 0}
        until={moments.at(-1) ?? 0}
      />
      <table className="tk-types">
        <caption>{t('center.byType')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('column.type')}</th>
            <th scope="col" className="zs-number">
              {t('center.figure.created')}
            </th>
            <th scope="col" className="zs-number">
              {t('center.lateNow')}
            </th>
          </tr>
        </thead>
        <tbody>
          {data.types.map(({ type, created, late }) => (
            <tr key={type}>
              <th scope="row">{t(`type.${type}`)}</th>
              <td className="zs-number">{format.number(created)}</td>
              <td className="zs-number">{format.number(late)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

type Tile = 'open' | 'unassigned' | 'late' | 'asking' | 'reviewing' | 'created' | 'done' | 'answer' | 'solve' | 'inTime' | 'score'
function Tiles({ values }: { readonly values: readonly (readonly [Tile, string])[] }) {
  const { t } = useTranslation('ticket')
  return (
    <dl className="tk-tiles">
      {values.map(([key, value]) => (
        <div key={key}>
          <dt>{t(`center.figure.${key}`)}</dt>
          <dd className="zs-number">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
