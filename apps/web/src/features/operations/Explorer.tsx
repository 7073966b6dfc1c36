import { prometheus, type QueryResult } from '@zhisuan/contract/omc/monitor'
import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Segmented from 'antd/es/segmented'
import Table from 'antd/es/table'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { useSearchParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import * as format from '../../kit/format.ts'
import { MetricChart } from '../../kit/MetricChart.tsx'
import { exploreRanges, linesMost, linesOf, seriesName, stepOf } from './explore.ts'
import '../../kit/chart.css'
import '../../kit/codeEditor.css'
import './operations.css'

// CodeMirror is a chunk of its own.
const PromqlView = lazy(() => import('./promqlView.tsx'))

type Series = QueryResult['series'][number]
/** Asked anew with each run: the end of the time is that moment. */
interface Asked {
  readonly query: string
  readonly at: number
}
const examples = ['zhisuan_node_cpu_ratio', 'zhisuan_node_memory_used_bytes / zhisuan_node_memory_total_bytes', 'zhisuan_gpu_ratio', 'up'] as const

/** Questions to a Prometheus: a curve of the chosen time, and the newest figures as a table. */
export function Explorer({ id }: { readonly id: string }) {
  const { t } = useTranslation('operations')
  const [search, setSearch] = useSearchParams()
  const [text, setText] = useState(search.get('query') ?? examples[0])
  const [asked, setAsked] = useState<Asked>({ query: search.get('query') ?? examples[0], at: Math.floor(Date.now() / 1_000) })
  const minutes = exploreRanges.find((range) => String(range) === search.get('range')) ?? 60
  const step = stepOf(minutes)
  const remember = (key: string, value: string): void =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now)
        next.set(key, value)
        return next
      },
      { replace: true },
    )
  const run = (query = text): void => {
    if (query.trim() === '') return
    remember('query', query)
    setAsked({ query, at: Math.floor(Date.now() / 1_000) })
  }
  const range = useCall(
    prometheus.query,
    { params: { id }, query: { query: asked.query, start: String(asked.at - minutes * 60), end: String(asked.at), step: String(step) } },
    { silent: true },
  )
  const instant = useCall(prometheus.query, { params: { id }, query: { query: asked.query, time: String(asked.at) } }, { silent: true })
  const number = useCallback((value: number) => format.number(value, 4), [])
  const lines = useMemo(() => (range.data === undefined ? [] : linesOf(range.data, step)), [range.data, step])
  const error = instant.error ?? range.error
  const rows = error === null ? (instant.data?.series ?? []) : []

  return (
    <div className="om-explorer">
      <Suspense fallback={<div className="zs-editor zs-editor-late zs-late" aria-busy="true" />}>
        <PromqlView instanceId={id} label={t('explorer.query')} value={text} onChange={setText} onRun={() => run()} />
      </Suspense>
      <div className="zs-bar">
        <Button type="primary" loading={range.isFetching || instant.isFetching} onClick={() => run()}>
          {t('explorer.run')}
        </Button>
        <Segmented
          aria-label={t('range.label')}
          value={minutes}
          options={exploreRanges.map((value) => ({ value, label: rangeText(t, value) }))}
          onChange={(value) => {
            remember('range', String(value))
            setAsked(({ query }) => ({ query, at: Math.floor(Date.now() / 1_000) }))
          }}
        />
        <span className="zs-soft">{t('explorer.hint')}</span>
      </div>
      <div className="zs-bar" aria-label={t('explorer.examples')}>
        <span className="zs-soft">{t('explorer.examples')}</span>
        {examples.map((query) => (
          <Button
            key={query}
            size="small"
            onClick={() => {
              setText(query)
              run(query)
            }}
          >
            <span className="zs-code">{query}</span>
          </Button>
        ))}
      </div>
      {error !== null && <Alert type="error" showIcon title={t('explorer.failed')} description={error.fields[0]?.message ?? error.message} />}
      {(range.data?.warnings.length ?? 0) > 0 && <Alert type="warning" showIcon title={range.data?.warnings.join('；')} />}
      {error === null && (
        <>
          <div className="zs-charts">
            <MetricChart
              title={
                (range.data?.series.length ?? 0) > linesMost
                  ? t('explorer.first', { count: linesMost, all: range.data?.series.length ?? 0 })
                  : t('explorer.curve')
              }
              series={lines}
              format={number}
              from={(asked.at - minutes * 60) * 1_000}
              until={asked.at * 1_000}
              loading={range.isPending}
            />
          </div>
          {rows.length === 0 && !instant.isPending ? (
            <EmptyState title={t('explorer.empty')}>{t('explorer.emptyNote')}</EmptyState>
          ) : (
            <Table<Series>
              size="small"
              rowKey={({ labels }) => seriesName(labels)}
              dataSource={[...rows]}
              loading={instant.isPending}
              pagination={
                rows.length > 20 ? { size: 'small', pageSize: 20, showSizeChanger: false, showTotal: (total) => t('explorer.total', { count: total }) } : false
              }
              columns={[
                col.code<Series>('series', t('explorer.series'), ({ labels }) => seriesName(labels), { width: 760 }),
                col.text<Series>('value', t('explorer.value'), ({ points }) => points.at(-1)?.[1], { width: 200 }),
              ]}
            />
          )}
        </>
      )}
    </div>
  )
}

/** How far back, as people say it. */
export const rangeText = (t: ReturnType<typeof useTranslation<'operations'>>['t'], minutes: number): string =>
  minutes < 60
    ? t('range.minutes', { count: minutes })
    : minutes < 1_440
      ? t('range.hours', { count: minutes / 60 })
      : t('range.days', { count: minutes / 1_440 })
