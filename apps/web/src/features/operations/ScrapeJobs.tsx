import { prometheus, type ScrapeJob } from '@zhisuan/contract/omc/monitor'
import Table from 'antd/es/table'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { col } from '../../kit/columns.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import './operations.css'

type Target = ScrapeJob['targets'][number]
const tones = { up: 'good', down: 'bad', unknown: 'rest' } as const

/** What it scrapes, and how the last look at each target went. */
export function ScrapeJobs({ id }: { readonly id: string }) {
  const { t } = useTranslation('operations')
  const { data, error, refetch, isPending } = useCall(prometheus.jobs, { params: { id } }, { silent: true, refreshMs: 5_000 })
  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (data?.items.length === 0) return <EmptyState title={t('jobs.empty')}>{t('jobs.emptyNote')}</EmptyState>
  return (
    <div aria-busy={isPending}>
      {(data?.items ?? []).map(({ job, target_count, up_count, targets }) => (
        <section key={job} className="om-job">
          <h3>
            {job}{' '}
            <StatusTag
              tone={up_count === target_count ? 'good' : !targets.some(({ health }) => health === 'down') ? 'rest' : up_count === 0 ? 'bad' : 'warning'}
            >
              {t('jobs.up', { up: up_count, count: target_count })}
            </StatusTag>
          </h3>
          <Table<Target>
            size="small"
            rowKey={({ url, instance }) => `${url} ${instance}`}
            pagination={targets.length > 20 ? { size: 'small', pageSize: 20, showSizeChanger: false } : false}
            dataSource={targets}
            columns={[
              col.text<Target>('instance', t('jobs.target'), ({ instance }) => instance, { width: 180 }),
              col.code<Target>('url', t('jobs.url'), ({ url }) => url, { width: 340 }),
              col.status<Target>(
                'health',
                t('column.health'),
                ({ health, error: why }) => ({ tone: tones[health], text: t(`jobs.health.${health}`), note: why }),
                { width: 220 },
              ),
              col.date<Target>('at', t('jobs.at'), ({ scraped_at }) => scraped_at),
              col.number<Target>('ms', t('jobs.ms'), ({ seconds }) => Math.round(seconds * 1_000), { width: 100 }),
            ]}
          />
        </section>
      ))}
    </div>
  )
}
