import Segmented from 'antd/es/segmented'
import { capacityRanges, capacitySteps, clouds, type CapacityRange } from '@zhisuan/contract/cmp/cloud'
import { useCallback, useMemo, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import { capacitySeries } from './capacitySeries.ts'
import './clouds.css'
import '../../kit/chart.css'

/** Samples are minutes apart. */
const refreshMs = 60_000
const group = 'cmp.cloud.capacity'

/** How full a cloud was: what could be promised, and what was. */
export function CapacityHistory({ cloudId }: { readonly cloudId: string }) {
  const { t } = useTranslation('clouds')
  const [range, setRange] = useState<CapacityRange>('day')
  const { data, error, isPending, refetch, dataUpdatedAt } = useCall(
    clouds.capacity,
    { params: { id: cloudId }, query: { range } },
    { refreshMs, silent: true },
  )
  const cores = useCallback((value: number) => t('cores', { amount: format.number(value) }), [t])
  const bytes = useCallback((value: number) => format.bytes(value), [])
  const count = useCallback((value: number) => format.number(value), [])
  const series = useMemo(
    () => capacitySeries(data?.items ?? [], range, { used: t('history.used'), total: t('history.total'), instances: t('column.instances') }),
    [data, range, t],
  )
  const until = dataUpdatedAt === 0 ? Date.now() : dataUpdatedAt
  const common = { from: until - capacitySteps[range].lengthMs, until, loading: isPending, group }
  return (
    <section aria-labelledby="cloud-history">
      <div className="cl-history-head">
        <h2 id="cloud-history" className="cl-heading">
          {t('history.title')}
        </h2>
        <Segmented
          aria-label={t('history.range')}
          value={range}
          options={capacityRanges.map((value) => ({ value, label: t(`history.ranges.${value}`) }))}
          onChange={setRange}
        />
      </div>
      {data === undefined && error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : (
        <>
          {data !== undefined && data.items.length < 2 && <p className="zs-soft">{t('history.young')}</p>}
          <div className="zs-charts">
            <MetricChart {...common} title={t('resource.cpu')} series={series.cpu} format={cores} base="whole" />
            <MetricChart {...common} title={t('resource.memory')} series={series.memory} format={bytes} base={1024} />
            <MetricChart {...common} title={t('resource.disk')} series={series.disk} format={bytes} base={1024} />
            <MetricChart {...common} title={t('column.instances')} series={series.instances} format={count} base="whole" />
          </div>
        </>
      )}
    </section>
  )
}
