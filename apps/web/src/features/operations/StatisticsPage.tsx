import { prometheus } from '@zhisuan/contract/omc/monitor'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { DetailTabs } from '../../kit/DetailPage.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { CountTiles } from './CountTiles.tsx'
import { Explorer } from './Explorer.tsx'
import { NodeCurves } from './NodeCurves.tsx'
import { Ranking } from './Ranking.tsx'
import { RegionTable } from './RegionTable.tsx'
import './operations.css'

/** How everything is that one has: how many, in which states, how busy, and how busy it was. */
export default function StatisticsPage() {
  const { t } = useTranslation('operations')
  return (
    <>
      <CountTiles />
      <DetailTabs
        tabs={[
          {
            key: 'now',
            label: t('stats.now'),
            content: (
              <>
                <NodeCurves />
                <div className="om-pair">
                  <Ranking />
                  <RegionTable />
                </div>
              </>
            ),
          },
          { key: 'explore', label: t('prometheus.explore'), content: <AnyExplorer /> },
        ]}
      />
    </>
  )
}

/** The first Prometheus that answers. */
function AnyExplorer() {
  const { t } = useTranslation('operations')
  const { data } = useCall(prometheus.list, { query: { page_size: 100 } }, { silent: true })
  const first = data?.items.find(({ status, health }) => status === 'active' && health === 'reachable')
  if (data === undefined) return null
  return first === undefined ? <EmptyState title={t('stats.noPrometheus')}>{t('stats.noPrometheusNote')}</EmptyState> : <Explorer id={first.id} />
}
