import { alarms } from '@zhisuan/contract/omc/alarm'
import type { BodyOf } from '@zhisuan/contract/define'
import { useCallback, useMemo } from 'react'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import './operations.css'
import '../../kit/chart.css'

const days = 7

/** In how many places a rule would have fired at each moment of the past days, and how many times that would have begun. */
export default function AlarmPreview({ asked }: { readonly asked: BodyOf<typeof alarms.preview> }) {
  const { t } = useTranslation('operations')
  const { data, error, isPending, refetch, dataUpdatedAt } = useCall(alarms.preview, { body: asked }, { silent: true })
  const number = useCallback((value: number) => format.number(value), [])
  const series = useMemo(
    () => [{ name: t('alarm.preview.series'), points: (data?.items ?? []).map(({ at, count }) => [Date.parse(at), count] as const) }],
    [data, t],
  )
  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const until = dataUpdatedAt === 0 ? Date.now() : dataUpdatedAt
  return (
    <div className="om-preview" role="status">
      <p>{data === undefined ? t('alarm.preview.asking') : !data.known ? t('alarm.preview.unknown') : t('alarm.preview.times', { count: data.times, days })}</p>
      {data?.known !== false && (
        <MetricChart
          title={t('alarm.preview.series')}
          series={series}
          format={number}
          base="whole"
          from={until - days * 86_400_000}
          until={until}
          loading={isPending}
        />
      )}
    </div>
  )
}
