import Segmented from 'antd/es/segmented'
import { offers } from '@zhisuan/contract/market/offer'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { withGaps, type ChartSeries } from '../../kit/chartSeries.ts'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import './market.css'

const ranges = [7, 30, 90] as const

/** What one kind of card cost until now, and how many were free: as this platform saw it itself. */
export default function CardHistory({ model }: { readonly model: string }) {
  const { t } = useTranslation('market')
  const [days, setDays] = useState<number>(ranges[0])
  const { data, dataUpdatedAt } = useCall(offers.history, { query: { card_model: model, days } }, { silent: true })
  const line = (name: string, valueOf: (point: NonNullable<typeof data>['points'][number]) => number | null): ChartSeries => ({
    name,
    points: withGaps(
      (data?.points ?? []).map((point) => [Date.parse(point.at), valueOf(point)] as const),
      (data?.interval_seconds ?? 3_600) * 1_000,
    ),
  })
  const price = (text: string | null): number | null => (text === null ? null : Number(text))
  const span = { from: dataUpdatedAt - days * 86_400_000, until: dataUpdatedAt, loading: data === undefined, group: 'market.history' }
  const onDemand = line(t('mode.onDemand'), ({ on_demand }) => price(on_demand))
  const interruptible = line(t('mode.interruptible'), (point) => price(point.interruptible))
  return (
    <section className="mk-history" aria-label={t('history.title', { model })}>
      <div className="mk-history-head">
        <h2>{t('history.title', { model })}</h2>
        <Segmented
          aria-label={t('history.range')}
          value={days}
          options={ranges.map((value) => ({ value, label: t('history.days', { count: value }) }))}
          onChange={setDays}
        />
      </div>
      <div className="mk-history-charts">
        <MetricChart
          {...span}
          title={t('history.price')}
          series={interruptible.points.some(([, value]) => value !== null) ? [onDemand, interruptible] : [onDemand]}
          format={(value) => format.rate(String(value))}
        />
        <MetricChart
          {...span}
          title={t('history.cards')}
          base="whole"
          series={[line(t('history.free'), ({ free_cards }) => free_cards), line(t('history.total'), ({ total_cards }) => total_cards)]}
          format={(value) => String(Math.round(value * 10) / 10)}
        />
      </div>
    </section>
  )
}
