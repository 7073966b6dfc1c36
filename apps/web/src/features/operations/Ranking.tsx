import { nodeMetricNames, stats, type NodeMetricName } from '@zhisuan/contract/omc/stats'
import Segmented from 'antd/es/segmented'
import { useState } from 'react'
import { Link } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { paths } from '../../paths.ts'
import './operations.css'

/** The nodes that are busiest, by one figure. */
export function Ranking() {
  const { t } = useTranslation('operations')
  const [metric, setMetric] = useState<NodeMetricName>('cpu')
  const { data, error, refetch } = useCall(stats.ranking, { query: { metric } }, { silent: true, refreshMs: 10_000 })
  const highest = Math.max(1, ...(data?.items ?? []).map(({ usage }) => usage?.load ?? 0))
  return (
    <section className="om-part" aria-labelledby="om-ranking">
      <div className="zs-bar om-head">
        <h2 className="zs-title" id="om-ranking">
          {t('stats.ranking')}
        </h2>
        <Segmented<NodeMetricName>
          size="small"
          aria-label={t('stats.metric')}
          value={metric}
          options={nodeMetricNames.map((value) => ({ value, label: t(`stats.metrics.${value}`) }))}
          onChange={setMetric}
        />
      </div>
      {data === undefined && error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : data?.items.length === 0 ? (
        <EmptyState title={t('stats.rankingNone')}>{t('stats.rankingNoneNote')}</EmptyState>
      ) : (
        <ol className="om-ranking">
          {(data?.items ?? []).map(({ node, usage }) => {
            const value = usage?.[metric] ?? 0
            return (
              <li key={node.id}>
                <Link to={paths.container.node.detail(node.id)}>{node.name}</Link>
                {metric === 'load' ? (
                  <meter className="om-meter" min={0} max={highest} value={value} aria-label={node.name} />
                ) : (
                  // Green, yellow and red: busy is what these say, and full is what somebody has to see to.
                  <meter className="om-meter" min={0} low={0.75} high={0.9} optimum={0} max={1} value={value} aria-label={node.name} />
                )}
                <span className="zs-number">{metric === 'load' ? format.number(value) : format.percent(value)}</span>
              </li>
            )
          })}
        </ol>
      )}
    </section>
  )
}
