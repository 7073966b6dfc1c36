import { integrationCan, prometheus, type PrometheusInstance } from '@zhisuan/contract/omc/monitor'
import Alert from 'antd/es/alert'
import { lazy } from 'react'
import { useParams } from 'react-router'
import { useOne } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { allowed } from '../../kit/allowed.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { Explorer } from './Explorer.tsx'
import { healthTones, isPassing, statusTones } from './monitorRules.ts'
import { ScrapeConfig } from './ScrapeConfig.tsx'
import { ScrapeJobs } from './ScrapeJobs.tsx'
import { useIntegrationActions } from './useIntegrationActions.tsx'

const SettingsDialog = lazy(() => import('./SettingsDialog.tsx'))

/** One Prometheus: what can be asked of it, what it scrapes, how it works. */
export default function PrometheusDetail() {
  const { t } = useTranslation('operations')
  const { id = '' } = useParams()
  const actionsOf = useIntegrationActions()
  const query = useOne(prometheus.get, { params: { id } }, { refreshMs: (one) => (one !== undefined && isPassing(one) ? 1_000 : 10_000) })
  return (
    <DetailPage<PrometheusInstance>
      query={query}
      gone={{ title: t('prometheus.gone'), back: t('prometheus.back'), to: paths.operations.prometheus.list() }}
      title={({ name }) => name}
      status={({ status }) => <StatusTag tone={statusTones[status]}>{t(`component.status.${status}`)}</StatusTag>}
      actions={(instance) => [
        {
          key: 'settings',
          call: prometheus.update,
          label: t('settings.change'),
          disabledReason: allowed(integrationCan, 'update', instance.status, t(`component.status.${instance.status}`)),
          dialog: (close) => <SettingsDialog instance={instance} onClose={close} />,
        },
        ...actionsOf(instance),
      ]}
      notice={({ error }) => (error === null ? null : <Alert type="error" showIcon title={t('component.failed')} description={error} />)}
      facts={(instance) => [
        {
          key: 'health',
          label: t('column.health'),
          value: (
            <>
              <StatusTag tone={healthTones[instance.health]}>{t(`component.health.${instance.health}`)}</StatusTag> {instance.health_message}
            </>
          ),
        },
        { key: 'where', label: t('component.where'), value: instance.node?.name ?? instance.url },
        { key: 'version', label: t('column.version'), value: instance.version ?? format.nothing },
        ...(instance.origin === 'kept'
          ? [
              { key: 'interval', label: t('settings.interval'), value: t('settings.seconds', { count: instance.settings.scrape_interval_seconds }) },
              { key: 'days', label: t('settings.days'), value: t('settings.dayCount', { count: instance.settings.retention_days }) },
              {
                key: 'size',
                label: t('settings.size'),
                value: instance.settings.retention_gb === null ? t('settings.unlimited') : format.bytes(instance.settings.retention_gb * 2 ** 30),
              },
            ]
          : []),
      ]}
      tabs={(instance) => [
        { key: 'explore', label: t('prometheus.explore'), content: <Explorer id={instance.id} /> },
        { key: 'jobs', label: t('prometheus.jobs'), content: <ScrapeJobs id={instance.id} /> },
        ...(instance.scrape_config === null ? [] : [{ key: 'config', label: t('prometheus.config'), content: <ScrapeConfig text={instance.scrape_config} /> }]),
      ]}
    />
  )
}
